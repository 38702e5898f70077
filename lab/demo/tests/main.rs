//! Tests the lab's program as a user runs it, with its own commands and with those of `kinepack` on
//! its world. The tests are modules of one program, because each further program would have to be
//! linked.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod arena;
mod broadcast;
mod browser;
#[path = "../../cube-data/tests/common/mod.rs"]
mod challenge;
mod cli;
mod interrupts;
mod measuring;
mod network;
mod outputs;
mod page;
mod pipes;
mod playing;
mod readme;
mod recordings;
mod streams;
mod support;

/// The path of the program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_kinepack-lab");
