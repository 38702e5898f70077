//! Tests of views. The encoder's view equals the decoder's, the state check finds differences
//! between the sides, and memory is reused only if it has no other owner.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use kinepack::codec::{Chosen, Learned};
use kinepack::{
    Baselines, Codec, DecodeError, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot,
    Tick, View,
};

use crate::support::{
    Random, assert_valid, at_tick, bodies_run, bodies_schema, frames, naive_check, profile_of,
    profiles, schema, schemas,
};

/// Makes the schemas of the tests. A schema with time precision is also made without it.
fn all_schemas() -> Vec<(String, Schema)> {
    let plain = schemas().into_iter().chain([
        ("calls", schema("calls")),
        ("optional", schema("optional")),
        ("coarser", schema("coarser")),
        ("breaks", schema("breaks")),
        ("bodies", bodies_schema()),
    ]);
    let mut all: Vec<(String, Schema)> =
        plain.map(|(name, schema)| (name.into(), schema)).collect();
    all.push(("moving, exact".into(), schema("moving").with_time_precision(|_| None)));
    all
}

/// Makes codecs of all levels with their names, each with the first profile and with the trained
/// one.
fn codecs(schema_name: &str, schema: &Schema) -> Vec<(String, Codec)> {
    let of_level = |level: Level| {
        let [first, .., last] = profiles(schema);
        [first, last].map(|(name, profile)| {
            let codec = Codec::new(schema.clone(), level, profile).unwrap();
            (format!("{schema_name}, {}, {name}", level.row()), codec)
        })
    };
    Level::TABLE.into_iter().flat_map(of_level).collect()
}

/// Makes a run in which many entities keep their motion, so that there is something to learn and to
/// make coarse.
fn run(schema: &Schema, seed: u64) -> Vec<Snapshot> {
    let leaping = frames(schema, seed, 9, 8);
    let last = leaping[7].tick.0;
    let gliding = bodies_run(schema, seed, 9, 12).into_iter();
    leaping
        .into_iter()
        .chain(gliding.map(|state| at_tick(&state, Tick(state.tick.0 + last))))
        .collect()
}

/// Returns the entities of `before`, with the lanes of `after` for those that `after` also has.
fn same_entities(before: &Snapshot, after: &Snapshot) -> Snapshot {
    let mut rows = after.clone();
    rows.retain(before.ids());
    let mut snapshot = at_tick(before, after.tick);
    snapshot.patch(&[], &rows).unwrap();
    snapshot
}

#[test]
fn encoder_and_decoder_return_equal_views() {
    for (schema_name, schema) in all_schemas() {
        let run = run(&schema, 3);
        for (name, codec) in codecs(&schema_name, &schema) {
            let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
            let mut random = Random::new(7);
            // The views of each side, the newest first.
            let [mut ours, mut theirs] = [(); 2].map(|()| VecDeque::from([View::empty(&schema)]));
            let (mut learned, mut coarse) = (0, 0);
            for snapshot in &run[1..] {
                let known = 1 + random.below(4) as usize;
                let mut packet = Vec::new();
                let baselines = Baselines::new(ours.iter().take(known)).unwrap();
                let sent = encoder.encode(baselines, snapshot, &mut packet).unwrap();
                let baselines = Baselines::new(theirs.iter().take(known)).unwrap();
                let decoded = decoder.decode(baselines, &packet, snapshot.tick).unwrap();
                assert!(sent == decoded && sent.check() == decoded.check(), "{name}");
                assert_eq!(sent.tick, snapshot.tick);
                assert_eq!(sent.ids(), snapshot.ids());
                learned += usize::from(decoded.learned().is_some());
                coarse += usize::from(**sent.snapshot() != *snapshot);
                ours.push_front(sent);
                theirs.push_front(decoded);
            }
            assert_eq!(learned > 0, codec.level().learning(), "{name}");
            assert_eq!(coarse > 0, codec.has_precision(), "{name}");
        }
    }
}

