//! A joint's transform relative to its parent's: ten floats, as they come out of a file and go to
//! an engine.

use glam::{DQuat, DVec3};

use crate::Channel;

/// Rotation, translation and scale of a joint relative to its parent. What hangs below the joint is
/// scaled first, then rotated, then moved; the scale of a parent scales its children's translations
/// and scales, component by component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// A unit quaternion, `x, y, z, w`.
    pub rotation: [f32; 4],
    /// In cm.
    pub translation: [f32; 3],
    /// A factor an axis.
    pub scale: [f32; 3],
}

impl Transform {
    /// No rotation, no translation, a scale of one.
    pub const IDENTITY: Self =
        Self { rotation: [0.0, 0.0, 0.0, 1.0], translation: [0.0; 3], scale: [1.0; 3] };

    /// Bytes of the ten floats.
    pub const BYTES: usize = 40;

    /// Whether all ten numbers are finite and the rotation has a length.
    pub fn is_valid(&self) -> bool {
        let length_squared: f64 = self.rotation.iter().map(|c| f64::from(*c) * f64::from(*c)).sum();
        let mut vectors = self.translation.iter().chain(&self.scale);
        length_squared > 0.0 && length_squared.is_finite() && vectors.all(|c| c.is_finite())
    }

    /// Sets a channel; of a vector the last number does not count.
    #[inline]
    pub(crate) fn set(&mut self, channel: Channel, value: [f32; 4]) {
        let [x, y, z, _] = value;
        match channel {
            Channel::Rotation => self.rotation = value,
            Channel::Translation => self.translation = [x, y, z],
            Channel::Scale => self.scale = [x, y, z],
        }
    }

    /// The rotation, made a unit quaternion.
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
