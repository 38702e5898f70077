//! Additive clips: motions to add to another motion, such as a breath on any stance or a recoil on
//! any aim. A delta turns a joint after the base has turned it (`base · delta`, in the joint's own
//! axes). It moves the joint by a vector in the parent's space, and multiplies its scale. If the
//! motion does not move a joint, the joint's delta is [`Transform::IDENTITY`]. An additive clip's
//! [`skeleton`] therefore has this transform for every joint of its bind pose.
//!
//! ```
//! # use std::sync::Arc;
//! use kinepack_anim::offline::{BuildOptions, build};
//! use kinepack_anim::{Joint, RawClip, Skeleton, Transform, additive};
//!
//! # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
//! # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
//! # let moved = |by: f32| Transform { translation: [5.0, by, 0.0], ..Transform::IDENTITY };
//! # let samples = (0..31).map(|i| moved(0.1 * i as f32)).collect();
//! # let breathing = RawClip::new("breathing", skeleton.clone(), 30.0, samples)?;
//! # let standing = RawClip::new("standing", skeleton.clone(), 30.0, vec![moved(0.0)])?;
//! // Offline: take what breathing adds to standing, and measure errors on top of standing.
//! let breath = additive::difference(&breathing, &standing)?;
//! let mut options = BuildOptions::default();
//! options.error.base = Some(Arc::new(standing));
//! let clip = build(&breath, &options)?.clip;
//!
//! // In the game: add half of it to any pose.
//! let still = additive::skeleton(&skeleton);
//! let mut delta = still.bind_pose();
//! clip.player(&still)?.sample(1.0, &mut delta);
//! let mut pose = [moved(7.0)];
//! additive::add(&mut pose, &delta, 0.5);
//! assert!((pose[0].translation[1] - 8.5).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "raw")]
use std::{collections::HashMap, fmt, sync::Arc};

use crate::transform::check_pose;
#[cfg(feature = "raw")]
use crate::{Curve, RawClip, measure::Frame};
use crate::{Joint, Skeleton, Transform, quaternion};

/// The largest weight of a layer at a joint. Larger weights are clamped to this value, so that sums
/// stay finite.
pub const MAX_WEIGHT: f32 = 1e6;

#[cfg(feature = "raw")]
/// The reason why two clips have no difference.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AdditiveError {
    /// The base has a different number of joints.
    OtherJoints {
        /// Number of joints of the clip.
        joints: usize,
        /// Number of joints of the base.
        base: usize,
    },
    /// The base has neither a single sample nor the clip's number of samples.
    OtherSamples {
        /// Number of samples of the clip.
        samples: usize,
        /// Number of samples of the base.
        base: usize,
    },
    /// The base has a scale of 0, but the clip does not. A delta multiplies the base's scale, and
    /// no factor turns 0 into the clip's scale.
    ZeroScale {
        /// Index of the joint.
        joint: usize,
        /// Index of the clip's first sample with this conflict.
        sample: usize,
    },
    /// The difference is not a valid clip, because a number is not finite.
    Clip(crate::RawClipError),
}

#[cfg(feature = "raw")]
impl fmt::Display for AdditiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherJoints { joints, base } => {
                write!(
                    f,
                    "other joints: {joints} in the clip and {base} in the base; \
                     both must have one skeleton"
                )
            }
            Self::OtherSamples { samples, base } => {
                write!(
                    f,
                    "other samples: {samples} in the clip and {base} in the base; \
                     the base must have one, or as many as the clip"
                )
            }
            Self::ZeroScale { joint, sample } => {
                write!(
                    f,
                    "joint {joint} in sample {sample}: the base has a scale of 0 and the clip has \
                     another, which no difference gives; use a base that shows the joint"
                )
            }
            Self::Clip(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "raw")]
impl std::error::Error for AdditiveError {}

/// Returns the skeleton of an additive clip: the same joints, each with the identity as its bind
/// pose.
pub fn skeleton(skeleton: &Skeleton) -> Skeleton {
    let joints =
        skeleton.joints().iter().map(|joint| Joint { bind: Transform::IDENTITY, ..joint.clone() });
    // `Skeleton::new` cannot fail here, because the joints come from a valid skeleton.
    Skeleton::new(joints.collect()).unwrap_or_else(|_| skeleton.clone())
}

