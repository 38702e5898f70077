//! The frozen datagrams of streams.

#![allow(clippy::unwrap_used)]

#[path = "../../../kinepack-net/tests/stream/vectors.rs"]
mod vectors;