#[test]
fn the_view_of_written_entities_equals_the_decoders() {
    let (mut ended, mut coarse) = (0, 0);
    for (schema_name, schema) in all_schemas() {
        let run = run(&schema, 4);
        for (name, codec) in
            codecs(&schema_name, &schema).into_iter().filter(|(_, codec)| codec.level().row() >= 7)
        {
            let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
            let mut random = Random::new(8);
            let mut known = VecDeque::from([View::from(run[2].clone())]);
            for snapshot in &run[3..] {
                let baselines = Baselines::new(known.iter().take(3)).unwrap();
                let same = same_entities(&known[0], snapshot);
                let receives = encoder.coarse(baselines, &Arc::new(same.clone())).unwrap();
                for limit_bytes in [usize::MAX, 12, 40, 0] {
                    let indices: Vec<u32> =
                        (0..same.len() as u32).filter(|_| !random.one_in(3)).collect();
                    let mut packet = Vec::new();
                    let chosen = Chosen::Some { indices: &indices, limit_bytes };
                    let encoded = encoder.write(baselines, &same, chosen, &mut packet).unwrap();
                    let unsent: BTreeSet<u32> = encoded.unsent().iter().copied().collect();
                    assert!(limit_bytes < usize::MAX || unsent.is_empty());
                    let learned: Option<Learned> = encoded.learned().cloned();
                    let view = encoded.view();
                    assert!(view.learned() == learned.as_ref());
                    assert!(
                        decoder.decode(baselines, &packet, same.tick).unwrap() == view,
                        "{name}"
                    );
                    // Chosen entities that fitted are as the receiver has them, and all others are
                    // unchanged.
                    for index in 0..same.len() {
                        let is_sent =
                            indices.contains(&(index as u32)) && !unsent.contains(&(index as u32));
                        let from = if is_sent { &receives } else { known[0].snapshot() };
                        assert!(
                            (0..same.lane_count())
                                .all(|lane| view.lane(lane)[index] == from.lane(lane)[index])
                        );
                    }
                    ended += usize::from(!unsent.is_empty());
                    coarse += usize::from(*receives != same);
                }
                let mut packet = Vec::new();
                let all = encoder.write(baselines, snapshot, Chosen::All, &mut packet).unwrap();
                assert!(all.unsent().is_empty());
                let all = all.view();
                let mut again = Vec::new();
                assert!(
                    encoder.encode(baselines, snapshot, &mut again).unwrap() == all
                        && packet == again,
                    "{name}"
                );
                assert!(
                    decoder.decode(baselines, &packet, snapshot.tick).unwrap() == all,
                    "{name}"
                );
                known.push_front(all);
            }
        }
    }
    assert!(ended > 100 && coarse > 100, "{ended} ended, {coarse} coarse");
}

#[test]
fn a_packet_with_a_state_check_is_the_packet_and_two_bytes() {
    for (schema_name, schema) in all_schemas() {
        let run = run(&schema, 5);
        for (name, codec) in codecs(&schema_name, &schema) {
            let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
            let mut known = vec![View::empty(&schema)];
            for snapshot in &run[1..] {
                let baselines = Baselines::new(known.iter().rev().take(3)).unwrap();
                let (mut plain, mut checked) = (Vec::new(), vec![9]);
                let sent = encoder.encode(baselines, snapshot, &mut plain).unwrap();
                assert!(encoder.encode_checked(baselines, snapshot, &mut checked).unwrap() == sent);
                assert_eq!(
                    checked,
                    [&[9], &plain[..], &sent.check().to_le_bytes()].concat(),
                    "{name}"
                );
                let checked = &checked[1..];
                for short in 0..=2.min(plain.len()) {
                    let refused =
                        decoder.decode_checked(baselines, &checked[..short], snapshot.tick);
                    assert!(
                        matches!(refused, Err(DecodeError::EndOfData { .. })),
                        "{name}: {refused:?}"
                    );
                }
                let [ours, mut other] = [sent.check(); 2];
                for bit in 0..16 {
                    other ^= 1 << bit;
                    let wrong = [&plain[..], &other.to_le_bytes()].concat();
                    let refused = decoder.decode_checked(baselines, &wrong, snapshot.tick);
                    assert_eq!(
                        refused,
                        Err(DecodeError::WrongState { theirs: other, ours }),
                        "{name}"
                    );
                }
                known.push(decoder.decode_checked(baselines, checked, snapshot.tick).unwrap());
                assert!(known.last() == Some(&sent), "{name}");
            }
        }
    }
}

