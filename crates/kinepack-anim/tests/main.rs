//! The tests as one program, which links once. `cargo test -p kinepack-anim NAME` runs the tests
//! whose paths contain NAME, for example `block::vectors`. The tests in `allocations/` are a second
//! program.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

// These modules are shared by the tests.
mod clip_support;
mod corpora;
mod drivers;
mod object_space;
mod random;
#[path = "../../kinepack/tests/runner/mod.rs"]
mod runner;
mod support;

mod additive;
mod block;
mod clip;
mod clip_corpus;
mod corpus;
mod database;
mod disk;
mod export;
mod features;
mod figure;
mod generated;
mod import;
mod live;
mod pose;
mod poses;
mod raw;
