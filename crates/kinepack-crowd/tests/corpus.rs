//! The driver of the fuzz target `crowd` over its stored corpus, and over the beginnings of each file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-crowd --test corpus` writes the corpus anew.

#![allow(clippy::unwrap_used)]

// Public in the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/crowd.rs"]
mod crowd;
#[path = "../../kinepack-capture/tests/stored/mod.rs"]
mod stored;

#[test]
fn the_corpora_are_what_the_driver_takes() {
    stored::check("crowd", crowd::crowd_corpus());
}

#[test]
fn stored_inputs_and_their_beginnings_are_read_or_refused() {
    stored::run("crowd", crowd::crowd);
}
