//! Searches for the step with which each segment takes the fewest bits.

use crate::block::{Header, Interpolation, SegmentContents};

use super::Effort;
use super::choose::sample_spans;
use super::decode::Arithmetic;
use super::plan::{Choices, Plan, USUAL_STEP};
use super::segment::{Coder, Rounding, Span};
use super::shave::{Shaver, worst};
use super::target::Target;
use super::trim::Trim;

/// How many steps below its first one the search goes.
const DEEPEST: u8 = 60;
/// The most attempts to find the step at which the search begins, and how many steps it may be away
/// from the limit.
const APPROACHES: usize = 3;
const NEAR: f64 = 4.0;
/// Changes of coefficients usually allow a step that is coarser by this much than with rounding
/// alone.
const AHEAD: u8 = 2;
/// Number of codings whose mean is the estimate for a segment.
const ESTIMATES: usize = 2;
/// The approximate bits of a segment's offset.
const OFFSET: usize = 16;
/// How coefficients are changed at default effort.
const DEFAULT_SHAVE: Shave = Shave {
    tries: 200,
    failures: 2,
    trim: Trim { weights: &[2.0, 1.0], farthest: 1.15, tries: 50, failures: 4 },
};
/// How coefficients are changed at higher efforts.
const BEST_SHAVE: Shave = Shave {
    tries: 1500,
    failures: 4,
    trim: Trim { weights: &[4.0, 2.0, 1.0, 0.5], farthest: 2.0, tries: 200, failures: 12 },
};

/// Used if no step is small enough. These are the largest error that changes of coefficients may
/// repair, and the steps at which to try, relative to the one with the smallest error.
const REPAIRABLE: f64 = 3.0;
const REPAIRED: [i8; 7] = [0, -1, 1, -2, 2, -3, 3];

/// How single coefficients of a segment are changed.
#[derive(Clone, Copy)]
struct Shave {
    /// The most changes to try with a step.
    tries: usize,
    /// The number of steps that may fail in a row.
    failures: usize,
    /// How the segment is trimmed at the best step.
    trim: Trim,
}

/// Coded segments.
pub(super) struct Coded {
    pub(super) segments: Vec<SegmentContents>,
    pub(super) bits: usize,
    /// Number of segments whose error is too large because no step is small enough.
    pub(super) far: usize,
}

/// Tunes the steps of a plan on some of its segments. Keeps the old steps unless the new ones take
/// fewer bits.
pub(super) fn tune(target: &Target, plan: &mut Plan, all: &[Span]) {
    let tried = sample_spans(all);
    let before = plan.tracks.clone();
    let coded = code(target, plan, &tried, Effort::Fast);
    let segments: Vec<_> =
        tried.iter().zip(&coded.segments).map(|(span, segment)| (*span, segment.step)).collect();
    super::tune::tune(target, plan, &segments, tried.len() == all.len());
    let tuned = code(target, plan, &tried, Effort::Fast);
    // Dead components take no bits, so bits alone would prefer a plan in which too many components
    // are dead. That is worst if no plan reaches the precision, so the number of segments with too
    // large an error decides first.
    let is_better = tuned.far < coded.far || (tuned.far == 0 && tuned.bits < coded.bits);
    if !is_better {
        plan.tracks = before;
    }
}

/// The header of a clip with these choices.
pub(super) fn header(target: &Target, choices: Choices) -> Header {
    Header {
        block: choices.block,
        loops: target.loops(),
        is_fine: choices.is_fine,
        blends: false,
        is_of_rig: choices.is_of_rig,
        offset_bytes: 1,
        joints: target.joints() as u16,
        samples: target.raw.samples() as u32,
        rate_hz: target.raw.rate_hz(),
        curves: target.raw.curves().len() as u16,
        is_labelled: super::curves::is_labelled(target.raw),
        interpolation: Interpolation::default(),
    }
}

/// The segments of a clip.
pub(super) fn spans(header: &Header) -> Vec<Span> {
    let span = |segment| {
        let first = header.segment_start(segment, header.segments());
        Span { first, length: header.segment_length(segment) }
    };
    (0..header.segments()).map(span).collect()
}

/// Codes segments. Each gets the step that takes the fewest bits and keeps the error within the
/// limits.
pub(super) fn code(target: &Target, plan: &Plan, spans: &[Span], effort: Effort) -> Coded {
    code_with(Coder::new(target, plan, Arithmetic::Double), spans, effort)
}

