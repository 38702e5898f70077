//! Block clips from raw ones. The method is that of transform coding: principal axes of each track, a cosine transform of a few samples, one
//! step for all components of a segment, as large as the error in object space lets it be.

mod eigen;
mod plan;
mod segment;
mod target;
mod train;

use crate::RawClip;
use crate::block::{BlockLength, Contents, Header, SegmentContents};

use super::{BuildError, BuildOptions, Built, finish};
use plan::{Choices, Plan, USUAL_STEP};
use segment::{Coder, Span};
use target::Target;

pub use train::{WidthTable, WidthTrainer};

/// How block clips are built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockOptions {
    /// How much time it may take.
    pub effort: Effort,
    /// Joints whose place and direction are found anew at the cost of tracks of their own, so that they do not suffer from their ancestors.
    pub pins: Vec<usize>,
}

/// How much time a build may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// One block length for all clips.
    Fast,
    /// Tries block lengths, and what else there is to choose.
    #[default]
    Default,
    /// Improves steps and coefficients for as long as it helps.
    Best,
}

/// Segments that choices are compared on.
const TRIED: usize = 12;
/// How far below the step at which the error is expected to be right others are tried.
const DEEPEST: u8 = 60;
/// What of the precision is left for the player's rounding at first, and how often more is left where that was too little.
const ROUNDING: f64 = 1e-4;
const REBUILDS: usize = 4;

/// Builds a clip, and builds it anew a little closer where rounding takes it out of what is allowed.
pub(super) fn build(raw: &RawClip, options: &BuildOptions, block: &BlockOptions) -> Result<Built, BuildError> {
    let mut share = 1.0 - ROUNDING;
    let mut nearest: Option<Built> = None;
    for _ in 0..REBUILDS {
        let target = target(raw, options, share);
        let built = finish(raw, contents(&target, block).to_bytes(), options)?;
        let off = built.errors.all.max_cm / options.precision_cm;
        if nearest.as_ref().is_none_or(|nearest| built.errors.all.max_cm < nearest.errors.all.max_cm) {
            nearest = Some(built);
        }
        if off <= 1.0 {
            break;
        }
        share *= (2.0 - off).max(0.5);
    }
    nearest.ok_or(BuildError::BadOption { option: "precision" })
}

struct Coded {
    segments: Vec<SegmentContents>,
    bits: usize,
    /// The largest error, in what is allowed.
    worst: f64,
}

fn contents(target: &Target, options: &BlockOptions) -> Contents {
    let mut best: Option<(usize, Choices)> = None;
    for block in BlockLength::ALL {
        for (aim, is_fine) in [(0.0, false), (0.5, false), (0.5, true)] {
            let choices = Choices { block, is_fine, aim };
            let plan = Plan::new(target, &options.pins, choices);
            let all = spans(&header(target, choices));
            let tried: Vec<Span> = match all.len() {
                0..=TRIED => all.clone(),
                many => (0..TRIED).map(|index| all[index * many / TRIED]).collect(),
            };
            let coded = code(target, &plan, &tried);
            let bits = coded.bits * all.len() / tried.len() + plan.tracks.len() * 8 * if is_fine { 15 } else { 9 };
            if best.is_none_or(|(fewest, _)| bits < fewest) {
                best = Some((bits, choices));
            }
        }
    }
    let choices = best.map_or(Choices { block: BlockLength::N16, is_fine: false, aim: 0.5 }, |(_, choices)| choices);
    let plan = Plan::new(target, &options.pins, choices);
    let header = header(target, choices);
    let coded = code(target, &plan, &spans(&header));
    Contents {
        header,
        kinds: plan.kinds.clone(),
        constants: plan.constants.clone(),
        tracks: plan.tracks.iter().map(plan::PlannedTrack::contents).collect(),
        segments: if plan.tracks.is_empty() { Vec::new() } else { coded.segments },
        skeleton: target.skeleton().hash(),
    }
}

fn target<'a>(raw: &'a RawClip, options: &BuildOptions, share: f64) -> Target<'a> {
    let joints = raw.joints();
    let mut target = Target::new(raw, vec![options.error.shell_cm; joints], vec![options.precision_cm; joints]);
    target.tighten(share);
    target
}

fn header(target: &Target, choices: Choices) -> Header {
    Header {
        block: choices.block,
        loops: target.loops(),
        is_fine: choices.is_fine,
        offset_bytes: 1,
        joints: target.joints() as u16,
        samples: target.raw.samples() as u32,
        rate_hz: target.raw.rate_hz(),
    }
}

/// The segments of a clip.
fn spans(header: &Header) -> Vec<Span> {
    let span = |segment| {
        let first = header.segment_start(segment);
        Span { first, length: header.segment_start(segment + 1) - first }
    };
    (0..header.segments()).map(span).collect()
}

/// Codes segments, each with the step that takes the fewest bits of those with which it is near enough.
fn code(target: &Target, plan: &Plan, spans: &[Span]) -> Coded {
    let mut coder = Coder::new(target, plan);
    let mut coded = Coded { segments: Vec::with_capacity(spans.len()), bits: 0, worst: 0.0 };
    let mut usual = USUAL_STEP;
    for &span in spans {
        let (step, bits, worst) = best_step(&mut coder, span, usual);
        usual = step;
        // The last one that was tried need not be the best one.
        coder.code(span, step, f64::INFINITY);
        coded.segments.push(coder.contents(span, step));
        coded.bits += bits + 8 + 16;
        coded.worst = coded.worst.max(worst);
    }
    coded
}

fn best_step(coder: &mut Coder, span: Span, usual: u8) -> (u8, usize, f64) {
    let mut expected = f64::from(usual);
    for _ in 0..3 {
        let worst = coder.code(span, expected.round() as u8, f64::INFINITY).max(1e-9);
        expected = (expected.round() - 8.0 * worst.log2().clamp(-3.0, 3.0)).clamp(0.0, 250.0);
    }
    let expected = expected.round() as u8;
    let mut best: Option<(u8, usize, f64)> = None;
    let mut since = 0;
    for step in (expected.saturating_sub(DEEPEST)..=expected.saturating_add(4)).rev() {
        let worst = coder.code(span, step, 1.0);
        if worst <= 1.0 {
            let bits = coder.bits(span);
            if best.is_none_or(|(_, fewest, _)| bits < fewest) {
                best = Some((step, bits, worst));
            }
        }
        since += usize::from(best.is_some());
        if since > 2 {
            break;
        }
    }
    best.unwrap_or_else(|| {
        let step = expected.saturating_sub(DEEPEST);
        let worst = coder.code(span, step, f64::INFINITY);
        (step, coder.bits(span), worst)
    })
}
