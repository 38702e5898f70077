//! Errors of a clip against the raw one: per joint and over all, at the sample times and between them.

use crate::{Clip, Cursor, RawClip, Transform};

use super::slide::stands;
use super::{Frame, object_space};

/// How errors are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorOptions {
    /// Distance from the joint at which the error is measured, in cm.
    pub shell_cm: f64,
}

impl Default for ErrorOptions {
    /// 3 cm: about the skin of a finger, an arm, a face.
    fn default() -> Self {
        Self { shell_cm: 3.0 }
    }
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
    /// Half-way between the sample times, over all joints; the raw clip is interpolated there (slerp for rotations).
    pub between: Errors,
    /// How far joints that stand still in the raw clip wander, at most: what their way since they came to stand differs from the raw one.
    pub foot_slide_cm: f64,
    /// The joint that wanders farthest.
    pub slide_joint: Option<usize>,
}

/// Compares a clip with the raw one that it was made from.
///
/// # Panics
/// Where the two are not of as many joints or samples.
pub fn measure(raw: &RawClip, clip: &Clip, options: &ErrorOptions) -> ErrorReport {
    assert_eq!((raw.joints(), raw.samples()), (clip.joints(), clip.samples()), "a clip of another raw clip");
    let mut cursor = Cursor::new(clip, &raw.skeleton().bind_pose());
    report(raw, options, |position, pose| cursor.sample_at(position, pose))
}

/// The same for anything that gives poses: `sample` is asked at positions in samples, which never decrease.
pub(crate) fn report(
    raw: &RawClip,
    options: &ErrorOptions,
    mut sample: impl FnMut(f64, &mut [Transform]),
) -> ErrorReport {
    let skeleton = raw.skeleton();
    let joints = raw.joints();
    let mut pose = skeleton.bind_pose();
    let mut local = vec![Frame::IDENTITY; joints];
    let (mut ours, mut theirs) = (local.clone(), local.clone());
    let mut at_samples = vec![Vec::with_capacity(raw.samples()); joints];
    let mut between = Vec::with_capacity(raw.samples() * joints);
    let mut stands = stands(raw);
    let mut slide = (0.0, None);
    let mut object = |pose: &[Transform], object: &mut [Frame]| {
        for (local, transform) in local.iter_mut().zip(pose) {
            *local = Frame::from(transform);
        }
        object_space(skeleton, &local, object);
    };
    let mut middle = pose.clone();
    for index in 0..raw.samples() {
        sample(index as f64, &mut pose);
        object(&pose, &mut ours);
        object(raw.pose(index), &mut theirs);
        for joint in 0..joints {
            at_samples[joint].push(ours[joint].shell_error_cm(&theirs[joint], options.shell_cm) as f32);
            let wandered = stands[joint].wandered_cm(index, ours[joint].translation - theirs[joint].translation);
            if wandered > slide.0 {
                slide = (wandered, Some(joint));
            }
        }
        if index + 1 < raw.samples() {
            sample(index as f64 + 0.5, &mut pose);
            object(&pose, &mut ours);
            half_way(raw.pose(index), raw.pose(index + 1), &mut middle);
            object(&middle, &mut theirs);
            between.extend(ours.iter().zip(&theirs).map(|(a, b)| a.shell_error_cm(b, options.shell_cm) as f32));
        }
    }
    let all = Errors::of(at_samples.concat());
    ErrorReport {
        all,
        joints: at_samples.into_iter().map(Errors::of).collect(),
        between: Errors::of(between),
        foot_slide_cm: slide.0,
        slide_joint: slide.1,
    }
}

/// The raw pose half-way between two samples. Half-way, slerp is the sum made a unit quaternion.
pub(super) fn half_way(from: &[Transform], to: &[Transform], middle: &mut [Transform]) {
    for ((from, to), middle) in from.iter().zip(to).zip(middle) {
        let [a, b] = [from.rotation64(), to.rotation64()];
        let rotation = (a + if a.dot(b) < 0.0 { -b } else { b }).normalize();
        let mean = |a: [f32; 3], b: [f32; 3]| std::array::from_fn(|axis| 0.5 * (a[axis] + b[axis]));
        *middle = Transform {
            rotation: rotation.to_array().map(|c| c as f32),
            translation: mean(from.translation, to.translation),
            scale: mean(from.scale, to.scale),
        };
    }
}
