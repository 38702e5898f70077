//! Computes the rig that clips of the same skeleton share. The rig has the parameters of each track
//! that is animated in any clip: a reference, axes and steps, or a middle. It also has the
//! constants that several clips accept.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};

use crate::block::{BlockLength, Constant, Kind, Track, tracks_of};
use crate::offline::built::BuildError;
use crate::offline::check::check;
use crate::offline::options::BuildOptions;
use crate::{Channel, RawClip, Rig, Skeleton, TrackId};

use super::options::BlockOptions;
use super::plan::{
    Choices, Plan, RIG_BITS, SHARED, constant_vector, step_size, tolerance, vector_size,
};
use super::rotations::{axes_codes, constant_rotation, reference_codes, rotation_from_codes, turn};
use super::steps::step_code;
use super::target;
use super::target::Target;

/// The maximum number of rotations that the trainer keeps for each track of a clip.
const MAX_ROTATIONS: usize = 64;

/// Computes the [`Rig`] for clips of the same skeleton.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
/// use kinepack_anim::offline::{BlockOptions, BuildOptions, RigTrainer, Scheme, build};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
///
/// let mut trainer = RigTrainer::new(&skeleton);
/// trainer.add(&raw, &BuildOptions::default())?;
/// let rig = Arc::new(trainer.finish());
///
/// let block = BlockOptions { rig: Some(Arc::clone(&rig)), ..BlockOptions::default() };
/// let options = BuildOptions { scheme: Scheme::Block(block), ..BuildOptions::default() };
/// let built = build(&raw, &options)?;
/// let clip = built.clip.as_block().expect("a block clip was asked for");
/// assert_eq!(clip.rig(), Some(&rig));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RigTrainer {
    joints: u16,
    skeleton: u64,
    clips: usize,
    /// For each joint, the clips in which its rotation is animated.
    rotations: BTreeMap<u16, Vec<RotationUse>>,
    /// For each channel and joint, the clips in which its translation or scale is animated.
    vectors: BTreeMap<(Channel, u16), Vec<VectorUse>>,
    /// For each joint and channel, the clips in which the track is constant.
    constants: BTreeMap<(u16, Channel), Vec<StaticUse>>,
}

/// A clip's animated rotation of a joint.
#[derive(Clone, Debug)]
struct RotationUse {
    /// Some values of the rotation, evenly spread over the clip.
    rotations: Vec<DQuat>,
    /// The inertia of the points that the rotation moves.
    inertia: DMat3,
    /// The largest error that those points may have, in cm.
    limit_cm: f64,
}

/// A clip's animated translation or scale of a joint.
#[derive(Clone, Debug)]
struct VectorUse {
    middle: [f32; 3],
    step: u8,
}

/// A clip's constant track that differs from the bind pose.
#[derive(Clone, Debug)]
struct StaticUse {
    constant: Constant,
    /// The maximum distance of a value that may replace the constant.
    tolerance: f64,
}

impl RigTrainer {
    /// Returns a trainer for clips of `skeleton`, initially without clips.
    pub fn new(skeleton: &Skeleton) -> Self {
        let (joints, hash) = (skeleton.len() as u16, skeleton.hash());
        let (rotations, vectors, constants) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { joints, skeleton: hash, clips: 0, rotations, vectors, constants }
    }

    /// Returns the number of clips that the trainer has.
    pub fn clips(&self) -> usize {
        self.clips
    }

    /// Adds a clip that will be built with `options`. The call costs as much as one of the plans
    /// that a build of the clip compares.
    ///
    /// # Errors
    /// Fails as [`build`](crate::offline::build) does, and with [`BuildError::OtherRig`] for a clip
    /// of another skeleton.
    pub fn add(&mut self, raw: &RawClip, options: &BuildOptions) -> Result<(), BuildError> {
        check(raw, options)?;
        if raw.skeleton().hash() != self.skeleton {
            return Err(BuildError::OtherRig);
        }
        let target = target(raw, options, 1.0);
        let pins = options.pins().to_vec();
        let choices =
            Choices { block: BlockLength::N16, is_fine: true, aim: 0.0, is_of_rig: false };
        let plan =
            Plan::new(&target, &BlockOptions { pins, ..BlockOptions::default() }, choices, |_| {
                [false; 2]
            });
        for track in &plan.tracks {
            let TrackId { joint, channel } = track.id;
            if channel == Channel::Rotation {
                self.rotations.entry(joint).or_default().push(RotationUse::new(
                    &target,
                    &plan,
                    usize::from(joint),
                ));
            } else {
                let step = step_code(vector_size(&target, track.id));
                let seen = VectorUse { middle: track.middle.as_vec3().to_array(), step };
                self.vectors.entry((channel, joint)).or_default().push(seen);
            }
        }
        for (id, constant) in tracks_of(&plan.kinds, Kind::Constant).zip(&plan.constants) {
            let seen =
                StaticUse { constant: *constant, tolerance: SHARED * tolerance(&target, id) };
            self.constants.entry((id.joint, id.channel)).or_default().push(seen);
        }
        self.clips += 1;
        Ok(())
    }

