//! The driver of the fuzz target `capture` over its stored corpus, and over the beginnings of each
//! file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-capture --test corpus` writes the corpus anew.

#![allow(clippy::unwrap_used)]

// Public in the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/capture.rs"]
mod capture;
mod stored;

#[test]
fn the_corpora_are_what_the_drivers_take() {
    stored::check("capture", capture::capture_corpus());
}

#[test]
fn stored_captures_and_their_beginnings_are_read_or_refused() {
    stored::run("capture", capture::capture);
}
