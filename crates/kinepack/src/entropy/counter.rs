//! The adaptive probability of one kind of decision.

use core::hint::select_unpredictable;

use super::Coder;

/// The recent share of `true` in one kind of decision. A counter takes 4 bytes; two counters that
/// saw the same decisions are equal.
///
/// After `n` observations, the next one moves the probability by 1/(n + 1.6) of its distance to 0
/// or 1, like an average. This fraction never falls below 1/(limit + 0.6), so that old observations
/// fade. A limit of 20 follows fast changes, and a limit of 250 suits stable probabilities. The
/// probability stays within 32/65536 and 65503/65536, so a surprise costs at most 11 bits.
///
/// ```
/// use kinepack::entropy::{Cost, Counter};
///
/// let (mut counter, mut cost) = (Counter::default(), Cost::default());
/// for _ in 0..100 {
///     counter.code(&mut cost, true, 60);
/// }
/// assert!(counter.probability() > 60_000);
/// assert!(cost.bits() < 12.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// From the top, 24 bits hold the probability of `true`, and 8 bits the number of observations.
    /// Invariant: the probability is from `MIN` to `MAX`.
    state: u32,
}

/// The number of bits that a counter keeps below the coder's 16, so that small steps add up.
const FRACTION_BITS: u32 = 8;
const MIN: i64 = 32 << FRACTION_BITS;
const MAX: i64 = 65503 << FRACTION_BITS;
const ONE: i64 = 1 << 24;

/// The values of 1/(n + 1.6) in 1/65536, for each number n of observations.
const STEPS: [u16; 256] = {
    let mut steps = [0; 256];
    let mut count = 0;
    while count < steps.len() {
        // Numerator and denominator are multiplied by ten, because 1.6 is not an integer. The
        // quotient is rounded to the nearest integer.
        let tenths = 10 * count + 16;
        steps[count] = ((655_360 + tenths / 2) / tenths) as u16;
        count += 1;
    }
    steps
};

impl Default for Counter {
    /// Makes a counter with a probability of one half and no observations.
    #[inline]
    fn default() -> Self {
        Self::new(1 << 15, 0)
    }
}

impl Counter {
    /// Makes a counter that expects `true` with `probability` in 1/65536, clamped to 32..=65503, as
    /// if after `count` observations.
    #[inline]
    pub const fn new(probability: u16, count: u8) -> Self {
        let clamped = match probability {
            0..32 => 32,
            32..=65503 => probability,
            _ => 65503,
        };
        Self { state: (clamped as u32) << 16 | count as u32 }
    }

    /// The probability of `true` in 1/65536, from 32 to 65503.
    #[inline]
    pub const fn probability(self) -> u16 {
        (self.state >> 16) as u16
    }

    /// The number of observations, capped by the limit that was passed last.
    #[inline]
    pub const fn count(self) -> u8 {
        self.state as u8
    }

    /// Codes a decision with the counter's probability, and learns from it.
    #[inline(always)]
    pub fn code<C: Coder>(&mut self, coder: &mut C, bit: bool, limit: u8) -> bool {
        let bit = coder.code(bit, self.probability());
        self.observe(bit, limit);
        bit
    }

    /// Learns from a decision. `limit` is the number of observations that the counter remembers; 0
    /// counts as 1.
    #[inline]
    pub fn observe(&mut self, bit: bool, limit: u8) {
        let last = limit.saturating_sub(1);
        let count = self.count().min(last);
        let from = i64::from(self.state >> FRACTION_BITS);
        let aim = select_unpredictable(bit, ONE, 0);
        let probability = from + (((aim - from) * i64::from(STEPS[usize::from(count)])) >> 16);
        let probability = probability.clamp(MIN, MAX) as u32;
        let count = u32::from(count) + u32::from(count < last);
        self.state = probability << FRACTION_BITS | count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_averages_and_then_forgets() {
        for limit in [1, 2, 20, 60, 255] {
            let mut counter = Counter::default();
            let mut expected = 0.5;
            let mut word = 1u32;
            for count in 0..2000u32 {
                word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let bit = word >> 29 < 3;
                counter.observe(bit, limit);
                let aim = f64::from(u8::from(bit));
                expected += (aim - expected) / (f64::from(count.min(u32::from(limit) - 1)) + 1.6);
                expected = f64::clamp(expected, 32.0 / 65536.0, 65503.0 / 65536.0);
                let error = f64::from(counter.probability()) / 65536.0 - expected;
                assert!(error.abs() < 2e-3, "limit {limit}: {error}");
                assert_eq!(u32::from(counter.count()), (count + 1).min(u32::from(limit) - 1));
            }
        }
    }

    #[test]
    fn it_reaches_both_ends_and_no_further() {
        for limit in [0, 1, 20, 255] {
            let mut counter = Counter::default();
            for bit in [true, false, true] {
                for _ in 0..5000 {
                    counter.observe(bit, limit);
                    assert!((32..=65503).contains(&counter.probability()));
                }
                let end = if bit { 65503 } else { 32 };
                assert_eq!(counter.probability(), end, "limit {limit}");
            }
        }
        assert_eq!(Counter::new(0, 3), Counter::new(32, 3));
        assert_eq!(Counter::new(65535, 255), Counter::new(65503, 255));
        assert_eq!(
            [Counter::new(7000, 255).probability(), Counter::new(7000, 255).count().into()],
            [7000, 255]
        );
        assert_eq!(size_of::<Counter>(), 4);
    }

    #[test]
    fn a_smaller_limit_than_before_holds_at_once() {
        let mut old = Counter::new(30_000, 200);
        let mut young = Counter::new(30_000, 9);
        old.observe(true, 10);
        young.observe(true, 10);
        assert_eq!(old, young);
    }
}
