//! Encoders and decoders do not allocate in steady state, and hostile packets cause only bounded
//! allocations.
//!
//! `allocation-counter` counts only the calling thread's allocations, so these tests can run in
//! parallel.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::VecDeque;

use allocation_counter::{AllocationInfo, measure};
use kinepack::bits::{BitReader, BitSink, BitWriter};
use kinepack::codec::Chosen;
use kinepack::group::{GroupReader, GroupWriter};
use kinepack::magnitude::{read_steps, write_steps};
use kinepack::rle::{
    decode_difference, encode_difference, read_sparse_difference, write_sparse_difference,
};
use kinepack::stream::{StreamBase, StreamCodec, StreamLevel};
use kinepack::{
    Baselines, Codec, DecodeError, DecodeLimits, Decoder, Encoder, EntityId, Level, Pack, Profile,
    Schema, Snapshot, Tick, View,
};
use support::{
    DECODED, Walk, at_tick, bodies_schema, frames, profiles, records_schema, schema, schemas, views,
};

/// The number of rounds over the same frames before the test counts allocations. After these
/// rounds, encoder and decoder have seen the largest sizes, and each reused view has held them. At
/// the learning level, some packets are packed and share a learned state. For some rounds these are
/// different packets in each round.
const WARM_UP_ROUNDS: usize = 10;

/// An encoder and a decoder, with their views. Each side keeps the last three views, and recycles
/// the oldest.
struct Sides {
    encoder: Encoder,
    decoder: Decoder,
    packet: Vec<u8>,
    sent: VecDeque<View>,
    received: VecDeque<View>,
}

impl Sides {
    fn new(codec: &Codec, empty: &View, is_counting: bool) -> Self {
        let mut encoder = Encoder::new(codec);
        encoder.count_entity_bits(is_counting);
        let [sent, received] = [(); 2].map(|()| VecDeque::from([empty.clone()]));
        Self { encoder, decoder: Decoder::new(codec), packet: Vec::new(), sent, received }
    }

    /// Sends a run again, with later ticks. Returns whether both sides hold the run exactly.
    fn send(&mut self, run: &mut [Snapshot]) -> bool {
        let Self { encoder, decoder, packet, sent, received } = self;
        let span = run[run.len() - 1].tick.0 - run[0].tick.0 + 1;
        let mut is_exact = true;
        for snapshot in run {
            snapshot.tick.0 += span;
            packet.clear();
            let view = encoder.encode(Baselines::new(&*sent).unwrap(), snapshot, packet).unwrap();
            let decoded =
                decoder.decode(Baselines::new(&*received).unwrap(), packet, snapshot.tick).unwrap();
            assert!(view == decoded);
            is_exact &= **view.snapshot() == *snapshot;
            sent.push_front(view);
            received.push_front(decoded);
            if sent.len() > 3 {
                sent.pop_back().into_iter().for_each(|view| encoder.recycle(view));
                received.pop_back().into_iter().for_each(|view| decoder.recycle(view));
            }
        }
        is_exact
    }
}

#[test]
fn encoding_and_decoding_do_not_allocate_in_steady_state() {
    for (schema_name, schema) in schemas().into_iter().chain([
        ("bodies", bodies_schema()),
        ("optional", schema("optional")),
        ("coarser", schema("coarser")),
        ("breaks", schema("breaks")),
        ("kinds", schema("kinds")),
    ]) {
        let mut run = frames(&schema, 3, 20, 9);
        // The run ends with a snapshot that equals its baseline, and one without entities.
        let last = run[8].tick.0;
        run.extend([at_tick(&run[8], Tick(last + 1)), at_tick(&run[0], Tick(last + 4))]);
        let (empty, mut run) = (View::from(run[0].clone()), run.split_off(1));
        let profiles = profiles(&schema);
        for (level, is_counting) in
            Level::TABLE.into_iter().flat_map(|level| [(level, false), (level, true)])
        {
            for (profile_name, profile) in &profiles {
                let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
                let mut sides = Sides::new(&codec, &empty, is_counting);
                let exact = (0..WARM_UP_ROUNDS).filter(|_| sides.send(&mut run)).count();
                assert!(exact == WARM_UP_ROUNDS || codec.has_precision());
                let counted = measure(|| {
                    sides.send(&mut run);
                });
                assert_eq!(
                    counted.count_total,
                    0,
                    "{schema_name}, {}, {profile_name}: {counted:?}",
                    level.row()
                );
            }
        }
    }
}

