//! Finds what clips of one skeleton share: of each track that moves in any of them one reference, one set of axes and steps or one middle; and the
//! constants that several of them have.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};

use crate::block::{BlockLength, Constant, Kind, Track, tracks_of};
use crate::offline::{BuildError, BuildOptions, check};
use crate::{Channel, RawClip, Rig, Skeleton, TrackId};

use super::plan::{Choices, Plan, RIG_BITS, SHARED, step_code, step_size, tolerance, vector_in, vector_size};
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
    /// By channel, then by joint: what each clip does with it in which it moves.
    moving: BTreeMap<(Channel, u16), Vec<Moving>>,
    /// By joint, then by channel: what each clip is content with in which it stands still.
    still: BTreeMap<(u16, Channel), Vec<Still>>,
}

/// A track that moves in a clip.
#[derive(Clone, Debug)]
enum Moving {
    Rotation {
        /// Some of them, evenly spread.
        rotations: Vec<DQuat>,
        /// The inertia of what it moves, and how far off that may be.
        inertia: DMat3,
        limit_cm: f64,
    },
    Vector {
        middle: DVec3,
        step: u8,
    },
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
        Self { joints, skeleton: hash, clips: 0, moving: BTreeMap::new(), still: BTreeMap::new() }
    }

    /// Number of clips.
    pub fn clips(&self) -> usize {
        self.clips
    }

    /// Takes a clip that will be built with these options. Cost: a hundredth of building it.
    ///
    /// # Errors
    /// As [`build`](crate::offline::build); [`BuildError::OtherRig`] for a clip of another skeleton.
    pub fn add(&mut self, raw: &RawClip, options: &BuildOptions) -> Result<(), BuildError> {
        check(raw, options)?;
        if raw.skeleton().hash() != self.skeleton {
            return Err(BuildError::OtherRig);
        }
        let target = target(raw, options, 1.0);
        let pins = options.pins().to_vec();
        let choices = Choices { block: BlockLength::N16, is_fine: true, aim: 0.0, is_of_rig: false };
        let plan = Plan::new(&target, &BlockOptions { pins, ..BlockOptions::default() }, choices, |_| [false; 2]);
        for track in &plan.tracks {
            let joint = usize::from(track.id.joint);
            let seen = match track.id.channel {
                Channel::Rotation => moving_rotation(&target, &plan, joint),
                _ => Moving::Vector { middle: track.middle, step: step_code(vector_size(&target, track.id)) },
            };
            self.moving.entry((track.id.channel, track.id.joint)).or_default().push(seen);
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
        other.moving.into_iter().for_each(|(id, own)| self.moving.entry(id).or_default().extend(own));
        other.still.into_iter().for_each(|(id, own)| self.still.entry(id).or_default().extend(own));
    }

    /// The rig.
    pub fn finish(&self) -> Rig {
        let tracks = self.moving.iter().map(|(&(channel, joint), own)| {
            let id = TrackId { joint, channel };
            (id, if channel == Channel::Rotation { rotation(own) } else { vector(channel, own) })
        });
        let constants = self.still.iter().filter_map(|(&(joint, channel), own)| {
            let id = TrackId { joint, channel };
            Some((id, most_wanted(own)?))
        });
        Rig::new(self.joints, self.skeleton, constants.collect(), tracks.collect())
    }
}

fn moving_rotation(target: &Target, plan: &Plan, joint: usize) -> Moving {
    let frames = &target.local(joint, 0)[..target.samples];
    let every = frames.len().div_ceil(KEPT);
    let rotations = frames.iter().step_by(every).map(|frame| frame.rotation).collect();
    let (inertia, _) = plan.inertia(target, joint);
    Moving::Rotation { rotations, inertia, limit_cm: target.least_limit_cm[joint] }
}

/// What is common to a rotation in many clips, of which each counts as much.
fn rotation(clips: &[Moving]) -> Track {
    let rotations = || {
        clips.iter().flat_map(|clip| {
            let own: &[DQuat] = if let Moving::Rotation { rotations, .. } = clip { rotations } else { &[] };
            own.iter().map(|rotation| (*rotation, 1.0 / own.len() as f64))
        })
    };
    let reference = reference_codes(rotations(), RIG_BITS);
    let axes = axes_codes(rotation_of(reference, RIG_BITS), rotations(), RIG_BITS);
    let turned = rotation_of(axes, RIG_BITS);
    let steps = DVec3::AXES.map(|axis| {
        let logarithms = clips.iter().filter_map(|clip| match clip {
            Moving::Rotation { inertia, limit_cm, .. } => Some(step_size(turned * axis, *inertia, *limit_cm).log2()),
            Moving::Vector { .. } => None,
        });
        step_code((logarithms.sum::<f64>() / clips.len() as f64).exp2())
    });
    let codes = [reference, axes].as_flattened().try_into().unwrap_or_default();
    Track { codes, steps, ..Track::of(Channel::Rotation) }
}

/// What is common to a translation or a scale in many clips: the value that half of them have their middle below.
fn vector(channel: Channel, clips: &[Moving]) -> Track {
    let seen = clips.iter().filter_map(|clip| match clip {
        Moving::Vector { middle, step } => Some((middle.as_vec3().to_array(), *step)),
        Moving::Rotation { .. } => None,
    });
    let (middles, steps): (Vec<_>, Vec<_>) = seen.unzip();
    let middle = [0, 1, 2].map(|axis| median(middles.iter().map(|middle| middle[axis]), f32::total_cmp));
    let step = median(steps.into_iter(), u8::cmp);
    Track { middle, steps: [step; 3], ..Track::of(channel) }
}

fn median<T: Copy + Default>(numbers: impl Iterator<Item = T>, compare: impl Fn(&T, &T) -> std::cmp::Ordering) -> T {
    let mut numbers: Vec<T> = numbers.collect();
    numbers.sort_by(compare);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// The constant that the most clips are content with, where those are more than one.
fn most_wanted(clips: &[Still]) -> Option<Constant> {
    let wanting = |constant: Constant| clips.iter().filter(|clip| clip.is_near(constant)).count();
    let counted = clips.iter().map(|clip| (wanting(clip.constant), clip.constant));
    // The first of several.
    let most = counted.fold((1, None), |most, own| if own.0 > most.0 { (own.0, Some(own.1)) } else { most });
    most.1
}

impl Still {
    fn is_near(&self, other: Constant) -> bool {
        let distance = match (self.constant, other) {
            (Constant::Rotation(_), Constant::Rotation(_)) => turn(rotation_in(self.constant), rotation_in(other)),
            (Constant::Vector(_), Constant::Vector(_)) => vector_in(self.constant).distance(vector_in(other)),
            _ => f64::INFINITY,
        };
        distance <= self.tolerance
    }
}