/// Makes a mistake on one side: in the views, in their order, or in the tick.
fn wrong(run: &[View], frame: usize, random: &mut Random) -> (Vec<View>, Tick) {
    let right = |back: usize| run[frame - back].clone();
    let known = match random.below(7) {
        0 => vec![right(2), right(3), right(4)],
        1 => vec![right(1)],
        2 => vec![right(1), right(3), right(4)],
        3 => vec![right(1), right(2)],
        // The baseline has an earlier learned state.
        4 => vec![right(1).with_learned(right(3).learned().cloned()), right(2), right(3)],
        // One lane of one entity differs.
        5 => vec![one_off(&right(1), random), right(2), right(3)],
        _ => vec![right(1), one_off(&right(2), random), right(3)],
    };
    let known = if random.one_in(4) { vec![right(1), right(2), right(3)] } else { known };
    let tick = run[frame].tick.0;
    let ticks = [tick, tick, tick + 1, tick - 1, tick ^ 1 << 31, tick + 256];
    (known, Tick(ticks[random.below(6) as usize]))
}

/// Returns the view with one lane of an entity changed.
fn one_off(view: &View, random: &mut Random) -> View {
    let mut lanes = rows(view);
    let entity = random.below(lanes.len() as u64) as usize;
    let lane = random.below(9) as usize;
    lanes[entity].1[lane] ^= 1;
    of_rows(&bodies_schema(), view.tick, &lanes).into()
}

#[test]
fn wrong_views_and_wrong_ticks_are_found() {
    let schema = bodies_schema();
    let vectors = include_str!("../../../spec/vectors/adaptive.txt");
    let trained = profile_of(vectors, &schema);
    let (mut found, mut other_errors, mut right) = (0, 0, 0);
    for (level, profile) in [
        (Level::ADAPTIVE, &trained),
        (Level::LEARNING, &trained),
        (Level::PACKED, &Profile::untrained(&schema)),
    ] {
        let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let mut run = vec![View::empty(&schema)];
            for snapshot in bodies_run(&schema, seed, 10, 20) {
                run.push(encoder.encode(&run[run.len() - 1], &snapshot, &mut Vec::new()).unwrap());
            }
            for frame in 6..run.len() {
                let baselines = Baselines::new([1, 2, 3].map(|back| &run[frame - back])).unwrap();
                let mut packet = Vec::new();
                let sent = encoder.encode_checked(baselines, &run[frame], &mut packet).unwrap();
                for _ in 0..6 {
                    let (known, tick) = wrong(&run, frame, &mut random);
                    match decoder.decode_checked(Baselines::new(&known).unwrap(), &packet, tick) {
                        Ok(view) => {
                            // The check does not cover learned state. If the learned state is
                            // wrong, values become wrong, and the check finds these.
                            assert!(
                                view.snapshot() == sent.snapshot(),
                                "{}, {seed}, {frame}",
                                level.row()
                            );
                            right += 1;
                        }
                        Err(DecodeError::WrongState { theirs, ours }) => {
                            assert!(theirs == sent.check() && ours != theirs);
                            found += 1;
                        }
                        Err(_) => other_errors += 1,
                    }
                }
                assert!(decoder.decode_checked(baselines, &packet, sent.tick).unwrap() == sent);
            }
        }
    }
    // Views that the packet does not use may be wrong without an error.
    assert!(
        found > 1500 && other_errors > 1500 && right > 500,
        "{found} found, {other_errors} other errors, {right} right"
    );
}

