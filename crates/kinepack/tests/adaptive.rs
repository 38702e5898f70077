//! Tests of the adaptive level: whatever views both sides hold, a decoded snapshot equals the
//! encoded one lane for lane. Profiles can be read back from their files.

use std::collections::BTreeMap;

use kinepack::codec::Chosen;
use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{
    Baselines, BaselinesError, Codec, DecodeError, Decoder, Encoder, EntityId, Level, Profile,
    Schema, SetupError, Snapshot, Tick, View,
};

use crate::support::{
    Random, assert_valid, at_tick, bodies, bodies_run as run, bodies_schema as schema,
    check_stored_schema, from_hex, hex, profile_of, trained, views,
};

fn profiles(schema: &Schema) -> [Profile; 3] {
    [trained(schema, Some(bodies(schema))), trained(schema, None), Profile::untrained(schema)]
}

/// Makes a view of the same state, `ticks` later; ticks wrap.
fn later(state: &Snapshot, ticks: u32) -> View {
    at_tick(state, Tick(state.tick.0.wrapping_add(ticks))).into()
}

#[test]
fn snapshots_come_back_whatever_both_sides_know() {
    let schema = schema();
    for profile in profiles(&schema) {
        let codec = Codec::new(schema.clone(), Level::ADAPTIVE, profile).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let empty = View::empty(&schema);
        for (seed, entities) in [(2, 1), (3, 7), (4, 60)] {
            let run = views(run(&schema, seed, entities, 30));
            let mut check = |known: &[&View], snapshot: &View| {
                let mut round_trip = |known: &[&View], snapshot: &View| {
                    let mut packet = Vec::new();
                    let baselines = Baselines::new(known.iter().copied()).unwrap();
                    let sent = encoder.encode(baselines, snapshot, &mut packet).unwrap();
                    let decoded = decoder.decode(baselines, &packet, snapshot.tick).unwrap();
                    assert!(decoded == sent && sent == *snapshot);
                    packet
                };
                let packet = round_trip(known, snapshot);
                // The result is the same if ticks wrap between the newest and the oldest view,
                // because only the distances between ticks count.
                let oldest = known[known.len() - 1].tick.0;
                for to in [u32::MAX, u32::MAX - 2] {
                    let wrapped: Vec<View> =
                        known.iter().map(|view| later(view, to - oldest)).collect();
                    let wrapped: Vec<&View> = wrapped.iter().collect();
                    assert_eq!(round_trip(&wrapped, &later(snapshot, to - oldest)), packet);
                }
            };
            check(&[&empty], &run[0]);
            for frame in 9..run.len() {
                let [now, one, three, four, nine] = [0, 1, 3, 4, 9].map(|back| &run[frame - back]);
                check(&[one], now);
                check(&[one, three], now);
                check(&[three, four, nine], now);
                check(&[nine, &empty], now);
                check(&[one, three, four, nine], now);
                // The views need not be of consecutive ticks.
                check(&[now, one, four], nine);
                let without_entities = &later(&empty, now.tick.0);
                check(&[without_entities, one, three], now);
            }
        }
    }
}

#[test]
fn views_are_given_the_newest_first() {
    let schema = schema();
    let at = |tick| View::from(Snapshot::new(&schema, Tick(tick)));
    let made = |ticks: &[u32]| {
        let views: Vec<View> = ticks.iter().map(|tick| at(*tick)).collect();
        Baselines::new(&views).map(|baselines| baselines.len())
    };
    assert_eq!(made(&[7]), Ok(1));
    assert_eq!(made(&[7, 6, 3, 0]), Ok(4));
    assert_eq!(made(&[1, 0, u32::MAX, 1 << 31]), Ok(4));
    assert_eq!(
        made(&[5, u32::MAX - 5, 1 << 31, 5]),
        Ok(4),
        "each is compared with the one in front of it"
    );
    assert_eq!(made(&[(1 << 31) - 1, 0]), Ok(2));

    assert_eq!(made(&[]), Err(BaselinesError::None));
    assert_eq!(made(&[9, 8, 7, 6, 5]), Err(BaselinesError::TooMany));
    assert_eq!(made(&[9, 8, 7, 6, 6]), Err(BaselinesError::TooMany));
    let not_older = |tick, newer| Err(BaselinesError::NotOlder { tick, newer });
    assert_eq!(made(&[7, 7]), not_older(7, 7));
    assert_eq!(made(&[7, 8]), not_older(8, 7));
    assert_eq!(made(&[7, 3, 4]), not_older(4, 3));
    assert_eq!(made(&[7, 3, 3, 1]), not_older(3, 3));
    assert_eq!(made(&[u32::MAX, 0]), not_older(0, u32::MAX));
    assert_eq!(made(&[1 << 31, 0]), not_older(0, 1 << 31));

    let view = at(7);
    assert_eq!(Baselines::from(&view).len(), 1);
}

