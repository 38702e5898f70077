//! Tests of snapshots made from parts. Encoding some chosen changes gives the same packet as
//! encoding a snapshot that has only these changes.

use kinepack::codec::{Chosen, Difference};
use kinepack::{Codec, EncodeError, Encoder, Level, Profile, Snapshot};

use crate::support::{Random, frames, profiles, schema, views};

/// Returns the entities of `before`, with the lanes of `after` for those that `after` also has.
fn without_comings_and_goings(before: &Snapshot, after: &Snapshot) -> Snapshot {
    let mut rows = after.clone();
    rows.retain(before.ids());
    let mut snapshot = before.clone();
    snapshot.patch(&[], &rows).unwrap();
    snapshot
}

#[test]
fn a_part_of_the_changes_is_encoded_like_a_baseline_that_has_it() {
    let mut random = Random::new(11);
    for name in ["cube", "wide", "corners", "flag", "empty"] {
        let schema = schema(name);
        for level in Level::TABLE.into_iter().filter(|level| level.row() >= 7) {
            for (_, profile) in profiles(&schema) {
                let codec = Codec::new(schema.clone(), level, profile).unwrap();
                let mut encoder = Encoder::new(&codec);
                let frames = views(frames(&schema, random.word(), 25, 3));
                for before in &frames[..2] {
                    let snapshot = without_comings_and_goings(before, &frames[2]);
                    let mut difference = Difference::default();
                    difference.find(before, &snapshot);
                    let chosen: Vec<u32> =
                        difference.sent.iter().copied().filter(|_| random.one_in(2)).collect();
                    let mut rows = Snapshot::new_like(before);
                    rows.gather(&snapshot, &chosen).unwrap();
                    let mut target = Snapshot::clone(before);
                    target.patch(&[], &rows).unwrap();
                    let (mut expected, mut bytes) = (Vec::new(), Vec::new());
                    let view = encoder.encode(before, &target, &mut expected).unwrap();
                    let size = encoder.size().clone();
                    let part = encoder
                        .write(before, &snapshot, Chosen::entities(&chosen), &mut bytes)
                        .unwrap();
                    assert_eq!(*part.size(), size);
                    assert!(part.view() == view);
                    assert_eq!(bytes, expected, "{name}, {}", level.row());
                    if before.ids() != frames[2].ids() {
                        let refused =
                            encoder.write(before, &frames[2], Chosen::entities(&[]), &mut bytes);
                        assert_eq!(refused.err(), Some(EncodeError::EntitiesDiffer));
                    }
                }
            }
        }
    }
}

#[test]
fn patching_a_baseline_with_its_difference_gives_the_snapshot() {
    for (name, seed) in ["cube", "wide", "flag", "empty"]
        .into_iter()
        .flat_map(|name| (0..20).map(move |s| (name, s)))
    {
        let frames = frames(&schema(name), seed, 25, 2);
        let [before, after] = [&frames[0], &frames[1]];
        let mut difference = Difference::default();
        difference.find(before, after);
        let mut rows = Snapshot::new_like(after);
        rows.gather(after, &difference.sent).unwrap();
        let mut patched = before.clone();
        patched.patch(&difference.removed, &rows).unwrap();
        assert!(patched.holds_same(after), "{name}, {seed}");
        assert_eq!(patched.state_hash(), after.state_hash());
        difference.find(before, before);
        assert!(difference.is_empty());
    }
}

#[test]
fn wrong_indices_are_errors_without_effect() {
    let schema = schema("cube");
    let frames = views(frames(&schema, 3, 25, 2));
    let snapshot = without_comings_and_goings(&frames[0], &frames[1]);
    let count = snapshot.len() as u32;
    let level_7 = Level::from_row(7).unwrap();
    for level in [level_7, Level::PACKED, Level::ADAPTIVE] {
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let mut encoder = Encoder::new(&codec);
        for (indices, index) in [
            (vec![1, 1], 1),
            (vec![0, 3, 2], 2),
            (vec![0, count], count),
            (vec![count + 7], count + 7),
        ] {
            let (mut rows, mut packet) = (Snapshot::clone(&frames[0]), vec![7]);
            let error = EncodeError::BadIndices { index };
            assert_eq!(rows.gather(&snapshot, &indices), Err(error.clone()));
            assert!(rows == **frames[0].snapshot());
            let refused =
                encoder.write(&frames[0], &snapshot, Chosen::entities(&indices), &mut packet);
            assert_eq!(refused.err(), Some(error));
            assert_eq!(packet, [7]);
        }
    }
}
