//! Clips are found by name and read as they were added, from bytes of any kind.

use std::fs::File;
use std::sync::Arc;
use std::thread;

use kinepack_anim::database::ClipDatabase;
use kinepack_anim::{Clip, DatabaseError, Sampler};

use super::made::{Made, both, made, open};
use super::reader::{Stored, read};

/// Compares a database with the second reader and with the clips that were added.
fn check<B: AsRef<[u8]>>(database: &ClipDatabase<B>, made: &Made) {
    let naive = read(database.as_bytes()).unwrap();
    assert_eq!((database.len(), naive.len()), (made.clips.len(), made.clips.len()));
    assert_eq!(database.skeleton().hash(), made.skeleton.hash());
    assert_eq!(database.rig(), made.rig.as_ref());
    for (index, (name, file, bytes)) in made.clips.iter().enumerate() {
        let entry = database.entry(index);
        let clip = database.clip(index).unwrap();
        let header = clip.header();
        let bits = [entry.loops, entry.is_of_rig, entry.is_labelled, entry.is_disk];
        let stored = Stored {
            name: entry.name.to_owned(),
            samples: entry.samples as u32,
            rate_hz: entry.rate_hz,
            curves: entry.curves as u16,
            bits: bits.iter().rev().fold(0, |all, bit| all << 1 | u8::from(*bit)),
            file: database.file(index).to_vec(),
        };
        assert_eq!(stored, naive[index]);
        assert!((entry.name, database.file(index)) == (&**name, &**file));
        assert_eq!(entry.bytes, file.len());
        assert_eq!(
            (entry.samples, entry.rate_hz, entry.duration_s(), entry.curves),
            (clip.samples(), clip.rate_hz(), clip.duration_s(), clip.curves())
        );
        assert_eq!(bits[..3], [header.loops, header.is_of_rig, header.is_labelled]);
        assert!(clip.as_bytes() == bytes);
        assert_eq!(database.find(name), Some(index));
        assert!(database.clip_named(name).unwrap().as_bytes() == bytes);
        let inside = database.as_bytes().as_ptr_range().contains(&clip.as_bytes().as_ptr());
        assert_eq!(inside, !entry.is_disk, "a clip in memory form was copied");
    }
    let names: Vec<_> = database.entries().map(|entry| entry.name).collect();
    assert!(names.is_sorted());
}

#[test]
fn clips_are_read_as_they_were_added_from_any_bytes() {
    for made in both() {
        let bytes = made.to_bytes();
        check(&open(&bytes), &made);
        check(&ClipDatabase::from_bytes(bytes.clone()).unwrap(), &made);
        check(&ClipDatabase::from_bytes(Arc::<[u8]>::from(&bytes[..])).unwrap(), &made);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        // SAFETY: the file is temporary, so no other program writes to it, and the test does not
        // change it.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::Mmap::map(&File::open(file.path()).unwrap()) }.unwrap();
        check(&ClipDatabase::from_bytes(map).unwrap(), &made);
    }
    let kinds = both().map(|made| {
        let bytes = made.to_bytes();
        let entries = open(&bytes);
        let entries = entries.entries();
        entries.fold([0; 4], |counts, entry| {
            let is = [entry.loops, entry.is_of_rig, entry.is_labelled, entry.is_disk];
            [0, 1, 2, 3].map(|at| counts[at] + u32::from(is[at]))
        })
    });
    // Of four clips, one loops, one has a curve, and two are disk files.
    assert_eq!(kinds[0], [1, 0, 1, 2]);
    assert!(kinds[1][1] > 0, "no clip uses the rig");
}

#[test]
fn names_are_found_and_others_are_not() {
    let bytes = both()[0].to_bytes();
    let database = open(&bytes);
    for name in ["r", "run/", "run/aa", "run/c", "zebra", "\0", "wä", "wälker"] {
        assert_eq!(database.find(name), None, "{name}");
        let missing = database.clip_named(name).unwrap_err();
        assert_eq!(missing, DatabaseError::NoSuchClip { name: name.into() });
    }
    for (prefix, range) in [
        ("", 0..4),
        ("run/", 1..3),
        ("run/a", 1..2),
        ("run/aa", 2..2),
        ("wä", 3..4),
        ("a", 1..1),
        ("z", 4..4),
        ("\u{10ffff}", 4..4),
    ] {
        assert_eq!(database.starting_with(prefix), range, "{prefix}");
    }
}

#[test]
fn every_name_of_a_large_database_is_found() {
    let made = made(1, 8, false);
    let mut writer = made.writer();
    let file = &made.clips[0].1;
    let name = |index: usize| format!("{}{index}", ["walk/", "run/", "run"][index % 3]);
    (0..1000).rev().for_each(|index| writer.add(name(index), &file[..]).unwrap());
    let bytes = writer.to_bytes();
    let database = open(&bytes);
    for index in 0..1000 {
        let at = database.find(&name(index)).unwrap();
        assert_eq!(database.entry(at).name, name(index));
        assert_eq!(database.find(&format!("{}x", name(index))), None);
    }
    assert_eq!(database.starting_with("run/").len(), 333);
    assert_eq!(database.starting_with("run").len(), 666);
}

#[test]
fn an_empty_database_is_read() {
    let mut made = both().into_iter().next().unwrap();
    made.clips.clear();
    let bytes = made.to_bytes();
    check(&open(&bytes), &made);
    assert!(open(&bytes).is_empty() && made.writer().is_empty());
    assert_eq!((open(&bytes).find(""), open(&bytes).starting_with("")), (None, 0..0));
}

#[test]
fn clips_outlive_the_database_and_play_on_other_threads() {
    for made in both() {
        let database = ClipDatabase::from_bytes(made.to_bytes()).unwrap();
        let clips: Vec<_> = (0..4).map(|index| database.clip(index).unwrap()).collect();
        let skeleton = Arc::clone(database.skeleton());
        drop(database.clone());
        drop(database);
        thread::scope(|scope| {
            for (clip, (_, _, bytes)) in clips.iter().zip(&made.clips) {
                scope.spawn(|| {
                    let alone = match &made.rig {
                        Some(rig) => Clip::with_rig(bytes.clone(), rig).unwrap(),
                        None => Clip::from_bytes(bytes.clone()).unwrap(),
                    };
                    let (mut pose, mut other) = (skeleton.bind_pose(), skeleton.bind_pose());
                    let sampler = Sampler::new(clip.clone(), &skeleton).unwrap();
                    sampler.sample(0.123, &mut pose);
                    Sampler::new(alone, &skeleton).unwrap().sample(0.123, &mut other);
                    assert_eq!(pose, other);
                });
            }
        });
    }
}

#[test]
#[should_panic(expected = "clip 4 of a database of 4 clips")]
fn a_number_without_a_clip_panics() {
    let bytes = both()[0].to_bytes();
    drop(open(&bytes).clip(4));
}
