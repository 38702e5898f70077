//! Tests of streams at both levels: decoded records, learned states, costs, and refusals.

use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind, Lane, Role};
use kinepack::stream::{Learned, StreamBase, StreamCodec, StreamLevel};
use kinepack::{DecodeError, EncodeError, Schema, SetupError};
use proptest::prelude::*;

use crate::runner::for_all;
use crate::support::{
    BitModel, Ends, Random, Walk, battery_of, bodies_schema, records_schema, schema, schemas,
};

const LEVELS: [StreamLevel; 2] = [StreamLevel::Packed, StreamLevel::Adaptive];

fn codec(schema: &Schema, level: StreamLevel) -> StreamCodec {
    StreamCodec::new(schema.clone(), level).unwrap()
}

fn all_schemas() -> Vec<Schema> {
    let mut all: Vec<Schema> = schemas().into_iter().map(|(_, schema)| schema).collect();
    all.retain(|schema| !schema.lanes().is_empty());
    all.extend([bodies_schema(), records_schema(), clock_with_a_velocity(), schema("optional")]);
    all
}

/// Makes a schema in which the time stamp has a velocity. A time stamp is coded before all other
/// fields, so it cannot use that velocity.
fn clock_with_a_velocity() -> Schema {
    let axes = || FieldKind::Floats(vec![FloatLimits::new(0.0, 100.0, 0.01).unwrap(); 6]);
    Schema::new(vec![
        Field::new("time", axes()).with_role(Role::Clock),
        Field::new("pace", axes()).with_role(Role::Velocity).with_velocity_of("time"),
    ])
}

/// Both sides of a stream without losses.
struct Pair<'a> {
    codec: &'a StreamCodec,
    random: Random,
}

impl Pair<'_> {
    fn new(codec: &StreamCodec) -> Pair<'_> {
        Pair { codec, random: Random::new(3) }
    }

    /// Encodes and decodes records, and checks that the records and the learned states of both
    /// sides agree. Returns the learned state and the packet.
    fn send(&mut self, base: Option<StreamBase<'_>>, records: &[u32]) -> (Learned, Vec<u8>) {
        // The previous content of these buffers does not matter.
        let mut learned = self.codec.nothing_learned();
        let mut packet = vec![7];
        self.codec.encode(base, records, &mut learned, &mut packet).unwrap();
        assert_eq!(packet.remove(0), 7);
        let mut room: Vec<u32> = (0..records.len()).map(|_| self.random.word() as u32).collect();
        let mut received = learned.clone();
        assert_eq!(self.codec.decode(base, &mut room, &mut received, &packet), Ok(()));
        assert!(room == records);
        assert!(received == learned, "both sides learned the same");
        (learned, packet)
    }

    /// Sends each record against the previous one. Returns the last record and its learned state.
    fn chain(&mut self, walk: &mut Walk<'_>, count: usize) -> (Vec<u32>, Learned) {
        let (mut held, mut learned) = (walk.step().to_vec(), self.codec.nothing_learned());
        for _ in 0..count {
            let record = walk.step().to_vec();
            learned =
                self.send(Some(StreamBase { lanes: &held, learned: &learned, lag: 1 }), &record).0;
            held = record;
        }
        (held, learned)
    }
}

#[test]
fn records_come_back_and_both_sides_learn_the_same() {
    for schema in all_schemas() {
        for level in LEVELS {
            let codec = codec(&schema, level);
            let mut pair = Pair::new(&codec);
            let mut walk = Walk::new(&schema, 4);
            pair.send(None, &walk.records(1));
            pair.send(None, &walk.records(16));
            let (held, learned) = pair.chain(&mut walk, 300);
            for lag in [0, 1, 2, 7, 255, 256, 300, u16::MAX] {
                pair.send(
                    Some(StreamBase { lanes: &held, learned: &learned, lag }),
                    &walk.records(1 + usize::from(lag % 5)),
                );
            }
            // A lag of 0 counts as 1.
            let record = walk.records(1);
            let packets = [0, 1].map(|lag| {
                pair.send(Some(StreamBase { lanes: &held, learned: &learned, lag }), &record)
            });
            assert!(packets[0] == packets[1]);
        }
    }
}

