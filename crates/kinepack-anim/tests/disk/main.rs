//! Disk files: unpacking gives back every bit of the packed clip, and invalid files are refused.

#![allow(clippy::unwrap_used)]

#[path = "../corpora/mod.rs"]
mod corpora;
mod corpus;
// Its items are public for the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/clip_disk.rs"]
mod driver;
mod hostile;
mod made;
// Shared with the tests of clips, which use all of its items.
#[allow(dead_code)]
#[path = "../clip/naive.rs"]
mod naive;
mod packets;
mod round_trips;
#[path = "../../../kinepack/tests/runner/mod.rs"]
mod runner;
#[allow(dead_code)]
#[path = "../clip/support.rs"]
mod support;
mod vectors;
