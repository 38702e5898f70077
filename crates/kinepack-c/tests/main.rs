//! The C interface, its header and its package. These are modules of one program, because each
//! further program would have to be linked.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod csharp;
mod header;
mod package;
mod predict;
mod programs;
mod support;
mod vectors;