#[test]
fn groups_do_not_allocate_in_steady_state() {
    let schema = schema("cube");
    let run = frames(&schema, 3, 20, 12);
    for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let (mut writer, mut reader) = (GroupWriter::new(&codec), GroupReader::new(&codec));
        let mut group = Vec::new();
        let mut round = || {
            group.clear();
            writer.begin(None);
            reader.begin(None);
            for world in &run {
                writer.write(world, &mut group).unwrap();
            }
            let mut bytes = &group[..];
            while reader.read(&mut bytes).unwrap().is_some() {}
        };
        (0..WARM_UP_ROUNDS).for_each(|_| round());
        assert_eq!(measure(round).count_total, 0, "{}", level.row());
    }
}

/// More entities change than a stable sort can sort without allocating memory.
#[test]
fn many_entities_do_not_allocate_in_steady_state() {
    let schema = schema("cube");
    let mut run = frames(&schema, 3, 2000, 6);
    let (empty, mut run) = (View::from(run[0].clone()), run.split_off(1));
    for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let mut sides = Sides::new(&codec, &empty, false);
        (0..WARM_UP_ROUNDS).for_each(|_| {
            sides.send(&mut run);
        });
        let counted = measure(|| {
            sides.send(&mut run);
        });
        assert_eq!(counted.count_total, 0, "{}: {counted:?}", level.row());
    }
}

#[test]
fn coarser_values_do_not_allocate_in_steady_state() {
    let schema = schema("moving");
    let mut run = frames(&schema, 3, 20, 12);
    let (empty, mut run) = (View::from(run[0].clone()), run.split_off(1));
    for level in Level::TABLE {
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let mut sides = Sides::new(&codec, &empty, false);
        let exact = (0..WARM_UP_ROUNDS).filter(|_| sides.send(&mut run)).count();
        let counted = measure(|| {
            sides.send(&mut run);
        });
        assert_eq!(counted.count_total, 0, "{}: {counted:?}", level.row());
        assert_eq!(exact, if codec.has_precision() { 0 } else { WARM_UP_ROUNDS });
    }
}

#[test]
fn writing_a_part_does_not_allocate_in_steady_state() {
    for schema in [schema("cube"), schema("moving"), bodies_schema()] {
        let run = same_entities(&frames(&schema, 3, 20, 8));
        let indices: Vec<u32> = (0..run[0].len() as u32).filter(|index| index % 3 > 0).collect();
        for level in Level::TABLE.into_iter().filter(|level| level.row() >= 7) {
            let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
            let (mut encoder, mut packet) = (Encoder::new(&codec), Vec::new());
            let mut round = || {
                for (limit_bytes, states) in
                    [usize::MAX, 20].into_iter().cycle().zip(run.windows(3))
                {
                    packet.clear();
                    let baselines = Baselines::new([&states[1], &states[0]]).unwrap();
                    let chosen = Chosen::Some { indices: &indices, limit_bytes };
                    let view =
                        encoder.write(baselines, &states[2], chosen, &mut packet).unwrap().view();
                    encoder.recycle(view);
                    let coarse = encoder.coarse(baselines, states[2].snapshot()).unwrap();
                    encoder.recycle(coarse.into());
                }
            };
            (0..WARM_UP_ROUNDS).for_each(|_| round());
            assert_eq!(measure(round).count_total, 0, "{}", level.row());
        }
    }
}

/// Makes views of a run, each with the entities of the last one.
fn same_entities(run: &[Snapshot]) -> Vec<View> {
    let last = &run[run.len() - 1];
    let of_last = |state: &Snapshot| {
        let mut rows = state.clone();
        rows.retain(last.ids());
        let mut same = at_tick(last, state.tick);
        same.patch(&[], &rows).unwrap();
        same
    };
    views(run[1..].iter().map(of_last))
}

