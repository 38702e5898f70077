//! The model that encoder and decoder share: the trained parameters that it begins with, and the
//! counters and mixers that learn from every decision. See `spec/ANIM.md`, sections 14.2, 14.4 and
//! 14.6.

use kinepack::entropy::{Coder, Counter};

use super::logistic::{INPUTS, Mixer, squash, weighted_logit};
use crate::block::MAX_LENGTH;

/// Number of coefficients that are predicted, counted from the first.
pub(super) const PREDICTED: usize = 8;
/// Number of values that a prediction uses.
pub(super) const PREDICTORS: usize = 16;
/// Number of features from which the expected size is computed.
pub(super) const FEATURES: usize = 12;
/// Number of classes of coefficients.
pub(super) const CLASSES: usize = 13;
/// The class of the decision whether all coefficients of a group of four are 0.
pub(super) const TAIL: usize = 12;
/// Number of ages of a segment: no earlier segment, one, or more.
pub(super) const AGES: usize = 3;
/// Number of different decisions about a size. Each has its own counters.
pub(super) const SLOTS: usize = 10;
/// The slot of the decision whether any of four coefficients is not 0.
pub(super) const TAIL_SLOT: usize = 9;

/// The number of contexts of each mixed input. The last input is not listed, because its context is
/// the component.
const MIXED: [usize; INPUTS - 1] = [20 * CLASSES, 49 * 4, 64 * 4];
/// The first context of each input. The last element is the number of all contexts.
const FIRSTS: [usize; INPUTS] = {
    let mut firsts = [0; INPUTS];
    let mut input = 1;
    while input < INPUTS {
        firsts[input] = firsts[input - 1] + MIXED[input - 1];
        input += 1;
    }
    firsts
};

// The next constants are the first counters of the parts that are not mixed, and finally the number
// of all counters.
pub(super) const MANTISSAS: usize = FIRSTS[INPUTS - 1] * SLOTS;
pub(super) const SIGNS: usize = MANTISSAS + 512;
pub(super) const ZEROS: usize = SIGNS + 32;
pub(super) const KINDS: usize = ZEROS + 27;
pub(super) const DEAD: usize = KINDS + 54;
pub(super) const STEPS: usize = DEAD + 24;
pub(super) const SEGMENT_STEPS: usize = STEPS + 6 * SIGNED;
pub(super) const CODES: usize = SEGMENT_STEPS + 2 * SIGNED;
pub(super) const FLOATS: usize = CODES + 6 * 16;
pub(super) const COUNTERS: usize = FLOATS + FLOAT;

/// Number of counters of a signed number, for whether it is 0, for its sign, and for its size in
/// unary.
pub(super) const SIGNED: usize = 16;
/// Number of counters of floats.
pub(super) const FLOAT: usize = 8 + 512;

/// Number of mixers.
pub(super) const MIXERS: usize = 4 * SLOTS;

// The next constants are the sizes of the parts of the trained start.
const MAP_BYTES: usize = 3 * PREDICTED * PREDICTORS * 2;
const SCALE_BYTES: usize = 3 * AGES * CLASSES * FEATURES;
const MIXER_BYTES: usize = MIXERS * INPUTS;
pub(super) const START_BYTES: usize = MAP_BYTES + SCALE_BYTES + MIXER_BYTES + COUNTERS;

/// The initial count of trained counters. A higher count makes a counter change more slowly.
const START_COUNT: u8 = 24;
/// The largest count of a trained counter.
const LIMIT: u8 = 120;
/// The largest count of a component's counter.
const COMPONENT_LIMIT: u8 = 60;

/// The weights of a prediction, in units of 1/4096.
pub(super) type Map = [i16; PREDICTORS];
/// The weights of an expected size, in units of 1/128.
pub(super) type Scale = [u8; FEATURES];

