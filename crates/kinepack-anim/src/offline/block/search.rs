//! Searches for the step of each segment with which it takes the fewest bits.

use crate::block::{Header, SegmentContents};

use super::Effort;
use super::choose::sample_spans;
use super::plan::{Choices, Plan, USUAL_STEP};
use super::segment::{Coder, Rounding, Span};
use super::shave::Shaver;
use super::target::Target;

/// How far below the expected step the search goes.
const DEEPEST: u8 = 60;
/// How far above the expected step the search begins.
const HIGHEST: u8 = 4;
/// At default effort: the changes of coefficients that are tried with a step, and the number of
/// steps that may fail in a row.
const DEFAULT_SHAVE: (usize, usize) = (60, 2);
/// The same at best effort.
const BEST_SHAVE: (usize, usize) = (1500, 4);

/// Coded segments.
pub(super) struct Coded {
    pub(super) segments: Vec<SegmentContents>,
    pub(super) bits: usize,
    /// Number of segments whose error is too large because no step is small enough.
    far: usize,
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
    /// The approximate bits of a segment's offset.
    const OFFSET: usize = 16;
    let mut coder = Coder::new(target, plan);
    let mut shaver = Shaver::new(&coder);
    let mut coded = Coded { segments: Vec::with_capacity(spans.len()), bits: 0, far: 0 };
    let mut usual = USUAL_STEP;
    for &span in spans {
        let mut best = best_step(&mut coder, span, usual);
        usual = best.step;
        match effort {
            Effort::Fast => {}
            Effort::Default => shave(&mut coder, &mut shaver, &mut best, DEFAULT_SHAVE),
            Effort::Best => shave(&mut coder, &mut shaver, &mut best, BEST_SHAVE),
        }
        coded.bits += best.bits + OFFSET;
        coded.far += usize::from(best.is_far);
        coded.segments.push(SegmentContents {
            step: best.step,
            length: span.length,
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

/// The step with the fewest bits, among those just below the largest step that is small enough.
fn best_step(coder: &mut Coder, span: Span, usual: u8) -> Best {
    let mut expected = f64::from(usual);
    for _ in 0..2 {
        let worst =
            coder.code(span, expected.round() as u8, Rounding::Nearest, f64::INFINITY).max(1e-9);
        expected = (expected.round() - 8.0 * worst.log2().clamp(-4.0, 4.0)).clamp(0.0, 250.0);
    }
    let expected = expected.round() as u8;
    let mut best: Option<Best> = None;
    let mut since = 0;
    for step in (expected.saturating_sub(DEEPEST)..=expected.saturating_add(HIGHEST)).rev() {
        if coder.code(span, step, Rounding::RateDistortion, 1.0) <= 1.0 {
            let here = Best::from_coder(coder);
            if best.as_ref().is_none_or(|best| here.bits < best.bits) {
                best = Some(here);
            }
        }
        since += usize::from(best.is_some());
        if since > 2 {
            break;
        }
    }
    best.unwrap_or_else(|| nearest(coder, span))
}

/// The step with the smallest error. Used if no step is small enough, because with finer steps the
/// coefficients do not fit into 24 bits.
fn nearest(coder: &mut Coder, span: Span) -> Best {
    const STRIDE: u8 = 8;
    let mut least = (f64::INFINITY, 0);
    let mut compare = |coder: &mut Coder, step: u8| {
        let worst = coder.code(span, step, Rounding::Nearest, f64::INFINITY);
        if worst < least.0 {
            least = (worst, step);
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
    let worst = coder.code(span, step, Rounding::Nearest, f64::INFINITY);
    Best { is_far: worst > 1.0, ..Best::from_coder(coder) }
}

/// Tries coarser steps, as long as changes of single coefficients bring the error back within the
/// limits.
fn shave(
    coder: &mut Coder,
    shaver: &mut Shaver,
    best: &mut Best,
    (tries, failures): (usize, usize),
) {
    let span = coder.span;
    let mut failed = 0;
    let mut step = best.step;
    while failed < failures && step < u8::MAX {
        step += 1;
        coder.code(span, step, Rounding::RateDistortion, f64::INFINITY);
        if coder.curve_error <= 1.0 && shaver.repair(coder, tries) && coder.bits() < best.bits {
            *best = Best::from_coder(coder);
            failed = 0;
        } else {
            failed += 1;
        }
    }
}
