//! Runs the driver of the fuzz target `clip_disk` over its stored corpus, and over every prefix of
//! each file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-anim disk::corpus` rewrites the corpus.

use super::packets::first_packet;
use super::vectors::stored;
use crate::corpora;
use crate::drivers::clip_disk;

/// Returns all vectors except the long one, as files and as packets.
fn files() -> Vec<Vec<u8>> {
    let short = stored().into_iter().filter(|(_, file, _)| file.len() < 2000);
    short
        .flat_map(|(_, file, _)| {
            [[&[0], &file[..]].concat(), [&[1], &first_packet(&file)[..]].concat()]
        })
        .collect()
}

#[test]
fn the_stored_corpus_matches_the_vectors() {
    corpora::compare("clip_disk", &files());
}

#[test]
fn stored_files_and_their_prefixes_are_unpacked_or_refused() {
    corpora::drive_beginnings("clip_disk", clip_disk::clip_disk);
}
