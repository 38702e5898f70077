//! Tests that count allocations. They are a program of their own, because `allocation-counter`
//! replaces the allocator of its program.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(dead_code, reason = "the other program uses all of the shared helpers")]

// These modules are shared by the tests.
#[path = "../clip_support.rs"]
mod clip_support;
#[path = "../object_space/mod.rs"]
mod object_space;
#[path = "../random/mod.rs"]
mod random;
#[path = "../../../kinepack/tests/runner/mod.rs"]
mod runner;
#[path = "../support/mod.rs"]
mod support;

mod block;
mod clip;
mod database;
mod disk;
mod fbx;
mod figure;
mod generated;
mod import;
mod pose;
