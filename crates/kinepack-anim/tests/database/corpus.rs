//! Runs the driver of the fuzz target `clip_database` over its stored corpus, and over every prefix
//! of each file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-anim database::corpus` rewrites the corpus.

use super::vectors::stored;
use crate::corpora;
use crate::drivers::clip_database;

/// Returns all vectors, with their hashes unchanged and with corrected hashes.
fn files() -> Vec<Vec<u8>> {
    let files = stored().into_iter();
    files.flat_map(|(_, file, _)| [0, 1].map(|first| [&[first], &file[..]].concat())).collect()
}

#[test]
fn the_stored_corpus_matches_the_vectors() {
    corpora::compare("clip_database", &files());
}

#[test]
fn stored_files_and_their_prefixes_are_used_or_refused() {
    corpora::drive_beginnings("clip_database", clip_database::clip_database);
}
