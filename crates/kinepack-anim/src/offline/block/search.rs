//! Looks for the choices and steps with which a clip takes the fewest bits.

use std::collections::HashMap;

use crate::TrackId;
use crate::block::{BlockLength, Header, SegmentContents};

use super::plan::{Choices, Plan, PlannedTrack, Shares, USUAL_STEP};
use super::segment::{Coder, Rounding, Span, component_bits};
use super::shave::Shaver;
use super::target::Target;
use super::{BlockOptions, Effort};

/// Segments that choices are compared on.
const TRIED: usize = 12;
/// What the eights of coefficients that a block has weigh in the choice of its length, each as a share of the clip's bits: the player decodes all of
/// them. At best effort it is bits alone that count.
const EIGHT: f64 = 0.06;
/// Up to how many times as many bits as the best other plans come near it.
const NEAR: f64 = 1.04;
/// How much larger than its own steps those of the rig may be, in quarters of an octave: the others would have to make up for them.
const COARSER: u8 = 1;
/// How far below the step at which the error is expected to be right others are tried, and how far above.
const DEEPEST: u8 = 60;
const HIGHEST: u8 = 4;
/// Changes of coefficients that are tried with a step, and with how many steps it may fail, by default and at best.
const DEFAULT_SHAVE: (usize, usize) = (60, 2);
const BEST_SHAVE: (usize, usize) = (1500, 4);

/// Segments as they were coded.
pub(super) struct Coded {
    pub(super) segments: Vec<SegmentContents>,
    pub(super) bits: usize,
}

/// The plan that takes the fewest bits, or nearly where that is faster to play; at best effort also others that come near it, of which only
/// what is made of them tells which one is the best.
pub(super) fn choose(target: &Target, options: &BlockOptions) -> (Plan, Vec<Plan>) {
    let usual = Choices { block: BlockLength::N16, is_fine: false, aim: 0.5, is_of_rig: false };
    let alone = |choices| Tried::new(target, options, choices, |_| [false; 2]);
    if options.effort == Effort::Fast && options.rig.is_none() {
        return (Plan::new(target, options, usual, |_| [false; 2]), Vec::new());
    }
    let mut best = alone(usual);
    if options.effort != Effort::Fast {
        for block in [BlockLength::N8, BlockLength::N32] {
            best = best.or(alone(Choices { block, ..usual }));
        }
        let aims: &[f64] = if options.effort == Effort::Best { &[0.0, 0.25, 0.75, 1.0] } else { &[0.0] };
        for &aim in aims {
            let choices = best.plan.choices;
            best = best.or(alone(Choices { aim, ..choices }));
        }
        let choices = best.plan.choices;
        best = best.or(alone(Choices { is_fine: true, ..choices }));
    }
    if options.rig.is_some() {
        let sharing = sharing(target, options, &best);
        best = best.or(sharing);
    }
    let mut others = Vec::new();
    if options.effort == Effort::Best {
        let choices = best.plan.choices;
        let shares = best.plan.tracks.iter().map(|track| (track.id, track.shares)).collect::<HashMap<_, _>>();
        let blocks = BlockLength::ALL.into_iter().filter(|block| *block != choices.block);
        let near = blocks.map(|block| Choices { block, ..choices });
        for choices in near.chain([Choices { is_fine: !choices.is_fine, ..choices }]) {
            let shares = |id| shares.get(&id).copied().unwrap_or_default();
            let other = Tried::new(target, options, choices, shares);
            others.extend((other.cost < NEAR * best.cost).then_some(other.plan));
        }
    }
    (best.plan, others)
}

/// The plan in which each track shares with the rig what makes it the smallest, each segment with the step that it was tried with.
fn sharing(target: &Target, options: &BlockOptions, tried: &Tried) -> Tried {
    const WAYS: [Shares; 4] = [[false, false], [true, false], [false, true], [true, true]];
    let choices = Choices { is_of_rig: true, ..tried.plan.choices };
    let mut least: HashMap<TrackId, (f64, Shares)> = HashMap::new();
    for shares in WAYS {
        let plan = Plan::new(target, options, choices, |_| shares);
        for (track, bits) in plan.tracks.iter().zip(tried.bits_with(target, &plan)) {
            let least = least.entry(track.id).or_insert((bits, shares));
            if bits < least.0 {
                *least = (bits, shares);
            }
        }
    }
    Tried::new(target, options, choices, |id| least.get(&id).map_or([false; 2], |(_, shares)| *shares))
}

/// A plan that was tried on some segments.
struct Tried {
    plan: Plan,
    header: Header,
    spans: Vec<Span>,
    coded: Coded,
    /// Segments of the clip for each that was coded.
    share: f64,
    /// Bits of the clip, more for longer blocks where those are to be avoided.
    cost: f64,
}

