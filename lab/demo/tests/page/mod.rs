//! Tests the pages of `demo`, `anim view` and `watch` without a browser: served files, refusals,
//! and messages over the socket.

#![cfg(unix)]

mod arena;
mod crowding;
mod http;
mod receiving;
mod refusing;
mod serving;
mod socket;
mod talking;
mod view;
mod watch;
