//! How large the steps of components are relative to each other, tried out: a little larger or smaller, one track after another.

use super::plan::Plan;
use super::segment::{Coder, Rounding, Span};
use super::target::Target;

/// Changes that are tried, in quarter octaves: in each round smaller ones.
const CHANGES: [i16; 3] = [4, 2, 1];

/// Changes the steps of components so that the segments, each with its step, take fewer bits at the same error.
pub(super) fn tune(target: &Target, plan: &mut Plan, segments: &[(Span, u8)]) {
    let mut least = cost(target, plan, segments);
    for change in CHANGES {
        for track in 0..plan.tracks.len() {
            for axes in [0..3, 0..1, 1..2, 2..3] {
                for by in [change, -change] {
                    let before = plan.tracks[track].steps;
                    for step in &mut plan.tracks[track].steps[axes.clone()] {
                        if *step != 0 {
                            *step = (i16::from(*step) + by).clamp(1, 255) as u8;
                        }
                    }
                    let now = cost(target, plan, segments);
                    if now < least {
                        least = now;
                        break;
                    }
                    plan.tracks[track].steps = before;
                }
            }
        }
    }
}

/// About how many bits segments take when their error is what is allowed: each coefficient takes one more where it is twice that.
fn cost(target: &Target, plan: &Plan, segments: &[(Span, u8)]) -> f64 {
    let mut coder = Coder::new(target, plan);
    let mut cost = 0.0;
    for &(span, step) in segments {
        let worst = coder.code(span, step, Rounding::Worth, f64::INFINITY);
        let error = worst.max(super::shave::norm(&coder).powf(1.0 / 16.0)).max(1e-6);
        let count = coder.coefficients.iter().filter(|coefficient| **coefficient != 0).count();
        cost += coder.bits() as f64 + count as f64 * error.log2();
    }
    cost
}
