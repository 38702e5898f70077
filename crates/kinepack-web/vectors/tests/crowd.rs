//! Tests of the frozen broadcast.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "../../../kinepack-crowd/tests/support/mod.rs"]
mod support;

#[path = "../../../kinepack-crowd/tests/vectors.rs"]
mod vectors;