/// A packet of several records has the same effect as separate packets.
#[test]
fn a_packet_of_several_records_learns_what_packets_of_one_do() {
    let schema = records_schema();
    let codec = codec(&schema, StreamLevel::Adaptive);
    let mut pair = Pair::new(&codec);
    let mut walk = Walk::new(&schema, 9);
    let (held, mut learned) = pair.chain(&mut walk, 50);
    let records = walk.records(8);
    let (of_all, packet) =
        pair.send(Some(StreamBase { lanes: &held, learned: &learned, lag: 3 }), &records);
    let (mut held, mut lag, mut bytes) = (&held[..], 3, 0);
    for record in records.chunks_exact(codec.lanes()) {
        let (of_one, packet) =
            pair.send(Some(StreamBase { lanes: held, learned: &learned, lag }), record);
        (held, learned, lag) = (record, of_one, 1);
        bytes += packet.len();
    }
    assert!(learned == of_all && packet.len() < bytes);
}

/// Returns the first `count` bits of the packet, from the first bit of the first byte on.
fn bits(packet: &[u8], count: usize) -> String {
    let mut model = BitModel::of(packet);
    assert!(count.div_ceil(8) == packet.len(), "{count} bits in {packet:02x?}");
    (0..count).map(|_| char::from(b'0' + model.read(1).unwrap() as u8)).collect()
}

/// Follows level `Packed` of `spec/CODEC.md`, bit by bit.
#[test]
fn a_packed_record_by_hand() {
    let line = FloatLimits::new(0.0, 100.0, 1.0).unwrap();
    let circle = FloatLimits::until(0.0, 10.0, 1.0).unwrap().wrapping();
    let schema = Schema::new(vec![
        Field::new("place", FieldKind::Floats(vec![line, circle])),
        Field::new("flag", FieldKind::Bool),
        Field::new("mode", FieldKind::Choice { max: 4 }),
        Field::new("turn", FieldKind::Rotation(SmallestThree::new(9).unwrap())),
        Field::new("call", FieldKind::Bytes { len: 4 }),
    ]);
    let codec = codec(&schema, StreamLevel::Packed);
    let nothing = codec.nothing_learned();
    let base = [10, 9, 0, 2, 3, 256, 256, 256, 0, 0, 0, 0];
    let mut pair = Pair::new(&codec);
    let mut coded = |record: &[u32], count| {
        let (_, packet) =
            pair.send(Some(StreamBase { lanes: &base, learned: &nothing, lag: 1 }), record);
        bits(&packet, count)
    };
    assert_eq!(coded(&base, 8), "00 0 0 0 00 0".replace(' ', ""));
    // The steps 2 and 1 (the short way round) become 4 and 2, of class 3. The choice 4 is number 3,
    // counted from 0, among 0, 1, 3 and 4: the values other than the base's 2.
    let changed = [12, 0, 1, 4, 3, 256, 257, 256, 0, 0, 5, 0];
    let place = "0101 001 010";
    // The differences are 0, 1 and 0, of class 2.
    let turn = "0 0100 00 01 00";
    let call = "10 01 00 10100000";
    assert_eq!(coded(&changed, 39), format!("{place} 1 1 11 {turn} {call}").replace(' ', ""));
    // These codes are not a rotation: with x dropped instead of w they become 256, 256 and 722,
    // which is clamped to 511.
    let turned = [10, 9, 0, 2, 0, 256, 256, 511, 0, 0, 0, 0];
    assert_eq!(coded(&turned, 10), "00 0 0 1 00 00 0".replace(' ', ""));
    let (_, packet) = pair.send(None, &changed);
    let in_full =
        "0011000 0000 1 001 11 000000001 100000001 000000001 00000000 00000000 10100000 00000000";
    assert_eq!(bits(&packet, in_full.replace(' ', "").len()), in_full.replace(' ', ""));
}

