//! How large the steps of components are relative to each other, tried out: a little larger or smaller, one track after another.

use crate::Channel;

use super::plan::Plan;
use super::segment::{Coder, Rounding, Span};
use super::shave::norm;
use super::target::Target;

/// Changes that are tried, in quarter octaves: in each round smaller ones.
const CHANGES: [i16; 3] = [4, 2, 1];

/// Changes the steps of components so that the segments, each with its step, take fewer bits at the same error.
pub(super) fn tune(target: &Target, plan: &mut Plan, segments: &[(Span, u8)]) {
    let below = target.skeleton().below();
    let mut steps: Vec<[u8; 3]> = plan.tracks.iter().map(|track| track.steps).collect();
    let mut tried: Vec<Tried> = segments.iter().map(|&(span, step)| Tried::new(target, plan, span, step)).collect();
    let mut least: f64 = tried.iter().map(Tried::cost).sum();
    for change in CHANGES {
        for track in (0..steps.len()).filter(|track| !plan.tracks[*track].shares[1]) {
            let below = &below[usize::from(plan.tracks[track].id.joint)];
            for axes in [0..3, 0..1, 1..2, 2..3] {
                for by in [change, -change] {
                    let before = steps[track];
                    for step in &mut steps[track][axes.clone()] {
                        if *step != 0 {
                            *step = (i16::from(*step) + by).clamp(1, 255) as u8;
                        }
                    }
                    let mut now = 0.0;
                    for tried in &mut tried {
                        tried.change(track, steps[track], below);
                        now += tried.cost();
                    }
                    if now < least {
                        least = now;
                        break;
                    }
                    steps[track] = before;
                    tried.iter_mut().for_each(|tried| tried.change(track, before, below));
                }
            }
        }
    }
    for (track, steps) in plan.tracks.iter_mut().zip(steps) {
        track.steps = steps;
    }
}

/// A segment on which steps are tried.
struct Tried<'a> {
    coder: Coder<'a>,
    /// Bits of each component, and how many of its coefficients are not 0.
    bits: Vec<(usize, usize)>,
}

impl<'a> Tried<'a> {
    fn new(target: &'a Target<'a>, plan: &'a Plan, span: Span, step: u8) -> Self {
        let mut coder = Coder::new(target, plan);
        coder.code(span, step, Rounding::Worth, f64::INFINITY);
        let mut tried = Self { coder, bits: vec![(0, 0); 3 * plan.tracks.len()] };
        (0..tried.bits.len()).for_each(|component| tried.count(component));
        tried
    }

    fn count(&mut self, component: usize) {
        let length = self.coder.span.length;
        let coefficients = &self.coder.coefficients[component * length..][..length];
        let moving = coefficients.iter().filter(|coefficient| **coefficient != 0).count();
        self.bits[component] = (self.coder.component_bits(component), moving);
    }

    /// Gives a track other steps.
    fn change(&mut self, track: usize, steps: [u8; 3], below: &[usize]) {
        self.coder.steps[track] = steps;
        self.coder.recode(below, Rounding::Worth);
        for &joint in below {
            for channel in Channel::ALL {
                if let Some(track) = self.coder.plan.track_of[joint][channel as usize] {
                    (3 * track..3 * track + 3).for_each(|component| self.count(component));
                }
            }
        }
    }

    /// About how many bits it takes when its error is what is allowed: each coefficient takes one more where it is twice that.
    fn cost(&self) -> f64 {
        // The norm is above the largest error.
        let error = norm(&self.coder).powf(1.0 / 16.0).max(1e-6);
        let (bits, moving) = self.bits.iter().fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        bits as f64 + moving as f64 * error.log2()
    }
}