/// Returns the entities of a snapshot, with their lanes.
fn rows(snapshot: &Snapshot) -> Vec<(EntityId, Vec<u32>)> {
    let lanes =
        |index: usize| (0..snapshot.lane_count()).map(|lane| snapshot.lane(lane)[index]).collect();
    snapshot.ids().iter().enumerate().map(|(index, id)| (*id, lanes(index))).collect()
}

fn of_rows(schema: &Schema, tick: Tick, rows: &[(EntityId, Vec<u32>)]) -> Snapshot {
    let mut snapshot = Snapshot::new(schema, tick);
    rows.iter().for_each(|(id, lanes)| snapshot.push_lanes(*id, lanes).unwrap());
    snapshot
}

#[test]
fn any_change_changes_the_state_check() {
    let schema = schema("wide");
    let tick = Tick(1000);
    for entities in [1, 2, 5, 6, 11] {
        let snapshot = at_tick(&frames(&schema, entities as u64, entities, 2)[1], tick);
        let right = rows(&snapshot);
        let check =
            |tick, rows: &[(EntityId, Vec<u32>)]| View::from(of_rows(&schema, tick, rows)).check();
        let expected = check(tick, &right);
        assert_eq!(expected, View::from(snapshot.clone()).check());
        assert_eq!(expected, View::from(snapshot.clone()).with_learned(None).check());
        let differs = |tick, rows: &[(EntityId, Vec<u32>)], what: &str| {
            assert_ne!(check(tick, rows), expected, "{entities} entities, {what}");
        };
        for bit in 0..32 {
            differs(Tick(tick.0 ^ 1 << bit), &right, "tick");
        }
        for index in 0..right.len() {
            for (nth, lane) in schema.lanes().iter().enumerate() {
                for bit in [0, 1, lane.bits() / 2, lane.bits().saturating_sub(1)] {
                    let mut wrong = right.clone();
                    wrong[index].1[nth] ^= 1 << bit;
                    if wrong[index].1[nth] <= lane.max {
                        differs(tick, &wrong, "lane");
                    }
                }
            }
            let mut wrong = right.clone();
            wrong.remove(index);
            differs(tick, &wrong, "one less");
            for bit in 0..32 {
                let mut wrong = right.clone();
                wrong[index].0.0 ^= 1 << bit;
                if wrong.is_sorted_by(|a, b| a.0 < b.0) {
                    differs(tick, &wrong, "id");
                }
            }
            // Two entities change places.
            for other in 0..index {
                let mut wrong = right.clone();
                let [one, two] = [index, other].map(|index| right[index].1.clone());
                (wrong[index].1, wrong[other].1) = (two, one);
                if wrong != right {
                    differs(tick, &wrong, "exchanged");
                }
            }
        }
        // Adds an unknown entity at either end.
        let zeros = vec![0; schema.lanes().len()];
        for id in [0, u32::MAX] {
            let mut wrong = right.clone();
            wrong.push((EntityId(id), zeros.clone()));
            wrong.sort();
            if wrong.is_sorted_by(|a, b| a.0 < b.0) {
                differs(tick, &wrong, "one more");
            }
        }
    }
}

/// Entities without lanes and lanes without entities also affect the check.
#[test]
fn empty_views_have_a_state_check() {
    let schema = schema("empty");
    let of = |tick, ids: &[u32]| {
        let rows: Vec<_> = ids.iter().map(|id| (EntityId(*id), Vec::new())).collect();
        View::from(of_rows(&schema, Tick(tick), &rows)).check()
    };
    let checks: BTreeSet<u16> =
        [of(0, &[]), of(1, &[]), of(0, &[0]), of(0, &[1]), of(0, &[0, 1]), of(0, &[0, 1, 2, 3])]
            .into();
    assert_eq!(checks.len(), 6);
    assert_eq!(View::empty(&schema).check(), of(0, &[]));
}

