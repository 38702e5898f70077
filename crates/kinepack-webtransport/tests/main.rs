//! Tests of servers and clients over loopback. They are modules of one program, because each
//! further program would have to be linked.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod client;
mod sessions;
