//! The drivers of the fuzz targets. They are plain functions that panic if a property does not
//! hold.
//!
//! Each driver takes any bytes. The first few bytes select what is tested (schema, level, profile,
//! baseline), so a mutation can reach every combination. The rest is untrusted input. The tests of
//! `kinepack` run the drivers over the stored corpus.

use std::sync::OnceLock;

use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::profile::{Class, Context, FieldCode, GapCode, LaneWidth, Reference};
use kinepack::quantize::{FloatLimits, IntegerLimits};
use kinepack::value::{
    Difference, Limits, read_difference, read_if_changed, write_difference, write_if_changed,
};
use kinepack::{Codec, DecodeError, Encoder, Level, Profile, Schema, Tick, View};

use crate::coding::{Pair, Source, adaptive_profile, lined_up, schemas, state};
use crate::support::{BitModel, frames, profiles, views};

/// The number of views of each codec that data can select as a baseline. The first view is empty.
const BASELINES: usize = 5;

/// The codecs of a schema: each level with each profile, then the predicting levels with a profile
/// trained for them.
struct Bench {
    codecs: Vec<Tested>,
}

/// A codec under test, and the views that data can select. All codecs of a schema have views of the
/// same snapshots.
struct Tested {
    codec: Codec,
    views: Vec<View>,
}

impl Tested {
    fn new(codec: Codec, snapshots: &[View]) -> Self {
        let mut encoder = Encoder::new(&codec);
        let mut views = vec![snapshots[0].clone()];
        for snapshot in &snapshots[1..] {
            let view = encoder.encode(&views[views.len() - 1], snapshot, &mut Vec::new()).unwrap();
            // Without an older view, an encoded view is exact. So it can be replaced by the shared
            // snapshot.
            assert!(view.snapshot() == snapshot.snapshot());
            views.push(snapshot.clone().with_learned(view.learned().cloned()));
        }
        Self { codec, views }
    }

    /// Returns the views that both sides know. `view` selects the first one, and `older` selects
    /// none, one or two older views.
    fn known(&self, view: usize, older: usize) -> Vec<View> {
        let states =
            [older / 3, older / 3 / BASELINES].map(|number| &*self.views[number % BASELINES]);
        lined_up(self.views[view].clone(), &states[..older % 3])
    }
}

fn benches() -> &'static [Bench] {
    static BENCHES: OnceLock<Vec<Bench>> = OnceLock::new();
    BENCHES.get_or_init(|| {
        let bench = |schema: &Schema| {
            let profiles = profiles(schema);
            let codec = |level, profile: &Profile| {
                Codec::new(schema.clone(), level, profile.clone()).unwrap()
            };
            let of_level = |level| profiles.each_ref().map(|(_, profile)| codec(level, profile));
            let trained = adaptive_profile(schema).into_iter();
            let trained = trained.flat_map(|profile| {
                [Level::ADAPTIVE, Level::LEARNING].map(|level| codec(level, &profile))
            });
            let snapshots = views(frames(schema, 77, 6, BASELINES));
            let codecs = Level::TABLE.into_iter().flat_map(of_level).chain(trained);
            Bench { codecs: codecs.map(|codec| Tested::new(codec, &snapshots)).collect() }
        };
        schemas().iter().map(bench).collect()
    })
}