#[test]
fn unchanged_records_cost_almost_no_bits() {
    for schema in all_schemas() {
        let of_field = |field: &Field| match field.kind {
            FieldKind::Floats(_) | FieldKind::Raw { .. } => 2 * field.lanes().len().div_ceil(4),
            FieldKind::Integer(_) => 2 * field.lanes().len(),
            FieldKind::Rotation(_) => 3,
            FieldKind::Bytes { len } => usize::from(len).div_ceil(64),
            _ => 1,
        };
        for level in LEVELS {
            let codec = codec(&schema, level);
            let mut pair = Pair::new(&codec);
            let (held, mut learned) = pair.chain(&mut Walk::new(&schema, 4), 100);
            let present = schema.fields().iter().filter(|field| field.is_present(&held));
            let bits: usize = present.map(of_field).sum();
            let mut most_bytes = 0;
            for nth in 0..2000 {
                let (after, packet) =
                    pair.send(Some(StreamBase { lanes: &held, learned: &learned, lag: 1 }), &held);
                learned = after;
                most_bytes = if nth < 1000 { 0 } else { most_bytes.max(packet.len()) };
                assert!(level == StreamLevel::Adaptive || packet.len() == bits.div_ceil(8));
            }
            assert!(level == StreamLevel::Packed || most_bytes <= 1, "{most_bytes} bytes");
        }
    }
}

/// Codes half an hour of packets of one to three records, each packet against the newest
/// acknowledged record. A third of the packets and of the acknowledgements is lost.
#[test]
fn lost_packets_cause_no_drift() {
    const RECORDS: usize = 100_000;
    let line = FloatLimits::until(-1000.0, 1000.0, 0.01).unwrap();
    let angle = FloatLimits::until_with_bits(0.0, 360.0, 16).unwrap().wrapping();
    let time = IntegerLimits::new(0, i128::from(u32::MAX), 1).unwrap();
    let schema = Schema::new(vec![
        Field::new("place", FieldKind::Floats(vec![line; 3])),
        Field::new("speed", FieldKind::Floats(vec![line; 3])).with_velocity_of("place"),
        Field::new("view", FieldKind::Floats(vec![angle; 2])),
        Field::new("head", FieldKind::Rotation(SmallestThree::new(9).unwrap())),
        Field::new("time", FieldKind::Integer(time)).with_role(Role::Clock),
        Field::new("keys", FieldKind::Raw { lanes: 1 }),
        Field::new("call", FieldKind::Bytes { len: 8 }),
    ]);
    for level in LEVELS {
        let codec = codec(&schema, level);
        let mut pair = Pair::new(&codec);
        let (mut walk, mut random) = (Walk::new(&schema, 11), Random::new(1));
        let mut sent = 1;
        let mut held = (0, walk.step().to_vec(), codec.nothing_learned());
        // The packets whose acknowledgements have not arrived yet.
        let mut on_the_way = Vec::new();
        while sent < RECORDS {
            let count = 1 + random.below(3) as usize;
            let records = walk.records(count);
            let base = StreamBase { lanes: &held.1, learned: &held.2, lag: (sent - held.0) as u16 };
            let (learned, _) = pair.send(Some(base), &records);
            sent += count;
            if !random.one_in(3) {
                on_the_way.push((
                    sent - 1,
                    records[records.len() - codec.lanes()..].to_vec(),
                    learned,
                ));
            }
            if on_the_way.len() > 4 && !random.one_in(3) {
                held = on_the_way.swap_remove(4);
                on_the_way.retain(|(index, ..)| *index > held.0);
            }
        }
    }
}

fn any_records(schema: &Schema, random: &mut Random, count: usize) -> Vec<u32> {
    let lanes = schema.lanes().iter().cycle().take(count * schema.lanes().len());
    let value = |lane: &Lane| [0, lane.max, random.up_to(lane.max)][random.below(3) as usize];
    let mut records: Vec<u32> = lanes.map(value).collect();
    let count = schema.lanes().len().max(1);
    records.chunks_mut(count).for_each(|record| schema.clear_absent(record));
    records
}

/// Makes a schema's index, a level's index, the seed of everything else, the number of records
/// before the base, the base's lag, and the number of records.
fn any_stream() -> impl Strategy<Value = (usize, usize, u64, u32, u16, usize)> {
    let lag = prop_oneof![Just(0), Just(u16::MAX), 1u16..300, any::<u16>()];
    (0..all_schemas().len(), 0..LEVELS.len(), any::<u64>(), 0u32..20, lag, 1usize..9)
}

