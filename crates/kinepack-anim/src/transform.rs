//! A joint's transform relative to its parent. It consists of ten floats, as files store them and
//! engines use them. Translations are in centimetres. [`Transform::translation_m`] converts them to
//! metres.

#[cfg(feature = "raw")]
use glam::{DQuat, DVec3};

use crate::{Channel, quaternion};

/// Number of centimetres in a metre. All lengths of this crate are in centimetres.
pub const CM_PER_M: f32 = 100.0;

/// Rotation, translation and scale of a joint relative to its parent. The translation is in
/// **centimetres**.
///
/// A transform first scales a child of the joint, then rotates it, then moves it. The scale of a
/// parent multiplies its children's translations and scales, component by component.
/// [`Skeleton::model_pose`](crate::Skeleton::model_pose) composes transforms this way. If a scale
/// differs between axes, the product of the transforms' matrices gives a different result, because
/// it also shears.
///
/// [`translation_m`](Self::translation_m) returns the translation in metres.
/// [`Metres`](crate::Metres) writes whole poses in metres.
///
/// ```
/// use kinepack_anim::Transform;
///
/// // A hip 95 cm above the ground.
/// let hip = Transform { translation: [0.0, 95.0, 0.0], ..Transform::IDENTITY };
/// assert_eq!(hip.translation_m(), [0.0, 0.95, 0.0]);
/// assert_eq!(Transform::IDENTITY.with_translation_m([0.0, 0.95, 0.0]), hip);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// The rotation as a unit quaternion `x, y, z, w`.
    pub rotation: [f32; 4],
    /// The translation in cm. [`translation_m`](Self::translation_m) returns it in metres.
    pub translation: [f32; 3],
    /// The scale, a factor per axis.
    pub scale: [f32; 3],
}

impl Transform {
    /// The transform without a rotation or translation, and with a scale of one.
    pub const IDENTITY: Self =
        Self { rotation: [0.0, 0.0, 0.0, 1.0], translation: [0.0; 3], scale: [1.0; 3] };

    /// The size of a transform in a file in bytes.
    pub const BYTES: usize = 40;

    /// Returns the translation in metres: [`translation`](Self::translation) divided by
    /// [`CM_PER_M`].
    #[inline]
    pub fn translation_m(&self) -> [f32; 3] {
        self.translation.map(metres)
    }

    /// Returns the same transform with a translation given in metres, for joints of an engine that
    /// works in metres.
    #[inline]
    #[must_use]
    pub fn with_translation_m(self, translation_m: [f32; 3]) -> Self {
        Self { translation: translation_m.map(|m| m * CM_PER_M), ..self }
    }

    /// Returns whether all ten numbers are finite and the rotation has a length.
    pub fn is_valid(&self) -> bool {
        let length_squared: f64 = self.rotation.iter().map(|c| f64::from(*c) * f64::from(*c)).sum();
        let mut vectors = self.translation.iter().chain(&self.scale);
        length_squared > 0.0 && length_squared.is_finite() && vectors.all(|c| c.is_finite())
    }

    /// Sets the value of a channel. A vector channel ignores the fourth number.
    #[inline]
    pub(crate) fn set(&mut self, channel: Channel, value: [f32; 4]) {
        let [x, y, z, _] = value;
        match channel {
            Channel::Rotation => self.rotation = value,
            Channel::Translation => self.translation = [x, y, z],
            Channel::Scale => self.scale = [x, y, z],
        }
    }

    /// Returns the transform of a child, relative to the parent of this joint. `local` is the
    /// child's transform relative to this joint.
    pub(crate) fn child(&self, local: &Self) -> Self {
        let arm = std::array::from_fn(|axis| self.scale[axis] * local.translation[axis]);
        let arm = quaternion::rotated(arm, self.rotation);
        Self {
            rotation: quaternion::product(self.rotation, local.rotation),
            translation: std::array::from_fn(|axis| self.translation[axis] + arm[axis]),
            scale: std::array::from_fn(|axis| self.scale[axis] * local.scale[axis]),
        }
    }

    /// Returns the ten floats, in the order in which files store them.
    pub(crate) fn floats(&self) -> impl Iterator<Item = f32> {
        self.rotation.into_iter().chain(self.translation).chain(self.scale)
    }

    /// Decodes transforms of ten floats each. Trailing bytes that do not fill a transform are
    /// ignored.
    pub(crate) fn all_from_bytes(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.chunks_exact(Self::BYTES).map(|bytes| {
            let float = |index: usize| {
                let at = 4 * index;
                f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
            };
            Self {
                rotation: [float(0), float(1), float(2), float(3)],
                translation: [float(4), float(5), float(6)],
                scale: [float(7), float(8), float(9)],
            }
        })
    }
}

#[cfg(feature = "raw")]
impl Transform {
    /// Returns the rotation in `f64`, normalized to a unit quaternion.
    pub(crate) fn rotation64(&self) -> DQuat {
        DQuat::from_array(self.rotation.map(f64::from)).normalize()
    }

    pub(crate) fn translation64(&self) -> DVec3 {
        DVec3::from_array(self.translation.map(f64::from))
    }

    pub(crate) fn scale64(&self) -> DVec3 {
        DVec3::from_array(self.scale.map(f64::from))
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

#[inline]
pub(crate) fn metres(cm: f32) -> f32 {
    cm / CM_PER_M
}

/// Checks that a pose has as many joints as the object that it is used with.
#[inline]
#[track_caller]
pub(crate) fn check_pose(pose: &str, joints: usize, other: &str, expected: usize) {
    assert!(joints == expected, "{pose} has {joints} joints and {other} has {expected}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metres_and_back() {
        let hip = Transform { translation: [12.5, -75.0, 300.0], ..Transform::IDENTITY };
        assert_eq!(hip.translation_m(), [0.125, -0.75, 3.0]);
        assert_eq!(Transform::IDENTITY.with_translation_m([0.125, -0.75, 3.0]), hip);
    }
}
