//! The driver of the fuzz target `capture` over its stored corpus, and over the beginnings of each
//! file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-capture corpus::` writes the corpus anew.

use crate::{driver, stored};

#[test]
fn the_corpora_are_what_the_drivers_take() {
    stored::check("capture", driver::capture_corpus());
}

#[test]
fn stored_captures_and_their_beginnings_are_read_or_refused() {
    stored::run("capture", driver::capture);
}
