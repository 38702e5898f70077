//! Transforms in `f64`, relative to the parent or in object space, and the conversion between them.

use glam::{DMat3, DQuat, DVec3};

use crate::{Skeleton, Transform};

/// A joint's rotation, translation and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) rotation: DQuat,
    pub(crate) translation: DVec3,
    pub(crate) scale: DVec3,
}

impl Frame {
    pub(crate) const IDENTITY: Self =
        Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO, scale: DVec3::ONE };

    /// Returns the delta that this transform adds to `base`.
    pub(crate) fn on_top_of(&self, base: &Self) -> Self {
        let scale = self.scale / base.scale;
        Self {
            rotation: (base.rotation.inverse() * self.rotation).normalize(),
            translation: self.translation - base.translation,
            scale: DVec3::select(base.scale.cmpne(DVec3::ZERO), scale, DVec3::ONE),
        }
    }

    /// This transform with `delta` added to it.
    #[inline]
    pub(crate) fn with(&self, delta: &Self) -> Self {
        Self {
            rotation: self.rotation * delta.rotation,
            translation: self.translation + delta.translation,
            scale: self.scale * delta.scale,
        }
    }

    pub(crate) fn to_transform(self) -> Transform {
        Transform {
            rotation: self.rotation.to_array().map(|c| c as f32),
            translation: self.translation.as_vec3().to_array(),
            scale: self.scale.as_vec3().to_array(),
        }
    }

    /// Returns the transform of a child whose transform relative to this joint is `local`.
    #[inline]
    pub(crate) fn child(&self, local: &Self) -> Self {
        Self {
            rotation: self.rotation * local.rotation,
            translation: self.translation + self.rotation * (local.translation * self.scale),
            scale: self.scale * local.scale,
        }
    }

    /// Returns the three points at which errors are measured: one on each axis, `shell_cm` away
    /// from the joint.
    #[inline]
    pub(crate) fn shell(&self, shell_cm: f64) -> [DVec3; 3] {
        let axes = DMat3::from_quat(self.rotation);
        let arm = shell_cm * self.scale;
        [
            self.translation + axes.x_axis * arm.x,
            self.translation + axes.y_axis * arm.y,
            self.translation + axes.z_axis * arm.z,
        ]
    }

    /// Returns the largest distance between corresponding points of two transforms.
    #[inline]
    pub(crate) fn shell_error_cm(&self, other: &Self, shell_cm: f64) -> f64 {
        let (a, b) = (self.shell(shell_cm), other.shell(shell_cm));
        let squares = (0..3).map(|axis| a[axis].distance_squared(b[axis]));
        squares.fold(0.0, f64::max).sqrt()
    }
}

impl From<&Transform> for Frame {
    fn from(transform: &Transform) -> Self {
        Self {
            rotation: transform.rotation64(),
            translation: transform.translation64(),
            scale: transform.scale64(),
        }
    }
}

/// Converts a pose's joints to object space.
pub(crate) fn object_space(skeleton: &Skeleton, local: &[Frame], object: &mut [Frame]) {
    for joint in 0..local.len() {
        object[joint] = match skeleton.parent(joint) {
            Some(parent) => object[parent].child(&local[joint]),
            None => local[joint],
        };
    }
}