#[test]
fn a_part_of_the_changes_leaves_the_rest_unchanged() {
    let schema = schema();
    let codec =
        Codec::new(schema.clone(), Level::ADAPTIVE, trained(&schema, Some(bodies(&schema))))
            .unwrap();
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let run = views(run(&schema, 5, 40, 30));
    let mut parts = 0;
    for pair in run.windows(2).filter(|pair| pair[0].ids() == pair[1].ids()) {
        let indices: Vec<u32> = (0..pair[0].len() as u32).filter(|index| index % 3 == 1).collect();
        let mut packet = Vec::new();
        let sent = encoder
            .write(&pair[0], &pair[1], Chosen::entities(&indices), &mut packet)
            .unwrap()
            .view();
        let out = decoder.decode(&pair[0], &packet, pair[1].tick).unwrap();
        assert!(out == sent);
        for index in 0..out.len() {
            let from = &pair[usize::from(index % 3 == 1)];
            assert!(
                (0..out.lane_count()).all(|lane| out.lane(lane)[index] == from.lane(lane)[index])
            );
        }
        parts += 1;
    }
    assert!(parts > 5);
}

#[test]
fn a_packet_that_is_full_ends_on_the_way() {
    let schema = schema();
    for level in [Level::ADAPTIVE, Level::LEARNING] {
        let codec =
            Codec::new(schema.clone(), level, trained(&schema, Some(bodies(&schema)))).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let run = views(run(&schema, 5, 60, 40));
        let mut ended = 0;
        for pair in run.windows(2).filter(|pair| pair[0].ids() == pair[1].ids()) {
            let indices: Vec<u32> =
                (0..pair[0].len() as u32).filter(|index| index % 5 > 0).collect();
            let (mut whole, mut packet) = (Vec::new(), Vec::new());
            let encoded =
                encoder.write(&pair[0], &pair[1], Chosen::entities(&indices), &mut whole).unwrap();
            let all = encoded.size().changed_entities;
            assert!(encoded.unsent().is_empty());
            for share in 0..=8 {
                packet.clear();
                let limit_bytes = whole.len() * share / 7;
                let chosen = Chosen::Some { indices: &indices, limit_bytes };
                let encoded = encoder.write(&pair[0], &pair[1], chosen, &mut packet).unwrap();
                let size = encoded.size();
                let bits = size.sets_bits + size.fields_bits.iter().sum::<u64>();
                let (sent, unsent) = (size.changed_entities, encoded.unsent().to_vec());
                let view = encoded.view();
                assert_eq!(bits.div_ceil(8), packet.len() as u64);
                assert!(unsent.is_sorted() && unsent.iter().all(|index| indices.contains(index)));
                assert_eq!(sent + unsent.len(), all);
                assert!(share < 8 || (unsent.is_empty() && packet == whole));
                // The set of entities is coded before the first entity's values, and the first
                // entity is always sent, so small limits are exceeded.
                assert!(
                    share < 2 || packet.len() <= limit_bytes + 24,
                    "{} of {limit_bytes} bytes",
                    packet.len()
                );
                ended += usize::from(!unsent.is_empty());
                let out = decoder.decode(&pair[0], &packet, pair[1].tick).unwrap();
                assert!(out == view);
                for index in 0..out.len() {
                    let is_sent = index % 5 > 0 && unsent.binary_search(&(index as u32)).is_err();
                    let from = &pair[usize::from(is_sent)];
                    assert!(
                        (0..out.lane_count())
                            .all(|lane| out.lane(lane)[index] == from.lane(lane)[index])
                    );
                }
            }
        }
        assert!(ended > 10, "{ended}");
    }
}

#[test]
fn a_profile_that_does_not_fit_costs_no_more_than_packing_bits() {
    let schema = schema();
    let profile = trained(&schema, Some(bodies(&schema)));
    let codec = |level| Codec::new(schema.clone(), level, profile.clone()).unwrap();
    let (mut adaptive, mut packed) =
        (Encoder::new(&codec(Level::ADAPTIVE)), Encoder::new(&codec(Level::PACKED)));
    let mut random = Random::new(6);
    let noise = |random: &mut Random| {
        let mut snapshot = Snapshot::new(&schema, Tick(random.below(1000) as u32));
        for id in 0..30 {
            let row: Vec<u32> = schema
                .lanes()
                .iter()
                .map(|lane| random.below(u64::from(lane.max) + 1) as u32)
                .collect();
            snapshot.push_lanes(EntityId(id), &row).unwrap();
        }
        View::from(snapshot)
    };
    for _ in 0..20 {
        let [before, after] = [noise(&mut random), noise(&mut random)];
        let (mut short, mut plain) = (Vec::new(), Vec::new());
        adaptive.encode(&before, &after, &mut short).unwrap();
        packed.encode(&before, &after, &mut plain).unwrap();
        assert!(short.len() <= plain.len() + 1, "{} bytes, packed {}", short.len(), plain.len());
    }
}

