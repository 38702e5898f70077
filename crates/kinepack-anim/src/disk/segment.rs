//! Codes the coefficients of segments, from the highest frequency down. Each coefficient is
//! predicted, and its difference from the prediction is coded as a bit length, the lower bits and a
//! sign. The same functions encode and decode. See `spec/ANIM.md`, section 14.5.

use kinepack::entropy::Coder;

use super::model::{
    AGES, CLASSES, Contexts, FEATURES, Model, PREDICTED, PREDICTORS, SIGNS, TAIL, TAIL_SLOT, Watch,
    ZEROS, class,
};
use crate::block::{BlockLength, MAX_LENGTH};

/// Size of the largest coefficient in bits, without its sign.
const MAX_BITS: u32 = 24;
/// The largest size that contexts use.
const MAX_SIZE: i64 = 1 << 28;
/// The number of bits below the highest one that have counters.
const MODELLED_BITS: u32 = 3;
/// A single decision codes whether all coefficients of a group of this size are 0.
const TAIL_GROUP: usize = 4;

/// The size of each coefficient in sixteenths, followed by zeros.
type Sizes = [u32; MAX_LENGTH + 3];
/// The memory that each live component takes, including its counters and unused capacity, in bytes.
pub(super) const COMPONENT_BYTES: usize = 1024;
const _: () = assert!(9 * size_of::<ComponentHistory>() / 4 < COMPONENT_BYTES);
const NO_SIZES: Sizes = [0; MAX_LENGTH + 3];

/// A live component.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiveComponent {
    /// The component's number. Components are numbered by track, then by axis.
    pub(super) component: usize,
    pub(super) axis: usize,
    /// Whether this component is the first live one of its track.
    pub(super) begins_track: bool,
    /// Whether this component is the first live one of its channel.
    pub(super) begins_channel: bool,
}

/// The state that earlier segments leave for coding the next one.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// The state of each live component.
    past: Vec<ComponentHistory>,
    block: usize,
    /// Number of segments coded so far.
    segments: usize,
    /// The step of the previous segment.
    step: u8,
    /// The length of the previous segment.
    length: usize,
}

/// The state that a component passes on to the next segment.
#[derive(Clone, Debug)]
struct ComponentHistory {
    coefficients: [i32; MAX_LENGTH],
    last: Sizes,
    mean: Sizes,
}

/// The state of the segment that is being coded.
struct SegmentState {
    length: usize,
    /// Number of earlier segments, at most 2.
    age: usize,
    /// The factor that scales the previous segment's coefficients to this segment's step, in units
    /// of 1/65536.
    gain: i64,
    /// The factor that scales remembered sizes to this segment's step, in units of 1/65536.
    size_gain: i64,
    /// The sizes of this track, by axis.
    sizes: [Sizes; 3],
    /// The mean sizes of the previous track.
    neighbour: Sizes,
}

impl History {
    pub(super) fn new(block: BlockLength) -> Self {
        Self { past: Vec::new(), block: block as usize, segments: 0, step: 0, length: 1 }
    }

    /// Codes a segment's coefficients. Returns false if a coefficient does not fit into 24 bits, or
    /// if the data ended.
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
        let mut now = SegmentState {
            length,
            age,
            gain,
            size_gain,
            sizes: [NO_SIZES; 3],
            neighbour: NO_SIZES,
        };
        for (index, component) in live.iter().enumerate() {
            if component.begins_track {
                for k in 0..length {
                    let sum = now.sizes[0][k] + now.sizes[1][k] + now.sizes[2][k];
                    now.neighbour[k] = if component.begins_channel { 0 } else { sum / 3 };
                }
                now.sizes = [NO_SIZES; 3];
            }
            // Components are added as they are decoded, so that memory grows with decoded data.
            if index == self.past.len() {
                if index == self.past.capacity() {
                    self.past.reserve_exact((index / 4).max(16).min(live.len() - index));
                }
                self.past.push(ComponentHistory::default());
                model.add_component();
            }
            let values = &mut coefficients[component.component * length..][..length];
            let own = ComponentCoder {
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

/// Codes a component of a segment.
struct ComponentCoder<'a> {
    index: usize,
    axis: usize,
    block: usize,
    past: &'a mut ComponentHistory,
    now: &'a mut SegmentState,
}

/// The prediction of a coefficient.
struct Prediction {
    /// The predicted value in sixteenths, or 0 if there is no prediction.
    value: i64,
    /// Whether there is a prediction.
    is_made: bool,
}

impl ComponentCoder<'_> {
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
        // The next lines convert the previous segment's coefficients to sixteenths of this
        // segment's step.
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
        let counter = ZEROS
            + (self.now.age * 3 + self.axis) * 3
            + usize::from(was_zero)
            + usize::from(is_beside_zeros);
        let is_zero = model.code(coder, counter, values.iter().all(|value| *value == 0));
        if is_zero {
            values.fill(0);
            self.past.remember(self.now.age, values, &NO_SIZES);
        }
        is_zero
    }

