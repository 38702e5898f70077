//! Clips: what is written, read and played is what `spec/ANIM.md` says, by a reader and a writer
//! made from that page alone.

#![allow(clippy::unwrap_used)]

mod any;
mod blocks;
// Public in the crate of the fuzz targets.
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
