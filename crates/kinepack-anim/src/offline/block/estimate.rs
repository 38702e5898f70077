//! Estimates the bits that segments take with a plan.

use crate::block::BlockLength;

use super::plan::Plan;
use super::segment::{Arithmetic, Coder};
use super::spans::Span;
use super::steps::USUAL_STEP;
use super::target::Target;
use super::transform::Rounding;

/// The cost of playing each group of eight coefficients of a block, as a share of the clip's bits.
/// A player must decode all groups, so longer blocks play more slowly.
const EIGHT: f64 = 0.12;
/// The maximum number of attempts to find the step at which the search begins.
const APPROACHES: usize = 3;
/// The maximum number of steps by which that first step may miss the limit.
const NEAR: f64 = 4.0;
/// The number of codings whose mean is the estimate for a segment.
const ESTIMATES: usize = 2;
/// The approximate size of a segment's offset in bits.
pub(super) const OFFSET: usize = 16;

/// Returns the factor for a clip's bits that accounts for the cost of playing blocks of this
/// length.
pub(super) fn weight(block: BlockLength) -> f64 {
    1.0 + EIGHT * (block.samples() / 8) as f64
}

/// The estimated steps and bits of some segments with a plan.
pub(super) struct Estimate {
    /// The approximate step of each segment.
    pub(super) steps: Vec<u8>,
    /// The number of bits of all segments together.
    pub(super) bits: f64,
}

/// Estimates the bits of segments with a plan. An estimate costs less time than coding the
/// segments.
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

/// Returns the approximate bits that a segment would take if its error were exactly the limit.
/// Halving the error costs one more bit for each coefficient that is not 0.
fn bits_at_limit(coder: &Coder, worst: f64) -> f64 {
    let moving = coder.coefficients.iter().filter(|coefficient| **coefficient != 0).count();
    coder.bits() as f64 + moving as f64 * worst.max(1e-6).log2()
}

fn moved(step: u8, away: f64) -> u8 {
    (f64::from(step) - away).clamp(0.0, 250.0).round() as u8
}

/// Returns the number of steps by which a segment with the error `worst` is away from the limit.
/// Eight steps double the error.
fn away(worst: f64) -> f64 {
    8.0 * worst.max(1e-9).log2().clamp(-8.0, 8.0)
}

/// Finds a step at which the error is about the limit.
pub(super) fn approach(coder: &mut Coder, span: Span, usual: u8) -> u8 {
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
