//! Makes the choices for a clip: block length, precision of references, aim, and the parameters
//! that each track shares with a rig. The module tries the choices on some of the clip's segments.

use std::collections::HashMap;

use crate::TrackId;
use crate::block::{BlockLength, Header};

use super::estimate::{Estimate, estimate, weight};
use super::options::{BlockOptions, Effort};
use super::pieces;
use super::plan::{Choices, Plan, PlannedTrack, Shares};
use super::segment::{Arithmetic, Coder};
use super::spans::{self, Span};
use super::target::Target;
use super::transform::Rounding;

/// The search keeps another plan if its cost is below this multiple of the best plan's cost.
const NEAR: f64 = 1.04;
/// The maximum number of quarter octaves by which the rig's steps may exceed a track's own. With
/// larger steps, other tracks would have to compensate for the error.
const COARSER: u8 = 1;

/// Returns the plan that takes the fewest bits, or a few more if it plays faster. At higher
/// efforts, the function also returns the plans that cost little more. The caller must build these
/// plans to find the cheapest one.
pub(super) fn choose(target: &Target, options: &BlockOptions) -> (Plan, Vec<Plan>) {
    let usual = Choices { block: BlockLength::N16, is_fine: false, aim: 0.5, is_of_rig: false };
    let alone = |choices| Tried::new(target, options, choices, |_| [false; 2]);
    if options.effort == Effort::Fast && options.rig.is_none() {
        return (Plan::new(target, options, usual, |_| [false; 2]), Vec::new());
    }
    let mut best = alone(usual);
    if options.effort != Effort::Fast {
        best = best.cheaper(alone(Choices { block: BlockLength::N8, ..usual }));
        // If blocks of 8 samples cost less than blocks of 16, blocks of 32 cost even more.
        let tries_longest = match options.effort {
            Effort::Thorough => false,
            Effort::Best => true,
            _ => best.plan.choices.block == usual.block,
        };
        if tries_longest {
            best = best.cheaper(alone(Choices { block: BlockLength::N32, ..usual }));
        }
        let aims: &[f64] =
            if options.effort >= Effort::Thorough { &[0.0, 0.25, 0.75, 1.0] } else { &[0.0] };
        for &aim in aims {
            let choices = best.plan.choices;
            best = best.cheaper(alone(Choices { aim, ..choices }));
        }
        let choices = best.plan.choices;
        best = best.cheaper(alone(Choices { is_fine: true, ..choices }));
    }
    if options.rig.is_some() {
        let sharing = sharing(target, options, &best);
        best = best.cheaper(sharing);
    }
    let others =
        if options.effort >= Effort::Thorough { near(target, options, &best) } else { Vec::new() };
    (best.plan, others)
}

/// Returns plans that cost little more than the best one, and that have shorter blocks or another
/// precision of references.
fn near(target: &Target, options: &BlockOptions, best: &Tried) -> Vec<Plan> {
    let choices = best.plan.choices;
    let shares: HashMap<_, _> =
        best.plan.tracks.iter().map(|track| (track.id, track.shares)).collect();
    let blocks = BlockLength::ALL.into_iter().filter(|block| *block < choices.block);
    let others = blocks.map(|block| Choices { block, ..choices });
    let others = others.chain([Choices { is_fine: !choices.is_fine, ..choices }]);
    let tried = others.map(|choices| {
        Tried::new(target, options, choices, |id| shares.get(&id).copied().unwrap_or_default())
    });
    tried.filter(|tried| tried.cost < NEAR * best.cost).map(|tried| tried.plan).collect()
}

/// Returns the plan in which each track shares with the rig those parameters that make the track
/// smallest. Segments keep the steps with which `tried` was estimated.
fn sharing(target: &Target, options: &BlockOptions, tried: &Tried) -> Tried {
    const ALL: [Shares; 4] = [[false, false], [true, false], [false, true], [true, true]];
    let choices = Choices { is_of_rig: true, ..tried.plan.choices };
    let mut least: HashMap<TrackId, (f64, Shares)> = HashMap::new();
    for shares in ALL {
        let plan = Plan::new(target, options, choices, |_| shares);
        for (track, bits) in plan.tracks.iter().zip(tried.bits_with(target, &plan)) {
            let least = least.entry(track.id).or_insert((bits, shares));
            if bits < least.0 {
                *least = (bits, shares);
            }
        }
    }
    Tried::new(target, options, choices, |id| {
        least.get(&id).map_or([false; 2], |(_, shares)| *shares)
    })
}

/// A plan that was tried on some segments, with the results.
struct Tried {
    plan: Plan,
    header: Header,
    spans: Vec<Span>,
    estimate: Estimate,
    /// The clip's number of segments, divided by the number of segments that were tried.
    share: f64,
    /// An estimate of the clip's bits, plus the cost of playing longer blocks.
    cost: f64,
}

impl Tried {
    fn new(
        target: &Target,
        options: &BlockOptions,
        choices: Choices,
        shares: impl Fn(TrackId) -> Shares,
    ) -> Self {
        let plan = Plan::new(target, options, choices, shares);
        let header = spans::header(target, choices);
        let all = spans::all(&header);
        let spans = spans::some(&all);
        let estimate = estimate(target, &plan, &spans);
        let share = all.len() as f64 / spans.len() as f64;
        let tracks: usize = plan.tracks.iter().map(|track| track.contents().bits(&header)).sum();
        let constants: usize = plan.constants.iter().map(|constant| constant.bits()).sum();
        let bits = estimate.bits * share + (tracks + constants) as f64;
        let cost = bits * weight(choices.block);
        Self { plan, header, spans, estimate, share, cost }
    }

    /// Returns the cheaper of `self` and `other`.
    fn cheaper(self, other: Self) -> Self {
        if other.cost < self.cost { other } else { self }
    }

    /// Returns an estimate of the bits of each track in the clip with the plan `plan`. Segments
    /// keep their steps.
    fn bits_with(&self, target: &Target, plan: &Plan) -> Vec<f64> {
        let mut coder = Coder::new(target, plan, Arithmetic::Double);
        let mut bits = vec![0.0; plan.tracks.len()];
        for (span, step) in self.spans.iter().zip(&self.estimate.steps) {
            coder.code(*span, *step, Rounding::RateDistortion, f64::INFINITY);
            for (component, coefficients) in
                coder.coefficients.chunks_exact(span.length).take(3 * bits.len()).enumerate()
            {
                let PlannedTrack { steps, own_steps, .. } = &plan.tracks[component / 3];
                let (step, own_step) = (steps[component % 3], own_steps[component % 3]);
                if step > own_step.saturating_add(COARSER) {
                    bits[component / 3] = f64::INFINITY;
                } else if step != 0 {
                    bits[component / 3] +=
                        self.share * pieces::bits(self.header.block, coefficients) as f64;
                }
            }
        }
        let parameters = plan.tracks.iter().map(|track| track.contents().bits(&self.header) as f64);
        bits.iter().zip(parameters).map(|(bits, parameters)| bits + parameters).collect()
    }
}
