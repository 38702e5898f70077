//! A raw clip and the one made from it, played side by side: where their joints are, and how far
//! apart. For who shows what [`measure`](super::measure) only sums up.

use std::sync::Arc;

use glam::DVec3;

use crate::{AnyClip, AnyPlayer, RawClip, Transform, additive};

use super::{ErrorOptions, Frame, object_space};

/// Both clips at one time, which may be any sample time or half-way between two. Cost of going
/// forwards: that of an [`AnyPlayer`] and two poses in object space; nothing is allocated after
/// [`Follower::new`].
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, offline::{BuildOptions, build}};
/// use kinepack_anim::measure::{ErrorOptions, Follower};
///
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let samples = (0..31).map(|i| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY }).collect();
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
    /// What both are on top of, and its pose.
    base: Option<(Arc<RawClip>, Vec<Transform>)>,
    /// By joint.
    shells_cm: Vec<f64>,
    local: Vec<Frame>,
    raw_side: Side,
    clip_side: Side,
}

#[derive(Clone, Debug)]
struct Side {
    pose: Vec<Transform>,
    object: Vec<Frame>,
}

impl<'a> Follower<'a> {
    /// Both at the first sample.
    ///
    /// # Panics
    /// Where the two are not of as many joints or samples, or the base is not of as many joints, or
    /// of one sample or as many.
    pub fn new(raw: &'a RawClip, clip: &AnyClip, options: &ErrorOptions) -> Self {
        assert_eq!(
            (raw.joints(), raw.samples()),
            (clip.joints(), clip.samples()),
            "a clip of another raw clip"
        );
        let is_base = |base: &Arc<RawClip>| additive::check(raw, base).is_ok();
        assert!(options.base.as_ref().is_none_or(is_base), "a base of another raw clip");
        let bind = raw.skeleton().bind_pose();
        let local = vec![Frame::IDENTITY; raw.joints()];
        let player = clip.player_with_bind_pose(&bind).expect("checked above: as many joints");
        let raw_side = Side { pose: bind, object: local.clone() };
        let clip_side = raw_side.clone();
        let shells_cm = options.shells_cm(raw.joints());
        let base = options.base.as_ref().map(|base| (Arc::clone(base), base.pose(0).to_vec()));
        let mut follower = Self { raw, player, base, shells_cm, local, raw_side, clip_side };
        follower.go_to(0);
        follower
    }

    /// The last half sample: that of the last sample.
    pub fn last(&self) -> usize {
        2 * (self.raw.samples() - 1)
    }

    /// To a time in half samples; what is behind the last sample is the last sample.
    pub fn go_to(&mut self, half_samples: usize) {
        let half_samples = half_samples.min(self.last());
        raw_pose(self.raw, half_samples, &mut self.raw_side.pose);
        if let Some((base, pose)) = &mut self.base
            && base.samples() > 1
        {
            raw_pose(base, half_samples, pose);
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

    /// The raw pose.
    pub fn raw_pose(&self) -> &[Transform] {
        &self.raw_side.pose
    }

    /// The pose that the compressed clip gives.
    pub fn pose(&self) -> &[Transform] {
        &self.clip_side.pose
    }

    /// Where the joints of the raw clip are, in cm from the object's origin.
    pub fn raw_positions_cm(&self) -> impl ExactSizeIterator<Item = [f64; 3]> {
        self.raw_side.object.iter().map(|frame| frame.translation.to_array())
    }

    /// Where those of the compressed clip are.
    pub fn positions_cm(&self) -> impl ExactSizeIterator<Item = [f64; 3]> {
        self.clip_side.object.iter().map(|frame| frame.translation.to_array())
    }

    /// By how much each joint is off.
    pub(super) fn offsets_cm(&self) -> impl Iterator<Item = DVec3> {
        let pairs = self.clip_side.object.iter().zip(&self.raw_side.object);
        pairs.map(|(clip, raw)| clip.translation - raw.translation)
    }

    /// How far each joint's shell is off.
    pub fn errors_cm(&self) -> impl ExactSizeIterator<Item = f64> {
        let pairs = self.clip_side.object.iter().zip(&self.raw_side.object);
        pairs
            .zip(&self.shells_cm)
            .map(|((clip, raw), shell_cm)| clip.shell_error_cm(raw, *shell_cm))
    }
}

/// The pose of a raw clip at a time in half samples.
fn raw_pose(raw: &RawClip, half_samples: usize, pose: &mut [Transform]) {
    let sample = half_samples / 2;
    if half_samples.is_multiple_of(2) {
        pose.copy_from_slice(raw.pose(sample));
    } else {
        half_way(raw.pose(sample), raw.pose(sample + 1), pose);
    }
}

/// The raw pose half-way between two samples. Half-way, slerp is the sum made a unit quaternion.
fn half_way(from: &[Transform], to: &[Transform], middle: &mut [Transform]) {
    for ((from, to), middle) in from.iter().zip(to).zip(middle) {
        let [a, b] = [from.rotation64(), to.rotation64()];
        let rotation = (a + if a.dot(b) < 0.0 { -b } else { b }).normalize();
        let mean = |[x, y, z]: [f32; 3], b: [f32; 3]| {
            [0.5 * (x + b[0]), 0.5 * (y + b[1]), 0.5 * (z + b[2])]
        };
        *middle = Transform {
            rotation: rotation.to_array().map(|c| c as f32),
            translation: mean(from.translation, to.translation),
            scale: mean(from.scale, to.scale),
        };
    }
}
