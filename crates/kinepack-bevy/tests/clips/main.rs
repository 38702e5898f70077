//! Clips on entities: headless apps with manual time and files in memory.

#![allow(clippy::unwrap_used)]

// It counts the allocations of one thread.
#[cfg(not(feature = "multi_threaded"))]
mod allocations;
mod beside;
mod blending;
mod files;
#[allow(dead_code, reason = "one test makes a file")]
#[path = "../../../kinepack-anim/tests/support/mod.rs"]
mod gltf_file;
mod names;
mod playing;
mod spaces;
mod support;