/// Like [`code`], with a given coder.
pub(super) fn code_with(mut coder: Coder, spans: &[Span], effort: Effort) -> Coded {
    let mut shaver = Shaver::new(&coder);
    let mut coded = Coded { segments: Vec::with_capacity(spans.len()), bits: 0, far: 0 };
    let mut usual = USUAL_STEP;
    for &span in spans {
        let near = (span, usual);
        let best = match effort {
            Effort::Fast => best_step(&mut coder, &mut shaver, span, usual),
            Effort::Default => shaved_step(&mut coder, &mut shaver, near, DEFAULT_SHAVE),
            Effort::Thorough | Effort::Best => {
                shaved_step(&mut coder, &mut shaver, near, BEST_SHAVE)
            }
        };
        usual = best.step;
        coded.bits += best.bits + OFFSET;
        coded.far += usize::from(best.is_far);
        coded.segments.push(SegmentContents {
            step: best.step,
            length: span.length,
            anchors: coder.far_anchors(),
            coefficients: best.coefficients,
        });
    }
    coded
}

/// An estimate for some segments.
pub(super) struct Estimate {
    /// The approximate step of each segment.
    pub(super) steps: Vec<u8>,
    /// The bits of all segments.
    pub(super) bits: f64,
}

/// Estimates the bits of segments with a plan. It costs less than coding them.
pub(super) fn estimate(target: &Target, plan: &Plan, spans: &[Span]) -> Estimate {
    let mut coder = Coder::new(target, plan, Arithmetic::Double);
    let mut estimate = Estimate { steps: Vec::with_capacity(spans.len()), bits: 0.0 };
    let mut usual = USUAL_STEP;
    for &span in spans {
        let mut step = usual;
        let mut near = Vec::with_capacity(ESTIMATES);
        for _ in 0..APPROACHES {
            let worst = coder.code(span, step, Rounding::RateDistortion, f64::INFINITY);
            let away = away(worst);
            near.push(bits_at_limit(&coder, worst));
            let next = moved(step, away);
            if away.abs() > NEAR {
                near.clear();
                step = next;
            } else if near.len() == ESTIMATES {
                break;
            } else {
                step = if next == step { step.saturating_sub(1) } else { next };
            }
        }
        usual = step;
        estimate.steps.push(step);
        if near.is_empty() {
            near.push(bits_at_limit(&coder, 1.0));
        }
        estimate.bits += OFFSET as f64 + near.iter().sum::<f64>() / near.len() as f64;
    }
    estimate
}

/// The approximate bits that a segment would take if its error were exactly the limit. Halving the
/// error costs one more bit for each coefficient that is not 0.
fn bits_at_limit(coder: &Coder, worst: f64) -> f64 {
    let moving = coder.coefficients.iter().filter(|coefficient| **coefficient != 0).count();
    coder.bits() as f64 + moving as f64 * worst.max(1e-6).log2()
}

fn moved(step: u8, away: f64) -> u8 {
    (f64::from(step) - away).clamp(0.0, 250.0).round() as u8
}

/// How many steps a segment with this error is away from the limit. Eight steps double the error.
fn away(worst: f64) -> f64 {
    8.0 * worst.max(1e-9).log2().clamp(-8.0, 8.0)
}

/// The best coding of a segment so far.
struct Best {
    step: u8,
    bits: usize,
    coefficients: Vec<i32>,
    /// Whether the error is above the limits.
    is_far: bool,
}

impl Best {
    fn from_coder(coder: &Coder) -> Self {
        Self {
            step: coder.step,
            bits: coder.bits(),
            coefficients: coder.coefficients.clone(),
            is_far: false,
        }
    }
}

/// The largest step that is small enough, near the one that the error suggests. It nearly always
/// takes the fewest bits. `usual` is the step of a segment nearby.
fn best_step(coder: &mut Coder, shaver: &mut Shaver, span: Span, usual: u8) -> Best {
    let begin = approach(coder, span, usual);
    let mut is_enough = |step| coder.code(span, step, Rounding::RateDistortion, 1.0) <= 1.0;
    let deepest = begin.saturating_sub(DEEPEST);
    let Some(mut step) = (deepest..=begin).rev().find(|step| is_enough(*step)) else {
        return nearest(coder, shaver, span);
    };
    let mut best = Best::from_coder(coder);
    while step >= begin && step < u8::MAX {
        step += 1;
        if coder.code(span, step, Rounding::RateDistortion, 1.0) > 1.0 {
            break;
        }
        best = Best::from_coder(coder);
    }
    best
}

