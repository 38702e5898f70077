//! Errors of a clip against the raw one: per joint and over all, at the sample times and between
//! them.

use std::sync::Arc;

use crate::{AnyClip, RawClip};

use super::Follower;
use super::slide::stands;

/// How errors are measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorOptions {
    /// Distance from the joint at which the error is measured, in cm.
    pub shell_cm: f64,
    /// Joints with another distance, and that; the last one of a joint counts.
    pub joint_shells_cm: Vec<(usize, f64)>,
    /// For additive clips: what both are put on top of, a pose or as many samples.
    pub base: Option<Arc<RawClip>>,
}

impl Default for ErrorOptions {
    /// 3 cm: about the skin of a finger, an arm, a face.
    fn default() -> Self {
        Self { shell_cm: 3.0, joint_shells_cm: Vec::new(), base: None }
    }
}

impl ErrorOptions {
    /// The distance of each joint.
    pub fn shells_cm(&self, joints: usize) -> Vec<f64> {
        by_joint(self.shell_cm, &self.joint_shells_cm, joints)
    }
}

/// A number for each joint: one for all but some.
pub(crate) fn by_joint(usual: f64, others: &[(usize, f64)], joints: usize) -> Vec<f64> {
    let mut numbers = vec![usual; joints];
    for &(joint, number) in others {
        if let Some(own) = numbers.get_mut(joint) {
            *own = number;
        }
    }
    numbers
}

/// Errors over some joints and times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// The largest.
    pub max_cm: f64,
    /// What 99 of 100 are not above.
    pub p99_cm: f64,
    /// The mean.
    pub mean_cm: f64,
}

impl Errors {
    fn of(mut all: Vec<f32>) -> Self {
        if all.is_empty() {
            return Self::default();
        }
        let mean_cm = all.iter().copied().map(f64::from).sum::<f64>() / all.len() as f64;
        let max_cm = f64::from(all.iter().copied().fold(0.0, f32::max));
        // The 99th percentile by linear interpolation between the two nearest.
        let position = 0.99 * (all.len() - 1) as f64;
        let (_, lower, above) = all.select_nth_unstable_by(position as usize, f32::total_cmp);
        let upper = above.iter().copied().min_by(f32::total_cmp).unwrap_or(*lower);
        let p99_cm = f64::from(*lower) + position.fract() * (f64::from(upper) - f64::from(*lower));
        Self { max_cm, p99_cm, mean_cm }
    }
}

/// How far a clip is off the raw one.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorReport {
    /// At the sample times, over all joints.
    pub all: Errors,
    /// At the sample times, by joint.
    pub joints: Vec<Errors>,
    /// Half-way between the sample times, over all joints; the raw clip is interpolated there
    /// (slerp for rotations).
    pub between: Errors,
    /// How far joints that stand still in the raw clip wander, at most: what their way since they
    /// came to stand differs from the raw one.
    pub foot_slide_cm: f64,
    /// The joint that wanders farthest.
    pub slide_joint: Option<usize>,
}

/// Compares a clip with the raw one that it was made from.
///
/// # Panics
/// Where the two are not of as many joints or samples.
pub fn measure(raw: &RawClip, clip: &AnyClip, options: &ErrorOptions) -> ErrorReport {
    let mut follower = Follower::new(raw, clip, options);
    let mut joints = vec![Vec::with_capacity(raw.samples()); raw.joints()];
    let mut between = Vec::with_capacity(raw.samples() * raw.joints());
    let mut stands = stands(raw, options.base.as_deref());
    let mut slide = (0.0, None);
    for half_sample in 0..=follower.last() {
        follower.go_to(half_sample);
        let errors = follower.errors_cm().map(|error| error as f32);
        if !half_sample.is_multiple_of(2) {
            between.extend(errors);
            continue;
        }
        joints.iter_mut().zip(errors).for_each(|(joint, error)| joint.push(error));
        for (joint, offset) in follower.offsets_cm().enumerate() {
            let wandered = stands[joint].wandered_cm(half_sample / 2, offset);
            if wandered > slide.0 {
                slide = (wandered, Some(joint));
            }
        }
    }
    ErrorReport {
        all: Errors::of(joints.concat()),
        joints: joints.into_iter().map(Errors::of).collect(),
        between: Errors::of(between),
        foot_slide_cm: slide.0,
        slide_joint: slide.1,
    }
}
