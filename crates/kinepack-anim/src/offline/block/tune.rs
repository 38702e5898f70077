//! Tunes the steps of components relative to each other, and chooses which components are dead. The
//! tuner tries changes of one track after another.

use crate::Channel;

use super::plan::{Plan, PlannedTrack};
use super::segment::{Arithmetic, Coder};
use super::shave::norm;
use super::spans::Span;
use super::target::Target;
use super::transform::Rounding;

/// The changes of steps to try in each round, in quarter octaves.
const ROUNDS: [&[i16]; 2] = [&[4, 2, 1], &[2, 1]];

/// Changes the steps of components so that the segments take fewer bits at the same error. Each
/// segment keeps its step. If `are_all` is false, the clip has segments that `segments` does not
/// list. No component then becomes dead, because such a segment may need it.
pub(super) fn tune(target: &Target, plan: &mut Plan, segments: &[(Span, u8)], are_all: bool) {
    let mut tuner = Tuner::new(target, plan, segments);
    let has_own_steps = |track: &(usize, &PlannedTrack)| !track.1.shares[1];
    for changes in ROUNDS {
        for (track, planned) in plan.tracks.iter().enumerate().filter(has_own_steps) {
            for axis in 0..3 {
                // A dead component saves its bits, while a live one can correct the errors of
                // ancestors.
                let mut steps = tuner.steps[track];
                if steps[axis] != 0 && !are_all {
                    continue;
                }
                steps[axis] = if steps[axis] == 0 { planned.own_steps[axis] } else { 0 };
                tuner.take(track, steps);
            }
        }
        for change in changes {
            for (track, _) in plan.tracks.iter().enumerate().filter(has_own_steps) {
                for axes in [0..3, 0..1, 1..2, 2..3] {
                    for by in [*change, -change] {
                        let mut steps = tuner.steps[track];
                        for step in steps[axes.clone()].iter_mut().filter(|step| **step != 0) {
                            *step = (i16::from(*step) + by).clamp(1, 255) as u8;
                        }
                        if tuner.take(track, steps) {
                            break;
                        }
                    }
                }
            }
        }
    }
    let steps = tuner.steps;
    for (track, steps) in plan.tracks.iter_mut().zip(steps) {
        track.steps = steps;
    }
}

struct Tuner<'a> {
    plan: &'a Plan,
    /// For each joint, the joint and its descendants.
    below: Vec<Vec<usize>>,
    /// The best steps so far, by track.
    steps: Vec<[u8; 3]>,
    tried: Vec<Tried<'a>>,
    /// The cost of all segments with the best steps.
    least: f64,
}

impl<'a> Tuner<'a> {
    fn new(target: &'a Target<'a>, plan: &'a Plan, segments: &[(Span, u8)]) -> Self {
        let tried: Vec<Tried> =
            segments.iter().map(|&(span, step)| Tried::new(target, plan, span, step)).collect();
        Self {
            plan,
            below: target.skeleton().below(),
            steps: plan.tracks.iter().map(|track| track.steps).collect(),
            least: tried.iter().map(Tried::cost).sum(),
            tried,
        }
    }

    /// Tries the steps `steps` for a track, and keeps them if they cost less. Returns whether it
    /// kept them.
    fn take(&mut self, track: usize, steps: [u8; 3]) -> bool {
        if steps == self.steps[track] {
            return false;
        }
        let below = &self.below[usize::from(self.plan.tracks[track].id.joint)];
        let mut now = 0.0;
        for tried in &mut self.tried {
            tried.change(track, steps, below);
            now += tried.cost();
        }
        if now < self.least {
            (self.least, self.steps[track]) = (now, steps);
            return true;
        }
        self.tried.iter_mut().for_each(|tried| tried.change(track, self.steps[track], below));
        false
    }
}

/// A segment on which steps are tried.
struct Tried<'a> {
    coder: Coder<'a>,
    /// For each component, its bits, and the number of its coefficients that are not 0.
    bits: Vec<(usize, usize)>,
}

impl<'a> Tried<'a> {
    fn new(target: &'a Target<'a>, plan: &'a Plan, span: Span, step: u8) -> Self {
        let mut coder = Coder::new(target, plan, Arithmetic::Double);
        coder.code(span, step, Rounding::RateDistortion, f64::INFINITY);
        let mut tried = Self { coder, bits: vec![(0, 0); 3 * plan.tracks.len()] };
        (0..tried.bits.len()).for_each(|component| tried.count(component));
        tried
    }

    /// Updates the bits of a component and the number of its coefficients that are not 0.
    fn count(&mut self, component: usize) {
        let length = self.coder.span.length;
        let coefficients = &self.coder.coefficients[component * length..][..length];
        let moving = coefficients.iter().filter(|coefficient| **coefficient != 0).count();
        self.bits[component] = (self.coder.component_bits(component), moving);
    }

    /// Sets the steps of a track, and codes its joint and all descendants again.
    fn change(&mut self, track: usize, steps: [u8; 3], below: &[usize]) {
        self.coder.steps[track] = steps;
        self.coder.recode(below, Rounding::RateDistortion);
        for &joint in below {
            for channel in Channel::ALL {
                if let Some(track) = self.coder.plan.track_of[joint][channel as usize] {
                    (3 * track..3 * track + 3).for_each(|component| self.count(component));
                }
            }
        }
    }

    /// Returns an estimate of the bits that the segment would take if its error were exactly the
    /// limit. Halving the error costs one more bit for each coefficient that is not 0.
    fn cost(&self) -> f64 {
        // The norm is an upper bound on the largest error.
        let error = norm(&self.coder).powf(1.0 / 16.0).max(1e-6);
        let (bits, moving) =
            self.bits.iter().fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        bits as f64 + moving as f64 * error.log2()
    }
}
