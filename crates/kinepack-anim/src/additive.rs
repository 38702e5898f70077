//! Additive clips: what a motion adds to another, a breath to any stance, a recoil to any aim. A
//! delta turns a joint after the base has (`base · delta`, in the joint's own axes), moves it by a
//! vector of its parent, and scales it once more. Of a joint that the motion leaves alone the delta
//! is [`Transform::IDENTITY`], so that is the bind pose of an additive clip's [`skeleton`].
//!
//! ```
//! # use std::sync::Arc;
//! use kinepack_anim::offline::{BuildOptions, build};
//! use kinepack_anim::{Joint, RawClip, Skeleton, Transform, additive};
//!
//! # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
//! # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
//! # let moved = |by: f32| Transform { translation: [5.0, by, 0.0], ..Transform::IDENTITY };
//! # let breathing = RawClip::new("breathing", skeleton.clone(), 30.0, (0..31).map(|i| moved(0.1 * i as f32)).collect())?;
//! # let standing = RawClip::new("standing", skeleton.clone(), 30.0, vec![moved(0.0)])?;
//! // Offline: what breathing adds to standing, measured on top of standing.
//! let breath = additive::difference(&breathing, &standing)?;
//! let mut options = BuildOptions::default();
//! options.error.base = Some(Arc::new(standing));
//! let clip = build(&breath, &options)?.clip;
//!
//! // In the game: half of it on top of any pose.
//! let still = additive::skeleton(&skeleton);
//! let mut delta = still.bind_pose();
//! clip.player(&still)?.sample(1.0, &mut delta);
//! let mut pose = [moved(7.0)];
//! additive::add(&mut pose, &delta, 0.5);
//! assert!((pose[0].translation[1] - 8.5).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "raw")]
use std::{fmt, sync::Arc};

use crate::{Joint, Skeleton, Transform};
#[cfg(feature = "raw")]
use crate::{RawClip, measure::Frame};

#[cfg(feature = "raw")]
/// Why there is no difference of two clips.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AdditiveError {
    /// The base has other joints.
    OtherJoints {
        /// Joints of the clip.
        joints: usize,
        /// Joints of the base.
        base: usize,
    },
    /// The base has neither one sample nor as many as the clip.
    OtherSamples {
        /// Samples of the clip.
        samples: usize,
        /// Samples of the base.
        base: usize,
    },
    /// The difference is no clip: a number that is not finite.
    Clip(crate::RawClipError),
}

#[cfg(feature = "raw")]
impl fmt::Display for AdditiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherJoints { joints, base } => {
                write!(
                    f,
                    "the base has {base} joints, the clip {joints}: they must be of one skeleton"
                )
            }
            Self::OtherSamples { samples, base } => {
                write!(
                    f,
                    "the base has {base} samples, the clip {samples}: it must have one, or as many"
                )
            }
            Self::Clip(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "raw")]
impl std::error::Error for AdditiveError {}

/// The joints of a skeleton, none of them moved: what an additive clip is of.
pub fn skeleton(skeleton: &Skeleton) -> Skeleton {
    let joints =
        skeleton.joints().iter().map(|joint| Joint { bind: Transform::IDENTITY, ..joint.clone() });
    // What was a skeleton still is one.
    Skeleton::new(joints.collect()).unwrap_or_else(|_| skeleton.clone())
}

#[cfg(feature = "raw")]
/// What `raw` adds to `base`, which is a pose, a clip of one sample, or a clip of as many samples.
/// Where the base has a scale of 0 the delta has 1.
///
/// # Errors
/// [`AdditiveError`] where the base is of other joints or samples.
pub fn difference(raw: &RawClip, base: &RawClip) -> Result<RawClip, AdditiveError> {
    check(raw, base)?;
    let deltas = raw.poses().enumerate().flat_map(|(sample, pose)| {
        let base = pose_of(base, sample);
        pose.iter()
            .zip(base)
            .map(|(own, base)| Frame::from(own).on_top_of(&Frame::from(base)).to_transform())
    });
    let skeleton = Arc::new(skeleton(raw.skeleton()));
    RawClip::new(raw.name(), skeleton, raw.rate_hz(), deltas.collect()).map_err(AdditiveError::Clip)
}

#[cfg(feature = "raw")]
/// Whether a clip can be on top of another.
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
/// The pose of a base at a sample.
pub(crate) fn pose_of(base: &RawClip, sample: usize) -> &[Transform] {
    base.pose(sample.min(base.samples() - 1))
}

/// Puts a share of a delta on top of a pose: 0 is none of it, 1 all.
///
/// # Panics
/// Where the two are not of as many joints.
pub fn add(pose: &mut [Transform], delta: &[Transform], weight: f32) {
    assert_eq!(pose.len(), delta.len(), "a delta of another skeleton");
    for (own, delta) in pose.iter_mut().zip(delta) {
        let [x, y, z, w] = delta.rotation;
        // The short way round.
        let side = if w < 0.0 { -weight } else { weight };
        let share = unit([x * side, y * side, z * side, w * side + (1.0 - weight)]);
        own.rotation = product(own.rotation, share);
        for axis in 0..3 {
            own.translation[axis] += weight * delta.translation[axis];
            own.scale[axis] *= 1.0 + weight * (delta.scale[axis] - 1.0);
        }
    }
}

fn unit(q: [f32; 4]) -> [f32; 4] {
    let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
    if length > 0.0 { q.map(|c| c / length) } else { [0.0, 0.0, 0.0, 1.0] }
}

fn product(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}