#[cfg(feature = "raw")]
/// Returns the motion that `raw` adds to `base`. The base is a pose (a clip of one sample) or a
/// clip with the same number of samples. If `raw` and `base` both have a scale of 0, the delta's
/// scale is 1. Curves of the base are subtracted from the curves of `raw` with the same names. The
/// markers are copied from `raw`.
///
/// # Errors
/// Returns [`AdditiveError`] if the base has a different number of joints or samples. A delta
/// multiplies the scale of its base, so the error also occurs if `base` has a scale of 0 and `raw`
/// does not.
pub fn difference(raw: &RawClip, base: &RawClip) -> Result<RawClip, AdditiveError> {
    check(raw, base)?;
    check_scales(raw, base)?;
    let deltas = raw.poses().enumerate().flat_map(|(sample, pose)| {
        let base = pose_of(base, sample);
        pose.iter()
            .zip(base)
            .map(|(own, base)| Frame::from(own).on_top_of(&Frame::from(base)).to_transform())
    });
    let skeleton = Arc::new(skeleton(raw.skeleton()));
    RawClip::new(raw.name(), skeleton, raw.rate_hz(), deltas.collect())
        .and_then(|clip| clip.with_curves(curves(raw, base)))
        .and_then(|clip| clip.with_markers(raw.markers().to_vec()))
        .map_err(AdditiveError::Clip)
}

#[cfg(feature = "raw")]
/// Refuses a base that hides a joint (with a scale of 0) if the clip shows that joint.
fn check_scales(raw: &RawClip, base: &RawClip) -> Result<(), AdditiveError> {
    for (sample, pose) in raw.poses().enumerate() {
        let is_hidden = |(own, base): (&Transform, &Transform)| {
            own.scale.iter().zip(base.scale).any(|(own, base)| base == 0.0 && *own != 0.0)
        };
        if let Some(joint) = pose.iter().zip(pose_of(base, sample)).position(is_hidden) {
            return Err(AdditiveError::ZeroScale { joint, sample });
        }
    }
    Ok(())
}

#[cfg(feature = "raw")]
/// Returns the curves of a clip, minus the base's curves of the same names.
fn curves(raw: &RawClip, base: &RawClip) -> Vec<Curve> {
    let below: HashMap<&str, &Curve> =
        base.curves().iter().map(|curve| (curve.name.as_str(), curve)).collect();
    let mut curves = raw.curves().to_vec();
    for curve in &mut curves {
        if let Some(below) = below.get(curve.name.as_str()) {
            for (sample, value) in curve.values.iter_mut().enumerate() {
                *value -= below.values[sample.min(below.values.len() - 1)];
            }
        }
    }
    curves
}

#[cfg(feature = "raw")]
/// Checks that both clips have the same number of joints, and that the base has either one sample
/// or as many samples as the clip.
pub(crate) fn check(raw: &RawClip, base: &RawClip) -> Result<(), AdditiveError> {
    if raw.joints() != base.joints() {
        return Err(AdditiveError::OtherJoints { joints: raw.joints(), base: base.joints() });
    }
    if base.samples() != 1 && base.samples() != raw.samples() {
        return Err(AdditiveError::OtherSamples { samples: raw.samples(), base: base.samples() });
    }
    Ok(())
}

#[cfg(feature = "raw")]
/// Returns the base's pose at a sample. A base of one sample has that pose at all samples.
pub(crate) fn pose_of(base: &RawClip, sample: usize) -> &[Transform] {
    base.pose(sample.min(base.samples() - 1))
}

/// Adds `delta` to `pose` with a weight. A `weight` of 0 adds nothing, and 1 adds the whole delta.
/// A negative weight subtracts exactly what the positive weight adds. NaN counts as 0. To add
/// several layers in one call, or to add to some joints only, see
/// [`Blend::additives`](crate::pose::Blend::additives).
///
/// # Panics
/// Panics if `pose` and `delta` differ in their number of joints.
#[track_caller]
pub fn add(pose: &mut [Transform], delta: &[Transform], weight: f32) {
    check_pose("the delta", delta.len(), "the pose", pose.len());
    for (own, delta) in pose.iter_mut().zip(delta) {
        add_to(own, delta, weight);
    }
}

/// Adds `delta`, with a weight, to a joint's transform. A negative weight subtracts it.
#[inline]
pub(crate) fn add_to(own: &mut Transform, delta: &Transform, weight: f32) {
    if weight.is_nan() {
        return;
    }
    let amount = weight.abs().min(MAX_WEIGHT);
    let share = quaternion::mix(quaternion::IDENTITY, delta.rotation, amount);
    let is_added = weight >= 0.0;
    let turn = if is_added { share } else { quaternion::conjugate(share) };
    own.rotation = quaternion::product(own.rotation, turn);
    for axis in 0..3 {
        let moved = amount * delta.translation[axis];
        let factor = 1.0 + amount * (delta.scale[axis] - 1.0);
        if is_added {
            own.translation[axis] += moved;
            own.scale[axis] *= factor;
        } else {
            own.translation[axis] -= moved;
            // Division cannot undo a multiplication by 0.
            own.scale[axis] /= if factor == 0.0 { 1.0 } else { factor };
        }
    }
}
