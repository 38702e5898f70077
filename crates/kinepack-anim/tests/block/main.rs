//! Block clips: the builder, reader and player are compared with a second writer, reader and player
//! that were written from `spec/ANIM.md` alone.

#![allow(clippy::unwrap_used)]

mod build;
mod cubic;
mod curves;
// Its items are public for the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/clip.rs"]
mod driver;
mod far;
mod hostile;
mod instructions;
mod large;
mod memory;
mod motions;
mod naive;
#[path = "../object_space/mod.rs"]
mod object_space;
mod play;
mod rigs;
#[path = "../../../kinepack/tests/runner/mod.rs"]
mod runner;
#[allow(dead_code)]
#[path = "../clip/support.rs"]
mod support;
mod vectors;
mod widths;
#[allow(dead_code)]
mod write;
