//! Inertial blending: a transition that plays only the new motion, from its first frame. The
//! difference from the old motion is measured once. A quintic polynomial then makes this difference
//! decay, starting with its velocity. The old clip need not keep playing during the transition, and
//! the body keeps its momentum instead of slowing down.
//!
//! Source: David Bollo, "Inertialization: High-Performance Animation Transitions in Gears of War",
//! GDC 2018, for the polynomial and its limits. This module differs in two ways. If the new
//! motion's previous pose is known, the initial velocity is that of the difference. A rotation
//! decays as the tangent of a quarter of its angle, not as the angle. The tangent grows with the
//! angle, so its decay is equally smooth, and the computation needs no sine. For a right angle, the
//! two decays differ by at most 2 % of that angle, and for smaller angles by less.
//!
//! At the start, a transition reads two frames of both motions. After that, each frame evaluates a
//! polynomial for each joint and channel that differs.

use super::decay::{Along, Step, dot};
use crate::transform::check_pose;
use crate::{Transform, quaternion};

/// Two consecutive frames of a motion, which determine its velocity.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a> {
    /// The later pose.
    pub now: &'a [Transform],
    /// The pose one frame earlier.
    pub before: &'a [Transform],
}

impl<'a> Frames<'a> {
    /// Returns a motion whose velocity is unknown or should be ignored.
    pub fn still(pose: &'a [Transform]) -> Self {
        Self { now: pose, before: pose }
    }
}

/// The decaying difference between two motions, for one character. It reuses its memory from one
/// transition to the next.
///
/// ```
/// use kinepack_anim::Transform;
/// use kinepack_anim::pose::{Frames, Inertia};
///
/// let at = |x| [Transform { translation: [x, 0.0, 0.0], ..Transform::IDENTITY }];
/// // The old motion went from 8 to 10 cm in the last frame. The new one is at 0.
/// let (shown, before, new) = (at(10.0), at(8.0), at(0.0));
/// let mut inertia = Inertia::new();
/// inertia.start(Frames { now: &shown, before: &before }, Frames::still(&new), 1.0 / 60.0, 0.25);
///
/// // Each frame, the pose of the new motion.
/// let mut last = 10.0;
/// for _ in 0..16 {
///     let mut pose = at(0.0);
///     inertia.apply(&mut pose, 1.0 / 60.0);
///     assert!((0.0..=last).contains(&pose[0].translation[0]));
///     last = pose[0].translation[0];
/// }
/// assert!(last == 0.0 && inertia.is_done());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inertia {
    offsets: Vec<Offset>,
    elapsed_s: f32,
    /// The duration of the transition, or 0 if none is under way.
    duration_s: f32,
}

impl Inertia {
    /// Creates an inertia without a transition.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a transition from the motion `shown` to a `new` motion. Both `now` poses are at the
    /// time of the last frame, so `new` is never shown. The first pose of the new motion to be
    /// shown is the one that [`apply`](Self::apply) takes. The `before` poses are `dt_s` seconds
    /// earlier.
    ///
    /// If another transition is under way, the new one takes over from its last output. A game
    /// needs to keep only the last two poses of the character, for `shown`. Remove the root motion
    /// first, or the character slides to its new place.
    ///
    /// A difference that grows away from the new motion does not overshoot, because its velocity
    /// counts as 0. If the difference shrinks so fast that it would overshoot, the decay takes less
    /// than `duration_s`. If `dt_s` is not positive and finite, all velocities count as 0. If
    /// `duration_s` is not positive and finite, the transition ends at once. A joint whose numbers
    /// are not all finite has no transition.
    ///
    /// # Panics
    /// Panics if the poses have different numbers of joints.
    #[track_caller]
    pub fn start(&mut self, shown: Frames<'_>, new: Frames<'_>, dt_s: f32, duration_s: f32) {
        let joints = shown.now.len();
        check_pose("the pose before", shown.before.len(), "the pose that is shown", joints);
        check_pose("the new pose", new.now.len(), "the pose that is shown", joints);
        check_pose("the new pose before", new.before.len(), "the pose that is shown", joints);
        self.elapsed_s = 0.0;
        self.duration_s = positive(duration_s);
        self.offsets.clear();
        if self.duration_s == 0.0 {
            return;
        }
        let step = Step { dt_s: positive(dt_s), duration_s: self.duration_s };
        let old = shown.now.iter().zip(shown.before);
        let pairs = old.zip(new.now.iter().zip(new.before));
        self.offsets.extend(pairs.map(|(old, new)| Offset::new(old, new, step)));
    }

