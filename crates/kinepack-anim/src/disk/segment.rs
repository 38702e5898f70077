//! Coefficients: predicted, then their differences by bit length, lower bits and sign, from the
//! highest frequency down. One description for both directions. `spec/ANIM.md`, section 14.5.

use kinepack::entropy::Coder;

use super::model::{
    AGES, CLASSES, Contexts, FEATURES, Model, PREDICTED, PREDICTORS, SIGNS, TAIL, TAIL_SLOT, Watch,
    ZEROS, class,
};
use crate::block::{BlockLength, MAX_LENGTH};

/// Bits of the largest coefficient but for its sign.
const MAX_BITS: u32 = 24;
/// The largest size that contexts see.
const MAX_SIZE: i64 = 1 << 28;
/// Bits below the leading one that have counters.
const MODELLED_BITS: u32 = 3;
/// Coefficients of which one decision says that all are 0.
const GROUP: usize = 4;

/// Sizes by coefficient, in sixteenths, and zeros behind.
type Sizes = [u32; MAX_LENGTH + 3];
/// Memory of a live component, with counters and room to grow.
pub(super) const COMPONENT_BYTES: usize = 1024;
const _: () = assert!(9 * size_of::<Past>() / 4 < COMPONENT_BYTES);
const NO_SIZES: Sizes = [0; MAX_LENGTH + 3];

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

/// What a component leaves for the next segment.
#[derive(Clone, Debug)]
struct Past {
    coefficients: [i32; MAX_LENGTH],
    last: Sizes,
    mean: Sizes,
}

/// The segment that is coded.
struct Now {
    length: usize,
    age: usize,
    /// What coefficients of the segment before are multiplied with, and sizes, in 1/65536.
    gain: i64,
    size_gain: i64,
    /// Of this track, by axis, and the mean of the track before.
    sizes: [Sizes; 3],
    neighbour: Sizes,
}

impl History {
    pub(super) fn new(block: BlockLength) -> Self {
        Self { past: Vec::new(), block: block as usize, segments: 0, step: 0, length: 1 }
    }

    /// Codes a segment's coefficients; false where one has no 24 bits, or the data have ended.
    pub(super) fn code<C: Coder, W: Watch>(
        &mut self,
        coder: &mut C,
        model: &mut Model<W>,
        live: &[LiveComponent],
        (step, length): (u8, usize),
        coefficients: &mut [i32],
    ) -> bool {
        let size_gain = octaves(i32::from(self.step) - i32::from(step));
        let gain = (size_gain * root_of_ratio(length, self.length)) >> 16;
        let age = self.segments.min(AGES - 1);
        let mut now =
            Now { length, age, gain, size_gain, sizes: [NO_SIZES; 3], neighbour: NO_SIZES };
        for (index, component) in live.iter().enumerate() {
            if component.begins_track {
                for k in 0..length {
                    let sum = now.sizes[0][k] + now.sizes[1][k] + now.sizes[2][k];
                    now.neighbour[k] = if component.begins_channel { 0 } else { sum / 3 };
                }
                now.sizes = [NO_SIZES; 3];
            }
            // As components come, so that memory grows with what is decoded.
            if index == self.past.len() {
                if index == self.past.capacity() {
                    self.past.reserve_exact((index / 4).max(16).min(live.len() - index));
                }
                self.past.push(Past::default());
                model.add_component();
            }
            let values = &mut coefficients[component.component * length..][..length];
            let own = Own {
                index,
                axis: component.axis,
                block: self.block,
                past: &mut self.past[index],
                now: &mut now,
            };
            if !own.code(coder, model, values) || coder.is_exhausted() {
                return false;
            }
        }
        self.segments += 1;
        (self.step, self.length) = (step, length);
        true
    }
}

/// The component that is coded.
struct Own<'a> {
    index: usize,
    axis: usize,
    block: usize,
    past: &'a mut Past,
    now: &'a mut Now,
}

/// What a coefficient is expected to be, in sixteenths.
struct Prediction {
    value: i64,
    is_made: bool,
}

