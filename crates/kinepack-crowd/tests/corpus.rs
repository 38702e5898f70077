//! Runs the driver of the fuzz target `crowd` over its stored corpus, and over the beginnings of
//! each file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-crowd corpus::` writes the corpus again.

use crate::{driver, stored};

#[test]
fn the_corpora_are_what_the_driver_takes() {
    stored::check("crowd", driver::crowd_corpus());
}

#[test]
fn stored_inputs_and_their_beginnings_are_read_or_refused() {
    stored::run("crowd", driver::crowd);
}
