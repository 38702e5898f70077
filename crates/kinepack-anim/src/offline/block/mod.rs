//! Builds block clips from raw clips, by transform coding. Each track gets principal axes, and each
//! segment of a few samples a cosine transform. All components of a segment use the same step,
//! which is as large as the error in object space allows.

mod choose;
mod curve_code;
mod curves;
mod decode;
mod eigen;
mod estimate;
mod fit;
mod options;
mod pieces;
mod plan;
mod rig;
mod rotations;
mod search;
mod segment;
mod shave;
mod spans;
mod steps;
mod target;
mod tighten;
mod train;
mod transform;
mod trial;
mod trim;
mod tune;

use crate::RawClip;
use crate::block::{Contents, Header};
use crate::measure::Follower;

use super::built::{BuildError, Built, finish};
use super::options::BuildOptions;
use plan::Plan;
use target::Target;
use tighten::{ROUNDING, Segments};

pub use options::{BlockOptions, Effort};
pub use rig::RigTrainer;
pub use train::{WidthTable, WidthTrainer};

/// The maximum number of builds of a clip. Each build after the first codes only those segments
/// again whose errors exceed the precision.
const BUILDS: u32 = 7;
/// A segment may blend if its error between samples is above this multiple of the precision, and
/// above [`LOOSE_CM`]. In such a segment, a joint turns so fast that its parameters jump to the
/// other side of the reference.
const LOOSE_PRECISIONS: f64 = 10.0;
const LOOSE_CM: f64 = 0.5;

/// Builds a clip. If the player's rounding makes segments exceed the precision, codes these
/// segments again with tighter limits.
pub(super) fn build(
    raw: &RawClip,
    options: &BuildOptions,
    block: &BlockOptions,
) -> Result<Built, BuildError> {
    let mut target = target(raw, options, 1.0 - ROUNDING);
    let (plan, mut contents) = contents(&target, block);
    let mut built = finish(raw, contents.to_bytes(), options)?;
    let mut segments = Segments::new(block.effort, &contents);
    for build in 1.. {
        let farthest_curve = built.errors.farthest_curve(raw).map_or(0.0, |(_, off)| off);
        if options.farthest_off(&built.errors).1.max(farthest_curve) <= 1.0 {
            break;
        }
        let of_build = (&built, options);
        let is_tighter =
            build < BUILDS && segments.tighten(&mut target, &plan, &mut contents, of_build, build);
        if !is_tighter {
            segments.take_nearest(&mut contents);
            built = finish(raw, contents.to_bytes(), options)?;
            break;
        }
        built = finish(raw, contents.to_bytes(), options)?;
    }
    blend_loose_segments(raw, built, contents, options)
}

/// Tries to blend the segments with large errors between samples. Returns the clip with blends if
/// blending more than halves the largest of these errors, otherwise the clip without blends. Both
/// clips have the same poses at the samples.
fn blend_loose_segments(
    raw: &RawClip,
    built: Built,
    mut contents: Contents,
    options: &BuildOptions,
) -> Result<Built, BuildError> {
    let off_cm = built.errors.between.max_cm;
    let loose_cm = (LOOSE_PRECISIONS * options.precision_cm).max(LOOSE_CM);
    // A clip in which nothing moves has no segments.
    if off_cm <= loose_cm || contents.segments.is_empty() {
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

/// Returns the plan with which the clip has the fewest bytes, and the contents of that clip.
fn contents(target: &Target, options: &BlockOptions) -> (Plan, Contents) {
    let (best, others) = choose::choose(target, options);
    let others = others.into_iter().map(|plan| planned(target, options, plan));
    others.fold(planned(target, options, best), |best, other| {
        if weighted_bytes(&other.1) < weighted_bytes(&best.1) { other } else { best }
    })
}

/// Returns the size of a clip in bytes, multiplied by the cost of playing its blocks.
fn weighted_bytes(contents: &Contents) -> f64 {
    contents.to_bytes().len() as f64 * estimate::weight(contents.header.block)
}

/// Returns the contents of a clip with the plan `plan`. At high efforts, the function tunes the
/// plan first.
fn planned(target: &Target, options: &BlockOptions, mut plan: Plan) -> (Plan, Contents) {
    let header = spans::header(target, plan.choices);
    let spans = spans::all(&header);
    if options.effort >= Effort::Thorough {
        search::tune(target, &mut plan, &spans);
    }
    let mut coded = search::code(target, &plan, &spans, options.effort);
    if coded.far > 0 {
        let before = (plan.tracks.clone(), plan.curves.clone());
        let fitted = fit::fit(target, &mut plan, &spans, options.effort)
            .then(|| search::code(target, &plan, &spans, options.effort));
        match fitted {
            Some(fitted) if fitted.far < coded.far => coded = fitted,
            _ => (plan.tracks, plan.curves) = before,
        }
    }
    let rig = options.rig.as_ref().filter(|_| header.is_of_rig);
    let joint_tracks = plan.tracks.iter().map(plan::PlannedTrack::contents);
    let is_still = plan.tracks.is_empty() && plan.curves.is_empty();
    let contents = Contents {
        header: Header { interpolation: options.interpolation, ..header },
        kinds: plan.kinds.clone(),
        constants: plan.constants.clone(),
        tracks: joint_tracks.chain(curves::tracks(&plan.curves)).collect(),
        blends: Vec::new(),
        segments: if is_still { Vec::new() } else { coded.segments },
        labels: curves::labels(target.raw),
        owner: rig.map_or_else(|| target.skeleton().hash(), |rig| rig.hash()),
    };
    (plan, contents)
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