impl Tried {
    fn new(target: &Target, options: &BlockOptions, choices: Choices, shares: impl Fn(TrackId) -> Shares) -> Self {
        let plan = Plan::new(target, options, choices, shares);
        let header = header(target, choices);
        let all = spans(&header);
        let spans = some(&all);
        let coded = code(target, &plan, &spans, Effort::Fast);
        let share = all.len() as f64 / spans.len() as f64;
        let tracks: usize = plan.tracks.iter().map(|track| track.contents().bits(&header)).sum();
        let constants: usize = plan.constants.iter().map(|constant| constant.bits()).sum();
        let eight = if options.effort == Effort::Best { 0.0 } else { EIGHT * (choices.block.samples() / 8) as f64 };
        let cost = (coded.bits as f64 * share + (tracks + constants) as f64) * (1.0 + eight);
        Self { plan, header, spans, coded, share, cost }
    }

    /// This one, or the other where that is smaller.
    fn or(self, other: Self) -> Self {
        if other.cost < self.cost { other } else { self }
    }

    /// About how many bits each track takes in the clip with another plan, with segments of the same steps.
    fn bits_with(&self, target: &Target, plan: &Plan) -> Vec<f64> {
        let mut coder = Coder::new(target, plan);
        let mut bits = vec![0.0; plan.tracks.len()];
        for (span, segment) in self.spans.iter().zip(&self.coded.segments) {
            coder.code(*span, segment.step, Rounding::Worth, f64::INFINITY);
            for (component, coefficients) in coder.coefficients.chunks_exact(span.length).enumerate() {
                let PlannedTrack { steps, own_steps, .. } = &plan.tracks[component / 3];
                let (step, own_step) = (steps[component % 3], own_steps[component % 3]);
                if step > own_step.saturating_add(COARSER) {
                    bits[component / 3] = f64::INFINITY;
                } else if step != 0 {
                    bits[component / 3] += self.share * component_bits(self.header.block, coefficients) as f64;
                }
            }
        }
        let once = plan.tracks.iter().map(|track| track.contents().bits(&self.header) as f64);
        bits.iter().zip(once).map(|(bits, once)| bits + once).collect()
    }
}

/// Some of all segments.
fn some(all: &[Span]) -> Vec<Span> {
    match all.len() {
        0..=TRIED => all.to_vec(),
        many => (0..TRIED).map(|index| all[index * many / TRIED]).collect(),
    }
}

/// Tunes the steps of a plan on some of its segments, where that takes fewer bits.
pub(super) fn tune(target: &Target, plan: &mut Plan, all: &[Span]) {
    let tried = some(all);
    let before = plan.tracks.clone();
    let coded = code(target, plan, &tried, Effort::Fast);
    let segments: Vec<_> = tried.iter().zip(&coded.segments).map(|(span, segment)| (*span, segment.step)).collect();
    super::tune::tune(target, plan, &segments, tried.len() == all.len());
    if code(target, plan, &tried, Effort::Fast).bits >= coded.bits {
        plan.tracks = before;
    }
}

/// The header of a clip of such choices.
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

/// Codes segments, each with the step that takes the fewest bits of those with which it is near enough.
pub(super) fn code(target: &Target, plan: &Plan, spans: &[Span], effort: Effort) -> Coded {
    /// Bits of a segment's offset, about.
    const OFFSET: usize = 16;
    let mut coder = Coder::new(target, plan);
    let mut shaver = Shaver::new(&coder);
    let mut coded = Coded { segments: Vec::with_capacity(spans.len()), bits: 0 };
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
        coded.segments.push(SegmentContents { step: best.step, length: span.length, coefficients: best.coefficients });
    }
    coded
}

struct Best {
    step: u8,
    bits: usize,
    coefficients: Vec<i32>,
}

impl Best {
    fn of(coder: &Coder) -> Self {
        Self { step: coder.step, bits: coder.bits(), coefficients: coder.coefficients.clone() }
    }
}

/// The step with the fewest bits of those near the largest that is small enough.
fn best_step(coder: &mut Coder, span: Span, usual: u8) -> Best {
    let mut expected = f64::from(usual);
    for _ in 0..2 {
        let worst = coder.code(span, expected.round() as u8, Rounding::Nearest, f64::INFINITY).max(1e-9);
        expected = (expected.round() - 8.0 * worst.log2().clamp(-4.0, 4.0)).clamp(0.0, 250.0);
    }
    let expected = expected.round() as u8;
    let mut best: Option<Best> = None;
    let mut since = 0;
    for step in (expected.saturating_sub(DEEPEST)..=expected.saturating_add(HIGHEST)).rev() {
        if coder.code(span, step, Rounding::Worth, 1.0) <= 1.0 {
            let here = Best::of(coder);
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

/// The step with the smallest error, where none is small enough: coefficients of finer ones do not fit their 24 bits.
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
    coder.code(span, step, Rounding::Nearest, f64::INFINITY);
    Best::of(coder)
}

/// Goes on to coarser steps for as long as changes of single coefficients can repair what they spoil.
fn shave(coder: &mut Coder, shaver: &mut Shaver, best: &mut Best, (tries, failures): (usize, usize)) {
    let span = coder.span;
    let mut failed = 0;
    let mut step = best.step;
    while failed < failures && step < u8::MAX {
        step += 1;
        coder.code(span, step, Rounding::Worth, f64::INFINITY);
        if shaver.repair(coder, tries) && coder.bits() < best.bits {
            *best = Best::of(coder);
            failed = 0;
        } else {
            failed += 1;
        }
    }
}
