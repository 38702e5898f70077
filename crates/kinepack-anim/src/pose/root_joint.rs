//! The joint that carries the motion of a clip. Many files have a node above the hips that stays at
//! the origin, so the first joint is not always the one that travels.
//!
//! The joints whose subtrees hold at least half of the skeleton form a chain, from a root to the
//! pelvis. The carrier is the first joint of the chain that, by itself, moves at least half as far
//! as any other. A hand that ends elsewhere is not on this chain. A knee below a turning hip does
//! not move by itself. If hips sway below a moving root, the root comes first.

use super::{Passed, RootMotion};
use crate::{Sampler, Skeleton, Transform};

/// The number of steps at which the clip is sampled, besides its start.
const STEPS: u16 = 64;
/// A clip travels if its carrier moves farther than this share of the skeleton's size.
const TRAVELS_RATIO: f32 = 0.1;
/// A distance below this never counts as travelling.
const TRAVELS_CM: f32 = 1.0;

/// The joint that carries the motion of a clip, and its parent's transform in model space.
///
/// The joints above the carrier must not move in the clip, because only their transforms at its
/// start are used.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform};
/// use kinepack_anim::pose::{Axis, Playhead, RootJoint, RootMotion};
///
/// # let joint = |name: &str, parent| Joint { name: name.into(), parent, bind: Transform::IDENTITY };
/// # let joints = vec![joint("scene", None), joint("hips", Some(0)), joint("chest", Some(1))];
/// # let skeleton = Arc::new(Skeleton::new(joints)?);
/// # let pose = |sample: i32| {
/// #     let hips = Transform { translation: [0.0, 95.0, 4.0 * sample as f32], ..Transform::IDENTITY };
/// #     let chest = Transform { translation: [0.0, 40.0, 0.0], ..Transform::IDENTITY };
/// #     [Transform::IDENTITY, hips, chest]
/// # };
/// # let raw = RawClip::new("walk", Arc::clone(&skeleton), 30.0, (0..31).flat_map(pose).collect())?;
/// # let clip = build(&raw, &BuildOptions::default())?.clip;
/// # let sampler = Sampler::new(Arc::clone(clip.as_block().expect("a block clip")), &skeleton)?;
/// // Once. The clip walks 120 cm in a second; joint 0 stays at the origin.
/// let motion = RootMotion::on_ground(Axis::Y);
/// let root = RootJoint::find_in_clip(&sampler, &skeleton, &motion);
/// assert_eq!((root.joint(), root.travels()), (1, true));
/// assert!((root.way_cm() - 120.0).abs() < 0.3);
///
/// // Each frame.
/// let mut playhead = Playhead::looped(sampler.clip().duration_s());
/// let delta = root.delta(&motion, &sampler, &playhead.advance(0.5));
/// let character = RootMotion::moved(&Transform::IDENTITY, &delta);
/// assert!((character.translation[2] - 60.0).abs() < 0.3);
/// let mut pose = skeleton.bind_pose();
/// sampler.sample(playhead.time_s(), &mut pose);
/// root.remove(&motion, &mut pose);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RootJoint {
    joint: usize,
    /// The parent of the joint in model space, at the start of the clip.
    above: Transform,
    /// The joints without a parent.
    roots: Box<[usize]>,
    way_cm: f32,
    travels: bool,
}

impl RootJoint {
    /// Finds the joint that carries the motion of a block clip. The search samples the clip at 65
    /// times.
    ///
    /// # Panics
    /// Panics if the sampler is for a different number of joints.
    pub fn find_in_clip<B: AsRef<[u8]>>(
        sampler: &Sampler<B>,
        skeleton: &Skeleton,
        motion: &RootMotion,
    ) -> Self {
        let sample = |time_s: f32, pose: &mut [Transform]| sampler.sample(time_s, pose);
        Self::find(skeleton, motion, sampler.clip().duration_s(), sample)
    }

