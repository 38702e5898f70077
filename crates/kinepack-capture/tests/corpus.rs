//! Runs the drivers of the fuzz targets `challenge` and `capture` over their stored corpora and
//! over every prefix of each file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-capture --test corpus` writes the corpus anew.

#![allow(clippy::unwrap_used)]

// Public in the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/capture.rs"]
mod capture;
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/challenge.rs"]
mod challenge;
mod common;

use std::fs;
use std::path::PathBuf;

use common::{Header, good_bin, good_f32, zst};

fn directory(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// A file of each format, and files with false headers.
fn files() -> Vec<Vec<u8>> {
    let huge = Header::new(u32::MAX, 1).bytes();
    let endless = Header::new(1, u32::MAX).bytes();
    let files = [
        (2, zst(&good_bin(2))),
        (1, good_f32(5, 4)),
        (3, zst(&good_f32(5, 4))),
        (1, huge),
        (1, endless),
    ];
    files.into_iter().map(|(pick, file)| [vec![pick], file].concat()).collect()
}

#[test]
fn the_stored_corpora_are_up_to_date() {
    for (target, files) in [("challenge", files()), ("capture", capture::capture_corpus())] {
        for (index, data) in files.into_iter().enumerate() {
            let path = directory(target).join(format!("{index:02}"));
            if std::env::var_os("KINEPACK_WRITE_CORPUS").is_some() {
                fs::create_dir_all(directory(target)).unwrap();
                fs::write(&path, &data).unwrap();
            }
            assert!(fs::read(&path).unwrap() == data, "{} is out of date", path.display());
        }
    }
}

/// Runs a driver over each stored file and its prefixes.
fn run(target: &str, driver: fn(&[u8])) {
    for entry in fs::read_dir(directory(target)).unwrap() {
        let data = fs::read(entry.unwrap().path()).unwrap();
        for end in (0..data.len()).step_by(1 + data.len() / 200).chain([data.len()]) {
            driver(&data[..end]);
        }
    }
}

#[test]
fn stored_challenge_files_and_their_prefixes_are_read_or_refused() {
    run("challenge", challenge::challenge);
}

#[test]
fn stored_captures_and_their_prefixes_are_read_or_refused() {
    run("capture", capture::capture);
}
