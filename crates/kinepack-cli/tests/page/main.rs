//! The pages of `demo`, `anim view` and `watch` without a browser: served files, refusals, and messages
//! over the socket.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod crowding;
#[path = "../support/figure.rs"]
mod figure;
mod http;
mod receiving;
mod refusing;
#[path = "../support/replay.rs"]
mod replay;
mod serving;
mod socket;
#[path = "../support/mod.rs"]
mod support;
mod talking;
mod view;
mod watch;
