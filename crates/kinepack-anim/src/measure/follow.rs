//! Plays a raw clip and its compressed form side by side, with the positions of their joints and
//! the errors. The module is for tools that show the errors which [`measure`](super::measure)
//! summarizes.

use std::sync::Arc;

use glam::{DVec3, DVec4};

use crate::block::Interpolation;
use crate::{AnyClip, AnyPlayer, RawClip, Transform, additive};

use super::{ErrorOptions, Frame, object_space};

/// A raw clip and its compressed form at the same time: at a sample, or half-way between two.
/// Half-way, the raw clip is interpolated like the compressed clip. The interpolation is linear,
/// with slerp for rotations. If the compressed clip is [cubic](crate::block::Interpolation), the
/// interpolation follows cubics. Each step forwards costs a step of an [`AnyPlayer`] and the
/// conversion of two poses to object space. Only [`Follower::new`] allocates.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, offline::{BuildOptions, build}};
/// use kinepack_anim::measure::{ErrorOptions, Follower};
///
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", skeleton, 30.0, samples)?;
/// let built = build(&raw, &BuildOptions::default())?;
/// let mut follower = Follower::new(&raw, &built.clip, &ErrorOptions::default());
/// let mut largest_cm = 0.0_f64;
/// for sample in 0..raw.samples() {
///     follower.go_to(2 * sample);
///     largest_cm = follower.errors_cm().fold(largest_cm, f64::max);
/// }
/// assert!((largest_cm - built.errors.all.max_cm).abs() < 1e-6);
/// // Half-way between samples 7 and 8.
/// follower.go_to(15);
/// assert_eq!(follower.raw_positions_cm().next(), Some([7.5, 0.0, 0.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Follower<'a> {
    raw: &'a RawClip,
    player: AnyPlayer,
    between: Between,
    /// The base of additive clips, and its current pose.
    base: Option<(Arc<RawClip>, Vec<Transform>)>,
    /// The shell distance of each joint, in cm.
    shells_cm: Vec<f64>,
    local: Vec<Frame>,
    raw_side: Side,
    clip_side: Side,
}

/// The pose of one of the two clips.
#[derive(Clone, Debug)]
struct Side {
    pose: Vec<Transform>,
    object: Vec<Frame>,
}

impl<'a> Follower<'a> {
    /// Creates a follower at the first sample.
    ///
    /// # Panics
    /// Panics if the clips have different numbers of joints or samples. The call also panics if the
    /// base has a different number of joints, or neither a single sample nor as many samples as the
    /// clips.
    pub fn new(raw: &'a RawClip, clip: &AnyClip, options: &ErrorOptions) -> Self {
        assert_eq!(
            (raw.joints(), raw.samples()),
            (clip.joints(), clip.samples()),
            "the clip was built from another raw clip"
        );
        let is_base = |base: &Arc<RawClip>| additive::check(raw, base).is_ok();
        assert!(options.base.as_ref().is_none_or(is_base), "the base does not fit the raw clip");
        let bind = raw.skeleton().bind_pose();
        let local = vec![Frame::IDENTITY; raw.joints()];
        let player = clip.player_with_bind_pose(&bind).expect("checked above: as many joints");
        let raw_side = Side { pose: bind, object: local.clone() };
        let clip_side = raw_side.clone();
        let shells_cm = options.shells_cm(raw.joints());
        let base = options.base.as_ref().map(|base| (Arc::clone(base), base.pose(0).to_vec()));
        let between = Between::from_clip(clip);
        let mut follower =
            Self { raw, player, between, base, shells_cm, local, raw_side, clip_side };
        follower.go_to(0);
        follower
    }

    /// Returns the time of the last sample, in half samples.
    pub fn last(&self) -> usize {
        2 * (self.raw.samples() - 1)
    }

    /// Moves to the time `half_samples`, in half samples. Times after the last sample are clamped
    /// to that sample.
    pub fn go_to(&mut self, half_samples: usize) {
        let half_samples = half_samples.min(self.last());
        self.between.raw_pose(self.raw, half_samples, &mut self.raw_side.pose);
        if let Some((base, pose)) = &mut self.base
            && base.samples() > 1
        {
            self.between.raw_pose(base, half_samples, pose);
        }
        self.player.sample_at(0.5 * half_samples as f64, &mut self.clip_side.pose);
        for side in [&mut self.raw_side, &mut self.clip_side] {
            for (local, transform) in self.local.iter_mut().zip(&side.pose) {
                *local = Frame::from(transform);
            }
            if let Some((_, base)) = &self.base {
                for (local, base) in self.local.iter_mut().zip(base) {
                    *local = Frame::from(base).with(local);
                }
            }
            object_space(self.raw.skeleton(), &self.local, &mut side.object);
        }
    }

    /// Returns the raw clip's pose at the current time.
    pub fn raw_pose(&self) -> &[Transform] {
        &self.raw_side.pose
    }

