//! Streams: client and server under virtual time over seeded bad links, hostile packets,
//! properties, frozen vectors.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod allocations;
mod hostile;
mod naive;
mod properties;
mod rate;
#[path = "../../../kinepack/tests/runner/mod.rs"]
mod runner;
mod session;
#[path = "../support/mod.rs"]
mod support;
mod vectors;
mod world;
