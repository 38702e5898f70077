//! Runs the drivers of the fuzz targets `capture` and `capture_disk` over their stored corpora, and
//! over the beginnings of each file.
//!
//! `KINEPACK_WRITE_CORPUS=1 cargo test -p kinepack-capture corpus::` writes the corpora again.

use crate::{driver, stored};

#[test]
fn the_corpora_are_what_the_drivers_take() {
    stored::check("capture", driver::capture_corpus());
    stored::check("capture_disk", driver::capture_disk_corpus());
}

#[test]
fn stored_captures_and_their_beginnings_are_read_or_refused() {
    stored::run("capture", driver::capture);
}

#[test]
fn stored_captures_with_overlapping_chunks_are_read_by_time_or_refused() {
    stored::run("capture_disk", driver::capture_disk);
}
