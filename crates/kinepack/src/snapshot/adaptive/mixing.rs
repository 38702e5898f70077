//! Codes decisions at a level that learns. Each decision mixes the predictions of two counters. The
//! learned counter keeps what it learned during the session. The fresh counter starts each packet
//! from the model. See `spec/CODEC.md`, section 12.10.

use alloc::vec::Vec;

use super::counters::LIMIT;
use super::numbers::log2;
use crate::entropy::{Coder, Counter, Decision};

/// A decision with two counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixed {
    /// The counter that keeps its state from packet to packet.
    pub(super) learned: Counter,
    /// The counter that starts each packet from the model's counter.
    pub(super) fresh: Counter,
}

/// The weights of the predictions of the learned and the fresh counter, in 1/65536.
pub(super) type Weights = [i32; 2];

/// The number of weight pairs in one part of the layout. The fresh counter's number of observations
/// selects one of them: a class for 0, then a class for each power of two.
pub(super) const WEIGHTS: usize = 9;

/// The initial weights, which use only the learned counter.
pub(super) const UNTRAINED: Weights = [1 << 16, 0];

/// The largest absolute value of a weight.
const MAX_WEIGHT: i32 = 4 << 16;

/// The rate of learning: the right shift of the product of an error, in 1/65536, and a prediction,
/// in 1/256 octave.
const RATE_SHIFT: u32 = 16;

/// The weights of all parts.
#[derive(Debug, Default)]
pub(super) struct Mixer {
    pub(super) weights: Vec<Weights>,
    /// The index of the current part's first weights.
    first: usize,
}

impl Mixer {
    pub(super) fn new(weights: Vec<Weights>) -> Self {
        Self { weights, first: 0 }
    }
}

impl Decision for Mixed {
    type Rule = Mixer;

    #[inline]
    fn select(mixer: &mut Mixer, part: usize) {
        mixer.first = part * WEIGHTS;
    }

    #[inline(always)]
    fn decide<C: Coder>(&mut self, coder: &mut C, bit: bool, mixer: &mut Mixer) -> bool {
        let Self { learned, fresh } = *self;
        let class = CLASS[usize::from(fresh.count())];
        let weights = &mut mixer.weights[mixer.first + usize::from(class)];
        let [a, b] = [learned, fresh].map(|counter| stretch(counter.probability()));
        let probability = squash((a * weights[0] + b * weights[1]) >> 16);
        let bit = coder.code(bit, probability);
        let error = (i32::from(bit) << 16) - i32::from(probability);
        let moved = |weight: i32, stretched: i32| {
            let step = (error * stretched + (1 << (RATE_SHIFT - 1))) >> RATE_SHIFT;
            (weight + step).clamp(-MAX_WEIGHT, MAX_WEIGHT)
        };
        *weights = [moved(weights[0], a), moved(weights[1], b)];
        self.learned.observe(bit, LIMIT);
        self.fresh.observe(bit, LIMIT);
        bit
    }
}

/// The class of each number of observations.
static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut count = 0;
    while count < table.len() {
        table[count] = (8 - (count as u8).leading_zeros()) as u8;
        count += 1;
    }
    table
};

/// Returns the logarithm of the odds of a probability in 1/65536, in 1/256 octave.
#[inline]
fn stretch(probability: u16) -> i32 {
    STRETCHED[usize::from(probability >> 6)].into()
}

/// Returns the probability with these odds, from 32 to 65503.
#[inline]
fn squash(stretched: i32) -> u16 {
    SQUASHED[((stretched + MAX_STRETCHED).clamp(0, 2 * MAX_STRETCHED) >> 3) as usize]
}

/// The limit of the logarithm of odds, in 1/256 octave.
const MAX_STRETCHED: i32 = 11 << 8;

/// Returns the logarithm of the odds of `probability`.
const fn odds_log2(probability: u64) -> i32 {
    log2(probability) - log2((1 << 16) - probability)
}

/// The logarithm of the odds for each run of 64 probabilities, at the run's middle.
static STRETCHED: [i16; 1024] = {
    let mut table = [0; 1024];
    let mut index = 0;
    while index < table.len() {
        table[index] = odds_log2(index as u64 * 64 + 32) as i16;
        index += 1;
    }
    table
};

/// For each run of 8 logarithms, the smallest probability whose odds reach the run's middle.
static SQUASHED: [u16; 705] = {
    let mut table = [0; 705];
    let mut index = 0;
    while index < table.len() {
        let aim = (index as i32 * 8 + 4) - MAX_STRETCHED;
        let (mut below, mut least) = (31, 65503);
        while least - below > 1 {
            let middle = (below + least) / 2;
            if odds_log2(middle) < aim {
                below = middle;
            } else {
                least = middle;
            }
        }
        table[index] = least as u16;
        index += 1;
    }
    table
};
