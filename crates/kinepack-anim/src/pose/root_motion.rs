//! Extracts the motion of a clip's root from its poses, to apply it to the character. The physics
//! capsule then moves as the feet do, and the pose stays in place.
//!
//! A *frame* moves with the root. At each time, it contains the parts of the root's transform that
//! count as motion, such as the position on the ground and the heading. The delta between two times
//! is the transform from one frame to the other, so consecutive deltas compose. The rest of the
//! root's transform, such as the bobbing of the hips, stays in the pose. The choice of parts and
//! the reference follow ozz-animation's motion extractor.

use super::Passed;
use crate::{Transform, quaternion};

/// An axis of model space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The first axis.
    X,
    /// The second axis, which points up in glTF.
    Y,
    /// The third axis, which points up in Unreal Engine and Blender.
    Z,
}

/// The part of the root's rotation that belongs to the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// No part belongs to the motion, so the pose keeps the rotation.
    Keep,
    /// The turn about an axis belongs to the motion. The pose keeps the tilt.
    About(Axis),
    /// The whole rotation belongs to the motion.
    Whole,
}

/// Selects the parts of the root's transform that count as motion. The methods take the transform
/// of any joint as the root. [`RootJoint`](super::RootJoint) finds the joint that carries the
/// motion, and extracts the motion there.
///
/// ```
/// use kinepack_anim::Transform;
/// use kinepack_anim::pose::{Axis, Playhead, RootMotion};
///
/// // A clip of one second walks 120 cm along z, and its hips are 95 cm high.
/// let root = |time_s: f32| Transform {
///     translation: [0.0, 95.0, 120.0 * time_s],
///     ..Transform::IDENTITY
/// };
/// let motion = RootMotion::on_ground(Axis::Y);
/// let mut playhead = Playhead::looped(1.0);
/// let mut character = Transform::IDENTITY;
/// for _ in 0..5 {
///     // `Sampler::joint` gives the root of a block clip. With another player, sample a pose.
///     let delta = motion.delta(root, &playhead.advance(0.5));
///     character = RootMotion::moved(&character, &delta);
/// }
/// assert_eq!(character.translation, [0.0, 0.0, 300.0]);
///
/// // The pose stays at the place of the character.
/// let mut pose = [root(playhead.time_s())];
/// motion.remove(&mut pose[0]);
/// assert_eq!(pose[0].translation, [0.0, 95.0, 0.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMotion {
    /// Whether the x, y and z of the translation belong to the motion.
    pub translation: [bool; 3],
    /// The part of the rotation that belongs to the motion.
    pub turn: Turn,
    /// The transform of the root that counts as no motion. For clips that do not begin at the
    /// origin, use the clip's first pose or the bind pose. With the identity, no part of the motion
    /// stays in the pose.
    pub reference: Transform,
}

impl RootMotion {
    /// Extracts motion on the ground: the translation along the axes other than `up`, and the turn
    /// about `up`.
    pub fn on_ground(up: Axis) -> Self {
        let translation = [Axis::X, Axis::Y, Axis::Z].map(|axis| axis != up);
        Self { translation, turn: Turn::About(up), reference: Transform::IDENTITY }
    }

    /// Extracts motion along all axes, such as a climb or a fall.
    pub fn whole() -> Self {
        let reference = Transform::IDENTITY;
        Self { translation: [true; 3], turn: Turn::Whole, reference }
    }

    /// Returns the same parts, but relative to `reference`, a transform of the root.
    #[must_use]
    pub fn relative_to(self, reference: Transform) -> Self {
        Self { reference, ..self }
    }

    /// Returns the motion between two times of a clip, forwards or backwards but without a wrap. It
    /// is relative to the frame at `from_s`. `sample_root` returns the root at a time, and is
    /// called twice. The delta's scale is 1.
    pub fn between(
        &self,
        mut sample_root: impl FnMut(f32) -> Transform,
        from_s: f32,
        to_s: f32,
    ) -> Transform {
        let (from, to) = (sample_root(from_s), sample_root(to_s));
        then(&inverse(&self.frame(&from)), &self.frame(&to))
    }

