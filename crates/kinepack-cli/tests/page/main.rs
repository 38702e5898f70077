//! The pages of `demo` and of `anim view` without a browser: served files, refusals, and messages
//! over the socket.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod crowding;
#[path = "../support/figure.rs"]
mod figure;
mod http;
mod refusing;
mod serving;
mod socket;
#[path = "../support/mod.rs"]
mod support;
mod talking;
mod view;