#[derive(Pack)]
struct Ball {
    #[pack(range = -100.0..=100.0, precision = 0.01)]
    position: [f32; 3],
    #[pack(rotation, bits = 10)]
    orientation: [f32; 4],
    serial: u64,
    alive: bool,
}

#[test]
fn refilling_a_snapshot_does_not_allocate() {
    let schema = Schema::of::<Ball>();
    let mut snapshot = Snapshot::new(&schema, Tick(0));
    let mut fill = || {
        snapshot.clear(Tick(1));
        for id in 0..500 {
            let orientation = [0.0, 0.0, 0.6, 0.8];
            let ball = Ball {
                position: [id as f32 / 10.0; 3],
                orientation,
                serial: 1 << 40,
                alive: id % 2 == 0,
            };
            snapshot.push(EntityId(id), &ball).unwrap();
        }
    };
    fill();
    assert_eq!(measure(&mut fill).count_total, 0);
    assert_eq!(snapshot.len(), 500);
}

#[test]
fn a_writer_over_a_lent_buffer_does_not_allocate() {
    let mut buffer = [0; 100];
    let counted = measure(|| {
        let mut writer = BitWriter::lend(&mut buffer);
        (0..40).for_each(|bits| writer.write(u64::MAX, bits));
        assert_eq!(writer.finish(), Ok(98));
    });
    assert_eq!(counted.count_total, 0);
}

/// The packets announce more than they hold, but the memory stays within the limits.
#[test]
fn a_refused_packet_takes_no_more_memory_than_the_limits_allow() {
    const MAX_ENTITIES: u32 = 100;
    for (schema_name, schema) in schemas()
        .into_iter()
        .chain(["optional", "coarser", "breaks", "kinds"].map(|name| (name, schema(name))))
    {
        let bytes_per_entity = 4 * schema.lanes().len() as u64 + 16 + schema.fields().len() as u64;
        // A growing vector takes up to twice its content, and as much again while it is
        // reallocated.
        let bound = 4 * u64::from(MAX_ENTITIES) * bytes_per_entity + 4096;
        let baseline = View::empty(&schema);
        for level in Level::TABLE {
            let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
            for packet in bombs(MAX_ENTITIES) {
                let mut decoder =
                    Decoder::with_limits(&codec, DecodeLimits { max_entities: MAX_ENTITIES });
                // Gives the decoder the memory of a view without entities.
                decoder.recycle(View::empty(&schema));
                let mut refusal = None;
                let counted: AllocationInfo =
                    measure(|| refusal = decoder.decode(&baseline, &packet, DECODED).err());
                assert!(
                    counted.bytes_max <= bound,
                    "{schema_name}, {}: {counted:?}, bound {bound}",
                    level.row()
                );
                if let Some(DecodeError::TooManyEntities { count, limit }) = refusal {
                    assert!(count > u64::from(limit) && counted.count_total == 0, "{counted:?}");
                }
            }
        }
    }
}

/// Makes packets against an empty baseline: each announces a number of added entities, and
/// arbitrary bits follow.
fn bombs(limit: u32) -> Vec<Vec<u8>> {
    let counts = [
        1,
        u64::from(limit) - 1,
        u64::from(limit),
        u64::from(limit) + 1,
        70_000,
        (1 << 32) - 1,
        (1 << 33) - 2,
    ];
    let mut packets = Vec::new();
    for count in counts {
        for tail in [0x00, 0xFF] {
            let mut packet = Vec::new();
            let mut writer = BitWriter::append(&mut packet);
            writer.write_bool(true);
            // This is the Elias gamma code of the count plus 1.
            let below_bits = (count + 1).ilog2();
            writer.write(1 << below_bits, below_bits + 1);
            writer.write(count + 1, below_bits);
            writer.finish().unwrap();
            packet.resize(packet.len() + 20_000, tail);
            packets.push(packet);
        }
    }
    packets
}

