//! A small generator of pseudo-random numbers: `SplitMix64` (Steele, Lea and Flood, "Fast
//! Splittable Pseudorandom Number Generators", 2014).
//!
//! Scripts draw a few numbers per second, and the same seed must always give the same numbers. A
//! crate for random numbers might change its numbers in a new version.

use core::ops::RangeInclusive;

/// The state of the generator, which is the number of draws times the golden ratio, plus the seed.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 uniform bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which must not be 0. The bias is below `bound` / 2^32, which
    /// is too small to matter here.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0);
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// Returns a number in `range`, which must not be empty.
    pub(crate) fn within(&mut self, range: RangeInclusive<u32>) -> u32 {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    /// Returns true with a probability of `percent` %.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        let mut random = Random::new(7);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[random.within(3..=7) as usize - 3] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert!(!random.chance(0) && random.chance(100));
    }
}
