//! Runs the driver of the fuzz target `challenge` over its stored corpus, and over every prefix of
//! each file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p cube-data corpus::` writes the corpus anew.

use crate::common::{Header, good_bin, good_f32, zst};
use crate::driver as challenge;
use crate::stored;

/// Returns a file of each format, and files whose headers are wrong.
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
fn the_corpora_are_what_the_drivers_take() {
    stored::check("challenge", files());
}

#[test]
fn stored_challenge_files_and_their_beginnings_are_read_or_refused() {
    stored::run("challenge", challenge::challenge);
}