/// Reports the events of coding to the trainer. Packing and unpacking use `()`.
pub(super) trait Watch {
    /// Reports that the coefficient `target` was predicted from `from` with the weights of row
    /// `row`.
    #[inline]
    fn predicted(&mut self, _row: usize, _from: &[i64; PREDICTORS], _target: i64) {}
    /// Reports that the size `target` was expected from `from` with the weights of row `row`. All
    /// sizes are in sixteenths.
    #[inline]
    fn expected(&mut self, _row: usize, _from: &[u32; FEATURES], _target: u32) {}
    /// Reports that a decision was coded with a counter.
    #[inline]
    fn decided(&mut self, _cell: usize, _bit: bool) {}
}

/// Ignores all events.
impl Watch for () {}

/// The state that encoder and decoder share.
#[derive(Clone, Debug)]
pub(super) struct Model<W> {
    maps: Vec<Map>,
    scales: Vec<Scale>,
    pub(super) mixers: Vec<Mixer>,
    counters: Vec<Counter>,
    /// The counters of components, by live component, then by slot.
    component_counters: Vec<Counter>,
    pub(super) watch: W,
}

impl<W: Watch> Model<W> {
    /// Returns a model that begins with the trained start `start`.
    pub(super) fn new(start: &[u8; START_BYTES], watch: W) -> Self {
        let (maps, rest) = start.split_at(MAP_BYTES);
        let (scales, rest) = rest.split_at(SCALE_BYTES);
        let (mixers, counters) = rest.split_at(MIXER_BYTES);
        let numbers: Vec<i16> =
            maps.as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes)).collect();
        Self {
            maps: numbers.as_chunks().0.to_vec(),
            scales: scales.as_chunks().0.to_vec(),
            mixers: mixers
                .as_chunks()
                .0
                .iter()
                .map(|bytes| Mixer::new(bytes.map(u8::cast_signed)))
                .collect(),
            counters: counters
                .iter()
                .map(|byte| Counter::new(squash(16 * i32::from(byte.cast_signed())), START_COUNT))
                .collect(),
            component_counters: Vec::new(),
            watch,
        }
    }

    /// Adds the counters of one more component.
    pub(super) fn add_component(&mut self) {
        self.component_counters.resize(self.component_counters.len() + SLOTS, Counter::default());
    }

    pub(super) fn map(&self, row: usize) -> &Map {
        &self.maps[row]
    }

    pub(super) fn scale(&self, row: usize) -> &Scale {
        &self.scales[row]
    }

    /// Codes a decision with a single counter.
    #[inline]
    pub(super) fn code<C: Coder>(&mut self, coder: &mut C, counter: usize, bit: bool) -> bool {
        let bit = self.counters[counter].code(coder, bit, LIMIT);
        self.watch.decided(counter, bit);
        bit
    }

    /// Codes a decision on a size at a probability that is mixed from all contexts.
    #[inline]
    pub(super) fn code_mixed<C: Coder>(
        &mut self,
        coder: &mut C,
        contexts: &Contexts,
        slot: usize,
        bit: bool,
    ) -> bool {
        let mut counters = contexts.counters;
        let mut logits = [0; INPUTS];
        for (counter, logit) in counters.iter_mut().zip(&mut logits) {
            *counter += slot;
            *logit = weighted_logit(self.counters[*counter]);
        }
        let component = contexts.component + slot;
        logits[INPUTS - 1] = weighted_logit(self.component_counters[component]);
        let bit = self.mixers[contexts.mixer + slot].code(coder, bit, &logits);
        for counter in counters {
            self.counters[counter].observe(bit, LIMIT);
            self.watch.decided(counter, bit);
        }
        self.component_counters[component].observe(bit, COMPONENT_LIMIT);
        bit
    }

    /// Codes a number of `bits` bits, the highest bit first, with a tree of counters that begins at
    /// `counter`.
    pub(super) fn code_tree<C: Coder>(
        &mut self,
        coder: &mut C,
        counter: usize,
        value: u32,
        bits: u32,
    ) -> u32 {
        let mut node = 1;
        for bit in (0..bits).rev() {
            node = node << 1 | usize::from(self.code(coder, counter + node, value >> bit & 1 != 0));
        }
        node as u32 - (1 << bits)
    }

    /// Codes a signed number: whether it is 0, then its sign, then its size in unary up to 14. For
    /// a larger size, ten direct bits follow.
    pub(super) fn code_signed<C: Coder>(
        &mut self,
        coder: &mut C,
        counter: usize,
        value: i32,
    ) -> i32 {
        if self.code(coder, counter, value == 0) {
            return 0;
        }
        let is_negative = self.code(coder, counter + 1, value < 0);
        let size = value.unsigned_abs();
        let mut unary = 1;
        while unary < SIGNED as u32 - 2
            && self.code(coder, counter + 1 + unary as usize, size > unary)
        {
            unary += 1;
        }
        if unary == SIGNED as u32 - 2 {
            unary += coder.code_direct(size.wrapping_sub(unary), 10);
        }
        if is_negative { -(unary as i32) } else { unary as i32 }
    }
}

