//! The tests as one program, which links once. `cargo test -p cube-data NAME` runs the tests whose
//! paths contain NAME.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

// These modules are shared by the tests.
mod common;
#[path = "../../../crates/kinepack-capture/tests/files/mod.rs"]
mod files;
#[path = "../../../crates/kinepack-capture/tests/stored/mod.rs"]
mod stored;

// This module is the driver of the fuzz target, whose items are public in its crate.
#[allow(unreachable_pub)]
#[path = "../../../fuzz/src/challenge.rs"]
mod driver;

mod challenge;
mod convert;
mod corpus;
mod cube;
