//! Imports clips from handmade files.

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

use kinepack_anim::import::{Import, ImportError};

/// Returns the error of a file, or of the first skipped part of it.
fn first_error(result: Result<Import, ImportError>) -> ImportError {
    match result {
        Ok(mut import) => import.skipped.swap_remove(0).error,
        Err(error) => error,
    }
}
