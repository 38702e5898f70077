//! Coefficients: predicted, then their differences by bit length, lower bits and sign, from the highest frequency down. One description for
//! both directions. `spec/ANIM.md`, section 14.5.

use kinepack::entropy::Coder;

use super::model::{
    AGES, CLASSES, Contexts, FEATURES, Model, PREDICTED, PREDICTORS, SIGNS, Surroundings, Watch, ZEROS, class,
};
use crate::block::{BlockLength, MAX_LENGTH};

/// Bits of the largest coefficient but for its sign.
const MAX_BITS: u32 = 24;
/// The largest size that contexts see.
const MAX_SIZE: i64 = 1 << 28;
/// Bits below the leading one that have counters.
const MODELLED_BITS: u32 = 3;

/// Sizes by coefficient, in sixteenths, and zeros behind.
type Sizes = [u32; MAX_LENGTH + 2];

/// What a component leaves for the next segment.
#[derive(Clone, Debug)]
struct Past {
    coefficients: [i32; MAX_LENGTH],
    last: Sizes,
    mean: Sizes,
}

impl Default for Past {
    fn default() -> Self {
        Self { coefficients: [0; MAX_LENGTH], last: [0; MAX_LENGTH + 2], mean: [0; MAX_LENGTH + 2] }
    }
}

/// What is remembered of the segments before.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// By live component.
    past: Vec<Past>,
    block: usize,
    segments: usize,
    step: u8,
    length: usize,
}

/// The segment that is coded.
struct Now {
    length: usize,
    age: usize,
    /// What coefficients of the segment before are multiplied with, in 1/65536.
    gain: i64,
    /// The same for sizes.
    size_gain: i64,
}

impl History {
    pub(super) fn new(block: BlockLength) -> Self {
        Self { past: Vec::new(), block: block as usize, segments: 0, step: 0, length: 1 }
    }

    /// Codes a segment's coefficients: `is_live` and `channel_of` by component; false where a coefficient has no 24 bits, or the data have ended.
    pub(super) fn code<C: Coder, W: Watch>(
        &mut self,
        coder: &mut C,
        model: &mut Model<W>,
        live: &[LiveComponent],
        step: u8,
        coefficients: &mut [i32],
        length: usize,
    ) -> bool {
        let size_gain = octaves(i32::from(self.step) - i32::from(step));
        let gain = (size_gain * root_of_ratio(length, self.length)) >> 16;
        let now = Now { length, age: self.segments.min(AGES - 1), gain, size_gain };
        let mut own: [Sizes; 3] = [[0; MAX_LENGTH + 2]; 3];
        let mut neighbour: Sizes = [0; MAX_LENGTH + 2];
        for (index, component) in live.iter().enumerate() {
            if component.begins_track {
                let first = component.begins_channel;
                for k in 0..MAX_LENGTH {
                    let sum = own[0][k] + own[1][k] + own[2][k];
                    neighbour[k] = if first { 0 } else { sum / 3 };
                }
                own = [[0; MAX_LENGTH + 2]; 3];
            }
            let values = &mut coefficients[component.component * length..][..length];
            if !self.code_component(coder, model, &now, index, component.axis, values, &mut own, &neighbour) {
                return false;
            }
        }
        self.segments += 1;
        (self.step, self.length) = (step, length);
        !coder.is_exhausted()
    }

