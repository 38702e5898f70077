//! Tests that run the program as a user does. They are modules of one test program, because each
//! further program would have to be linked. The lab's program has the same commands, and tests them
//! on its own world.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod anim;
mod captures;
#[path = "../../../lab/cube-data/tests/common/mod.rs"]
mod challenge;
mod cli;
#[cfg(unix)]
mod figure;
mod incomplete;
mod kinds;
mod kpz;
mod link_traces;
mod motions;
mod outputs;
mod own_captures;
mod several;
mod support;

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_kinepack");