    /// Codes which groups of four at the end are all 0, and returns the number of coefficients
    /// before them.
    fn code_tail<C: Coder, W: Watch>(
        &mut self,
        coder: &mut C,
        model: &mut Model<W>,
        values: &mut [i32],
    ) -> usize {
        let mut end = values.len();
        while end > PREDICTED {
            let first = (end - 1) / TAIL_GROUP * TAIL_GROUP;
            let mut features = [0; FEATURES];
            for k in first..first + TAIL_GROUP {
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

    /// Predicts coefficient `k` from the previous segment's coefficients and from this segment's
    /// coefficients of higher frequency.
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

    /// Returns the sizes from which the expected size of coefficient `k` is computed.
    #[inline]
    fn features(&self, k: usize) -> [u32; FEATURES] {
        let ComponentHistory { last, mean, .. } = &self.past;
        let own = &self.now.sizes[self.axis];
        let other_axis = |before: usize| {
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
            other_axis(1),
            other_axis(2),
            self.now.neighbour[k],
            self.now.neighbour[k + 1],
            16,
        ]
    }

    /// Returns the contexts for coding a size of class `class`. The features and the row of weights
    /// are also returned, for a [`Watch`].
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

impl Default for ComponentHistory {
    fn default() -> Self {
        Self { coefficients: [0; MAX_LENGTH], last: NO_SIZES, mean: NO_SIZES }
    }
}

impl ComponentHistory {
    /// Scales the sizes by `gain` to the step of the next segment. If the step stays the same, all
    /// sizes stay the same, even those above [`MAX_SIZE`]. A difference from a prediction may be 3
    /// · 2²³, which is a size of 1.5 · 2²⁸. The format depends on this exception.
    fn scale(&mut self, gain: i64) {
        if gain != 1 << 16 {
            for size in self.last.iter_mut().chain(&mut self.mean) {
                *size = ((i64::from(*size) * gain) >> 16).min(MAX_SIZE) as u32;
            }
        }
    }

    /// Keeps a segment's coefficients and sizes for the next segment.
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

/// Codes a number of up to 25 bits and a sign. `fraction` is the prediction minus the lowest value
/// that rounds to the same integer, in sixteenths.
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

/// Codes a bit length, counting up or down from the likely length.
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

/// Computes 2^(eighths / 8) in units of 1/65536, limited to 2^±12.
fn octaves(eighths: i32) -> i64 {
    const OCTAVE: [i64; 8] = [65_536, 71_468, 77_936, 84_990, 92_682, 101_070, 110_218, 120_194];
    let eighths = eighths.clamp(-96, 96);
    let whole = eighths >> 3;
    let part = OCTAVE[(eighths & 7) as usize];
    if whole < 0 { part >> -whole } else { part << whole }
}

/// Computes √(length / before) in units of 1/65536, rounded down.
fn root_of_ratio(length: usize, before: usize) -> i64 {
    (((length as u64) << 32) / before as u64).isqrt() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_step_limits_sizes() {
        let largest = (1 << 24 | 1 << 23) << 4;
        let mut past = ComponentHistory::default();
        (past.last[0], past.mean[0]) = (largest, largest);
        past.scale(octaves(0));
        assert_eq!((past.last[0], past.mean[0]), (largest, largest));
        past.scale(octaves(1));
        assert_eq!((past.last[0], past.mean[0]), (1 << 28, 1 << 28));
    }
}
