//! The tests as one program, which links once. `cargo test -p cubes NAME` runs the tests whose
//! paths contain NAME.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod frozen;
mod players;
mod script;
mod world;
