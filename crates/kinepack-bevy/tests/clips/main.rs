//! Clips on entities: headless apps with manual time and files in memory.

#![allow(clippy::unwrap_used)]

mod allocations;
mod beside;
mod blending;
mod files;
mod names;
mod playing;
mod spaces;
mod support;