/// The class of each ratio, from at most −9 quarter octaves to at least 9.
static RATIOS: [u8; 19] = [0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6];

/// The first counters for coding the size of a coefficient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contexts {
    counters: [usize; INPUTS - 1],
    /// The first counter of the component.
    component: usize,
    mixer: usize,
    /// The likely bit length. Coding a bit length counts up or down from it.
    pub(super) start: u32,
    /// The first counter of the bits below the highest one.
    pub(super) mantissas: usize,
}

impl Contexts {
    /// Returns the contexts for coding a size. `expected` is the expected size, computed from
    /// `features`. `age` is the number of earlier segments.
    #[inline]
    pub(super) fn new(
        [component, class, age]: [usize; 3],
        expected: u32,
        features: &[u32; FEATURES],
    ) -> Self {
        let [last, mean, _, _, near, far, ..] = *features;
        let fine = quarter_octaves(expected);
        let level = if fine < 16 { fine } else { 16 + fine % 4 };
        let (coarse, shape) = match fine {
            0..5 => (0, fine / 4),
            5..10 => (1, fine / 4),
            10..16 => (2, fine / 4),
            _ => (3, 4 + fine % 4),
        };
        let ratio = |size: u32| {
            usize::from(RATIOS[(quarter_octaves(size) + 9).saturating_sub(fine).min(18)])
        };
        let around = ratio(near / 2 + near / 8 + far / 4);
        let small = |size: u32| ((size + 8) / 16).min(3) as usize;
        let mut counters = [
            level * CLASSES + class,
            (ratio(mean) * 7 + around) * 4 + coarse,
            ((small(near) * 4 + small(far)) * 4 + small(last)) * 4 + coarse,
        ];
        for (input, counter) in counters.iter_mut().enumerate() {
            debug_assert!(*counter < MIXED[input]);
            *counter = (FIRSTS[input] + *counter) * SLOTS;
        }
        let set = match class {
            _ if age == 0 => 0,
            0..2 => 1,
            2..5 => 2,
            _ => 3,
        };
        Self {
            counters,
            component: component * SLOTS,
            mixer: set * SLOTS,
            start: (fine / 4).saturating_sub(3) as u32,
            mantissas: MANTISSAS + 64 * shape,
        }
    }
}

/// Converts a size to a logarithmic scale, in quarter octaves. A size of 0 gives 0, and a size of 1
/// gives 9.
#[inline]
fn quarter_octaves(sixteenths: u32) -> usize {
    let x = sixteenths.min(1 << 30) + 4;
    let octaves = x.ilog2();
    ((octaves - 2) * 4 + (x >> (octaves - 2) & 3)) as usize
}

/// Returns the class of coefficient `k` in a segment of `length` samples.
#[inline]
pub(super) fn class(k: usize, length: usize) -> usize {
    match k {
        0..8 => k,
        _ if length <= MAX_LENGTH / 2 => 8 + (k - 8) / 4,
        _ => 9 + (k - 8) / 8,
    }
}
