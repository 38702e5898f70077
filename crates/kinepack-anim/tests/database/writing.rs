//! The writer is deterministic, and refuses clips and names that a database cannot hold.

use std::sync::Arc;

use kinepack_anim::database::DatabaseWriter;
use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
use kinepack_anim::{ClipError, DatabaseError, FileKind, Skeleton};
use proptest::prelude::*;

use super::made::{both, built, family, made, open, rig_of};
use super::reader::read;
use crate::runner::for_all;

#[test]
fn the_order_of_adding_does_not_matter() {
    for made in both() {
        let forwards = made.to_bytes();
        let mut writer = made.writer();
        for (name, file, _) in made.clips.iter().rev() {
            writer.add(name.clone(), file.clone()).unwrap();
        }
        assert_eq!(writer.len(), 4);
        assert!(writer.to_bytes() == forwards);
        assert!(writer.to_bytes() == forwards, "writing changes nothing");
    }
}

#[test]
fn any_names_are_written_and_found() {
    let made = made(1, 8, false);
    let name = prop_oneof!["\\PC{0,6}", "[ab]{0,3}", "[a/\u{e4}]{1,2}"];
    for_all(200, prop::collection::btree_map(name, 0_usize..4, 0..20), |names| {
        let mut writer = made.writer();
        for (name, clip) in names.iter().rev() {
            writer.add(&**name, &*made.clips[*clip].1).unwrap();
        }
        let bytes = writer.to_bytes();
        let database = open(&bytes);
        let naive = read(&bytes).unwrap();
        assert_eq!((database.len(), naive.len()), (names.len(), names.len()));
        for (index, (name, clip)) in names.iter().enumerate() {
            assert_eq!((database.find(name), &*naive[index].name), (Some(index), &**name));
            assert!(database.clip(index).unwrap().as_bytes() == made.clips[*clip].2);
            let within = names.keys().filter(|other| other.starts_with(&**name)).count();
            assert_eq!(database.starting_with(name).len(), within);
        }
    });
}

#[test]
fn what_a_database_cannot_hold_is_refused() {
    let [alone, of_rig] = both();
    let mut writer = alone.writer();
    let (name, file, bytes) = &alone.clips[3];
    writer.add(&**name, &**file).unwrap();
    let before = writer.to_bytes();
    let mut refused = |name: &str, file: &[u8]| {
        let error = writer.add(name.to_owned(), file.to_vec()).unwrap_err();
        assert!(writer.to_bytes() == before, "{error}");
        error
    };
    assert_eq!(refused(name, file), DatabaseError::SameName { name: name.clone() });
    assert_eq!(refused(&"a".repeat(65_536), file), DatabaseError::LongName);
    let of = |error| DatabaseError::Clip { name: "a".into(), error };
    assert_eq!(refused("a", b""), of(ClipError::NoClip));
    assert_eq!(
        refused("a", &bytes[..bytes.len() - 1]),
        of(ClipError::EndOfData { part: "hashes" })
    );
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(refused("a", &changed), of(ClipError::BadHash));
    // This is a clip of a rig, in a database without a rig.
    let rig = of_rig.rig.as_ref().unwrap();
    let needs = of_rig.clips.iter().find(|(_, _, bytes)| bytes[5] >> 7 != 0).unwrap();
    assert_eq!(refused("a", &needs.1), of(ClipError::Rig { hash: rig.hash() }));

    let scheme = Scheme::Keyed(KeyedOptions::default());
    let raw = family(2, 12).remove(0);
    let keyed = build(&raw, &BuildOptions { scheme, ..BuildOptions::default() }).unwrap();
    let error = refused("a", keyed.clip.as_bytes());
    assert_eq!(error, of(ClipError::OtherFile { found: FileKind::KeyedClip }));
    assert_eq!(error.to_string(), "a: this is a keyed clip (.kpa): a database has block clips");

    let other = family(3, 12);
    let clip = built(&other[0], None);
    let error = refused("a", clip.as_bytes());
    assert_eq!(
        error,
        DatabaseError::OtherSkeleton {
            name: "a".into(),
            clip: clip.skeleton_hash(),
            skeleton: alone.skeleton.hash()
        }
    );
    assert!(error.to_string().contains("make a database for each skeleton"), "{error}");
    assert_eq!(
        DatabaseWriter::with_rig(&alone.skeleton, &rig_of(&other)).err(),
        Some(DatabaseError::OtherRig)
    );
}

#[test]
fn a_skeleton_without_joints_has_no_clips() {
    let skeleton = Arc::new(Skeleton::new(Vec::new()).unwrap());
    let mut writer = DatabaseWriter::new(&skeleton);
    let made = made(1, 8, false);
    assert!(writer.add("a", &*made.clips[0].1).is_err());
    assert!(open(&writer.to_bytes()).is_empty());
}

#[test]
fn the_longest_name_is_written() {
    let made = made(1, 8, false);
    let mut writer = made.writer();
    let name = "n".repeat(65_535);
    writer.add(&*name, &*made.clips[0].1).unwrap();
    let bytes = writer.to_bytes();
    assert_eq!(open(&bytes).find(&name), Some(0));
    assert_eq!(read(&bytes).unwrap()[0].name, name);
}