impl Own<'_> {
    fn code<C: Coder, W: Watch>(
        mut self,
        coder: &mut C,
        model: &mut Model<W>,
        values: &mut [i32],
    ) -> bool {
        self.past.scale(self.now.size_gain);
        if self.code_zero(coder, model, values) {
            return true;
        }
        // Of the segment before, in sixteenths of this one's step.
        let mut before = [0; PREDICTED + 1];
        for (before, value) in before.iter_mut().zip(self.past.coefficients) {
            *before = ((i64::from(value) * self.now.gain) >> 12).clamp(-MAX_SIZE, MAX_SIZE);
        }
        let count = self.code_tail(coder, model, values);
        for k in (0..count).rev() {
            let prediction = self.predict(model, &before, values, k);
            let rounded = ((prediction.value + 8) >> 4) as i32;
            let fraction = prediction.is_made.then_some((prediction.value + 8) as usize & 15);
            let class = class(k, self.now.length);
            let (contexts, features, row) = self.contexts(model, class, self.features(k));
            let difference =
                code_difference(coder, model, &contexts, fraction, values[k].wrapping_sub(rounded));
            let value = i64::from(rounded) + i64::from(difference);
            if !(-(1 << 23)..1 << 23).contains(&value) {
                return false;
            }
            values[k] = value as i32;
            let size = difference.unsigned_abs() << 4;
            model.watch.expected(row, &features, size);
            self.now.sizes[self.axis][k] = size;
        }
        self.past.remember(self.now.age, values, &self.now.sizes[self.axis]);
        true
    }

    /// Codes whether all coefficients are 0.
    fn code_zero<C: Coder, W: Watch>(
        &mut self,
        coder: &mut C,
        model: &mut Model<W>,
        values: &mut [i32],
    ) -> bool {
        let was_zero = self.past.coefficients.iter().all(|value| *value == 0);
        let beside = self.now.neighbour.iter().chain(self.now.sizes[..self.axis].iter().flatten());
        let is_beside_zeros = beside.copied().all(|size| size == 0);
        let cell = ZEROS
            + (self.now.age * 3 + self.axis) * 3
            + usize::from(was_zero)
            + usize::from(is_beside_zeros);
        let is_zero = model.code(coder, cell, values.iter().all(|value| *value == 0));
        if is_zero {
            values.fill(0);
            self.past.remember(self.now.age, values, &NO_SIZES);
        }
        is_zero
    }

    /// Codes how many fours of coefficients at the end are 0, and says how many coefficients are
    /// left.
    fn code_tail<C: Coder, W: Watch>(
        &mut self,
        coder: &mut C,
        model: &mut Model<W>,
        values: &mut [i32],
    ) -> usize {
        let mut end = values.len();
        while end > PREDICTED {
            let first = (end - 1) / GROUP * GROUP;
            let mut features = [0; FEATURES];
            for k in first..first + GROUP {
                features
                    .iter_mut()
                    .zip(self.features(k))
                    .for_each(|(sum, feature)| *sum += feature);
            }
            let (contexts, features, row) = self.contexts(model, TAIL, features);
            let four = &mut values[first..end];
            let is_zero = four.iter().all(|value| *value == 0);
            let size: u32 =
                four.iter().map(|value| value.unsigned_abs() << 4).fold(0, u32::saturating_add);
            model.watch.expected(row, &features, size);
            if model.code_mixed(coder, &contexts, TAIL_SLOT, !is_zero) {
                break;
            }
            four.fill(0);
            end = first;
        }
        end
    }

    /// What coefficient `k` is expected to be, of those of the segment before and those behind it.
    #[inline]
    fn predict<W: Watch>(
        &self,
        model: &mut Model<W>,
        before: &[i64; PREDICTED + 1],
        values: &[i32],
        k: usize,
    ) -> Prediction {
        if k >= PREDICTED || self.now.age == 0 {
            return Prediction { value: 0, is_made: false };
        }
        let row = self.block * PREDICTED + k;
        let mut from = [0; PREDICTORS];
        from[..PREDICTED].copy_from_slice(&before[1..]);
        for (from, value) in from[PREDICTED..].iter_mut().zip(&values[k + 1..]) {
            *from = i64::from(*value) << 4;
        }
        let sum: i64 =
            model.map(row).iter().zip(&from).map(|(weight, from)| i64::from(*weight) * from).sum();
        let base = if k == 0 { before[0] } else { 0 };
        model.watch.predicted(row, &from, (i64::from(values[k]) << 4) - base);
        Prediction { value: (base + (sum >> 12)).clamp(-MAX_SIZE, MAX_SIZE - 16), is_made: true }
    }

    /// What the size of coefficient `k` is expected from.
    #[inline]
    fn features(&self, k: usize) -> [u32; FEATURES] {
        let Past { last, mean, .. } = &self.past;
        let own = &self.now.sizes[self.axis];
        let sister = |before: usize| {
            if self.axis < before { 0 } else { self.now.sizes[self.axis - before][k] }
        };
        [
            last[k],
            mean[k],
            mean[k + 1],
            if k > 0 { mean[k - 1] } else { 0 },
            own[k + 1],
            own[k + 2],
            own[k + 3],
            sister(1),
            sister(2),
            self.now.neighbour[k],
            self.now.neighbour[k + 1],
            16,
        ]
    }

    /// The contexts of a size of a class, and, for who watches, what it was expected from and with
    /// which row of weights.
    #[inline]
    fn contexts<W: Watch>(
        &self,
        model: &Model<W>,
        class: usize,
        features: [u32; FEATURES],
    ) -> (Contexts, [u32; FEATURES], usize) {
        let row = (self.block * AGES + self.now.age) * CLASSES + class;
        let weights = model.scale(row);
        let sum: u64 = weights
            .iter()
            .zip(&features)
            .map(|(weight, size)| u64::from(*weight) * u64::from(*size))
            .sum();
        let expected = (sum >> 7).min(MAX_SIZE as u64) as u32;
        let place = [self.index, class, self.now.age];
        (Contexts::new(place, expected, &features), features, row)
    }
}

