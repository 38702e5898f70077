//! Block clips from raw ones. The method is that of transform coding: principal axes of each track,
//! a cosine transform of a few samples, one step for all components of a segment, as large as the
//! error in object space lets it be.

mod choose;
mod eigen;
mod plan;
mod rig;
mod rotations;
mod search;
mod segment;
mod shave;
mod target;
mod train;
mod tune;

use std::sync::Arc;

use crate::block::Contents;
use crate::measure::Follower;
use crate::{RawClip, Rig};

use super::{BuildError, BuildOptions, Built, finish};
use plan::Plan;
use target::Target;

pub use rig::RigTrainer;
pub use train::{WidthTable, WidthTrainer};

/// How block clips are built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockOptions {
    /// How much time it may take.
    pub effort: Effort,
    /// Joints whose place and direction are found anew at the cost of tracks of their own, so that
    /// they do not suffer from their ancestors.
    pub pins: Vec<usize>,
    /// What the clip may share with others of its skeleton. Where it is smaller by itself it shares
    /// nothing.
    pub rig: Option<Arc<Rig>>,
}

/// How much time a build may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// One block length for all clips.
    Fast,
    /// Tries block lengths, and what else there is to choose; shorter blocks, which play faster,
    /// where they are nearly as small.
    #[default]
    Default,
    /// The fewest bytes: improves steps and coefficients for as long as it helps.
    Best,
}

/// What of the precision is left for the player's rounding at first; as much more where that was
/// too little, then twice that, and so on, for as many builds in all.
const ROUNDING: f64 = 1e-4;
const BUILDS: u32 = 7;
/// Segments that are off by more than so many precisions, and cm, between the samples are played
/// from the two samples, where that is nearer: a joint spins so fast in them that its parameters
/// change sides.
const LOOSE_PRECISIONS: f64 = 10.0;
const LOOSE_CM: f64 = 0.5;

/// Builds a clip, and builds it anew a little closer where rounding takes it out of what is
/// allowed.
pub(super) fn build(
    raw: &RawClip,
    options: &BuildOptions,
    block: &BlockOptions,
) -> Result<Built, BuildError> {
    let mut share = 1.0 - ROUNDING;
    let mut nearest: Option<(f64, Built)> = None;
    for build in 0..BUILDS {
        let target = target(raw, options, share);
        let contents = contents(&target, block);
        let built = finish(raw, contents.to_bytes(), options)?;
        let built = nearer_between(raw, built, contents, options)?;
        let (_, off) = options.farthest_off(&built.errors);
        if nearest.as_ref().is_none_or(|(least, _)| off < *least) {
            nearest = Some((off, built));
        }
        if off <= 1.0 {
            break;
        }
        share *= (1.0 - f64::from(1 << build) * ROUNDING - 4.0 * (off - 1.0)).max(0.5);
    }
    nearest.map(|(_, built)| built).ok_or(BuildError::BadOption { option: "precision" })
}

/// The clip, or one that blends in the segments in which it is loose, where that is much nearer; at
/// the samples they are the same.
fn nearer_between(
    raw: &RawClip,
    built: Built,
    mut contents: Contents,
    options: &BuildOptions,
) -> Result<Built, BuildError> {
    let off_cm = built.errors.between.max_cm;
    let loose_cm = (LOOSE_PRECISIONS * options.precision_cm).max(LOOSE_CM);
    if off_cm <= loose_cm {
        return Ok(built);
    }
    contents.blends = vec![false; contents.segments.len()];
    contents.header.blends = true;
    let mut follower = Follower::new(raw, &built.clip, &options.error);
    for sample in 0..contents.header.coded_samples().min(raw.samples() - 1) {
        follower.go_to(2 * sample + 1);
        if follower.errors_cm().any(|error_cm| error_cm > loose_cm) {
            let segment = contents.header.segment_of(sample, contents.segments.len());
            contents.blends[segment] = true;
        }
    }
    let blends = finish(raw, contents.to_bytes(), options)?;
    Ok(if 2.0 * blends.errors.between.max_cm < off_cm { blends } else { built })
}

fn contents(target: &Target, options: &BlockOptions) -> Contents {
    let (best, others) = choose::choose(target, options);
    let others = others.into_iter().map(|plan| planned(target, options, plan));
    others.fold(planned(target, options, best), |best, other| {
        if other.to_bytes().len() < best.to_bytes().len() { other } else { best }
    })
}

/// The contents of a clip of this plan.
fn planned(target: &Target, options: &BlockOptions, mut plan: Plan) -> Contents {
    let header = search::header(target, plan.choices);
    let spans = search::spans(&header);
    if options.effort == Effort::Best {
        search::tune(target, &mut plan, &spans);
    }
    let coded = search::code(target, &plan, &spans, options.effort);
    let rig = options.rig.as_ref().filter(|_| header.is_of_rig);
    Contents {
        header,
        kinds: plan.kinds.clone(),
        constants: plan.constants.clone(),
        tracks: plan.tracks.iter().map(plan::PlannedTrack::contents).collect(),
        blends: Vec::new(),
        segments: if plan.tracks.is_empty() { Vec::new() } else { coded.segments },
        owner: rig.map_or_else(|| target.skeleton().hash(), |rig| rig.hash()),
    }
}

fn target<'a>(raw: &'a RawClip, options: &BuildOptions, share: f64) -> Target<'a> {
    let joints = raw.joints();
    let mut target = Target::new(
        raw,
        options.error.base.as_deref(),
        options.error.shells_cm(joints),
        options.precisions_cm(joints),
    );
    target.tighten(share);
    target
}
