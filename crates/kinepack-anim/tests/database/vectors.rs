//! The frozen files of `spec/vectors/clip_database.txt`, and the worked bytes of `spec/ANIM.md`.
//! This version writes them, and every later version must read them.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-anim database::vectors` writes the file again.

use std::path::PathBuf;
use std::sync::Arc;

use kinepack_anim::database::DatabaseWriter;
use kinepack_anim::{Joint, Skeleton, Transform};

use super::made::{Made, both, open};
use super::reader::{fnv, read};
use crate::clip_support::{dumped, hex};

/// A name, a file, and the memory forms of the file's clips.
type Stored = (String, Vec<u8>, Vec<Vec<u8>>);

/// Returns the skeleton of section 8, with the clip of section 13.1 for this skeleton.
fn worked() -> Made {
    let bind = Transform {
        rotation: [0.0, -0.6, 0.0, 0.8],
        translation: [0.0, -2.5, 0.0],
        scale: [1.0, 1.0, 0.5],
    };
    let root = Joint { name: "root".into(), parent: None, bind };
    let skeleton = Arc::new(Skeleton::new(vec![root]).unwrap());
    let (_, section) = include_str!("../../../../spec/ANIM.md").split_once("### 13.1").unwrap();
    let mut clip = dumped(section.split_once("The y of").unwrap().0);
    let end = clip.len() - 4;
    clip[end - 8..end].copy_from_slice(&skeleton.hash().to_le_bytes());
    let hash = (fnv(&clip[..end]) as u32).to_le_bytes();
    clip[end..].copy_from_slice(&hash);
    Made { skeleton, rig: None, clips: vec![("jump".into(), clip.clone(), clip)] }
}

fn made() -> Vec<Stored> {
    let [alone, of_rig] = both();
    let empty = DatabaseWriter::new(&alone.skeleton).to_bytes();
    let stored = |name: &str, made: &Made| {
        let clips = made.clips.iter().map(|(_, _, bytes)| bytes.clone()).collect();
        (name.to_owned(), made.to_bytes(), clips)
    };
    vec![
        stored("worked", &worked()),
        ("empty".into(), empty, Vec::new()),
        stored("alone", &alone),
        stored("rig", &of_rig),
    ]
}

fn writes() -> bool {
    std::env::var_os("KINEPACK_WRITE_VECTORS").is_some()
}

pub(crate) fn stored() -> Vec<Stored> {
    if writes() {
        return made();
    }
    let bytes = |hex: &str| -> Vec<u8> {
        let digits = hex.as_bytes().as_chunks::<2>().0.iter();
        digits
            .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
            .collect()
    };
    let text = include_str!("../../../../spec/vectors/clip_database.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let name = words.next().unwrap().to_owned();
            let file = bytes(words.next().unwrap());
            (name, file, words.map(bytes).collect())
        })
        .collect()
}

#[test]
fn every_vector_is_read_and_written() {
    let vectors = stored();
    if writes() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut text = String::from("# name, file, the memory form of each clip\n");
        for (name, file, clips) in &vectors {
            let clips: String = clips.iter().map(|clip| format!(" {}", hex(clip))).collect();
            text += &format!("{name} {}{clips}\n", hex(file));
        }
        std::fs::write(path.join("../../spec/vectors/clip_database.txt"), text).unwrap();
    }
    assert_eq!(vectors.len(), 4);
    for (name, file, clips) in vectors {
        let database = open(&file);
        assert_eq!((database.len(), read(&file).unwrap().len()), (clips.len(), clips.len()));
        let mut writer = match database.rig() {
            Some(rig) => DatabaseWriter::with_rig(database.skeleton(), rig).unwrap(),
            None => DatabaseWriter::new(database.skeleton()),
        };
        for (index, bytes) in clips.iter().enumerate() {
            assert!(database.clip(index).unwrap().as_bytes() == bytes, "{name} {index}");
            writer.add(database.entry(index).name, database.file(index)).unwrap();
        }
        assert!(writer.to_bytes() == file, "{name}");
    }
}

#[test]
fn the_worked_bytes_are_those_of_the_spec() {
    let (_, section) = include_str!("../../../../spec/ANIM.md").split_once("### 16.3").unwrap();
    let bytes = worked().to_bytes();
    assert_eq!(hex(&dumped(section)), hex(&bytes));
}
