//! Probabilities as logits, and mixers that weight several predictions by their past accuracy. All
//! arithmetic uses integers, so that all platforms compute the same numbers. Source: Matt Mahoney's
//! lpaq. See `spec/ANIM.md`, section 14.2.

use kinepack::entropy::{Coder, Counter};

use crate::computed::computed;

/// The largest logit, in units of 1/256. The smallest is its negative.
const MAX_LOGIT: i32 = 2047;
const LOGITS: usize = 2 * MAX_LOGIT as usize + 1;
/// Number of predictions that a mixer takes.
pub(super) const INPUTS: usize = 4;
/// The number of bits after the binary point of a weight.
const WEIGHT_BITS: u32 = 16;
/// After each decision, a weight changes by its input's logit times the error, shifted right by
/// this number of bits.
const RATE_BITS: u32 = 14;
/// The largest logit of a mixed probability, in units of 1/256.
const MAX_MIXED_LOGIT: i32 = 1536;
/// The largest weight. With it, the sum over all inputs still fits into 32 bits.
const MAX_WEIGHT: i32 = 1 << 18;

/// Returns the probability that a logit represents, in units of 1/65536: 65536 / (1 + e^(−x /
/// 256)), rounded.
#[inline]
pub(super) fn squash(logit: i32) -> u16 {
    SQUASHED[(logit.clamp(-MAX_LOGIT, MAX_LOGIT) + MAX_LOGIT) as usize]
}

/// Returns the logit of `probability`, which is in units of 1/65536.
#[inline]
pub(super) fn stretch(probability: u16) -> i32 {
    i32::from(STRETCHED[usize::from(probability >> 4)])
}

computed! {
    static SQUASHED: [u16; LOGITS] = squashed();
    /// The logits of probabilities. Element i, for the probabilities 16·i to 16·i + 15, is the
    /// first logit whose probability is at least 16·i + 8.
    static STRETCHED: [i16; 4096] = stretched(&SQUASHED);
}

const fn squashed() -> [u16; LOGITS] {
    let mut table = [0; LOGITS];
    // The next lines compute e^(1 / 256) by its series.
    let (mut root, mut term, mut i) = (1.0, 1.0, 1);
    while i < 10 {
        term = term / (256 * i) as f64;
        root += term;
        i += 1;
    }
    let (mut power, mut x) = (1.0, 0);
    while x <= MAX_LOGIT as usize {
        let below = (65_536.0 / (1.0 + power) + 0.5) as u16;
        table[MAX_LOGIT as usize - x] = below;
        table[MAX_LOGIT as usize + x] = (65_536 - below as u32) as u16;
        power *= root;
        x += 1;
    }
    table
}

const fn stretched(squashed: &[u16; LOGITS]) -> [i16; 4096] {
    let mut table = [0; 4096];
    let (mut i, mut at) = (0, 0);
    while i < 4096 {
        while at < LOGITS - 1 && (squashed[at] as usize) < 16 * i + 8 {
            at += 1;
        }
        table[i] = (at as i32 - MAX_LOGIT) as i16;
        i += 1;
    }
    table
}

/// The weight of a counter with n observations, in units of 1/256: n / (n + 1.5).
static CONFIDENCE: [i32; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        table[n] = (512 * n / (2 * n + 3)) as i32;
        n += 1;
    }
    table
};

/// Returns the logit of a counter's probability, scaled down if the counter has few observations.
#[inline]
pub(super) fn weighted_logit(counter: Counter) -> i32 {
    (stretch(counter.probability()) * CONFIDENCE[usize::from(counter.count())]) >> 8
}

/// Mixes predictions, and learns a weight for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixer {
    pub(super) weights: [i32; INPUTS],
}

impl Mixer {
    /// Returns a mixer that begins with the weights `weights`, in units of 1/64.
    pub(super) fn new(weights: [i8; INPUTS]) -> Self {
        Self { weights: weights.map(|weight| i32::from(weight) << (WEIGHT_BITS - 6)) }
    }

    /// Codes a decision at the mixed probability of `logits`, and learns from the outcome.
    #[inline]
    pub(super) fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        bit: bool,
        logits: &[i32; INPUTS],
    ) -> bool {
        let sum: i32 = self.weights.iter().zip(logits).map(|(weight, logit)| weight * logit).sum();
        let logit = (sum >> WEIGHT_BITS).clamp(-MAX_MIXED_LOGIT, MAX_MIXED_LOGIT);
        let probability = squash(logit);
        let bit = coder.code(bit, probability);
        let error = (i32::from(bit) << 16) - i32::from(probability);
        for (weight, logit) in self.weights.iter_mut().zip(logits) {
            *weight = (*weight + ((logit * error) >> RATE_BITS)).clamp(-MAX_WEIGHT, MAX_WEIGHT);
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squash_computes_the_logistic_function() {
        for logit in -MAX_LOGIT..=MAX_LOGIT {
            let exact = 65_536.0 / (1.0 + (-f64::from(logit) / 256.0).exp());
            assert_eq!(f64::from(squash(logit)), exact.round(), "{logit}");
            // The value is far enough from a half that every platform rounds it alike.
            assert!((exact.fract() - 0.5).abs() > 1e-9, "{logit}");
        }
        assert_eq!([squash(-9999), squash(0), squash(9999)], [squash(-2047), 32_768, squash(2047)]);
    }

    #[test]
    fn stretch_inverts_squash() {
        for probability in (0..=u16::MAX).step_by(16) {
            let logit = stretch(probability);
            let middle = probability | 8;
            assert!(squash(logit) >= middle || logit == MAX_LOGIT);
            assert!(logit == -MAX_LOGIT || squash(logit - 1) < middle);
        }
    }

    #[test]
    fn a_mixer_learns_which_input_is_right() {
        let mut mixer = Mixer::new([16; INPUTS]);
        let mut cost = kinepack::entropy::Cost::default();
        for turn in 0..4000_u32 {
            let bit = turn.wrapping_mul(2_654_435_761) >> 31 != 0;
            let right = if bit { 512 } else { -512 };
            if turn == 2000 {
                cost = kinepack::entropy::Cost::default();
            }
            mixer.code(&mut cost, bit, &[right, -right, 512, 99]);
        }
        assert!(cost.bits() < 60.0, "{}", cost.bits());
    }
}
