//! Clips from files that are made by hand.

#![cfg(feature = "import")]
#![allow(clippy::unwrap_used)]

mod bvh;
mod curves;
mod fbx;
mod fbx_curves;
mod fbx_hostile;
mod gltf;
mod hostile;
mod memory;
mod packed;
mod properties;
#[path = "../support/mod.rs"]
mod support;
