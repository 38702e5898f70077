//! The pages of `demo`, `serve`, `anim view` and `watch` in a real browser:
//! `cargo test -p demo --features browser --test tests browser::`.
//!
//! Needs Chromium and chromedriver. Each test has its own program and its own tab, one at a time. The
//! browser is gone when the process of the tests is.

#![cfg(all(unix, feature = "browser"))]

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
