//! Block clips: what is built, read and played is what `spec/ANIM.md` says, by a reader, a player
//! and a writer made from that page alone.

#![allow(clippy::unwrap_used)]

mod build;
// Public in the crate of the fuzz targets.
#[allow(unreachable_pub)]
#[path = "../../../../fuzz/src/clip.rs"]
mod driver;
mod hostile;
mod instructions;
mod memory;
mod motions;
mod naive;
#[path = "../object_space/mod.rs"]
mod object_space;
mod play;
mod rigs;
#[allow(dead_code)]
#[path = "../clip/support.rs"]
mod support;
mod vectors;
mod widths;
#[allow(dead_code)]
mod write;