/// Chooses a codec. Half of the numbers select a predicting level.
fn choose(source: &mut Source<'_>) -> &'static Tested {
    let Bench { codecs } = &benches()[source.below(benches().len())];
    let packed = codecs.iter().take_while(|tested| !tested.codec.level().adaptive()).count();
    match source.byte() {
        codec @ 0..128 => &codecs[usize::from(codec) % packed],
        codec => &codecs[packed + usize::from(codec - 128) % (codecs.len() - packed)],
    }
}

/// Returns the input of [`snapshot`]: the numbers of schema, codec and baseline, the choice of
/// older states, the snapshot's distance in ticks, and a packet.
#[allow(dead_code, reason = "used only to write a corpus")]
pub fn snapshot_data(numbers: [usize; 4], ticks: u8, packet: &[u8]) -> Vec<u8> {
    [&numbers.map(|number| number as u8)[..], &[ticks], packet].concat()
}

/// Makes packets for the corpus of [`snapshot`], one for each codec of the schema in `codecs`.
#[allow(dead_code, reason = "used only to write a corpus")]
pub fn snapshot_corpus(schema: usize, codecs: impl Iterator<Item = usize>) -> Vec<Vec<u8>> {
    let data = |number: usize| {
        let tested = choose(&mut Source(&[schema as u8, number as u8]));
        let (baseline, older) = (number % (BASELINES - 1), number % 7 + 3 * number % 75);
        let after = &tested.views[baseline + 1];
        let ticks = after.tick.0.wrapping_sub(tested.views[baseline].tick.0) as u8;
        let (packet, _) = Pair::new(&tested.codec).encode(&tested.known(baseline, older), after);
        snapshot_data([schema, number, baseline, older], ticks, &packet)
    };
    codecs.map(data).collect()
}

/// Decodes a packet, with and without a state check at the end. The result must be a valid view or
/// an error. Afterwards the decoder must work as before.
pub fn snapshot(data: &[u8]) {
    let mut source = Source(data);
    let tested = choose(&mut source);
    let [baseline, older] = [source.below(BASELINES), source.below(256)];
    let ticks = i32::from(source.byte() as i8);
    let tick = Tick(tested.views[baseline].tick.0.wrapping_add_signed(ticks));
    let mut pair = Pair::new(&tested.codec);
    let known = tested.known(baseline, older);
    pair.decode_and_return(&known, source.0, tick);
    let _ = pair.decode_checked(&known, source.0, tick);
    let known = tested.known(3, older);
    let used = pair.round_trip(&known, &tested.views[4]);
    assert!(used == Pair::new(&tested.codec).encode(&known, &tested.views[4]));
}

/// Encodes a snapshot from the data, against other snapshots from the data. The packet must decode
/// to the same lanes, and a prefix of the packet must be refused.
pub fn encode_roundtrip(data: &[u8]) {
    let mut source = Source(data);
    let Tested { codec, .. } = choose(&mut source);
    let cuts = source.byte();
    let older_views = source.below(3);
    let long_before = state(codec.schema(), &mut source, None);
    let before = View::from(state(codec.schema(), &mut source, Some(&long_before)));
    let after = View::from(state(codec.schema(), &mut source, Some(&before)));
    let older = [&long_before, &*before];
    let mut pair = Pair::new(codec);
    for (baseline, snapshot) in [(&before, &after), (&after, &before), (&after, &after)] {
        let known = lined_up(baseline.clone(), &older[..older_views]);
        pair.part(&known, snapshot, u32::from(cuts));
        let (mut packet, _) = pair.round_trip(&known, snapshot);
        let cut = usize::from(cuts) % packet.len();
        let refusal = pair.decode(&known, &packet[..cut], snapshot.tick);
        // The end of an arithmetic code is not marked, so a prefix may be a valid code of other
        // decisions.
        let may_be_other = codec.level().adaptive();
        assert!(
            may_be_other || matches!(refusal, Err(DecodeError::EndOfData { .. })),
            "{cut} bytes: {refusal:?}"
        );
        packet.push(if may_be_other { 0 } else { cuts });
        let refusal = pair.decode(&known, &packet, snapshot.tick);
        assert!(matches!(refusal, Err(DecodeError::TrailingData { .. })), "{refusal:?}");
    }
}

/// Makes a profile from the data. A codec refuses the profile, or works with it.
pub fn profile(data: &[u8]) {
    let mut source = Source(data);
    let schemas = schemas();
    let schema = &schemas[source.below(schemas.len())];
    let level = Level::TABLE[source.below(Level::TABLE.len())];
    let baseline = source.below(BASELINES - 1);
    let profile = any_profile(schema, &mut source);
    let Ok(codec) = Codec::new(schema.clone(), level, profile) else {
        return;
    };
    let mut pair = Pair::new(&codec);
    let frames = views(frames(schema, u64::from(source.byte()), 8, BASELINES));
    let (before, after) = (&frames[baseline..=baseline], &frames[baseline + 1]);
    pair.round_trip(before, after);
    pair.decode_and_return(before, source.0, after.tick);
}

/// Returns a profile whose parts all come from the data. The only correction is that the lengths of
/// each code are completed if possible.
fn any_profile(schema: &Schema, source: &mut Source<'_>) -> Profile {
    let mut profile = Profile::untrained(schema);
    if source.byte() & 1 == 1 {
        profile.entities = any_gap_code(source);
    }
    if source.byte() & 1 == 1 {
        profile.flags = any_gap_code(source);
    }
    for (index, code) in profile.fields.iter_mut().enumerate() {
        if source.byte() & 1 == 0 {
            continue;
        }
        let lanes = code.classes.first().map_or(0, |class| class.lanes.len());
        let classes = source.below(66);
        let context = match source.below(4) {
            0 => Context::None,
            1 => Context::Previous,
            2 => Context::Field(source.below(index + 2)),
            _ => Context::Field(index.saturating_sub(1)),
        };
        let class = |_| Class {
            reference: [Reference::Baseline, Reference::Turned, Reference::Carried]
                [source.below(3)],
            lanes: (0..lanes).map(|_| any_width(source)).collect(),
        };
        let classes: Vec<Class> = (0..classes).map(class).collect();
        let lengths_bits = vec![any_lengths(source, classes.len() + 1)];
        *code = FieldCode { context, classes, lengths_bits };
    }
    profile.spread();
    profile
}

fn any_width(source: &mut Source<'_>) -> LaneWidth {
    let byte = source.byte();
    let bits = byte % 36;
    LaneWidth { bits, beyond_bits: if byte < 128 { 0 } else { source.byte() % (bits + 2) } }
}

fn any_gap_code(source: &mut Source<'_>) -> GapCode {
    let widths_bits: Vec<u8> = (0..source.below(40)).map(|_| source.byte() % 27).collect();
    let lengths_bits = any_lengths(source, widths_bits.len() + 1);
    GapCode { widths_bits, lengths_bits }
}

/// Returns a list of `count` lengths. In most cases the lengths form a complete code, and sometimes
/// they are arbitrary.
fn any_lengths(source: &mut Source<'_>, count: usize) -> Vec<u8> {
    if source.byte() == 255 {
        return (0..count).map(|_| source.byte() % 12).collect();
    }
    // Splitting a word in two keeps the code complete.
    let mut lengths = vec![0u8];
    while lengths.len() < count {
        let from = source.below(lengths.len());
        let split = (0..lengths.len())
            .map(|nth| (from + nth) % lengths.len())
            .find(|nth| lengths[*nth] < 8);
        let Some(split) = split else { break };
        lengths[split] += 1;
        lengths.push(lengths[split]);
    }
    lengths
}

/// Reads values against baselines. Each value must be within its limits, and must be the same after
/// it is written and read again.
pub fn value(data: &[u8]) {
    let mut source = Source(data);
    let control = [(); 4].map(|()| source.byte());
    let [min, max] = [source.byte() as i8, source.byte() as i8].map(i64::from);
    let near = Difference::from_steps(min.min(max), min.max(max)).unwrap();
    let base = u64::from(source.word()) << 32 | u64::from(source.word());
    match control[0] % 8 {
        0 => values(&FloatLimits::new(-100.0, 100.0, 0.1).unwrap(), &near, base, source.0),
        1 => {
            values(&FloatLimits::until(0.0, 360.0, 0.1).unwrap().wrapping(), &near, base, source.0);
        }
        2 => values(&FloatLimits::new(2.5, 2.5, 0.1).unwrap(), &near, base, source.0),
        3 => values(&FloatLimits::with_bits(-1.0, 1.0, 23).unwrap(), &near, base, source.0),
        4 => values(
            &IntegerLimits::new(i128::from(i64::MIN), i128::from(i64::MAX), 1).unwrap(),
            &near,
            base,
            source.0,
        ),
        5 => {
            values(&IntegerLimits::new(0, i128::from(u64::MAX), 3).unwrap(), &near, base, source.0);
        }
        6 => values(&IntegerLimits::new(-7, 1000, 10).unwrap(), &near, base, source.0),
        _ => {
            // The data define the limits. Impossible limits are skipped.
            let [min, max] = [control[1], control[2]].map(|byte| f32::from(byte as i8));
            let step = f64::from(control[3]) / 64.0;
            if let Ok(limits) = FloatLimits::new(f64::from(min), f64::from(max), step)
                .and_then(FloatLimits::for_f32)
            {
                values(&limits, &near, base, source.0);
            }
        }
    }
}

fn values<L>(limits: &L, near: &Difference, base: u64, data: &[u8])
where
    L: Limits,
    L::Value: PartialEq + core::fmt::Debug,
{
    let mut baseline = limits.value_of(base % limits.largest_code().saturating_add(1).max(1));
    let mut reader = BitReader::new(data);
    // Values without width consist only of their flags.
    while reader.left_bits() > 0 {
        let is_difference = !reader.position_bits().is_multiple_of(3);
        let begin = reader.position_bits();
        let read = if is_difference {
            read_difference(&mut reader, limits, near, baseline)
        } else {
            read_if_changed(&mut reader, limits)
        };
        let value = match read {
            Ok(value) => value.unwrap_or(baseline),
            Err(DecodeError::EndOfData { .. }) => break,
            Err(DecodeError::OutOfRange { at_bit }) => {
                assert!(at_bit > begin && at_bit == reader.position_bits());
                continue;
            }
            Err(error) => panic!("{error:?}"),
        };
        let code = limits.code_of(value).unwrap();
        assert!(code <= limits.largest_code());
        assert_eq!(limits.value_of(code), value);

        let mut bytes = Vec::new();
        let mut writer = BitWriter::append(&mut bytes);
        write_if_changed(&mut writer, limits, baseline, value).unwrap();
        write_difference(&mut writer, limits, near, baseline, value).unwrap();
        writer.finish().unwrap();
        let mut again = BitReader::new(&bytes);
        assert_eq!(read_if_changed(&mut again, limits).unwrap().unwrap_or(baseline), value);
        assert_eq!(
            read_difference(&mut again, limits, near, baseline).unwrap().unwrap_or(baseline),
            value
        );
        again.finish().unwrap();
        baseline = value;
    }
}

/// Runs the bit cursors next to a naive model. The first byte is the number of steps, each of which
/// takes one byte. The rest are the bits.
pub fn bits(data: &[u8]) {
    let (count, data) = data.split_first().unwrap_or((&0, &[]));
    let (steps, bytes) = data.split_at(data.len().min(usize::from(*count)));
    read_beside_model(steps, bytes);
    write_beside_model(steps, bytes);
}

fn read_beside_model(steps: &[u8], bytes: &[u8]) {
    let mut reader = BitReader::new(bytes);
    let mut model = BitModel::of(bytes);
    for &step in steps {
        assert_eq!(reader.position_bits(), model.position_bits());
        assert_eq!(reader.left_bits(), model.left_bits());
        let bits = u32::from(step) % 65;
        match step {
            0..130 => {
                let left_bits = model.left_bits();
                let end = DecodeError::EndOfData {
                    at_bit: model.position_bits(),
                    wanted_bits: bits,
                    left_bits: left_bits.min(64) as u32,
                };
                assert_eq!(reader.read(bits), model.read(bits).ok_or(end));
            }
            130..195 => assert_eq!(reader.peek(bits.min(56)), model.peek(bits.min(56))),
            195..225 => assert_eq!(reader.read_bool().ok(), model.read(1).map(|bit| bit == 1)),
            _ => {
                let padding = model.read(model.padding_bits());
                assert_eq!(
                    reader.align(),
                    if padding == Some(0) { Ok(()) } else { Err(DecodeError::Padding) }
                );
            }
        }
    }
    let left_bits = model.left_bits();
    let expected = match model.read(left_bits.min(7) as u32) {
        _ if left_bits >= 8 => Err(DecodeError::TrailingData { left_bits }),
        Some(0) => Ok(()),
        _ => Err(DecodeError::Padding),
    };
    assert_eq!(reader.finish(), expected);
}

fn write_beside_model(steps: &[u8], bytes: &[u8]) {
    let mut source = Source(bytes);
    let mut grown = vec![0xEE];
    let mut lent = vec![0xEE; bytes.len()];
    let lent_bytes = lent.len();
    let mut model = BitModel::default();
    let mut writers = [BitWriter::append(&mut grown), BitWriter::lend(&mut lent)];
    for &step in steps {
        let bits = u32::from(step) % 65;
        let value = u64::from(source.word()) << 32 | u64::from(source.word());
        for writer in &mut writers {
            match step {
                0..195 => writer.write(value, bits),
                195..225 => writer.write_bool(value & 1 == 1),
                _ => writer.align(),
            }
        }
        match step {
            0..195 => model.write(value, bits),
            195..225 => model.write(value, 1),
            _ => model.pad(),
        }
        assert!(writers.iter().all(|writer| writer.len_bits() == model.len_bits()));
    }
    let expected = model.to_bytes();
    let [to_grown, to_lent] = writers.map(BitWriter::finish);
    assert_eq!(to_grown, Ok(expected.len()));
    assert_eq!(grown, [&[0xEE], &expected[..]].concat());
    match to_lent {
        Ok(len) => {
            assert_eq!(&lent[..len], expected);
            assert!(
                lent[len..].iter().all(|byte| *byte == 0xEE),
                "bytes after the end were changed"
            );
        }
        Err(error) => {
            let full = kinepack::EncodeError::BufferFull {
                needed_bytes: expected.len(),
                buffer_bytes: lent_bytes,
            };
            assert_eq!(error, full);
            assert!(expected.len() > lent_bytes);
        }
    }
}
