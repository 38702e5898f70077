//! Invalid databases are refused for the right reason, and damage to a clip concerns that clip
//! alone.

use kinepack_anim::database::ClipDatabase;
use kinepack_anim::{
    ClipError, DatabaseError, FileKind, Joint, Skeleton, SkeletonFileError, Transform,
};

use super::made::{both, open};
use super::reader::{fnv, head_bytes, read};
use crate::drivers::clip_database as driver;
use crate::random::Random;

/// Opens a database with both readers.
fn agree(bytes: &[u8]) -> Result<ClipDatabase<&[u8]>, DatabaseError> {
    match (ClipDatabase::from_bytes(bytes), read(bytes)) {
        (Ok(database), Ok(naive)) => {
            assert_eq!(database.len(), naive.len());
            for (index, stored) in naive.iter().enumerate() {
                assert_eq!(database.entry(index).name, stored.name);
                assert!(database.file(index) == stored.file);
            }
            Ok(database)
        }
        (Err(error), Err(_)) => Err(error),
        (ours, naive) => panic!("{:?} and {:?}", ours.err(), naive.err()),
    }
}

/// Returns the bytes with a correct hash of the header and index.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(head) = head_bytes(&bytes).filter(|head| head + 8 <= bytes.len()) {
        let hash = fnv(&bytes[..head]).to_le_bytes();
        bytes[head..head + 8].copy_from_slice(&hash);
    }
    bytes
}

#[test]
fn truncated_files_and_files_with_extra_bytes_are_refused() {
    for made in both() {
        let bytes = made.to_bytes();
        let head = head_bytes(&bytes).unwrap() + 8;
        for end in 0..bytes.len() {
            let part = match end {
                0..4 => {
                    assert_eq!(agree(&bytes[..end]).unwrap_err(), DatabaseError::NoDatabase);
                    continue;
                }
                4..24 => "header",
                _ if end < head => "index",
                _ => "clips",
            };
            assert_eq!(agree(&bytes[..end]).unwrap_err(), DatabaseError::EndOfData { part });
        }
        let long = [&bytes[..], &[0; 3]].concat();
        assert_eq!(agree(&long).unwrap_err(), DatabaseError::TrailingData { bytes: 3 });
    }
}

#[test]
fn every_changed_byte_is_detected() {
    for made in both() {
        let bytes = made.to_bytes();
        let head = head_bytes(&bytes).unwrap() + 8;
        for at in 0..bytes.len() {
            for mask in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= mask;
                if at < head {
                    assert!(agree(&changed).is_err(), "{at}");
                    continue;
                }
                // Only the clip with the changed byte is refused.
                let database = agree(&changed).unwrap();
                for index in 0..database.len() {
                    let file = database.file(index).as_ptr_range();
                    let is_hit = file.contains(&changed[at..].as_ptr());
                    assert_eq!(database.clip(index).is_err(), is_hit, "{at} {index}");
                }
            }
        }
    }
}

#[test]
fn heads_with_changed_bits_are_refused_or_read_alike() {
    for made in both() {
        let bytes = made.to_bytes();
        let mut opened = 0;
        for bit in 0..8 * head_bytes(&bytes).unwrap() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = sealed(changed);
            if let Ok(database) = agree(&changed) {
                opened += 1;
                // Reading a clip that differs from its entry is an error, not a wrong clip.
                for index in 0..database.len() {
                    let read = database.clip(index);
                    let entry = database.entry(index);
                    let is_right = read.as_ref().is_ok_and(|clip| {
                        (clip.samples(), clip.curves(), clip.header().loops)
                            == (entry.samples, entry.curves, entry.loops)
                    });
                    assert!(read.is_err() || is_right);
                }
            }
        }
        assert!(opened > 50, "{opened}");
    }
}

