//! Transforms in `f64`, relative to the parent or to the object, and the way from the ones to the others.

use glam::{DQuat, DVec3};

use crate::{Skeleton, Transform};

/// A joint's rotation, translation and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) rotation: DQuat,
    pub(crate) translation: DVec3,
    pub(crate) scale: DVec3,
}

impl Frame {
    pub(crate) const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO, scale: DVec3::ONE };

    /// Where a child is whose transform relative to this joint is `local`.
    #[inline]
    pub(crate) fn child(&self, local: &Self) -> Self {
        Self {
            rotation: self.rotation * local.rotation,
            translation: self.translation + self.rotation * (local.translation * self.scale),
            scale: self.scale * local.scale,
        }
    }

    /// The three points of the shell.
    #[inline]
    pub(crate) fn shell(&self, shell_cm: f64) -> [DVec3; 3] {
        DVec3::AXES.map(|axis| self.translation + self.rotation * (axis * shell_cm * self.scale))
    }

    /// The largest distance between the points of two shells.
    #[inline]
    pub(crate) fn shell_error_cm(&self, other: &Self, shell_cm: f64) -> f64 {
        let (a, b) = (self.shell(shell_cm), other.shell(shell_cm));
        let squares = a.iter().zip(b).map(|(a, b)| a.distance_squared(b));
        squares.fold(0.0, f64::max).sqrt()
    }
}

impl From<&Transform> for Frame {
    fn from(transform: &Transform) -> Self {
        Self { rotation: transform.rotation64(), translation: transform.translation64(), scale: transform.scale64() }
    }
}

/// The joints of a pose relative to the object.
pub(crate) fn object_space(skeleton: &Skeleton, local: &[Frame], object: &mut [Frame]) {
    for joint in 0..local.len() {
        object[joint] = match skeleton.parent(joint) {
            Some(parent) => object[parent].child(&local[joint]),
            None => local[joint],
        };
    }
}
