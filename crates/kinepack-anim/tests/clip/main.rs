//! Clips are written, read and played as `spec/ANIM.md` says. A reader and a writer that were made
//! from that page alone check it.

#![allow(clippy::unwrap_used)]

mod any;
mod blocks;
// It is public in the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/clip.rs"]
mod driver;
mod edges;
mod errors;
mod exchange_files;
mod hostile;
mod joints;
mod memory;
mod naive;
mod numbers;
#[path = "../object_space/mod.rs"]
mod object_space;
mod play;
#[path = "../../../kinepack/tests/runner/mod.rs"]
mod runner;
mod support;
mod vectors;
mod write;