#[test]
fn databases_are_refused_for_the_right_reason() {
    let [alone, of_rig] = both();
    let bytes = alone.to_bytes();
    let skeleton = alone.skeleton.to_bytes();
    let entries = 24 + skeleton.len();
    let names = entries + 4 * 24;
    let raw = |at: usize, other: &[u8]| {
        let mut changed = bytes.clone();
        changed[at..at + other.len()].copy_from_slice(other);
        changed
    };
    let with = |at: usize, other: &[u8]| agree(&sealed(raw(at, other))).unwrap_err();
    assert_eq!(with(0, b"KPDX"), DatabaseError::NoDatabase);
    assert_eq!(with(0, b"KPSK"), DatabaseError::OtherFile { found: FileKind::Skeleton });
    assert_eq!(with(4, &[2]), DatabaseError::Version { version: 2, newest: 1 });
    for at in 5..8 {
        assert_eq!(with(at, &[1]), DatabaseError::BadHeader);
    }
    assert_eq!(agree(&raw(entries + 12, &[9])).unwrap_err(), DatabaseError::BadHash);
    assert_eq!(with(24, b"KPXX"), DatabaseError::Skeleton(SkeletonFileError::NoSkeleton));
    for number in [0x7fff_ffff_u32, u32::MAX] {
        for at in [8, 12, 16, 20] {
            let short = DatabaseError::EndOfData { part: "index" };
            assert_eq!(with(at, &number.to_le_bytes()), short);
        }
    }
    let bad = |entry, reason| DatabaseError::BadEntry { entry, reason };
    let at = |entry: usize, field: usize| entries + 24 * entry + field;
    // The first name is empty, the second `run/a`, the third `run/b`.
    assert_eq!(with(at(1, 8), &u32::MAX.to_le_bytes()), bad(1, "its name is outside of the names"));
    assert_eq!(with(at(2, 8), &[4]), bad(2, "its name is outside of the names"));
    let order = "its name does not come after the previous one";
    assert_eq!(with(names + 4, b"b"), bad(2, order));
    assert_eq!(with(names + 4, b"c"), bad(2, order));
    assert_eq!(with(names + 4, &[0xff]), bad(1, "its name is not UTF-8"));
    assert_eq!(with(at(3, 8), &[10 + 2]), bad(3, "its name is not UTF-8"));
    assert_eq!(with(at(3, 8), &[10 + 1]), bad(4, "there are more names than clips"));
    assert_eq!(with(at(0, 0), &[0; 8]), bad(0, "it has no bytes"));
    let end = &bytes[at(1, 0)..][..8];
    assert_eq!(with(at(2, 0), end), bad(2, "it has no bytes"));
    let short = DatabaseError::EndOfData { part: "clips" };
    assert_eq!(with(at(1, 0), &u64::MAX.to_le_bytes()), short);
    assert_eq!(with(at(3, 22), &[16]), bad(3, "unknown bits"));
    assert_eq!(with(at(3, 23), &[1]), bad(3, "unknown bits"));
    let needs_rig = bad(3, "it needs a rig, and the database has none");
    assert_eq!(with(at(3, 22), &[2]), needs_rig);
    let range = "its samples, rate or curves are out of range";
    for (entry, field, other) in [
        (0, 12, &[0; 4]),
        (0, 12, &[1, 0, 0x40, 0]),
        (0, 16, &[0; 4]),
        (1, 16, &f32::NAN.to_le_bytes()),
        (1, 16, &f32::INFINITY.to_le_bytes()),
        (1, 16, &(-30_f32).to_le_bytes()),
        (2, 20, &[1, 0x10, 0, 0]),
    ] {
        let error = with(at(entry, field), &other[..if field == 20 { 2 } else { 4 }]);
        assert_eq!(error, bad(entry, range));
    }
    assert_eq!(with(at(2, 12), &[1, 0, 0, 0]), bad(2, range), "a loop of one sample");

    let (rig, mut rig_bytes) = (of_rig.rig.as_ref().unwrap(), of_rig.to_bytes());
    let at = 24 + skeleton.len();
    assert!(rig_bytes[at..].starts_with(b"KPAR"));
    rig_bytes[at + 20] ^= 0x80;
    assert!(matches!(agree(&sealed(rig_bytes.clone())), Err(DatabaseError::Rig(_))));
    rig_bytes[at + 20] ^= 0x80;
    // This rig has the hash of another skeleton.
    let end = at + rig.to_bytes().len() - 8;
    rig_bytes[at + 8] ^= 1;
    let hash = fnv(&rig_bytes[at..end]).to_le_bytes();
    rig_bytes[end..end + 8].copy_from_slice(&hash);
    assert_eq!(agree(&sealed(rig_bytes)).unwrap_err(), DatabaseError::OtherRig);
}

