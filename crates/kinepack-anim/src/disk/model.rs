//! What is known before the first bit, and what is learned from each: counters, mixers, and the
//! trained numbers that both begin with. `spec/ANIM.md`, sections 14.3 and 14.4.

use kinepack::entropy::{Coder, Counter};

use super::logistic::{INPUTS, Mixer, opinion, squash};
use crate::block::MAX_LENGTH;

/// Coefficients that are predicted, from 0 on.
pub(super) const PREDICTED: usize = 8;
/// What they are predicted from.
pub(super) const PREDICTORS: usize = 16;
/// What sizes are expected from.
pub(super) const FEATURES: usize = 12;
/// Classes of coefficients.
pub(super) const CLASSES: usize = 13;
/// The class of four coefficients together, of which all behind are 0.
pub(super) const TAIL: usize = 12;
/// Segments that were before: none, one, more.
pub(super) const AGES: usize = 3;
/// Decisions on a size that are told apart.
pub(super) const SLOTS: usize = 10;
/// The last of them: whether any of four is not 0.
pub(super) const TAIL_SLOT: usize = 9;

/// Contexts of each mixed input but the last, which is the component itself.
const MIXED: [usize; INPUTS - 1] = [20 * CLASSES, 49 * 4, 64 * 4];
/// Where those of each begin, and how many there are.
const FIRSTS: [usize; INPUTS] = {
    let mut firsts = [0; INPUTS];
    let mut input = 1;
    while input < INPUTS {
        firsts[input] = firsts[input - 1] + MIXED[input - 1];
        input += 1;
    }
    firsts
};

/// Where the counters that are not mixed begin, and how many there are.
pub(super) const MANTISSAS: usize = FIRSTS[INPUTS - 1] * SLOTS;
pub(super) const SIGNS: usize = MANTISSAS + 512;
pub(super) const ZEROS: usize = SIGNS + 32;
pub(super) const KINDS: usize = ZEROS + 27;
pub(super) const DEAD: usize = KINDS + 54;
pub(super) const STEPS: usize = DEAD + 24;
pub(super) const SEGMENT_STEPS: usize = STEPS + 6 * SIGNED;
pub(super) const CODES: usize = SEGMENT_STEPS + 2 * SIGNED;
pub(super) const FLOATS: usize = CODES + 6 * 16;
pub(super) const CELLS: usize = FLOATS + FLOAT;

/// Counters of a signed number: its zero, its sign, its size in unary.
pub(super) const SIGNED: usize = 16;
/// Counters of floats.
pub(super) const FLOAT: usize = 8 + 512;

/// Sets of weights of mixers.
pub(super) const MIXERS: usize = 4 * SLOTS;

/// Bytes of the trained start.
const MAP_BYTES: usize = 3 * PREDICTED * PREDICTORS * 2;
const SCALE_BYTES: usize = 3 * AGES * CLASSES * FEATURES;
const MIXER_BYTES: usize = MIXERS * INPUTS;
pub(super) const START_BYTES: usize = MAP_BYTES + SCALE_BYTES + MIXER_BYTES + CELLS;

/// How firmly trained counters hold to where they begin, and how much counters remember at most.
const START_COUNT: u8 = 24;
const LIMIT: u8 = 120;
const OWN_LIMIT: u8 = 60;

/// Weights of a prediction, in 1/4096.
pub(super) type Map = [i16; PREDICTORS];
/// Weights of an expected size, in 1/128.
pub(super) type Scale = [u8; FEATURES];

/// What a trainer wants to know of a coding; nothing else does.
pub(super) trait Watch {
    /// A coefficient was predicted from these with the weights of row `row`.
    #[inline]
    fn predicted(&mut self, _row: usize, _from: &[i64; PREDICTORS], _target: i64) {}
    /// A size was expected from these with the weights of row `row`. All in sixteenths.
    #[inline]
    fn expected(&mut self, _row: usize, _from: &[u32; FEATURES], _target: u32) {}
    /// A counter's decision.
    #[inline]
    fn decided(&mut self, _cell: usize, _bit: bool) {}
}

/// Nobody watches.
impl Watch for () {}

/// The state that both sides share.
#[derive(Clone, Debug)]
pub(super) struct Model<W> {
    maps: Vec<Map>,
    scales: Vec<Scale>,
    pub(super) mixers: Vec<Mixer>,
    cells: Vec<Counter>,
    /// Of each component, by slot.
    own: Vec<Counter>,
    pub(super) watch: W,
}

