//! The driver of the fuzz target `capture` over its stored corpus, and over the beginnings of each
//! file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-capture --test corpus` writes the corpus anew.

#![allow(clippy::unwrap_used)]

// Public in the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/capture.rs"]
mod capture;

use std::fs;
use std::path::PathBuf;

fn directory(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

#[test]
fn the_corpora_are_what_the_drivers_take() {
    for (target, files) in [("capture", capture::capture_corpus())] {
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
fn stored_captures_and_their_beginnings_are_read_or_refused() {
    run("capture", capture::capture);
}
