//! Measures the errors of a compressed clip against the raw clip: for each joint and over all
//! joints, at the samples and between them.

use std::sync::Arc;

use crate::{AnyClip, RawClip, Sampler};

use super::slide::stands;
use super::{ErrorOptions, Follower};

/// A summary of errors over some joints and times. [`ErrorReport`] holds several.
///
/// ```
/// use kinepack_anim::measure::Errors;
///
/// let errors = Errors { max_cm: 0.1, p99_cm: 0.08, mean_cm: 0.02 };
/// assert!(Errors::default().max_cm < errors.max_cm);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// The largest error.
    pub max_cm: f64,
    /// The 99th percentile of the errors.
    pub p99_cm: f64,
    /// The mean error.
    pub mean_cm: f64,
}

impl Errors {
    /// Summarizes errors in cm, one for each joint and sample, in any order. Without errors, the
    /// summary is all zeros.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
    /// use kinepack_anim::measure::{ErrorOptions, Errors, pose_errors_cm};
    ///
    /// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
    /// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
    /// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
    /// # let raw = RawClip::new("slide", skeleton, 30.0, (0..31).map(sample).collect())?;
    /// // Another codec has lost half of the way.
    /// let played = |sample: usize| {
    ///     let translation = [sample as f32 / 2.0, 0.0, 0.0];
    ///     vec![Transform { translation, ..Transform::IDENTITY }]
    /// };
    /// let options = ErrorOptions::default();
    /// let errors = raw.poses().enumerate().flat_map(|(sample, pose)| {
    ///     pose_errors_cm(raw.skeleton(), pose, &played(sample), &options)
    /// });
    /// let summary = Errors::summarize(errors.map(|error| error as f32).collect());
    /// assert_eq!((summary.max_cm, summary.mean_cm), (15.0, 7.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn summarize(mut all: Vec<f32>) -> Self {
        if all.is_empty() {
            return Self::default();
        }
        let mean_cm = all.iter().copied().map(f64::from).sum::<f64>() / all.len() as f64;
        let max_cm = f64::from(all.iter().copied().fold(0.0, f32::max));
        // The 99th percentile is interpolated linearly between the two nearest errors.
        let position = 0.99 * (all.len() - 1) as f64;
        let (_, lower, above) = all.select_nth_unstable_by(position as usize, f32::total_cmp);
        let upper = above.iter().copied().min_by(f32::total_cmp).unwrap_or(*lower);
        let p99_cm = f64::from(*lower) + position.fract() * (f64::from(upper) - f64::from(*lower));
        Self { max_cm, p99_cm, mean_cm }
    }
}

/// The errors of a compressed clip against the raw clip.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorReport {
    /// Errors at the samples, over all joints.
    pub all: Errors,
    /// Errors at the samples, by joint.
    pub joints: Vec<Errors>,
    /// Errors half-way between the samples, over all joints. At these times the raw clip is
    /// interpolated in the same way as the compressed clip (see [`Follower`]).
    pub between: Errors,
    /// The largest distance that a joint slides while it is at rest in the raw clip. A joint's
    /// slide is the change of its offset from the raw clip since the joint came to rest.
    pub foot_slide_cm: f64,
    /// The joint that slides farthest. The value is `None` if no joint slides.
    pub slide_joint: Option<usize>,
    /// The largest error of each curve at the samples, in the unit of its values. The list is empty
    /// if the clip lacks the raw clip's curves, as keyed clips always do.
    pub curves: Vec<f64>,
}

impl ErrorReport {
    /// Returns the curve with the largest error relative to its precision, and that ratio. A ratio
    /// of at most 1 means that all curves keep their precision. Returns `None` if there are no
    /// curves.
    pub fn farthest_curve(&self, raw: &RawClip) -> Option<(usize, f64)> {
        let curves = self.curves.iter().zip(raw.curves());
        let shares = curves.map(|(error, curve)| error / f64::from(curve.precision)).enumerate();
        shares.max_by(|one, other| one.1.total_cmp(&other.1))
    }
}

/// Returns the largest error of each curve at the samples. The list is empty if the clip lacks the
/// raw clip's curves.
fn curve_errors(raw: &RawClip, clip: &AnyClip) -> Vec<f64> {
    let mut largest = Vec::new();
    each_curve_error(raw, clip, |_, curve, error| {
        largest.resize(raw.curves().len(), 0.0_f64);
        largest[curve] = largest[curve].max(error);
    });
    largest
}

/// Calls `take` with a sample, a curve, and the curve's error at that sample.
pub(crate) fn each_curve_error(
    raw: &RawClip,
    clip: &AnyClip,
    mut take: impl FnMut(usize, usize, f64),
) {
    let sampler = clip.as_block().and_then(|clip| {
        let bind = raw.skeleton().shared_bind_pose();
        Sampler::with_bind_pose(Arc::clone(clip), &bind).ok()
    });
    let Some(sampler) = sampler.filter(|own| own.clip().curves() == raw.curves().len()) else {
        return;
    };
    let mut values = vec![0.0; raw.curves().len()];
    if values.is_empty() {
        return;
    }
    for sample in 0..raw.samples() {
        sampler.curves_at(sample as f64, &mut values);
        for ((index, value), curve) in values.iter().enumerate().zip(raw.curves()) {
            take(sample, index, (f64::from(*value) - f64::from(curve.values[sample])).abs());
        }
    }
}

/// Compares a compressed clip with the raw clip that it was built from.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, offline::{BuildOptions, build}};
/// use kinepack_anim::measure::{ErrorOptions, measure};
///
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", skeleton, 30.0, samples)?;
/// let built = build(&raw, &BuildOptions::default())?;
/// let report = measure(&raw, &built.clip, &ErrorOptions::default());
/// assert!(report.all.max_cm <= 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// Panics if the clips have different numbers of joints or samples.
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
            let slid = stands[joint].slid_cm(half_sample / 2, offset);
            if slid > slide.0 {
                slide = (slid, Some(joint));
            }
        }
    }
    ErrorReport {
        all: Errors::summarize(joints.concat()),
        joints: joints.into_iter().map(Errors::summarize).collect(),
        between: Errors::summarize(between),
        foot_slide_cm: slide.0,
        slide_joint: slide.1,
        curves: curve_errors(raw, clip),
    }
}