    /// Returns the motion over `passed`, relative to the frame at its beginning. The next round of
    /// a loop continues from where the previous one ended. `sample_root` returns the root at a
    /// time, and is called at most six times, regardless of how many rounds have passed.
    pub fn delta(
        &self,
        mut sample_root: impl FnMut(f32) -> Transform,
        passed: &Passed,
    ) -> Transform {
        let Passed { from_s, to_s, wraps, duration_s } = *passed;
        if wraps == 0 {
            return self.between(sample_root, from_s, to_s);
        }
        let (start_s, end_s) = if wraps < 0 { (duration_s, 0.0) } else { (0.0, duration_s) };
        let mut motion = |from_s, to_s| self.between(&mut sample_root, from_s, to_s);
        let first = motion(from_s, end_s);
        let rounds = wraps.unsigned_abs() - 1;
        let round = if rounds == 0 { Transform::IDENTITY } else { motion(start_s, end_s) };
        then(&then(&first, &power(round, rounds)), &motion(start_s, to_s))
    }

    /// Removes the motion from the root of a pose. If a skeleton has several roots, remove the
    /// frame of the first from each of them, with [`remove_frame`](Self::remove_frame).
    pub fn remove(&self, root: &mut Transform) {
        Self::remove_frame(&self.frame(root), root);
    }

    /// Removes the motion of a [`frame`](Self::frame) from a joint without a parent.
    pub fn remove_frame(frame: &Transform, root: &mut Transform) {
        *root = inverse(frame).child(root);
    }

    /// Returns the frame that moves with a root. The frame contains the parts of `root` that belong
    /// to the motion, relative to the same parts of the reference. The frame's scale is 1.
    pub fn frame(&self, root: &Transform) -> Transform {
        let parts = self.parts(root);
        if self.reference == Transform::IDENTITY {
            return parts;
        }
        then(&parts, &inverse(&self.parts(&self.reference)))
    }

    /// Returns the transform of a character after `delta`, which is in the character's own space.
    /// The rotation remains a unit quaternion over any number of deltas. If the character's unit is
    /// not cm, convert the delta first ([`Transform::translation_m`]).
    pub fn moved(character: &Transform, delta: &Transform) -> Transform {
        let moved = character.child(delta);
        Transform { rotation: quaternion::unit(moved.rotation), ..moved }
    }

    fn parts(&self, root: &Transform) -> Transform {
        let translation =
            std::array::from_fn(
                |axis| {
                    if self.translation[axis] { root.translation[axis] } else { 0.0 }
                },
            );
        let rotation = match self.turn {
            Turn::Keep => quaternion::IDENTITY,
            Turn::About(axis) => about(axis, root.rotation),
            Turn::Whole => quaternion::unit(root.rotation),
        };
        Transform { rotation, translation, scale: [1.0; 3] }
    }
}

/// Returns the part of a rotation that turns about an axis. A half turn about a perpendicular axis
/// has no such part, so the result is the identity.
fn about(axis: Axis, [x, y, z, w]: [f32; 4]) -> [f32; 4] {
    quaternion::unit(match axis {
        Axis::X => [x, 0.0, 0.0, w],
        Axis::Y => [0.0, y, 0.0, w],
        Axis::Z => [0.0, 0.0, z, w],
    })
}

/// Returns the inverse of a transform, ignoring its scale.
fn inverse(frame: &Transform) -> Transform {
    let rotation = quaternion::conjugate(frame.rotation);
    let translation = quaternion::rotated(frame.translation.map(|c| -c), rotation);
    Transform { rotation, translation, scale: [1.0; 3] }
}

/// Returns the motion `first`, followed by `second`.
fn then(first: &Transform, second: &Transform) -> Transform {
    RootMotion::moved(first, second)
}

/// Repeats a motion `times` times, by squaring.
fn power(motion: Transform, times: u64) -> Transform {
    let (mut result, mut square, mut rest) = (Transform::IDENTITY, motion, times);
    while rest > 0 {
        if rest & 1 == 1 {
            result = then(&result, &square);
        }
        square = then(&square, &square);
        rest >>= 1;
    }
    result
}
