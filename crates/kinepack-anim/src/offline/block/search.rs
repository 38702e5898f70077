//! Searches for the step with which each segment takes the fewest bits.

use crate::block::SegmentContents;

use super::estimate::{OFFSET, approach};
use super::options::Effort;
use super::plan::Plan;
use super::segment::{Arithmetic, Coder};
use super::shave::{Shaver, worst};
use super::spans::{self, Span};
use super::steps::USUAL_STEP;
use super::target::Target;
use super::transform::Rounding;
use super::trim::Trim;
use super::tune;

/// The maximum number of steps by which the search goes below its first step.
const DEEPEST: u8 = 60;
/// The expected gain from changes of coefficients: they usually allow a step that is coarser by
/// this number of steps than rounding alone allows.
const AHEAD: u8 = 2;
/// The changes of coefficients at default effort.
const DEFAULT_SHAVE: Shave = Shave {
    tries: 200,
    failures: 2,
    trim: Trim { weights: &[2.0, 1.0], farthest: 1.15, tries: 50, failures: 4 },
};
/// The changes of coefficients at higher efforts.
const BEST_SHAVE: Shave = Shave {
    tries: 1500,
    failures: 4,
    trim: Trim { weights: &[4.0, 2.0, 1.0, 0.5], farthest: 2.0, tries: 200, failures: 12 },
};

/// The largest error that changes of coefficients may repair if no step is small enough, as a
/// multiple of the limit.
const REPAIRABLE: f64 = 3.0;
/// The steps at which to try such repairs, relative to the step with the smallest error.
const REPAIRED: [i8; 7] = [0, -1, 1, -2, 2, -3, 3];

/// The limits on changing single coefficients of a segment.
#[derive(Clone, Copy)]
struct Shave {
    /// The maximum number of changes to try at each step.
    tries: usize,
    /// The maximum number of steps in a row at which the changes may fail.
    failures: usize,
    /// The options for trimming the segment at the best step.
    trim: Trim,
}

/// The results of coding some segments.
pub(super) struct Coded {
    pub(super) segments: Vec<SegmentContents>,
    pub(super) bits: usize,
    /// The number of segments whose error is too large because no step is small enough.
    pub(super) far: usize,
}

/// Tunes the steps of a plan on some of its segments. Keeps the old steps unless the new ones leave
/// fewer segments with too large an error, or leave none and take fewer bits.
pub(super) fn tune(target: &Target, plan: &mut Plan, all: &[Span]) {
    let tried = spans::some(all);
    let before = plan.tracks.clone();
    let coded = code(target, plan, &tried, Effort::Fast);
    let segments: Vec<_> =
        tried.iter().zip(&coded.segments).map(|(span, segment)| (*span, segment.step)).collect();
    tune::tune(target, plan, &segments, tried.len() == all.len());
    let tuned = code(target, plan, &tried, Effort::Fast);
    // Dead components take no bits, so a comparison by bits alone would prefer a plan in which too
    // many components are dead. The effect is worst if no plan reaches the precision. Therefore the
    // number of segments with too large an error is compared first. Bits are compared only if the
    // tuned plan has no such segment.
    let is_better = tuned.far < coded.far || (tuned.far == 0 && tuned.bits < coded.bits);
    if !is_better {
        plan.tracks = before;
    }
}

/// Codes segments. Each segment gets the step that takes the fewest bits and keeps the error within
/// the limits.
pub(super) fn code(target: &Target, plan: &Plan, spans: &[Span], effort: Effort) -> Coded {
    code_with(Coder::new(target, plan, Arithmetic::Double), spans, effort)
}

/// Works like [`code`], but with the coder `coder`.
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

/// Finds the largest step that is small enough, near the step that the error suggests. The largest
/// such step nearly always takes the fewest bits. `usual` is the step of a segment nearby.
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

/// Finds the step with the smallest error, or a step near it at which changes of coefficients bring
/// the error within the limits. This is the fallback if no step is small enough: with finer steps,
/// the coefficients do not fit into 24 bits.
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

/// Returns the smallest error that repairs reach, as a multiple of the limit, and the coding with
/// that error.
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

/// Finds the step with the smallest error. Prefers steps at which all curves are within their
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

/// Finds the step with the fewest bits among those at which changes of single coefficients bring
/// the error within the limits. The search begins above the step that rounding alone would allow,
/// and continues until several steps in a row fail.
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
