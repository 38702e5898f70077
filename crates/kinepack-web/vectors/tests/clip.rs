//! Tests of the frozen keyed clips.

#![allow(clippy::unwrap_used, dead_code, unused_imports)]

#[path = "../../../kinepack-anim/tests/clip_support.rs"]
mod clip_support;
#[path = "../../../kinepack-anim/tests/clip/naive.rs"]
mod naive;
#[path = "../../../kinepack-anim/tests/random/mod.rs"]
mod random;
#[path = "../../../kinepack-anim/tests/clip/vectors.rs"]
mod vectors;
#[path = "../../../kinepack-anim/tests/clip/write.rs"]
mod write;
