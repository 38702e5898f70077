//! The driver of the target `records`. A stream must decode any bytes to records or refuse them,
//! and any records must round-trip.

use std::sync::OnceLock;

use kinepack::Schema;
use kinepack::stream::{Learned, StreamBase, StreamCodec, StreamLevel};

use crate::coding::{Source, schemas};
use crate::support::{Random, Walk, records_schema};

/// The numbers of records after which data can select the learned state as a base.
const LEARNED_ALONG: [usize; 5] = [0, 1, 20, 100, 300];

/// A codec, and the bases that both sides may hold.
struct Tested {
    codec: StreamCodec,
    bases: Vec<(Vec<u32>, Learned)>,
}

impl Tested {
    fn new(schema: &Schema, level: StreamLevel) -> Self {
        let codec = StreamCodec::new(schema.clone(), level).unwrap();
        let mut walk = Walk::new(schema, 8);
        let mut random = Random::new(8);
        let (mut held, mut learned) = (walk.records(1), codec.nothing_learned());
        let mut bases = Vec::new();
        for told in 0..=LEARNED_ALONG[LEARNED_ALONG.len() - 1] {
            if LEARNED_ALONG.contains(&told) {
                bases.push((held.clone(), learned.clone()));
            }
            // Some records follow after a pause, so that the learned sizes vary.
            let lag = if random.one_in(9) { 2000 } else { 1 };
            let (record, mut after) = (walk.records(1), codec.nothing_learned());
            let base = StreamBase { lanes: &held, learned: &learned, lag };
            codec.encode(Some(base), &record, &mut after, &mut Vec::new()).unwrap();
            (held, learned) = (record, after);
        }
        Self { codec, bases }
    }
}

/// Returns the codecs, by schema, with both levels of each schema.
fn tested() -> &'static [Tested] {
    static TESTED: OnceLock<Vec<Tested>> = OnceLock::new();
    TESTED.get_or_init(|| {
        let schemas = [records_schema()]
            .into_iter()
            .chain(schemas())
            .filter(|schema| !schema.lanes().is_empty() && schema.kinds().len() == 1);
        let levels = [StreamLevel::Packed, StreamLevel::Adaptive];
        schemas.flat_map(|schema| levels.map(|level| Tested::new(&schema, level))).collect()
    })
}

/// The first byte selects a codec, and the second a base or none. The next two are the base's lag,
/// and the fifth is the number of records. The rest is an untrusted packet. The same bytes are also
/// used as records.
pub fn records(data: &[u8]) {
    let mut source = Source(data);
    let Tested { codec, bases } = &tested()[source.below(tested().len())];
    let base = bases.get(source.below(bases.len() + 1));
    let lag = source.short();
    let base = base.map(|(lanes, learned)| StreamBase { lanes, learned, lag });
    let count = 1 + source.below(4);

    let mut room = vec![u32::MAX; count * codec.lanes()];
    let mut learned = codec.nothing_learned();
    if codec.decode(base, &mut room, &mut learned, source.0).is_ok() {
        assert_eq!(codec.check_lanes(&room), Ok(()));
        round_trip(codec, base, &room);
    }
    let near = base.map_or_else(|| vec![0; codec.lanes()], |base| base.lanes.to_vec());
    round_trip(codec, base, &any_records(codec.schema(), &mut source, &near, count));
}

fn round_trip(codec: &StreamCodec, base: Option<StreamBase<'_>>, records: &[u32]) {
    let (mut learned, mut packet) = (codec.nothing_learned(), Vec::new());
    codec.encode(base, records, &mut learned, &mut packet).unwrap();
    let (mut room, mut received) = (vec![u32::MAX; records.len()], codec.nothing_learned());
    assert_eq!(codec.decode(base, &mut room, &mut received, &packet), Ok(()));
    assert_eq!(room, records);
    assert!(received == learned, "both sides learned the same");
}

/// Makes records, most of them near the previous one.
fn any_records(schema: &Schema, source: &mut Source<'_>, base: &[u32], count: usize) -> Vec<u32> {
    let mut records: Vec<u32> = Vec::new();
    for index in 0..count * base.len() {
        let before = if index < base.len() { base[index] } else { records[index - base.len()] };
        let max = schema.lanes()[index % base.len()].max;
        records.push(match source.byte() {
            0..100 => before,
            step @ 100..200 => before.saturating_add_signed(i32::from(step) - 150).min(max),
            200..220 => source.word().min(max),
            220..240 => max,
            small => (u32::from(small) - 240).min(max),
        });
    }
    records.chunks_mut(base.len()).for_each(|record| schema.clear_absent(record));
    records
}

/// For each codec and base, a packet that continues from the base.
pub fn records_corpus() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (index, Tested { codec, bases }) in tested().iter().enumerate() {
        let mut walk = Walk::new(codec.schema(), 9 + index as u64);
        for (number, lag) in [0, 1, 300, 7].into_iter().enumerate() {
            // The numbers select the base after 0 records, then some of the others, and finally no
            // base.
            let number = [0, 2, 4, LEARNED_ALONG.len()][number];
            let base = bases.get(number).map(|(lanes, learned)| StreamBase { lanes, learned, lag });
            let count = 1 + index % 3;
            let mut file =
                vec![index as u8, number as u8, lag as u8, (lag >> 8) as u8, count as u8 - 1];
            codec
                .encode(base, &walk.records(count), &mut codec.nothing_learned(), &mut file)
                .unwrap();
            files.push(file);
        }
    }
    files
}
