//! Clips from files that are made by hand.

#![cfg(feature = "import")]

mod bvh;
mod curves;
mod fbx;
mod fbx_curves;
mod fbx_hostile;
mod fbx_scenes;
mod gltf;
mod hostile;
mod packed;
mod properties;