#[test]
fn a_view_that_is_held_elsewhere_is_not_overwritten() {
    for (schema_name, schema) in all_schemas() {
        let run = run(&schema, 6);
        for (name, codec) in codecs(&schema_name, &schema) {
            let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
            let mut random = Random::new(9);
            let mut known = VecDeque::from([View::empty(&schema)]);
            // Some owners hold the view, its snapshot or its learned state, each with a copy that
            // shares no memory.
            let mut held: Vec<(View, Snapshot, Option<String>)> = Vec::new();
            let mut snapshots: Vec<(Arc<Snapshot>, Snapshot)> = Vec::new();
            let mut learned: Vec<(Learned, String)> = Vec::new();
            let deep = |learned: Option<&Learned>| learned.map(|learned| format!("{learned:?}"));
            for snapshot in &run[1..] {
                let baselines = Baselines::new(known.iter()).unwrap();
                let mut packet = Vec::new();
                let sent = encoder.encode(baselines, snapshot, &mut packet).unwrap();
                let decoded = decoder.decode(baselines, &packet, snapshot.tick).unwrap();
                assert!(sent == decoded, "{name}");
                match random.below(4) {
                    0 => held.push((sent.clone(), Snapshot::clone(&sent), deep(sent.learned()))),
                    1 => snapshots.push((Arc::clone(sent.snapshot()), Snapshot::clone(&sent))),
                    2 => learned.extend(sent.learned().map(|of| (of.clone(), format!("{of:?}")))),
                    _ => {}
                }
                let damaged = random.damaged(&packet, 0);
                if let Ok(view) = decoder.decode(baselines, &damaged, snapshot.tick) {
                    decoder.recycle(view);
                }
                decoder.recycle(decoded.clone());
                known.push_front(sent);
                held.push((decoded.clone(), Snapshot::clone(&decoded), deep(decoded.learned())));
                if known.len() > 3 {
                    // The test gives the view back to both the encoder and the decoder. Neither of
                    // them may reuse memory that the other or a third owner holds.
                    let view = known.pop_back().unwrap();
                    decoder.recycle(view.clone());
                    encoder.recycle(view.clone());
                    encoder.recycle(view);
                }
                if held.len() > 4 {
                    let (view, ..) = held.remove(0);
                    decoder.recycle(view);
                }
                let is_kept = |(view, copy, of): &(View, Snapshot, Option<String>)| {
                    **view.snapshot() == *copy && deep(view.learned()) == *of
                };
                assert!(held.iter().all(is_kept), "{name}");
                assert!(snapshots.iter().all(|(held, copy)| **held == *copy), "{name}");
                assert!(learned.iter().all(|(held, copy)| format!("{held:?}") == *copy), "{name}");
            }
        }
    }
}

#[test]
fn a_view_without_owners_gives_its_memory_to_the_next() {
    let schema = bodies_schema();
    let run = run(&schema, 10);
    let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema)).unwrap();
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let mut packet = Vec::new();
    let base = encoder.encode(&View::empty(&schema), &run[9], &mut Vec::new()).unwrap();
    let sent = encoder.encode(&base, &run[10], &mut packet).unwrap();
    let received = decoder.decode(&base, &packet, run[10].tick).unwrap();
    let places = [&sent, &received].map(|view| Arc::as_ptr(view.snapshot()));
    encoder.recycle(sent);
    decoder.recycle(received);
    // A refused packet does not use up the memory.
    assert!(decoder.decode(&base, &[], run[10].tick).is_err());
    packet.clear();
    let sent = encoder.encode(&base, &run[11], &mut packet).unwrap();
    let received = decoder.decode(&base, &packet, run[11].tick).unwrap();
    assert_eq!([&sent, &received].map(|view| Arc::as_ptr(view.snapshot())), places);
    assert!(sent == received && **sent.snapshot() == run[11]);
    // A clone keeps the view alive.
    let clone = sent.clone();
    encoder.recycle(sent);
    let other = encoder.encode(&base, &run[12], &mut Vec::new()).unwrap();
    assert!(!Arc::ptr_eq(other.snapshot(), clone.snapshot()));
    assert!(**clone.snapshot() == run[11]);
}