    /// Finds the joint with any player, whose function `sample` writes the pose at a time from 0 to
    /// `duration_s`. Only movement along the axes of `motion` counts. A skeleton without joints
    /// gives joint 0.
    pub fn find(
        skeleton: &Skeleton,
        motion: &RootMotion,
        duration_s: f32,
        mut sample: impl FnMut(f32, &mut [Transform]),
    ) -> Self {
        let trunk = trunk(skeleton);
        let (mut pose, mut start) = (skeleton.bind_pose(), skeleton.bind_pose());
        sample(0.0, &mut pose);
        skeleton.model_pose(&pose, &mut start);
        let above = |joint: usize| {
            let parent = skeleton.parent(joint);
            parent.map_or(Transform::IDENTITY, |parent| start[parent])
        };
        let mut ways_cm = vec![0.0_f32; trunk.len()];
        for step in 1..=STEPS {
            sample(duration_s * (f32::from(step) / f32::from(STEPS)), &mut pose);
            for (way_cm, &joint) in ways_cm.iter_mut().zip(&trunk) {
                // The motion of the joints above is ignored, because a bow does not carry the chest
                // away.
                let to = above(joint).child(&pose[joint]).translation;
                let from = start[joint].translation;
                let square = |axis: usize| {
                    let part = if motion.translation[axis] { to[axis] - from[axis] } else { 0.0 };
                    part * part
                };
                *way_cm = way_cm.max((square(0) + square(1) + square(2)).sqrt());
            }
        }
        let most_cm = ways_cm.iter().copied().fold(0.0, f32::max);
        let carries = ways_cm.iter().position(|way_cm| 2.0 * way_cm >= most_cm).unwrap_or(0);
        let joint = trunk.get(carries).copied().unwrap_or(0);
        let way_cm = ways_cm.get(carries).copied().unwrap_or(0.0);
        Self {
            joint,
            above: if trunk.is_empty() { Transform::IDENTITY } else { above(joint) },
            roots: (0..skeleton.len()).filter(|joint| skeleton.parent(*joint).is_none()).collect(),
            way_cm,
            travels: way_cm > (TRAVELS_RATIO * size(&start)).max(TRAVELS_CM),
        }
    }

    /// Returns the joint's index.
    pub fn joint(&self) -> usize {
        self.joint
    }

    /// Returns the joint's largest distance in cm from its position at the clip's start. Only
    /// movement along the axes of the motion counts. The joints above this joint are held at their
    /// start.
    pub fn way_cm(&self) -> f32 {
        self.way_cm
    }

    /// Returns whether [`way_cm`](Self::way_cm) exceeds 1 cm and a tenth of the skeleton's size.
    pub fn travels(&self) -> bool {
        self.travels
    }

    /// Converts the joint's transform relative to its parent to model space. Use it for
    /// [`RootMotion::delta`] with players other than a [`Sampler`].
    pub fn in_model(&self, local: &Transform) -> Transform {
        self.above.child(local)
    }

    /// Returns the motion of a block clip over `passed`, which is the [`RootMotion::delta`] of this
    /// joint.
    pub fn delta<B: AsRef<[u8]>>(
        &self,
        motion: &RootMotion,
        sampler: &Sampler<B>,
        passed: &Passed,
    ) -> Transform {
        motion.delta(|time_s| self.in_model(&sampler.joint(time_s, self.joint)), passed)
    }

    /// Removes the motion from a pose. The motion is removed from all joints without a parent, so
    /// that they keep their positions relative to this joint.
    ///
    /// # Panics
    /// Panics if the pose has fewer joints than the skeleton.
    pub fn remove(&self, motion: &RootMotion, pose: &mut [Transform]) {
        let frame = motion.frame(&self.in_model(&pose[self.joint]));
        for &root in &self.roots {
            RootMotion::remove_frame(&frame, &mut pose[root]);
        }
    }
}

/// Returns the joints whose subtrees contain at least half of all joints, from the top. If there is
/// no such joint, the result is the root with the largest subtree.
fn trunk(skeleton: &Skeleton) -> Vec<usize> {
    let joints = skeleton.len();
    let mut counts = vec![1; joints];
    for joint in (0..joints).rev() {
        if let Some(parent) = skeleton.parent(joint) {
            counts[parent] += counts[joint];
        }
    }
    let mut trunk: Vec<usize> = Vec::new();
    for (joint, count) in counts.iter().enumerate() {
        if 2 * count >= joints && skeleton.parent(joint) == trunk.last().copied() {
            trunk.push(joint);
        }
    }
    if trunk.is_empty() {
        // The range is reversed because `max_by_key` returns the last maximum, and the first one is
        // wanted.
        trunk.extend((0..joints).rev().max_by_key(|joint| counts[*joint]));
    }
    trunk
}

/// Returns the longest side of the bounding box of all joints.
fn size(model: &[Transform]) -> f32 {
    let side = |axis: usize| {
        let places = model.iter().map(|joint| joint.translation[axis]);
        let (low, high) = places
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), c| (low.min(c), high.max(c)));
        high - low
    };
    [0, 1, 2].map(side).into_iter().fold(0.0, f32::max)
}