#[test]
fn any_records_come_back_and_any_bytes_are_records_or_errors() {
    let schemas = all_schemas();
    let streams = (any_stream(), prop::collection::vec(any::<u8>(), 0..200));
    for_all(3000, streams, |((schema, level, seed, steps, lag, count), bytes)| {
        let codec = codec(&schemas[schema], LEVELS[level]);
        let (mut pair, mut random) = (Pair::new(&codec), Random::new(seed));
        let (mut held, mut learned) =
            (any_records(codec.schema(), &mut random, 1), codec.nothing_learned());
        for _ in 0..steps {
            let record = any_records(codec.schema(), &mut random, 1);
            let bits = random.below(17);
            let lag = random.below(1 << bits) as u16;
            learned =
                pair.send(Some(StreamBase { lanes: &held, learned: &learned, lag }), &record).0;
            held = record;
        }
        let base = Some(StreamBase { lanes: &held, learned: &learned, lag }).filter(|_| steps != 1);
        let records = any_records(codec.schema(), &mut random, count);
        let (_, packet) = pair.send(base, &records);

        let mut noise = vec![bytes];
        noise.extend(
            (0..3).filter(|_| !packet.is_empty()).map(|round| random.damaged(&packet, round)),
        );
        for bytes in noise {
            let mut room = vec![u32::MAX; records.len()];
            let mut received = codec.nothing_learned();
            if codec.decode(base, &mut room, &mut received, &bytes).is_ok() {
                assert_eq!(codec.check_lanes(&room), Ok(()));
                pair.send(base, &room);
            }
        }
    });
}

#[test]
fn packets_survive_the_battery() {
    for schema in all_schemas() {
        for level in LEVELS {
            let codec = codec(&schema, level);
            let mut pair = Pair::new(&codec);
            let mut walk = Walk::new(&schema, 21);
            let (held, learned) = pair.chain(&mut walk, 20);
            let ends =
                if level == StreamLevel::Packed { Ends::Reported } else { Ends::OtherDecisions };
            let base = StreamBase { lanes: &held, learned: &learned, lag: 6 };
            for (base, count) in [(None, 1), (Some(base), 1), (Some(base), 3)] {
                let records = walk.records(count);
                let (_, valid) = pair.send(base, &records);
                let (mut room, mut received) = (vec![0; records.len()], codec.nothing_learned());
                battery_of("stream", &valid, ends, |bytes| {
                    codec.decode(base, &mut room, &mut received, bytes)?;
                    assert_eq!(codec.check_lanes(&room), Ok(()));
                    assert!(bytes != valid || room == records);
                    Ok(())
                });
            }
        }
    }
}