#[test]
fn a_refused_packet_has_no_effect() {
    for (schema_name, schema) in all_schemas() {
        let run = run(&schema, 7);
        for (name, codec) in codecs(&schema_name, &schema) {
            let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
            let mut random = Random::new(10);
            let mut known = vec![View::empty(&schema)];
            let mut refused = 0;
            for (nth, snapshot) in run[1..].iter().enumerate() {
                let baselines = Baselines::new(known.iter().rev().take(3)).unwrap();
                let before: Vec<Snapshot> =
                    known.iter().map(|view| Snapshot::clone(view)).collect();
                let mut packet = Vec::new();
                let sent = encoder.encode_checked(baselines, snapshot, &mut packet).unwrap();
                for round in 0..9 {
                    let damaged = random.damaged(&packet, round);
                    match decoder.decode_checked(baselines, &damaged, snapshot.tick) {
                        Ok(view) => assert_valid(&schema, &view),
                        Err(_) => refused += 1,
                    }
                }
                assert!(
                    known.iter().zip(&before).all(|(view, before)| **view.snapshot() == *before),
                    "{name}"
                );
                let decoded = decoder.decode_checked(baselines, &packet, snapshot.tick).unwrap();
                assert!(decoded == sent, "{name}, {nth}: the decoder's state has changed");
                known.push(decoded);
            }
            assert!(refused > 100, "{name}: {refused}");
        }
    }
}

#[test]
fn views_can_be_given_to_other_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<View>();
    is_shared::<Baselines<'_>>();
    is_shared::<Encoder>();
    is_shared::<Decoder>();

    let schema = schema("cube");
    let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema)).unwrap();
    let run = run(&schema, 8);
    let mut packet = Vec::new();
    let base = View::from(run[4].clone());
    let sent = Encoder::new(&codec).encode_checked(&base, &run[5], &mut packet).unwrap();
    std::thread::scope(|scope| {
        let decode = || Decoder::new(&codec).decode_checked(&base, &packet, run[5].tick).unwrap();
        let views = [(); 3].map(|()| scope.spawn(decode));
        assert!(views.into_iter().all(|view| view.join().unwrap() == sent));
    });
}

#[test]
fn a_view_is_read_like_its_snapshot() {
    let schema = schema("cube");
    let [empty, state]: [Snapshot; 2] = frames(&schema, 2, 5, 2).try_into().unwrap();
    let view = View::from(state.clone());
    assert_eq!((view.ids(), view.tick, view.len()), (state.ids(), state.tick, state.len()));
    assert!(**view.snapshot() == state && view.learned().is_none());
    assert!(view.clone() == view && Arc::ptr_eq(view.clone().snapshot(), view.snapshot()));
    assert!(View::from(empty) == View::empty(&schema));
    assert!(view.memory_bytes() >= 4 * view.len() * view.lane_count());
    assert!(View::from(at_tick(&state, Tick(state.tick.0 + 1))) != view);

    let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema)).unwrap();
    let sent = Encoder::new(&codec).encode(&View::empty(&schema), &state, &mut Vec::new()).unwrap();
    let forgotten = sent.clone().with_learned(None);
    assert!(forgotten == view && sent != view, "equality covers the learned state");
    assert_eq!(sent.check(), view.check(), "the state check does not");
    assert!(sent.memory_bytes() > forgotten.memory_bytes());
    assert!(forgotten.with_learned(sent.learned().cloned()) == sent);
}

#[test]
fn state_checks_follow_the_specification_for_every_schema() {
    for (name, schema) in all_schemas() {
        for snapshot in run(&schema, 5) {
            assert_eq!(naive_check(&snapshot), View::from(snapshot).check(), "{name}");
        }
    }
}
