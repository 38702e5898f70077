//! The frozen `r3d2canm` files.

#![allow(clippy::unwrap_used, dead_code, unused_imports)]

#[path = "../../../kinepack-anim/tests/anm_support/mod.rs"]
mod anm_support;
#[path = "../../../kinepack-anim/tests/anm_vectors.rs"]
mod anm_vectors;
#[path = "../../../kinepack-anim/tests/clip_support.rs"]
mod clip_support;
#[path = "../../../kinepack-anim/tests/random/mod.rs"]
mod random;
