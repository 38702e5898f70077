//! Tests of the frozen disk files of clips.

#![allow(clippy::unwrap_used, dead_code, unused_imports)]

#[path = "../../../kinepack-anim/tests/clip_support.rs"]
mod clip_support;
#[path = "../../../kinepack-anim/tests/disk/made.rs"]
mod made;
#[path = "../../../kinepack-anim/tests/random/mod.rs"]
mod random;
#[path = "../../../kinepack-anim/tests/disk/vectors.rs"]
mod vectors;
