//! Tests of the frozen datagrams of snapshots and streams.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "../../../kinepack-net/tests/support/mod.rs"]
mod support;

#[path = "../../../kinepack-net/tests/stream/vectors.rs"]
mod stream_vectors;
#[path = "../../../kinepack-net/tests/vectors.rs"]
mod vectors;
