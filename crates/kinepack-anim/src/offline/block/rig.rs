//! Finds what clips of one skeleton share: of each track that moves in any of them one reference,
//! one set of axes and steps or one middle; and the constants that several of them have.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};

use crate::block::{BlockLength, Constant, Kind, Track, tracks_of};
use crate::offline::{BuildError, BuildOptions, check};
use crate::{Channel, RawClip, Rig, Skeleton, TrackId};

use super::plan::{
    Choices, Plan, RIG_BITS, SHARED, step_code, step_size, tolerance, vector_in, vector_size,
};
use super::rotations::{axes_codes, reference_codes, rotation_in, rotation_of, turn};
use super::target::Target;
use super::{BlockOptions, target};

/// Rotations of a track that are kept of each clip, at most.
const KEPT: usize = 64;

/// Finds the [`Rig`] of clips of one skeleton.
#[derive(Clone, Debug)]
pub struct RigTrainer {
    joints: u16,
    skeleton: u64,
    clips: usize,
    /// By joint: what each clip does with its rotation in which that moves.
    turning: BTreeMap<u16, Vec<Turning>>,
    /// By channel, then by joint: the same of the others.
    moving: BTreeMap<(Channel, u16), Vec<Moving>>,
    /// By joint, then by channel: what each clip is content with in which it stands still.
    still: BTreeMap<(u16, Channel), Vec<Still>>,
}

/// A rotation that moves in a clip.
#[derive(Clone, Debug)]
struct Turning {
    /// Some of its values, evenly spread.
    rotations: Vec<DQuat>,
    /// The inertia of what it moves, and how far off that may be.
    inertia: DMat3,
    limit_cm: f64,
}

/// A translation or a scale that moves in a clip.
#[derive(Clone, Debug)]
struct Moving {
    middle: [f32; 3],
    step: u8,
}

/// A track that stands still in a clip, away from the bind pose.
#[derive(Clone, Debug)]
struct Still {
    constant: Constant,
    /// How far away from it a value may be that takes its place.
    tolerance: f64,
}

impl RigTrainer {
    /// Of clips of this skeleton, of which none is known yet.
    pub fn new(skeleton: &Skeleton) -> Self {
        let (joints, hash) = (skeleton.len() as u16, skeleton.hash());
        let (turning, moving, still) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { joints, skeleton: hash, clips: 0, turning, moving, still }
    }

    /// Number of clips.
    pub fn clips(&self) -> usize {
        self.clips
    }

    /// Takes a clip that will be built with these options. Cost: that of one of the plans which
    /// building it compares.
    ///
    /// # Errors
    /// As [`build`](crate::offline::build); [`BuildError::OtherRig`] for a clip of another
    /// skeleton.
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
                self.turning.entry(joint).or_default().push(Turning::new(
                    &target,
                    &plan,
                    usize::from(joint),
                ));
            } else {
                let step = step_code(vector_size(&target, track.id));
                let seen = Moving { middle: track.middle.as_vec3().to_array(), step };
                self.moving.entry((channel, joint)).or_default().push(seen);
            }
        }
        for (id, constant) in tracks_of(&plan.kinds, Kind::Constant).zip(&plan.constants) {
            let still = Still { constant: *constant, tolerance: SHARED * tolerance(&target, id) };
            self.still.entry((id.joint, id.channel)).or_default().push(still);
        }
        self.clips += 1;
        Ok(())
    }

    /// Takes what another has of clips of the same skeleton.
    ///
    /// # Panics
    /// Where it is another skeleton.
    pub fn merge(&mut self, other: Self) {
        assert_eq!(self.skeleton, other.skeleton, "clips of another skeleton");
        self.clips += other.clips;
        other
            .turning
            .into_iter()
            .for_each(|(joint, own)| self.turning.entry(joint).or_default().extend(own));
        other
            .moving
            .into_iter()
            .for_each(|(id, own)| self.moving.entry(id).or_default().extend(own));
        other.still.into_iter().for_each(|(id, own)| self.still.entry(id).or_default().extend(own));
    }

    /// The rig.
    pub fn finish(&self) -> Rig {
        let id = |channel, joint| TrackId { joint, channel };
        let rotations =
            self.turning.iter().map(|(&joint, own)| (id(Channel::Rotation, joint), rotation(own)));
        let vectors = self
            .moving
            .iter()
            .map(|(&(channel, joint), own)| (id(channel, joint), vector(channel, own)));
        let constants = self
            .still
            .iter()
            .filter_map(|(&(joint, channel), own)| Some((id(channel, joint), most_wanted(own)?)));
        Rig::new(
            self.joints,
            self.skeleton,
            constants.collect(),
            rotations.chain(vectors).collect(),
        )
    }
}

impl Turning {
    fn new(target: &Target, plan: &Plan, joint: usize) -> Self {
        let frames = &target.local(joint, 0)[..target.samples];
        let every = frames.len().div_ceil(KEPT);
        let rotations = frames.iter().step_by(every).map(|frame| frame.rotation).collect();
        let (inertia, _) = plan.inertia(target, joint);
        Self { rotations, inertia, limit_cm: target.least_limit_cm[joint] }
    }
}

/// What is common to a rotation in many clips, of which each counts as much.
fn rotation(clips: &[Turning]) -> Track {
    let rotations = || {
        clips.iter().flat_map(|clip| {
            let weight = 1.0 / clip.rotations.len() as f64;
            clip.rotations.iter().map(move |rotation| (*rotation, weight))
        })
    };
    let reference = reference_codes(rotations(), RIG_BITS);
    let axes = axes_codes(rotation_of(reference, RIG_BITS), rotations(), RIG_BITS);
    let turned = rotation_of(axes, RIG_BITS);
    let steps = DVec3::AXES.map(|axis| {
        let logarithms =
            clips.iter().map(|clip| step_size(turned * axis, clip.inertia, clip.limit_cm).log2());
        step_code((logarithms.sum::<f64>() / clips.len() as f64).exp2())
    });
    Track { codes: [reference, axes], steps, ..Track::new(Channel::Rotation) }
}

/// What is common to a translation or a scale in many clips: the value that half of them have their
/// middle below.
fn vector(channel: Channel, clips: &[Moving]) -> Track {
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

/// The constant that the most clips are content with, where those are more than one.
fn most_wanted(clips: &[Still]) -> Option<Constant> {
    let wanting = |constant: Constant| clips.iter().filter(|clip| clip.is_near(constant)).count();
    let counted = clips.iter().map(|clip| (wanting(clip.constant), clip.constant));
    // The first of several.
    let most = counted
        .fold((1, None), |most, own| if own.0 > most.0 { (own.0, Some(own.1)) } else { most });
    most.1
}

impl Still {
    fn is_near(&self, other: Constant) -> bool {
        let distance = match (self.constant, other) {
            (Constant::Rotation(_), Constant::Rotation(_)) => {
                turn(rotation_in(self.constant), rotation_in(other))
            }
            (Constant::Vector(_), Constant::Vector(_)) => {
                vector_in(self.constant).distance(vector_in(other))
            }
            _ => f64::INFINITY,
        };
        distance <= self.tolerance
    }
}
