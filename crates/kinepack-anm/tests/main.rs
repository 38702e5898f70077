//! The tests as one program, which links once. `cargo test -p kinepack-anm NAME` runs the tests
//! whose paths contain NAME. Tests that count allocations are in a second program.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

// These modules are shared by the tests.
#[path = "../../kinepack-anim/tests/corpora/mod.rs"]
mod corpora;
#[path = "../../kinepack-anim/tests/random/mod.rs"]
mod random;
#[path = "../../kinepack/tests/runner/mod.rs"]
mod runner;
mod support;

// This module is the driver of the fuzz target, whose items are public in its crate.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/anm.rs"]
mod driver;

mod corpus;
mod from_clip;
mod hostile;
mod playing;
mod vectors;