impl Default for Past {
    fn default() -> Self {
        Self { coefficients: [0; MAX_LENGTH], last: NO_SIZES, mean: NO_SIZES }
    }
}

impl Past {
    /// For a segment of another step.
    fn scale(&mut self, gain: i64) {
        if gain != 1 << 16 {
            for size in self.last.iter_mut().chain(&mut self.mean) {
                *size = ((i64::from(*size) * gain) >> 16).min(MAX_SIZE) as u32;
            }
        }
    }

    fn remember(&mut self, age: usize, values: &[i32], sizes: &Sizes) {
        for k in 0..values.len() {
            let is_first = age == 0 || age == 1 && k < PREDICTED;
            self.mean[k] = if is_first { sizes[k] } else { (self.mean[k] * 5 + sizes[k] * 3) >> 3 };
            self.last[k] = sizes[k];
            self.coefficients[k] = values[k];
        }
        self.coefficients[values.len()..].fill(0);
    }
}

/// Codes a number of up to 25 bits and a sign. `fraction` is that of a prediction, in sixteenths
/// from the lowest that rounds to it.
#[inline]
fn code_difference<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    contexts: &Contexts,
    fraction: Option<usize>,
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
    let top = size >> flat & ((1 << modelled) - 1);
    let top = model.code_tree(coder, contexts.mantissas + 8 * relative, top, modelled);
    let rest = coder.code_direct(size, flat);
    let size = ((1 << modelled | top) << flat | rest) as i32;
    let is_negative = match fraction {
        Some(fraction) => {
            model.code(coder, SIGNS + 2 * fraction + usize::from(bits > 1), value < 0)
        }
        None => coder.code_direct(u32::from(value < 0), 1) != 0,
    };
    if is_negative { -size } else { size }
}

/// Codes a number of bits, from that on which is likely: how many more, or else how many fewer.
#[inline]
fn code_bit_length<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    contexts: &Contexts,
    bits: u32,
) -> u32 {
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
        slot = 8;
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

/// √(length / before) in 1/65536, rounded down.
fn root_of_ratio(length: usize, before: usize) -> i64 {
    (((length as u64) << 32) / before as u64).isqrt() as i64
}
