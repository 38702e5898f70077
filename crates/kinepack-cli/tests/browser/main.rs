//! The pages of `demo`, `serve`, `anim view` and `watch` in a real browser: `cargo test -p kinepack-cli --features
//! browser --test browser`.
//!
//! Needs Chromium and chromedriver. Each test has its own program and its own browser, one at a
//! time; all of it is gone when the test is.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod broadcasting;
mod comparing;
mod driver;
mod exported;
#[path = "../support/figure.rs"]
mod figure;
mod joining;
mod layout;
mod loading;
mod looks;
mod playing;
mod receiving;
#[path = "../support/replay.rs"]
mod replay;
mod reports;
mod screenshot;
mod settings;
#[path = "../support/mod.rs"]
mod support;
mod view;
mod watch;
mod window;
mod worlds;
