//! The driver of the fuzz target `replay` over its stored corpus, and over the beginnings of each
//! file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-replay --test corpus` writes the corpus anew.

#![allow(clippy::unwrap_used)]

// Public in the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/replay.rs"]
mod replay;
#[path = "../../kinepack-capture/tests/stored/mod.rs"]
mod stored;

#[test]
fn the_corpora_are_what_the_driver_takes() {
    stored::check("replay", replay::replay_corpus());
}

#[test]
fn stored_replays_and_their_beginnings_are_read_or_refused() {
    stored::run("replay", replay::replay);
}
