//! The program as a user runs it. These are modules of one program, because each further program
//! would have to be linked.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod anim;
mod broadcast;
mod browser;
mod captures;
#[path = "../../../lab/cube-data/tests/common/mod.rs"]
mod challenge;
mod cli;
mod incomplete;
mod interrupts;
mod kinds;
mod kpz;
mod motions;
mod network;
mod outputs;
mod own_captures;
mod page;
mod playing;
mod readme;
mod streams;
mod support;
