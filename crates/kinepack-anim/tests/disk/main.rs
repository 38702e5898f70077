//! Clips on disk: what is packed comes back to the bit, and what is none is refused.

#![allow(clippy::unwrap_used)]

#[path = "../corpora/mod.rs"]
mod corpora;
mod corpus;
// Public in the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/clip_disk.rs"]
mod driver;
mod hostile;
mod made;
// Shared with the tests of clips, which use all of them.
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
