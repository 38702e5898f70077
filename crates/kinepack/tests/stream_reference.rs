//! Compares [`StreamCodec`] with the reader of streams in `reference/`, which was written from
//! `spec/CODEC.md` alone: on long walks with learning, and on damaged packets. Both must refuse a
//! packet, or decode it to the same records.

use std::collections::VecDeque;

use kinepack::Schema;
use kinepack::quantize::{FloatLimits, IntegerLimits};
use kinepack::schema::{Field, FieldKind, Role};
use kinepack::stream::{Learned, StreamBase, StreamCodec, StreamLevel};

use crate::reference::stream::Stream;
use crate::reference::{self, Axis, Kind};
use crate::support::{
    Random, Walk, bodies_schema, from_hex, records_schema, schema, schemas, stream_packets,
    stream_records, stream_schema,
};

const LEVELS: [StreamLevel; 2] = [StreamLevel::Packed, StreamLevel::Adaptive];
/// The largest lag in this test.
const MAX_LAG: u64 = 300;

/// Converts a schema to the reference's type.
fn of_the_reference(schema: &Schema) -> Vec<reference::Field> {
    let axis = |limits: &FloatLimits| Axis {
        min: limits.min(),
        max: limits.max(),
        step: limits.step(),
        cyclic: limits.wraps(),
    };
    let field = |field: &Field| reference::Field {
        name: field.name.clone().leak(),
        role: field.role as u8,
        kind: match &field.kind {
            FieldKind::Floats(axes) => Kind::Floats(axes.iter().map(axis).collect()),
            FieldKind::Integer(limits) => {
                Kind::Integer { min: limits.min(), max: limits.max(), step: limits.step() }
            }
            FieldKind::Rotation(rotation) => {
                Kind::Rotation { bits: rotation.component_bits() as u8 }
            }
            FieldKind::Bool => Kind::Bool,
            FieldKind::Choice { max } => Kind::Choice { max: *max },
            FieldKind::Raw { lanes } => Kind::Raw { lanes: *lanes },
            FieldKind::Bytes { len } => Kind::Bytes { len: *len },
            _ => panic!("a kind that the reference does not know"),
        },
        time: None,
        spawn: field.is_spawn,
        coarser: field.coarser.as_ref().map(|coarser| {
            let coarseness: &'static str = coarser.coarseness.clone().leak();
            (coarseness, coarser.most_bits)
        }),
        frame: field.frame.clone().map(|name| &*name.leak()),
        velocity_of: field.velocity_of.clone().map(|name| &*name.leak()),
        condition: field.condition.as_ref().map(|condition| {
            let selector: &'static str = condition.selector.clone().leak();
            (selector, *condition.values.start(), *condition.values.end())
        }),
    };
    let fields: Vec<reference::Field> = schema.fields().iter().map(field).collect();
    assert_eq!(reference::hash(&fields), schema.hash());
    fields
}

fn all_schemas() -> Vec<(&'static str, Schema)> {
    let mut all = schemas();
    all.retain(|(_, schema)| !schema.lanes().is_empty());
    all.extend([("bodies", bodies_schema()), ("records", records_schema())]);
    all.extend(["optional", "coarser", "breaks"].map(|name| (name, schema(name))));
    all.extend(clocks());
    all
}

/// Makes schemas with time stamps that are not integers, and with roles and velocities that have no
/// effect.
fn clocks() -> Vec<(&'static str, Schema)> {
    let line = FloatLimits::new(0.0, 100.0, 0.01).unwrap();
    let around = FloatLimits::until(0.0, 100.0, 0.5).unwrap().wrapping();
    let moved = || FieldKind::Floats(vec![line]);
    let field = |name, kind| Field::new(name, kind);
    let clock = |name, kind| Field::new(name, kind).with_role(Role::Clock);
    let ticks = FieldKind::Integer(IntegerLimits::new(0, 100_000, 1).unwrap());
    let speed_of =
        |name: &str| field("speed", FieldKind::Floats(vec![line])).with_velocity_of(name);
    vec![
        (
            "around",
            Schema::new(vec![
                field("x", moved()),
                clock("t", FieldKind::Floats(vec![around])),
                speed_of("x"),
            ]),
        ),
        (
            "clock with a velocity",
            Schema::new(vec![field("x", moved()), clock("t", moved()), speed_of("t")]),
        ),
        (
            "velocity of itself",
            Schema::new(vec![field("x", moved()), clock("t", ticks.clone()), speed_of("speed")]),
        ),
        (
            "several",
            Schema::new(vec![
                clock("t", FieldKind::Raw { lanes: 6 }),
                field("x", moved()),
                speed_of("x"),
            ]),
        ),
        (
            "flag",
            Schema::new(vec![
                field("x", moved()),
                clock("t", FieldKind::Bool),
                clock("u", ticks.clone()),
            ]),
        ),
        (
            "empty",
            Schema::new(vec![
                clock("none", FieldKind::Raw { lanes: 0 }),
                field("x", moved()),
                speed_of("x"),
            ]),
        ),
        (
            "empty last",
            Schema::new(vec![field("x", moved()), clock("none", FieldKind::Raw { lanes: 0 })]),
        ),
    ]
}

fn wide(lanes: &[u32]) -> Vec<i128> {
    lanes.iter().copied().map(i128::from).collect()
}

/// The last record of a packet, with the learned states of both sides.
struct Held {
    index: u64,
    lanes: Vec<u32>,
    learned: Learned,
    by_reference: reference::stream::Learned,
}

/// A codec, the reference's reader, and the records that both hold.
struct Pair<'a> {
    codec: &'a StreamCodec,
    reader: &'a Stream<'a>,
    held: VecDeque<Held>,
    damaged: [u32; 2],
}

