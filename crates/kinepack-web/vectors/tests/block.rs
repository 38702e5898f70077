//! Tests of the frozen block clips and rigs.

#![allow(clippy::unwrap_used, dead_code, unused_imports)]

#[path = "../../../kinepack-anim/tests/clip_support.rs"]
mod clip_support;
#[path = "../../../kinepack-anim/tests/block/motions.rs"]
mod motions;
#[path = "../../../kinepack-anim/tests/block/naive/mod.rs"]
mod naive;
#[path = "../../../kinepack-anim/tests/object_space/mod.rs"]
mod object_space;
#[path = "../../../kinepack-anim/tests/block/play.rs"]
mod play;
#[path = "../../../kinepack-anim/tests/random/mod.rs"]
mod random;
#[path = "../../../kinepack-anim/tests/block/rigs.rs"]
mod rigs;
#[path = "../../../kinepack-anim/tests/block/vectors.rs"]
mod vectors;
#[path = "../../../kinepack-anim/tests/block/widths.rs"]
mod widths;
#[path = "../../../kinepack-anim/tests/block/write.rs"]
mod write;