#[test]
fn clips_that_differ_from_their_entries_are_refused() {
    let made = &both()[0];
    let bytes = made.to_bytes();
    let entries = 24 + made.skeleton.to_bytes().len();
    let name = |entry: usize| made.clips[entry].0.clone();
    let read = |entry: usize, field: usize, mask: u8| {
        let mut changed = bytes.clone();
        changed[entries + 24 * entry + field] ^= mask;
        let changed = sealed(changed);
        let database = agree(&changed).unwrap();
        assert!((0..4).filter(|other| *other != entry).all(|other| database.clip(other).is_ok()));
        database.clip(entry).unwrap_err()
    };
    for entry in 0..4 {
        let other = DatabaseError::OtherClip { name: name(entry) };
        // These are the fields for samples, rate, curves, loops, and names and markers.
        for (field, mask) in [(12, 1), (16, 1), (20, 2), (22, 1), (22, 4)] {
            assert_eq!(read(entry, field, mask), other, "{entry} {field} {mask}");
        }
        // The entry states the other form of file.
        let found = if entry % 3 == 0 { FileKind::BlockClip } else { FileKind::DiskClip };
        let error = ClipError::OtherFile { found };
        assert_eq!(read(entry, 22, 8), DatabaseError::Clip { name: name(entry), error });
    }
    assert_eq!(
        DatabaseError::OtherClip { name: "run".into() }.to_string(),
        "damaged: run differs from the index"
    );
}

/// The skeleton of the database is not the skeleton of its clips.
#[test]
fn clips_of_other_skeletons_are_refused() {
    let made = &both()[0];
    let bytes = made.to_bytes();
    let mut joints = made.skeleton.joints().to_vec();
    joints[1].bind.translation[0] += 1.0;
    let other = Skeleton::new(joints.clone()).unwrap();
    let start = 24 + made.skeleton.to_bytes().len();
    let exchanged = |other: &Skeleton| {
        let own = other.to_bytes();
        let mut exchanged = [&bytes[..24], &own, &bytes[start..]].concat();
        exchanged[12..16].copy_from_slice(&(own.len() as u32).to_le_bytes());
        sealed(exchanged)
    };
    let changed = exchanged(&other);
    let database = agree(&changed).unwrap();
    for (index, (name, ..)) in made.clips.iter().enumerate() {
        assert_eq!(
            database.clip(index).unwrap_err(),
            DatabaseError::OtherSkeleton {
                name: name.clone(),
                clip: made.skeleton.hash(),
                skeleton: other.hash()
            }
        );
    }
    // A clip cannot have zero joints.
    assert!(agree(&exchanged(&Skeleton::new(Vec::new()).unwrap())).is_err());
    joints.push(Joint { name: "more".into(), parent: Some(0), bind: Transform::IDENTITY });
    let changed = exchanged(&Skeleton::new(joints).unwrap());
    assert!((0..4).all(|index| agree(&changed).unwrap().clip(index).is_err()));
}

#[test]
fn changed_databases_are_used_or_refused() {
    let mut random = Random(5);
    for made in both() {
        let bytes = made.to_bytes();
        for round in 0..2000_u32 {
            let mut data = [&[round as u8 & 1], &bytes[..]].concat();
            for _ in 0..1 + random.below(3) {
                let at = 1 + random.below(bytes.len() as u32) as usize;
                data[at] = [random.below(256) as u8, 0, 255][random.below(3) as usize];
            }
            driver::clip_database(&data);
        }
    }
    assert_eq!(open(&both()[0].to_bytes()).len(), 4);
}
