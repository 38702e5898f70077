//! The frozen files of `spec/vectors/clip_disk.txt`. This version writes them, and every later
//! version must read them.
//!
//! `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-anim disk::vectors` builds the clips
//! again and rewrites the files.

use std::path::PathBuf;

use kinepack_anim::Clip;
use kinepack_anim::block::BlockLength;
use kinepack_anim::disk::{pack, unpack};

use super::made::{basic, built, cubic, far, of_segments, with_curves};
use crate::clip_support::hex;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/clip_disk.txt")
}

/// Returns the name, the file and the memory form of each vector.
pub(crate) fn stored() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        return made();
    }
    let text = include_str!("../../../../spec/vectors/clip_disk.txt");
    let bytes = |hex: &str| {
        let digits = hex.as_bytes().as_chunks::<2>().0.iter();
        digits
            .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
            .collect()
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].into(), bytes(words[1]), bytes(words[2]))
        })
        .collect()
}

fn made() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let mut clips = vec![("basic".to_string(), basic())];
    clips.push(("still".into(), Clip::from_bytes(of_segments(40, &vec![vec![96, 0]; 5])).unwrap()));
    for (name, block) in
        [("n8", BlockLength::N8), ("n16", BlockLength::N16), ("n32", BlockLength::N32)]
    {
        let all = (0..200)
            .map(|seed| built(seed, 3, 6 + seed as usize / 2, [0.1, 0.02, 0.5][seed as usize % 3]));
        let most = all.filter(|clip| clip.header().block == block).max_by_key(Clip::segments);
        clips.push((name.into(), most.unwrap()));
    }
    clips.push(("long".into(), built(5, 8, 500, 0.01)));
    clips.push(("curves".into(), with_curves(3, 1, 70)));
    clips.push(("far".into(), far(4, 2, 90)));
    clips.push(("cubic".into(), cubic(6, 2, 50)));
    let made = clips
        .into_iter()
        .map(|(name, clip)| (name, pack(&clip).unwrap(), clip.as_bytes().to_vec()));
    made.collect()
}

#[test]
fn every_vector_is_packed_and_unpacked() {
    let vectors = stored();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        let mut text = String::from("# name, file, memory form\n");
        vectors.iter().for_each(|(name, file, clip)| {
            text += &format!("{name} {} {}\n", hex(file), hex(clip));
        });
        std::fs::write(path(), text).unwrap();
    }
    assert!(vectors.len() > 5);
    for (name, file, bytes) in vectors {
        assert!(unpack(&file).unwrap() == bytes, "{name}");
        assert!(pack(&Clip::from_bytes(&bytes[..]).unwrap()).unwrap() == file, "{name}");
    }
}

#[test]
fn the_start_in_the_spec_is_the_one_in_the_code() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/disk_start.txt");
    let start = include_bytes!("../../src/disk/start.bin");
    let text: String = start.chunks(64).map(|line| hex(line) + "\n").collect();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(&path, &text).unwrap();
        return;
    }
    let frozen = include_str!("../../../../spec/disk_start.txt");
    assert!(text == frozen, "start.bin differs from spec/disk_start.txt");
}
