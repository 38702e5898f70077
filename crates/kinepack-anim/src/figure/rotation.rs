//! Converts a joint's rotation to lanes. They are a rotation vector relative to the bind pose, or
//! an angle.
//!
//! A rotation vector is the axis times the angle in radians. If two vectors differ by d, their
//! rotations differ by an angle of at most |d|. Steps of s in three components are therefore off by
//! at most s · √3 / 2 for any rotation. The bind pose is exactly zero.

use glam::{DQuat, DVec3};
use kinepack::quantize::FloatLimits;
use kinepack::schema::FieldKind;

use std::f64::consts::PI;

/// The way in which a rotation becomes lanes.
#[derive(Clone, Debug)]
pub(super) enum RotationLanes {
    /// The lanes are the three components of the rotation vector.
    Vector(FloatLimits),
    /// The lane is the angle about this axis.
    Angle(DVec3, FloatLimits),
}

impl RotationLanes {
    /// Returns the field of these lanes.
    pub(super) fn kind(&self) -> FieldKind {
        match self {
            Self::Vector(limits) => FieldKind::Floats(vec![*limits; 3]),
            Self::Angle(_, limits) => FieldKind::Floats(vec![*limits]),
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Vector(_) => 3,
            Self::Angle(..) => 1,
        }
    }

    /// The lanes of a rotation relative to the bind pose.
    pub(super) fn quantize(&self, turned: DQuat, lanes: &mut [u32]) {
        match self {
            Self::Vector(limits) => {
                for (lane, component) in lanes.iter_mut().zip(vector(turned).to_array()) {
                    *lane = code(limits, component);
                }
            }
            Self::Angle(axis, limits) => {
                // The joint gets the rotation about its axis that is nearest to the wanted
                // rotation.
                let sine = turned.xyz().dot(*axis);
                lanes[0] = code(limits, 2.0 * libm::atan2(sine, turned.w));
            }
        }
    }

    /// Returns the rotation relative to the bind pose.
    pub(super) fn reconstruct(&self, lanes: &[u32]) -> DQuat {
        match self {
            Self::Vector(limits) => rotation(DVec3::from_array(std::array::from_fn(|component| {
                limits.reconstruct(lanes[component])
            }))),
            Self::Angle(axis, limits) => rotation(*axis * limits.reconstruct(lanes[0])),
        }
    }
}

/// The code of a number, which is finite. Clamped, because π may round to more than the limit.
fn code(limits: &FloatLimits, number: f64) -> u32 {
    limits.quantize_clamped(number).unwrap_or_default()
}

/// The rotation vector of a unit quaternion: the shorter way round, so at most π long.
pub(super) fn vector(rotation: DQuat) -> DVec3 {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    let (axis, sine) = (rotation.xyz(), rotation.xyz().length());
    // For small angles, the vector is twice the axis, because the next term is below the precision
    // of `f64`.
    if sine < 1e-9 { axis * 2.0 } else { axis * (2.0 * libm::atan2(sine, rotation.w) / sine) }
}

/// Returns the unit quaternion of a rotation vector.
pub(super) fn rotation(vector: DVec3) -> DQuat {
    let angle = vector.length();
    let half = angle * 0.5;
    let ratio = if angle < 1e-9 { 0.5 } else { libm::sin(half) / angle };
    let axis = vector * ratio;
    DQuat::from_xyzw(axis.x, axis.y, axis.z, libm::cos(half))
}

/// Returns limits for an angle or for the components of a rotation vector. Zero has an exact code.
pub(super) fn limits(step: f64, wraps: bool) -> Result<FloatLimits, kinepack::SetupError> {
    if wraps {
        let half = (PI / step).ceil();
        let step = PI / half;
        return FloatLimits::until(-half * step, half * step, step).map(FloatLimits::wrapping);
    }
    let half = (PI / step).ceil();
    FloatLimits::new(-half * step, half * step, step)
}
