//! Tests of clips on entities, in headless apps with manual time and files in memory.

#![cfg(feature = "clips")]

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