#[test]
fn any_bytes_are_a_snapshot_or_an_error() {
    let schema = schema();
    let run = views(run(&schema, 7, 25, 20));
    for profile in profiles(&schema) {
        let codec = Codec::new(schema.clone(), Level::ADAPTIVE, profile).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let mut random = Random::new(8);
        for frame in 4..run.len() {
            let baselines = Baselines::new([1, 3, 4].map(|back| &run[frame - back])).unwrap();
            let mut packet = Vec::new();
            encoder.encode(baselines, &run[frame], &mut packet).unwrap();
            for round in 0..200 {
                let bytes = random.damaged(&packet, round);
                if let Ok(view) = decoder.decode(baselines, &bytes, run[frame].tick) {
                    assert_valid(&schema, &view);
                }
            }
            let view = decoder.decode(baselines, &packet, run[frame].tick).unwrap();
            assert!(view == run[frame], "the decoder's state has changed");
        }
    }
}

#[test]
fn profiles_survive_their_files_and_damage_does_not() {
    let schema = schema();
    let files = profiles(&schema).into_iter().flat_map(|profile| {
        let files = [profile.to_bytes(), profile.to_plain_bytes()];
        files.map(|bytes| (bytes, profile.clone()))
    });
    for (bytes, profile) in files {
        assert_eq!(Profile::from_bytes(&bytes, &schema).unwrap(), profile);
        let mut random = Random::new(bytes.len() as u64);
        for round in 0..2000 {
            let mut damaged = bytes.clone();
            match round % 3 {
                0 => damaged.truncate(random.below(bytes.len() as u64) as usize),
                1 => damaged[random.below(bytes.len() as u64) as usize] ^= 1 << random.below(8),
                _ => damaged.push(random.below(256) as u8),
            }
            assert!(Profile::from_bytes(&damaged, &schema).is_err());
        }
        let mut newer = bytes.clone();
        newer[4] = 6;
        let refusal = Profile::from_bytes(&newer, &schema);
        assert_eq!(refusal, Err(SetupError::ProfileVersion { version: 6, newest: 5 }));
        let other = Schema::new(vec![Field::new("flag", FieldKind::Bool)]);
        assert_eq!(Profile::from_bytes(&bytes, &other), Err(SetupError::ProfileMismatch));
    }
}

#[test]
fn a_trained_model_takes_other_kinds_of_ids() {
    let schema = schema();
    let profile = trained(&schema, Some(bodies(&schema)));
    let with = |kind_of_ids: &[(u32, u8)]| {
        let mut profile = profile.clone();
        profile.model.as_mut().unwrap().set_kind_of_ids(kind_of_ids.to_vec());
        Codec::new(schema.clone(), Level::ADAPTIVE, profile)
    };
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, profile.clone()).unwrap();
    assert_eq!(with(&bodies(&schema).kind_of_ids).unwrap().hash(), codec.hash());
    let other = with(&[(9, 1), (12, 2), (14, 0), (1 << 16, 2)]).unwrap();
    assert_ne!(other.hash(), codec.hash(), "both sides must know");
    let (mut encoder, mut decoder) = (Encoder::new(&other), Decoder::new(&other));
    let run = views(run(&schema, 6, 30, 20));
    for frame in 6..run.len() {
        let mut packet = Vec::new();
        let baselines = Baselines::new([3, 6].map(|back| &run[frame - back])).unwrap();
        encoder.encode(baselines, &run[frame], &mut packet).unwrap();
        assert!(decoder.decode(baselines, &packet, run[frame].tick).unwrap() == run[frame]);
    }
    for bad in [&[(9, 1), (9, 2)][..], &[(9, 1), (3, 2)], &[(0, 3)]] {
        assert!(matches!(with(bad), Err(SetupError::BadModel)), "{bad:?}");
    }
    let mut none = trained(&schema, None).model.unwrap();
    none.set_kind_of_ids(vec![(0, 9)]);
    assert!(none.bodies().is_none());
}

#[test]
fn a_removed_entity_is_not_added_in_the_same_packet() {
    let schema = Schema::new(vec![Field::new(
        "a",
        FieldKind::Integer(IntegerLimits::new(0, 255, 1).unwrap()),
    )]);
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema)).unwrap();
    let mut baseline = Snapshot::new(&schema, Tick(1));
    baseline.push_lanes(EntityId(0), &[100]).unwrap();
    let baseline = View::from(baseline);
    // The packet removes and adds entity 0: form 10, then form 11. The added one would be another
    // entity with the same id.
    for packet in [&[0xAD][..], &[0xAD, 0xF7, 0x17], &[0x5F, 0x01]] {
        let refusal = Decoder::new(&codec).decode(&baseline, packet, Tick(2));
        assert!(
            matches!(refusal, Err(DecodeError::BadEntitySet { .. })),
            "{packet:x?}: {refusal:?}"
        );
    }
}