/// A step at which the error is about the limit.
fn approach(coder: &mut Coder, span: Span, usual: u8) -> u8 {
    let mut step = usual;
    for _ in 0..APPROACHES {
        let away = away(coder.code(span, step, Rounding::RateDistortion, f64::INFINITY));
        step = moved(step, away);
        if away.abs() <= NEAR {
            break;
        }
    }
    step
}

/// The step with the smallest error, or one near it at which changes of coefficients bring the error
/// within the limits. Used if no step is small enough, because with finer steps the coefficients do
/// not fit into 24 bits.
fn nearest(coder: &mut Coder, shaver: &mut Shaver, span: Span) -> Best {
    let mut best = repaired(coder, shaver, span);
    if best.0 > 1.0 && coder.is_turned {
        coder.stays_near = true;
        let near = repaired(coder, shaver, span);
        coder.stays_near = false;
        if near.0 < best.0 {
            best = near;
        }
    }
    Best { is_far: best.0 > 1.0, ..best.1 }
}

/// The coding with the smallest error, and that error as a multiple of the limit.
fn repaired(coder: &mut Coder, shaver: &mut Shaver, span: Span) -> (f64, Best) {
    let step = step_of_least_error(coder, span);
    let least = coder.code(span, step, Rounding::Nearest, f64::INFINITY);
    let best = Best::from_coder(coder);
    if least > 1.0 && least < REPAIRABLE {
        for step in REPAIRED.map(|by| step.saturating_add_signed(by)) {
            coder.code(span, step, Rounding::Nearest, f64::INFINITY);
            if coder.curve_error <= 1.0 && shaver.repair(coder, BEST_SHAVE.tries) {
                return (1.0, Best::from_coder(coder));
            }
        }
    }
    (least, best)
}

/// The step with the smallest error. It prefers steps with which all curves are within their
/// limits.
fn step_of_least_error(coder: &mut Coder, span: Span) -> u8 {
    const STRIDE: u8 = 8;
    let mut least = ((true, f64::INFINITY), 0);
    let mut compare = |coder: &mut Coder, step: u8| {
        let worst = coder.code(span, step, Rounding::Nearest, f64::INFINITY);
        let error = (coder.curve_error > 1.0, worst);
        if error < least.0 {
            least = (error, step);
        }
        least.1
    };
    let mut around = 0;
    for step in (0..=u8::MAX).step_by(usize::from(STRIDE)) {
        around = compare(coder, step);
    }
    let mut step = around;
    for near in around.saturating_sub(STRIDE - 1)..=around.saturating_add(STRIDE - 1) {
        step = compare(coder, near);
    }
    step
}

/// The step with the fewest bits among those for which changes of single coefficients bring the
/// error within the limits. The search begins above the step that rounding alone would allow, and
/// continues until several steps in a row fail.
fn shaved_step(
    coder: &mut Coder,
    shaver: &mut Shaver,
    (span, usual): (Span, u8),
    Shave { tries, failures, trim }: Shave,
) -> Best {
    let is_enough = |coder: &mut Coder, shaver: &mut Shaver, step| {
        coder.code(span, step, Rounding::RateDistortion, f64::INFINITY);
        coder.curve_error <= 1.0 && shaver.repair(coder, tries)
    };
    let begin = approach(coder, span, usual).saturating_add(AHEAD);
    let deepest = begin.saturating_sub(DEEPEST);
    let Some(least) = (deepest..=begin).rev().find(|step| is_enough(coder, shaver, *step)) else {
        return nearest(coder, shaver, span);
    };
    let mut best = Best::from_coder(coder);
    let mut failed = usize::from(begin - least);
    let mut step = begin;
    while failed < failures && step < u8::MAX {
        step += 1;
        if is_enough(coder, shaver, step) && coder.bits() < best.bits {
            best = Best::from_coder(coder);
            failed = 0;
        } else {
            failed += 1;
        }
    }
    coder.take(best.step, &best.coefficients);
    shaver.trim(coder, trim);
    if coder.bits() < best.bits && worst(coder).2 <= 1.0 { Best::from_coder(coder) } else { best }
}
