//! The joints that clips and figures move.

use kinepack_anim::Skeleton;
use wasm_bindgen::prelude::*;

use crate::failed;

/// The joints of a skeleton.
#[wasm_bindgen]
pub struct SkeletonJoints(pub(crate) Skeleton);

#[wasm_bindgen]
impl SkeletonJoints {
    /// Reads a skeleton file.
    ///
    /// # Errors
    /// Fails if the bytes are not a skeleton file.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Result<Self, JsError> {
        Skeleton::from_bytes(bytes).map(Self).map_err(failed)
    }

    /// The number of joints.
    pub fn joints(&self) -> usize {
        self.0.len()
    }

    /// The name of a joint.
    pub fn name(&self, joint: usize) -> String {
        self.0.joints().get(joint).map_or_else(String::new, |joint| joint.name.clone())
    }

    /// The parent of a joint; −1 for a root.
    pub fn parent(&self, joint: usize) -> i32 {
        let joint = self.0.joints().get(joint);
        joint.and_then(|joint| joint.parent).map_or(-1, |parent| parent as i32)
    }
}
