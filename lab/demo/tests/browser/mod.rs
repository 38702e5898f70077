//! Tests the pages of `demo`, `arena`, `serve`, `anim view`, `figure watch` and `watch` in a real browser.
//! Run them with `cargo test -p demo --features browser --test tests browser::`.
//!
//! The tests need Chromium and chromedriver. Each test has its own program and its own tab, and one
//! test runs at a time. The browser ends with the process of the tests.

#![cfg(all(unix, feature = "browser"))]

mod arena;
mod bodies;
mod broadcasting;
mod comparing;
mod driver;
mod exported;
mod joining;
mod layout;
mod loading;
mod looks;
mod playing;
mod receiving;
mod reports;
mod screenshot;
mod settings;
mod view;
mod watch;
mod window;
mod worlds;
