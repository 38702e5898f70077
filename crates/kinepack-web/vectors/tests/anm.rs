//! Tests of the frozen `r3d2canm` files.

#![allow(clippy::unwrap_used, dead_code, unused_imports)]

#[path = "../../../kinepack-anim/tests/random/mod.rs"]
mod random;
#[path = "../../../kinepack-anm/tests/support/mod.rs"]
mod support;
#[path = "../../../kinepack-anm/tests/vectors.rs"]
mod vectors;
