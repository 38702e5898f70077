//! The frozen keyed clips.

#![allow(clippy::unwrap_used, dead_code, unused_imports)]

#[path = "../../../kinepack-anim/tests/clip/naive.rs"]
mod naive;
#[path = "../../../kinepack-anim/tests/clip/support.rs"]
mod support;
#[path = "../../../kinepack-anim/tests/clip/vectors.rs"]
mod vectors;
#[path = "../../../kinepack-anim/tests/clip/write.rs"]
mod write;