    /// Adds the remaining difference to a pose of the new motion, `dt_s` seconds after the last
    /// call. The result is the pose to show. Without a transition, the pose is unchanged.
    ///
    /// # Panics
    /// Panics if a transition is under way and `pose` has a different number of joints.
    #[track_caller]
    pub fn apply(&mut self, pose: &mut [Transform], dt_s: f32) {
        if self.is_done() {
            return;
        }
        check_pose("the pose", pose.len(), "the transition", self.offsets.len());
        self.elapsed_s += positive(dt_s);
        if self.is_done() {
            return;
        }
        for (own, offset) in pose.iter_mut().zip(&self.offsets) {
            offset.add_to(own, self.elapsed_s);
        }
    }

    /// Returns whether no transition is under way.
    pub fn is_done(&self) -> bool {
        self.elapsed_s >= self.duration_s
    }

    /// Ends a transition at once.
    pub fn stop(&mut self) {
        self.duration_s = 0.0;
    }
}

/// The decaying difference of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offset {
    /// The decaying rotation, which is applied after the new rotation. Its vector is the axis times
    /// the tangent of a quarter of the angle.
    rotation: Along,
    translation: Along,
    scale: Along,
}

impl Offset {
    /// Returns the offset between two motions of a joint. In each pair, the later transform comes
    /// first.
    fn new(
        (old, old_before): (&Transform, &Transform),
        (new, new_before): (&Transform, &Transform),
        step: Step,
    ) -> Self {
        let vectors = |of: fn(&Transform) -> [f32; 3]| {
            let before = minus(of(old_before), of(new_before));
            Along::new(minus(of(old), of(new)), |axis| dot(before, axis), step)
        };
        let turn = |old: &Transform, new: &Transform| {
            quaternion::product(old.rotation, quaternion::conjugate(new.rotation))
        };
        let now = nearest(turn(old, new), quaternion::IDENTITY);
        let before = nearest(turn(old_before, new_before), now);
        Self {
            rotation: Along::new(quarter(now), |axis| quarter_about(before, axis), step),
            translation: vectors(|transform| transform.translation),
            scale: vectors(|transform| transform.scale),
        }
    }

    #[inline]
    fn add_to(&self, own: &mut Transform, elapsed_s: f32) {
        if let Some(quarter) = self.rotation.at(elapsed_s) {
            own.rotation = quaternion::product(from_quarter(quarter), own.rotation);
        }
        if let Some(rest) = self.translation.at(elapsed_s) {
            own.translation = std::array::from_fn(|axis| own.translation[axis] + rest[axis]);
        }
        if let Some(rest) = self.scale.at(elapsed_s) {
            own.scale = std::array::from_fn(|axis| own.scale[axis] + rest[axis]);
        }
    }
}

/// Returns the axis of a rotation of at most half a turn, times the tangent of a quarter of its
/// angle.
fn quarter([x, y, z, w]: [f32; 4]) -> [f32; 3] {
    [x, y, z].map(|c| c / (1.0 + w))
}

/// Returns the tangent of a quarter of the angle by which a rotation turns about an axis.
fn quarter_about([x, y, z, w]: [f32; 4], axis: [f32; 3]) -> f32 {
    let along = dot([x, y, z], axis);
    along / ((along * along + w * w).sqrt() + w)
}

/// Returns the inverse of [`quarter`].
#[inline]
fn from_quarter(quarter: [f32; 3]) -> [f32; 4] {
    let square = dot(quarter, quarter);
    let [x, y, z] = quarter.map(|c| 2.0 * c / (1.0 + square));
    [x, y, z, (1.0 - square) / (1.0 + square)]
}

/// Returns the quaternion of the same rotation whose dot product with `other` is not negative.
fn nearest(rotation: [f32; 4], other: [f32; 4]) -> [f32; 4] {
    if quaternion::dot(rotation, other) < 0.0 { rotation.map(|c| -c) } else { rotation }
}

fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

/// Returns 0 for seconds that are not positive and finite.
fn positive(seconds: f32) -> f32 {
    if seconds > 0.0 && seconds.is_finite() { seconds } else { 0.0 }
}