/// If the expected size is the largest, the residual's code also has sizes beyond 32 bits.
#[test]
fn a_residual_of_more_than_32_bits_is_refused() {
    let circle = FloatLimits::until_with_bits(-1.0, 1.0, 32).unwrap().wrapping();
    let schema = Schema::new(vec![Field::new("circle", FieldKind::Floats(vec![circle]))]);
    let codec = codec(&schema, StreamLevel::Adaptive);
    let (mut pair, mut random) = (Pair::new(&codec), Random::new(1));
    let (mut held, mut learned) = ([0], codec.nothing_learned());
    for _ in 0..30 {
        let record = [random.word() as u32];
        learned =
            pair.send(Some(StreamBase { lanes: &held, learned: &learned, lag: 1 }), &record).0;
        held = record;
    }
    let base = Some(StreamBase { lanes: &held, learned: &learned, lag: u16::MAX });
    let mut refused = 0;
    for _ in 0..3000 {
        let noise = random.bytes(9);
        let decoded = codec.decode(base, &mut [0], &mut codec.nothing_learned(), &noise);
        refused += u32::from(matches!(decoded, Err(DecodeError::OutOfRange { at_bit: 72 })));
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_schema_without_lanes_is_refused() {
    for fields in [vec![], vec![Field::new("nothing", FieldKind::Raw { lanes: 0 })]] {
        for level in LEVELS {
            let refused = StreamCodec::new(Schema::new(fields.clone()), level);
            assert_eq!(refused.map(|codec| codec.lanes()), Err(SetupError::NoLanes));
        }
    }
}

/// Encodes and decodes with arguments that may be wrong. Checks that nothing is appended if the
/// encoder refuses.
fn both(
    codec: &StreamCodec,
    base: Option<StreamBase<'_>>,
    records: &[u32],
) -> (Result<(), EncodeError>, Option<DecodeError>) {
    let mut packet = vec![1, 2, 3];
    let encoded = codec.encode(base, records, &mut codec.nothing_learned(), &mut packet);
    assert!(encoded.is_ok() || packet == [1, 2, 3]);
    let decoded =
        codec.decode(base, &mut records.to_vec(), &mut codec.nothing_learned(), &packet[3..]);
    (encoded, decoded.err())
}

#[test]
fn other_numbers_of_lanes_are_refused() {
    let schema = records_schema();
    for level in LEVELS {
        let codec = codec(&schema, level);
        let expected_lanes = codec.lanes();
        let (record, learned) = (vec![0; expected_lanes], codec.nothing_learned());
        let refused = |lanes| {
            (
                Err(EncodeError::LaneCount { expected_lanes, lanes }),
                Some(DecodeError::LaneCount { expected_lanes, lanes }),
            )
        };
        for lanes in [0, 1, expected_lanes - 1, expected_lanes + 1, 2 * expected_lanes + 1] {
            let base = StreamBase { lanes: &record, learned: &learned, lag: 1 };
            assert_eq!(both(&codec, None, &vec![0; lanes]), refused(lanes));
            assert_eq!(both(&codec, Some(base), &vec![0; lanes]), refused(lanes));
            let other = vec![0; lanes];
            assert_eq!(
                both(&codec, Some(StreamBase { lanes: &other, ..base }), &record),
                refused(lanes)
            );
        }
    }
}

#[test]
fn lanes_above_their_largest_value_are_refused() {
    let schema = records_schema();
    for level in LEVELS {
        let codec = codec(&schema, level);
        let learned = codec.nothing_learned();
        let good: Vec<u32> = Walk::new(&schema, 6).records(3);
        let lanes = codec.lanes();
        let base = StreamBase { lanes: &good[..lanes], learned: &learned, lag: 1 };
        for index in 0..good.len() {
            let (lane, max) = (index % lanes, schema.lanes()[index % lanes].max);
            for value in [max.saturating_add(1), u32::MAX].into_iter().filter(|value| *value > max)
            {
                let mut bad = good.clone();
                bad[index] = value;
                let refusal = Err(EncodeError::LaneOutOfRange { id: None, lane, value });
                assert_eq!(both(&codec, Some(base), &bad).0, refusal);
                assert_eq!(both(&codec, None, &bad).0, refusal);
            }
        }
    }
}

#[test]
fn the_learned_state_of_another_codec_is_refused_if_it_matters() {
    let schema = records_schema();
    let [packed, adaptive] = LEVELS.map(|level| codec(&schema, level));
    // Another codec's learned state of the same size is refused, and so are those of other sizes.
    let renamed = Schema::new(
        schema.fields().iter().map(|field| Field::new("x", field.kind.clone())).collect(),
    );
    let others = [
        codec(&renamed, StreamLevel::Adaptive),
        codec(&bodies_schema(), StreamLevel::Adaptive),
        packed.clone(),
    ];
    let record = vec![0; adaptive.lanes()];
    for other in others {
        let learned = other.nothing_learned();
        let base = Some(StreamBase { lanes: &record, learned: &learned, lag: 1 });
        let refused = (Err(EncodeError::ForeignLearned), Some(DecodeError::NothingLearned));
        assert_eq!(both(&adaptive, base, &record), refused);
        // Level `Packed` does not learn.
        assert_eq!(both(&packed, base, &record), (Ok(()), None));
    }
    // The buffers for results may have any content.
    let (mut learned, mut packet) = (Learned::default(), Vec::new());
    adaptive.encode(None, &record, &mut learned, &mut packet).unwrap();
    assert!(learned == adaptive.nothing_learned());
    assert_eq!((packed.nothing_learned().memory_bytes(), learned.memory_bytes() > 1000), (0, true));
}

#[test]
fn codecs_that_cannot_read_each_other_differ_in_hash() {
    let line = || FieldKind::Floats(vec![FloatLimits::new(0.0, 1.0, 0.1).unwrap()]);
    let speed = |of: &str| Field::new("speed", line()).with_velocity_of(of);
    let schema = |speed| Schema::new(vec![Field::new("x", line()), Field::new("y", line()), speed]);
    let [of_none, of_x, of_y] = ["", "x", "y"].map(|name| schema(speed(name)));
    let [packed, adaptive] =
        LEVELS.map(|level| [&of_none, &of_x, &of_y].map(|schema| codec(schema, level).hash()));
    assert_eq!(packed, [packed[0]; 3]);
    let mut all = [&packed[..1], &adaptive].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4);
}
