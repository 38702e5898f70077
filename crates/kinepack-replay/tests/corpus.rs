//! Runs the driver of the fuzz target `replay` over its stored corpus, and over the beginnings of
//! each file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-replay corpus::` writes the corpus again.

use crate::{driver, stored};

#[test]
fn the_corpora_are_what_the_driver_takes() {
    stored::check("replay", driver::replay_corpus());
}

#[test]
fn stored_replays_and_their_beginnings_are_read_or_refused() {
    stored::run("replay", driver::replay);
}