/// Makes the contents of `spec/vectors/adaptive.txt` and `learning.txt`: a profile, states, and
/// packets between them, one per line. At a level that learns, a packet resumes from the learned
/// state of the last packet of its baseline's tick, if there was one.
fn vectors(level: Level, profile: &Profile) -> String {
    let schema = schema();
    let run = run(&schema, 9, 6, 14);
    let codec = Codec::new(schema, level, profile.clone()).unwrap();
    let mut lines = format!("profile {}\n", hex(&profile.to_plain_bytes()));
    for snapshot in &run {
        lines += &format!("state {}\n", snapshot.tick.0);
        for (index, id) in snapshot.ids().iter().enumerate() {
            let lanes: Vec<String> = (0..snapshot.lane_count())
                .map(|lane| snapshot.lane(lane)[index].to_string())
                .collect();
            lines += &format!("entity {} {}\n", id.0, lanes.join(" "));
        }
    }
    let mut encoder = Encoder::new(&codec);
    let mut views = views(run);
    for (frame, known) in PACKETS {
        let baselines = Baselines::new(known.iter().map(|frame| &views[*frame])).unwrap();
        let mut packet = Vec::new();
        let view = encoder.encode(baselines, &views[frame], &mut packet).unwrap();
        let ticks: Vec<String> =
            known.iter().map(|frame| views[*frame].tick.0.to_string()).collect();
        views[frame] = view;
        lines += &format!(
            "packet {} against {}: {}\n",
            views[frame].tick.0,
            ticks.join(" "),
            hex(&packet)
        );
    }
    lines
}

/// The packets of the vectors: the index of each packet's state, and the indices of its views.
const PACKETS: [(usize, &[usize]); 7] = [
    (1, &[0]),
    (2, &[1, 0]),
    (3, &[2, 1, 0]),
    (6, &[3, 2, 1]),
    (9, &[5, 3, 0]),
    (13, &[12, 11, 10]),
    (13, &[13, 11]),
];

/// If `KINEPACK_WRITE_VECTORS` is set, writes the vectors with their profile, otherwise checks
/// them.
fn check_vectors(level: Level, name: &str, frozen: &str) {
    let schema = schema();
    check_stored_schema("adaptive", &schema);
    let profile = profile_of(frozen, &schema);
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/{}.txt"), name);
        std::fs::write(path, vectors(level, &profile)).unwrap();
        return;
    }
    assert!(vectors(level, &profile) == frozen, "the packets differ from the file's");
    let codec = Codec::new(schema.clone(), level, profile).unwrap();
    let mut states: Vec<Snapshot> = Vec::new();
    // For each tick: the view after the tick's last packet, with the state that this packet
    // learned.
    let mut views: BTreeMap<Tick, View> = BTreeMap::new();
    let mut packets = 0;
    for line in frozen.lines() {
        let words: Vec<&str> = line.split([' ', ':']).filter(|word| !word.is_empty()).collect();
        let number = |word: &&str| word.parse::<u32>().unwrap();
        match words[..] {
            ["profile", _] => {}
            ["state", tick] => states.push(Snapshot::new(&schema, Tick(tick.parse().unwrap()))),
            ["entity", id, ref lanes @ ..] => {
                let lanes: Vec<u32> = lanes.iter().map(number).collect();
                states
                    .last_mut()
                    .unwrap()
                    .push_lanes(EntityId(id.parse().unwrap()), &lanes)
                    .unwrap();
            }
            ["packet", tick, "against", ref known @ .., packet] => {
                let at = |word: &&str| {
                    states.iter().find(|state| state.tick == Tick(number(word))).unwrap()
                };
                let view = |word| {
                    views.get(&at(word).tick).cloned().unwrap_or_else(|| at(word).clone().into())
                };
                let known: Vec<View> = known.iter().map(view).collect();
                let expected = at(&tick);
                let baselines = Baselines::new(&known).unwrap();
                let decoded = Decoder::new(&codec)
                    .decode(baselines, &from_hex(packet), expected.tick)
                    .unwrap();
                assert!(**decoded.snapshot() == *expected, "{line}");
                views.insert(expected.tick, decoded);
                packets += 1;
            }
            _ => panic!("{line}"),
        }
    }
    assert_eq!(packets, PACKETS.len());
}

#[test]
fn the_vectors_are_written_and_read() {
    check_vectors(Level::ADAPTIVE, "adaptive", include_str!("../../../spec/vectors/adaptive.txt"));
    check_vectors(Level::LEARNING, "learning", include_str!("../../../spec/vectors/learning.txt"));
}