#[test]
fn bytes_and_small_numbers_allocate_no_more_than_the_room_for_them() {
    let base = [7; 100];
    let mut bytes = base;
    bytes[20..30].fill(9);
    let [mut runs, mut sparse, mut back] = [const { Vec::new() }; 3];
    let mut round = || {
        [&mut runs, &mut sparse, &mut back].into_iter().for_each(Vec::clear);
        encode_difference(&base, &bytes, &mut runs);
        decode_difference(&base, &runs, bytes.len(), &mut back).unwrap();
        let mut writer = BitWriter::append(&mut sparse);
        write_sparse_difference(&mut writer, &base, &bytes);
        write_steps(&mut writer, [3, -1, 0]).unwrap();
        writer.finish().unwrap();
        let mut reader = BitReader::new(&sparse);
        read_sparse_difference(&mut reader, &base, bytes.len(), &mut back).unwrap();
        assert_eq!(read_steps(&mut reader), Ok([3, -1, 0]));
        assert!(back.ends_with(&bytes));
    };
    round();
    assert_eq!(measure(round).count_total, 0);
    // A few bytes of runs decode to many bytes, so only the limit bounds the memory.
    let many = [128, 1].repeat(1000);
    let counted =
        measure(|| assert!(decode_difference(&base, &many, 1000, &mut Vec::new()).is_err()));
    assert!(counted.bytes_max <= 4000, "{counted:?}");
}

#[test]
fn a_stream_does_not_allocate_in_steady_state() {
    for schema in [records_schema(), bodies_schema(), schema("wide")] {
        for level in [StreamLevel::Packed, StreamLevel::Adaptive] {
            let codec = StreamCodec::new(schema.clone(), level).unwrap();
            let lanes = codec.lanes();
            let records = Walk::new(&schema, 5).records(80);
            // Each side keeps the learned states at the base and at the last record.
            let [mut held, mut learned, mut received] = [(); 3].map(|()| codec.nothing_learned());
            let (mut packet, mut room) = (Vec::new(), vec![0; 3 * lanes]);
            let mut round = || {
                for first in (0..76).step_by(3) {
                    let next = &records[(first + 1) * lanes..(first + 4) * lanes];
                    let base = StreamBase {
                        lanes: &records[first * lanes..(first + 1) * lanes],
                        learned: &held,
                        lag: 1,
                    };
                    let base = (first > 0).then_some(base);
                    packet.clear();
                    codec.encode(base, next, &mut learned, &mut packet).unwrap();
                    codec.decode(base, &mut room, &mut received, &packet).unwrap();
                    assert!(room == next && received == learned);
                    // Decoding damaged packets does not allocate either.
                    packet.iter_mut().for_each(|byte| *byte ^= 0x55);
                    let _ = codec.decode(base, &mut room, &mut received, &packet);
                    std::mem::swap(&mut held, &mut learned);
                }
            };
            round();
            let counted = measure(round);
            assert_eq!(counted.count_total, 0, "{level:?}: {counted:?}");
        }
    }
}

#[test]
fn the_memory_of_a_codec_is_known_before_it_is_made() {
    for (name, schema) in schemas().into_iter().chain([("bodies", bodies_schema())]) {
        for (_, profile) in profiles(&schema) {
            for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
                let mut made = None;
                let given = (schema.clone(), profile.clone());
                let info = measure(|| made = Some(Codec::new(given.0, level, given.1).unwrap()));
                // The profile was moved into the codec, so the profile's own memory is not new.
                let codec = made.unwrap();
                let (counted, new) = (codec.memory_bytes() as u64, info.bytes_current as u64);
                assert!(2 * (counted + 1024) > new, "{name}, {}: {counted} of {new}", level.row());
                let (given, least) = ((schema.clone(), profile.clone()), counted as usize);
                if least == 0 {
                    continue;
                }
                let refused = Codec::within(given.0, level, given.1, least - 1).err();
                let expected = kinepack::SetupError::CodecTooLarge {
                    memory_bytes: least,
                    max_memory_bytes: least - 1,
                };
                assert_eq!(refused, Some(expected));
                assert!(Codec::within(schema.clone(), level, profile.clone(), least).is_ok());
            }
        }
    }
}