    /// Returns the compressed clip's pose at the current time.
    pub fn pose(&self) -> &[Transform] {
        &self.clip_side.pose
    }

    /// Returns the positions of the raw clip's joints, in cm from the object's origin.
    pub fn raw_positions_cm(&self) -> impl ExactSizeIterator<Item = [f64; 3]> {
        self.raw_side.object.iter().map(|frame| frame.translation.to_array())
    }

    /// Returns the positions of the compressed clip's joints, in cm from the object's origin.
    pub fn positions_cm(&self) -> impl ExactSizeIterator<Item = [f64; 3]> {
        self.clip_side.object.iter().map(|frame| frame.translation.to_array())
    }

    /// Returns the offset of each joint of the compressed clip from the same joint of the raw clip.
    pub(super) fn offsets_cm(&self) -> impl Iterator<Item = DVec3> {
        let pairs = self.clip_side.object.iter().zip(&self.raw_side.object);
        pairs.map(|(clip, raw)| clip.translation - raw.translation)
    }

    /// Returns the error of each joint in cm, which is the largest offset of its three points.
    pub fn errors_cm(&self) -> impl ExactSizeIterator<Item = f64> {
        let pairs = self.clip_side.object.iter().zip(&self.raw_side.object);
        pairs
            .zip(&self.shells_cm)
            .map(|((clip, raw), shell_cm)| clip.shell_error_cm(raw, *shell_cm))
    }
}

/// The interpolation of a raw clip between its samples.
#[derive(Clone, Copy, Debug)]
enum Between {
    Linear,
    /// The interpolation follows cubics. In a loop, the cubics wrap around at the ends.
    Cubic {
        loops: bool,
    },
}

impl Between {
    /// Returns the interpolation that a compressed clip uses.
    fn from_clip(clip: &AnyClip) -> Self {
        match clip.as_block().map(|clip| clip.header()) {
            Some(header) if header.interpolation == Interpolation::Cubic => {
                Self::Cubic { loops: header.loops }
            }
            _ => Self::Linear,
        }
    }

    /// The pose of a raw clip at the time `half_samples`, in half samples.
    fn raw_pose(self, raw: &RawClip, half_samples: usize, pose: &mut [Transform]) {
        let sample = half_samples / 2;
        if half_samples.is_multiple_of(2) {
            pose.copy_from_slice(raw.pose(sample));
            return;
        }
        // Each component is a weighted sum over these samples, with these factors.
        let last = raw.samples() - 1;
        let samples = match self {
            Self::Cubic { loops } if last > 1 => {
                let before = beyond(sample, 0, last, loops.then_some(last - 1));
                let after = beyond(sample + 1, last, 0, loops.then_some(1));
                let both = [(sample, 9.0 / 16.0), (sample + 1, 9.0 / 16.0)];
                let outer = before.into_iter().chain(after);
                both.into_iter().chain(outer.map(|(at, factor)| (at, -factor / 16.0))).collect()
            }
            _ => vec![(sample, 0.5), (sample + 1, 0.5)],
        };
        for (joint, own) in pose.iter_mut().enumerate() {
            *own = sum(samples.iter().map(|(sample, factor)| (&raw.pose(*sample)[joint], *factor)));
        }
    }
}

/// Returns the neighbour of `sample` on the side away from `other_end`, as a weighted sum of
/// samples. At the clip's end `end`, the neighbour is the sample `wrapped` if given, or else a
/// parabola continues the samples.
fn beyond(
    sample: usize,
    end: usize,
    other_end: usize,
    wrapped: Option<usize>,
) -> Vec<(usize, f64)> {
    let towards = |at: usize, goal: usize| if goal > at { at + 1 } else { at - 1 };
    match wrapped {
        _ if sample != end => vec![(towards(sample, end), 1.0)],
        Some(wrapped) => vec![(wrapped, 1.0)],
        None => {
            let second = towards(sample, other_end);
            vec![(sample, 3.0), (second, -3.0), (towards(second, other_end), 1.0)]
        }
    }
}

/// Returns a weighted sum of transforms, with its rotation normalized. Each rotation gets the sign
/// for which its dot product with the first is not negative. Half-way between two rotations, the
/// normalized sum equals slerp.
fn sum<'a>(parts: impl Iterator<Item = (&'a Transform, f64)>) -> Transform {
    let [mut rotation, mut first] = [DVec4::ZERO; 2];
    let [mut translation, mut scale] = [DVec3::ZERO; 2];
    for (transform, factor) in parts {
        let own = DVec4::from(transform.rotation64());
        if first == DVec4::ZERO {
            first = own;
        }
        rotation += if first.dot(own) < 0.0 { -own } else { own } * factor;
        translation += DVec3::from(transform.translation.map(f64::from)) * factor;
        scale += transform.scale64() * factor;
    }
    Transform {
        rotation: rotation.normalize().to_array().map(|c| c as f32),
        translation: translation.as_vec3().to_array(),
        scale: scale.as_vec3().to_array(),
    }
}