impl<W: Watch> Model<W> {
    /// From a trained start.
    pub(super) fn new(start: &[u8; START_BYTES], watch: W) -> Self {
        let (maps, rest) = start.split_at(MAP_BYTES);
        let (scales, rest) = rest.split_at(SCALE_BYTES);
        let (mixers, cells) = rest.split_at(MIXER_BYTES);
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
            cells: cells
                .iter()
                .map(|byte| Counter::new(squash(16 * i32::from(byte.cast_signed())), START_COUNT))
                .collect(),
            own: Vec::new(),
            watch,
        }
    }

    /// Makes room for one more component.
    pub(super) fn add_component(&mut self) {
        self.own.resize(self.own.len() + SLOTS, Counter::default());
    }

    pub(super) fn map(&self, row: usize) -> &Map {
        &self.maps[row]
    }

    pub(super) fn scale(&self, row: usize) -> &Scale {
        &self.scales[row]
    }

    /// Codes a decision with one counter.
    #[inline]
    pub(super) fn code<C: Coder>(&mut self, coder: &mut C, cell: usize, bit: bool) -> bool {
        let bit = self.cells[cell].code(coder, bit, LIMIT);
        self.watch.decided(cell, bit);
        bit
    }

    /// Codes a decision on a size with all contexts.
    #[inline]
    pub(super) fn code_mixed<C: Coder>(
        &mut self,
        coder: &mut C,
        contexts: &Contexts,
        slot: usize,
        bit: bool,
    ) -> bool {
        let mut cells = contexts.cells;
        let mut logits = [0; INPUTS];
        for (cell, logit) in cells.iter_mut().zip(&mut logits) {
            *cell += slot;
            *logit = opinion(self.cells[*cell]);
        }
        let own = contexts.own + slot;
        logits[INPUTS - 1] = opinion(self.own[own]);
        let bit = self.mixers[contexts.mixer + slot].code(coder, bit, &logits);
        for cell in cells {
            self.cells[cell].observe(bit, LIMIT);
            self.watch.decided(cell, bit);
        }
        self.own[own].observe(bit, OWN_LIMIT);
        bit
    }

    /// Codes a number of `bits` bits, from the top down, with counters from `cell` on.
    pub(super) fn code_tree<C: Coder>(
        &mut self,
        coder: &mut C,
        cell: usize,
        value: u32,
        bits: u32,
    ) -> u32 {
        let mut node = 1;
        for bit in (0..bits).rev() {
            node = node << 1 | usize::from(self.code(coder, cell + node, value >> bit & 1 != 0));
        }
        node as u32 - (1 << bits)
    }

    /// Codes a number within ±1023: whether it is 0, its sign, its size less 1 in unary up to 9 and
    /// then flat.
    pub(super) fn code_signed<C: Coder>(&mut self, coder: &mut C, cell: usize, value: i32) -> i32 {
        if self.code(coder, cell, value == 0) {
            return 0;
        }
        let is_negative = self.code(coder, cell + 1, value < 0);
        let size = value.unsigned_abs();
        let mut unary = 1;
        while unary < SIGNED as u32 - 2 && self.code(coder, cell + 1 + unary as usize, size > unary)
        {
            unary += 1;
        }
        if unary == SIGNED as u32 - 2 {
            unary += coder.code_direct(size.wrapping_sub(unary), 10);
        }
        if is_negative { -(unary as i32) } else { unary as i32 }
    }
}

/// Classes of ratios, from −9 quarter octaves and less to 9 and more.
static RATIOS: [u8; 19] = [0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6];

/// Where the counters of a coefficient's size are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contexts {
    cells: [usize; INPUTS - 1],
    own: usize,
    mixer: usize,
    /// The bit length that sizes are compared with at first.
    pub(super) start: u32,
    /// Where the counters of the bits below the leading one are.
    pub(super) mantissas: usize,
}

impl Contexts {
    /// Of a size that is expected to be `expected`, and from what. `place` is the component, the
    /// class, the segments that were before.
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
        let mut cells = [
            level * CLASSES + class,
            (ratio(mean) * 7 + around) * 4 + coarse,
            ((small(near) * 4 + small(far)) * 4 + small(last)) * 4 + coarse,
        ];
        for (input, cell) in cells.iter_mut().enumerate() {
            debug_assert!(*cell < MIXED[input]);
            *cell = (FIRSTS[input] + *cell) * SLOTS;
        }
        let set = match class {
            _ if age == 0 => 0,
            0..2 => 1,
            2..5 => 2,
            _ => 3,
        };
        Self {
            cells,
            own: component * SLOTS,
            mixer: set * SLOTS,
            start: (fine / 4).saturating_sub(3) as u32,
            mantissas: MANTISSAS + 64 * shape,
        }
    }
}

/// How large a size is, in quarter octaves; 0 is 0, and 1 is 9.
#[inline]
fn quarter_octaves(sixteenths: u32) -> usize {
    let x = sixteenths.min(1 << 30) + 4;
    let octaves = x.ilog2();
    ((octaves - 2) * 4 + (x >> (octaves - 2) & 3)) as usize
}

/// The class of coefficient `k` of `length`.
#[inline]
pub(super) fn class(k: usize, length: usize) -> usize {
    match k {
        0..8 => k,
        _ if length <= MAX_LENGTH / 2 => 8 + (k - 8) / 4,
        _ => 9 + (k - 8) / 8,
    }
}