impl Pair<'_> {
    /// Sends records against the held record number `nth`, or in full if `nth` is `None`. Both
    /// sides then also hold the last record.
    fn send(&mut self, nth: Option<usize>, first: u64, records: &[u32], random: &mut Random) {
        let codec = self.codec;
        let count = records.len() / codec.lanes();
        let base = nth.map(|nth| &self.held[nth]);
        let for_crate = |held: &'_ Held| (first - held.index) as u16;
        let of_crate = base.map(|held| StreamBase {
            lanes: &held.lanes,
            learned: &held.learned,
            lag: for_crate(held),
        });
        let lanes = base.map(|held| wide(&held.lanes)).unwrap_or_default();
        let of_reference = base.map(|held| (&lanes[..], &held.by_reference, first - held.index));

        let (mut learned, mut packet) = (codec.nothing_learned(), Vec::new());
        codec.encode(of_crate, records, &mut learned, &mut packet).unwrap();
        // These buffers have arbitrary content.
        let mut room: Vec<u32> = (0..records.len()).map(|_| random.word() as u32).collect();
        let mut received = codec.nothing_learned();
        assert_eq!(codec.decode(of_crate, &mut room, &mut received, &packet), Ok(()));
        assert!(room == records && received == learned, "record {first}");
        let (read, by_reference) = self.reader.decode(of_reference, count, &packet).unwrap();
        assert_eq!(read.concat(), wide(records), "record {first}");

        for _ in 0..3 {
            let round = random.below(3) as usize;
            let damaged =
                if packet.is_empty() { random.bytes(5) } else { random.damaged(&packet, round) };
            let by_crate = codec.decode(of_crate, &mut room, &mut received, &damaged);
            match (by_crate, self.reader.decode(of_reference, count, &damaged)) {
                (Ok(()), Ok((read, _))) => {
                    assert_eq!(wide(&room), read.concat(), "record {first}: {damaged:02x?}");
                }
                (Err(_), Err(_)) => {}
                (by_crate, by_reference) => {
                    panic!(
                        "record {first}: {by_crate:?}, {:?}: {damaged:02x?}",
                        by_reference.map(|(read, _)| read)
                    );
                }
            }
            self.damaged[usize::from(by_crate.is_ok())] += 1;
        }
        let index = first + count as u64 - 1;
        self.held.push_back(Held {
            index,
            lanes: records[records.len() - codec.lanes()..].to_vec(),
            learned,
            by_reference,
        });
        while self.held.front().is_some_and(|held| index + 1 - held.index > MAX_LAG) {
            self.held.pop_front();
        }
    }
}

#[test]
fn the_reference_reads_the_codecs_packets() {
    let mut damaged = [0; 2];
    for ((name, schema), level) in
        all_schemas().into_iter().flat_map(|schema| LEVELS.map(|level| (schema.clone(), level)))
    {
        println!("{name}, {level:?}");
        let codec = StreamCodec::new(schema.clone(), level).unwrap();
        let fields = of_the_reference(&schema);
        let reader = Stream::new(&fields, level == StreamLevel::Adaptive);
        assert_eq!(codec.hash(), reader.hash(), "{name}, {level:?}");
        let mut pair =
            Pair { codec: &codec, reader: &reader, held: VecDeque::new(), damaged: [0; 2] };
        let (mut walk, mut random) = (Walk::new(&schema, 17), Random::new(5));
        let mut first = 0;
        while first < 1500 {
            let count = if random.one_in(2) { 1 } else { 1 + random.below(16) };
            let records = walk.records(count as usize);
            // The base is most often a recent record, now and then any record, or none.
            let nth = match (pair.held.len(), random.below(20)) {
                (0, _) | (_, 0) => None,
                (len, 1..4) => Some(random.below(len as u64) as usize),
                (len, back) => Some(len - 1 - len.min(back as usize / 3).saturating_sub(1)),
            };
            pair.send(nth, first, &records, &mut random);
            first += count;
        }
        (0..2).for_each(|outcome| damaged[outcome] += pair.damaged[outcome]);
    }
    // Both decoders refuse some of the damaged packets, and accept others.
    assert!(damaged.iter().all(|count| *count > 1000), "{damaged:?}");
}

#[test]
fn the_reference_reads_the_frozen_stream() {
    const VECTORS: &str = include_str!("../../../spec/vectors/stream.txt");
    let fields = of_the_reference(&stream_schema());
    let packets = stream_packets();
    let records = stream_records(packets.iter().map(|packet| packet.count).sum());
    for (name, is_adaptive) in [("packed", false), ("adaptive", true)] {
        let reader = Stream::new(&fields, is_adaptive);
        let mut lines = VECTORS.lines().filter_map(|line| line.strip_prefix(name)).map(str::trim);
        assert_eq!(lines.next().unwrap(), format!("{:016x}", reader.hash()));
        let mut held: Vec<(Vec<i128>, reference::stream::Learned)> = Vec::new();
        let mut first = 0;
        for (number, line) in lines.enumerate() {
            let [index, base, lag, count, bytes] =
                line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let count: usize = count.parse().unwrap();
            assert_eq!(index, number.to_string());
            let base = base.parse().ok().map(|base: usize| &held[base]);
            let base = base.map(|(lanes, learned)| (&lanes[..], learned, lag.parse().unwrap()));
            let (read, learned) = reader.decode(base, count, &from_hex(bytes)).unwrap();
            for (nth, record) in read.iter().enumerate() {
                assert_eq!(*record, wide(&records[first + nth]), "{name} {number}");
            }
            first += count;
            held.push((read[count - 1].clone(), learned));
        }
        assert_eq!(first, records.len());
    }
}
