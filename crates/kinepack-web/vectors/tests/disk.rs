//! The frozen disk files of clips.

#![allow(clippy::unwrap_used, dead_code, unused_imports)]

#[path = "../../../kinepack-anim/tests/disk/made.rs"]
mod made;
#[path = "../../../kinepack-anim/tests/clip/naive.rs"]
mod naive;
#[path = "../../../kinepack-anim/tests/clip/support.rs"]
mod support;
#[path = "../../../kinepack-anim/tests/disk/vectors.rs"]
mod vectors;
