//! All tests of this crate in one program, which links only once.
//! `cargo test -p kinepack-crowd NAME` runs the tests whose paths contain NAME.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

// These modules have code that several tests use.
#[path = "../../kinepack-capture/tests/stored/mod.rs"]
mod stored;
mod support;

// This module is the driver of the fuzz target, which is public in its crate.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/crowd.rs"]
mod driver;

mod corpus;
mod crowd;
mod hostile;
mod moq;
mod vectors;