    #[allow(clippy::too_many_arguments)]
    fn code_component<C: Coder, W: Watch>(
        &mut self,
        coder: &mut C,
        model: &mut Model<W>,
        now: &Now,
        index: usize,
        axis: usize,
        values: &mut [i32],
        sizes: &mut [Sizes; 3],
        neighbour: &Sizes,
    ) -> bool {
        // As components come, so that memory grows with what is decoded.
        if index == self.past.len() {
            self.past.push(Past::default());
            model.add_component();
        }
        let past = &mut self.past[index];
        if now.size_gain != 1 << 16 {
            for size in past.last.iter_mut().chain(&mut past.mean) {
                *size = ((i64::from(*size) * now.size_gain) >> 16).min(MAX_SIZE) as u32;
            }
        }
        let (before, rest) = sizes.split_at_mut(axis);
        let own = &mut rest[0];
        let was_zero = past.coefficients[..].iter().all(|value| *value == 0);
        let is_beside_zeros = neighbour.iter().chain(before.iter().flatten()).all(|size| *size == 0);
        let cell = ZEROS + (now.age * 3 + axis) * 3 + usize::from(was_zero) + usize::from(is_beside_zeros);
        if model.code(coder, cell, values.iter().all(|value| *value == 0)) {
            values.fill(0);
            past.coefficients.fill(0);
            past.last.fill(0);
            past.mean.iter_mut().for_each(|mean| *mean = (*mean * 5) >> 3);
            return !coder.is_exhausted();
        }
        // The coefficients of the segment before, in sixteenths of this one's step, and of this one's what is known.
        let mut from = [0; PREDICTED + 1];
        for (from, value) in from.iter_mut().zip(past.coefficients) {
            *from = ((i64::from(value) * now.gain) >> 12).clamp(-MAX_SIZE, MAX_SIZE);
        }
        for k in (0..now.length).rev() {
            let class = class(k, now.length);
            let (mut predicted, mut row) = (0, 0);
            if k < PREDICTED && now.age > 0 {
                row = self.block * PREDICTED + k;
                let mut predictors = [0; PREDICTORS];
                predictors[..8].copy_from_slice(&from[1..]);
                for (predictor, value) in predictors[8..].iter_mut().zip(&values[k + 1..]) {
                    *predictor = i64::from(*value) << 4;
                }
                let map = model.map(row);
                let sum: i64 = map.iter().zip(&predictors).map(|(weight, from)| i64::from(*weight) * from).sum();
                let base = if k == 0 { from[0] } else { 0 };
                model.watch.predicted(row, &predictors, (i64::from(values[k]) << 4) - base);
                predicted = (base + (sum >> 12)).clamp(-MAX_SIZE, MAX_SIZE - 16);
            }
            let rounded = ((predicted + 8) >> 4) as i32;
            let fraction = ((predicted + 8) & 15) as usize;
            let sister = |index: usize| before.get(axis.wrapping_sub(1 + index)).map(|sizes| sizes[k]);
            let sisters = [sister(0), sister(1)];
            let features: [u32; FEATURES] = [
                past.last[k],
                past.mean[k],
                past.mean[k + 1],
                if k > 0 { past.mean[k - 1] } else { 0 },
                own[k + 1],
                own[k + 2],
                own.get(k + 3).copied().unwrap_or_default(),
                sisters[0].unwrap_or_default(),
                sisters[1].unwrap_or_default(),
                neighbour[k],
                neighbour[k + 1],
                16,
            ];
            let scale_row = (self.block * AGES + now.age) * CLASSES + class;
            let scale = model.scale(scale_row);
            let sum: u64 = scale.iter().zip(&features).map(|(weight, size)| u64::from(*weight) * u64::from(*size)).sum();
            let surroundings = Surroundings {
                component: index,
                block: self.block,
                class,
                age: now.age,
                expected: (sum >> 7).min(MAX_SIZE as u64) as u32,
                last: past.last[k],
                mean: past.mean[k],
                near: [own[k + 1], own[k + 2]],
                sisters,
                neighbour: neighbour[k],
            };
            let contexts = Contexts::new(&surroundings);
            let sign = (row % PREDICTED, fraction, now.age > 0 && k < PREDICTED);
            let difference = code_difference(coder, model, &contexts, sign, values[k].wrapping_sub(rounded));
            let value = i64::from(rounded) + i64::from(difference);
            if !(-(1 << 23)..1 << 23).contains(&value) {
                return false;
            }
            values[k] = value as i32;
            own[k] = difference.unsigned_abs() << 4;
            model.watch.expected(scale_row, &features, own[k]);
        }
        for k in 0..now.length {
            past.mean[k] = match now.age {
                0 => own[k],
                1 if k < PREDICTED => own[k],
                _ => (past.mean[k] * 5 + own[k] * 3) >> 3,
            };
            past.last[k] = own[k];
            past.coefficients[k] = values[k];
        }
        past.coefficients[now.length..].fill(0);
        !coder.is_exhausted()
    }
}

/// A live component, in the order in which they are coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiveComponent {
    /// By track, then by axis.
    pub(super) component: usize,
    pub(super) axis: usize,
    /// Whether it is the first live one of its track, and that the first of its channel.
    pub(super) begins_track: bool,
    pub(super) begins_channel: bool,
}

/// Codes a number of up to 25 bits and a sign.
fn code_difference<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    contexts: &Contexts,
    (row, fraction, is_predicted): (usize, usize, bool),
    value: i32,
) -> i32 {
    let size = value.unsigned_abs();
    let bits = code_bit_length(coder, model, contexts, u32::BITS - size.leading_zeros());
    if bits == 0 {
        return 0;
    }
    let below = bits - 1;
    let modelled = below.min(MODELLED_BITS);
    let flat = below - modelled;
    let relative = (bits + 2).saturating_sub(contexts.start).min(7) as usize;
    let top = model.code_tree(coder, contexts.mantissas + 8 * relative, (size >> flat) & ((1 << modelled) - 1), modelled);
    let rest = coder.code_direct(size, flat);
    let size = ((1 << modelled | top) << flat | rest) as i32;
    let is_negative = if is_predicted {
        let _ = row;
        model.code(coder, SIGNS + fraction * 2 + usize::from(bits > 1), value < 0)
    } else {
        coder.code_direct(u32::from(value < 0), 1) != 0
    };
    if is_negative { -size } else { size }
}

/// Codes a number of bits, from that on which is likely: how many more, or else how many fewer.
#[inline]
fn code_bit_length<C: Coder, W: Watch>(coder: &mut C, model: &mut Model<W>, contexts: &Contexts, bits: u32) -> u32 {
    let mut at = contexts.start.min(MAX_BITS);
    let mut slot = 0;
    while at <= MAX_BITS && model.code_mixed(coder, contexts, slot, bits > at) {
        at += 1;
        slot = (slot + 1).min(6);
    }
    if slot > 0 {
        return at;
    }
    slot = 7;
    while at > 0 && model.code_mixed(coder, contexts, slot, bits < at) {
        at -= 1;
        slot = (slot + 1).min(9);
    }
    at
}

/// 2^(eighths / 8) in 1/65536, within 2^±12.
fn octaves(eighths: i32) -> i64 {
    const OCTAVE: [i64; 8] = [65_536, 71_468, 77_936, 84_990, 92_682, 101_070, 110_218, 120_194];
    let eighths = eighths.clamp(-96, 96);
    let whole = eighths >> 3;
    let part = OCTAVE[(eighths & 7) as usize];
    if whole < 0 { part >> -whole } else { part << whole }
}

/// √(length / before) in 1/65536.
fn root_of_ratio(length: usize, before: usize) -> i64 {
    (((length as u64) << 32) / before as u64).isqrt() as i64
}