    /// Adds all clips of the trainer `other`.
    ///
    /// # Panics
    /// Panics if `other` is for another skeleton.
    pub fn merge(&mut self, other: Self) {
        assert_eq!(self.skeleton, other.skeleton, "the other trainer is for another skeleton");
        self.clips += other.clips;
        other
            .rotations
            .into_iter()
            .for_each(|(joint, own)| self.rotations.entry(joint).or_default().extend(own));
        other
            .vectors
            .into_iter()
            .for_each(|(id, own)| self.vectors.entry(id).or_default().extend(own));
        other
            .constants
            .into_iter()
            .for_each(|(id, own)| self.constants.entry(id).or_default().extend(own));
    }

    /// Returns the rig for all clips that were added.
    pub fn finish(&self) -> Rig {
        let id = |channel, joint| TrackId { joint, channel };
        let rotations = self
            .rotations
            .iter()
            .map(|(&joint, own)| (id(Channel::Rotation, joint), rotation(own)));
        let vectors = self
            .vectors
            .iter()
            .map(|(&(channel, joint), own)| (id(channel, joint), vector(channel, own)));
        let constants = self
            .constants
            .iter()
            .filter_map(|(&(joint, channel), own)| Some((id(channel, joint), most_accepted(own)?)));
        Rig::new(
            self.joints,
            self.skeleton,
            constants.collect(),
            rotations.chain(vectors).collect(),
        )
    }
}

impl RotationUse {
    fn new(target: &Target, plan: &Plan, joint: usize) -> Self {
        let frames = &target.local(joint, 0)[..target.samples];
        let every = frames.len().div_ceil(MAX_ROTATIONS);
        let rotations = frames.iter().step_by(every).map(|frame| frame.rotation).collect();
        let (inertia, _) = plan.inertia(target, joint);
        Self { rotations, inertia, limit_cm: plan.limit_of_steps_cm(target, joint) }
    }
}

/// Returns the shared parameters of a rotation. All clips have the same weight.
fn rotation(clips: &[RotationUse]) -> Track {
    let rotations = || {
        clips.iter().flat_map(|clip| {
            let weight = 1.0 / clip.rotations.len() as f64;
            clip.rotations.iter().map(move |rotation| (*rotation, weight))
        })
    };
    let reference = reference_codes(rotations(), RIG_BITS);
    let axes = axes_codes(rotation_from_codes(reference, RIG_BITS), rotations(), RIG_BITS);
    let turned = rotation_from_codes(axes, RIG_BITS);
    let steps = DVec3::AXES.map(|axis| {
        let logarithms =
            clips.iter().map(|clip| step_size(turned * axis, clip.inertia, clip.limit_cm).log2());
        step_code((logarithms.sum::<f64>() / clips.len() as f64).exp2())
    });
    Track { codes: [reference, axes], steps, ..Track::new(Channel::Rotation) }
}

/// Returns the shared parameters of a translation or a scale: the medians of all clips.
fn vector(channel: Channel, clips: &[VectorUse]) -> Track {
    let middle =
        [0, 1, 2].map(|axis| median(clips.iter().map(|clip| clip.middle[axis]), f32::total_cmp));
    let step = median(clips.iter().map(|clip| clip.step), u8::cmp);
    Track { middle, steps: [step; 3], ..Track::new(channel) }
}

fn median<T: Copy + Default>(
    numbers: impl Iterator<Item = T>,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> T {
    let mut numbers: Vec<T> = numbers.collect();
    numbers.sort_by(compare);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// Returns the constant that the most clips accept, or `None` if no constant suits more than one
/// clip.
fn most_accepted(clips: &[StaticUse]) -> Option<Constant> {
    let accepting = |constant: Constant| clips.iter().filter(|clip| clip.is_near(constant)).count();
    let counted = clips.iter().map(|clip| (accepting(clip.constant), clip.constant));
    // Among equally good constants, the first one wins.
    let most = counted
        .fold((1, None), |most, own| if own.0 > most.0 { (own.0, Some(own.1)) } else { most });
    most.1
}

impl StaticUse {
    fn is_near(&self, other: Constant) -> bool {
        let distance = match (self.constant, other) {
            (Constant::Rotation(_), Constant::Rotation(_)) => {
                turn(constant_rotation(self.constant), constant_rotation(other))
            }
            (Constant::Vector(_), Constant::Vector(_)) => {
                constant_vector(self.constant).distance(constant_vector(other))
            }
            _ => f64::INFINITY,
        };
        distance <= self.tolerance
    }
}
