//! Blends of two poses, for cross-fades.

use crate::play::check_pose;
use crate::{Transform, quaternion};

/// Blends a pose towards another one of the same skeleton: a `weight` of 0 leaves `pose`, 1 makes
/// it `other`. Translations and scales are interpolated linearly. Rotations are the normalized sum
/// of quaternions, the shorter way round. The result is the same on every platform. A cross-fade
/// lets `weight` rise from 0 to 1 while both clips play.
///
/// ```
/// use kinepack_anim::{Transform, blend};
///
/// let mut pose = [Transform { translation: [10.0, 0.0, 0.0], ..Transform::IDENTITY }];
/// let half_turn = [0.0, 0.0, 1.0, 0.0];
/// let translation = [20.0, 0.0, 0.0];
/// let other = [Transform { rotation: half_turn, translation, ..Transform::IDENTITY }];
/// blend(&mut pose, &other, 0.5);
/// assert_eq!(pose[0].translation, [15.0, 0.0, 0.0]);
/// // A quarter turn.
/// assert!((pose[0].rotation[2] - 0.5_f32.sqrt()).abs() < 1e-6);
/// ```
///
/// # Panics
/// If the poses have different numbers of joints.
#[track_caller]
pub fn blend(pose: &mut [Transform], other: &[Transform], weight: f32) {
    check_pose("the other pose", other.len(), "the pose", pose.len());
    let mix = |from: [f32; 3], to: [f32; 3]| {
        std::array::from_fn(|axis| from[axis] * (1.0 - weight) + to[axis] * weight)
    };
    for (own, other) in pose.iter_mut().zip(other) {
        *own = Transform {
            rotation: quaternion::mix(own.rotation, other.rotation, weight),
            translation: mix(own.translation, other.translation),
            scale: mix(own.scale, other.scale),
        };
    }
}
