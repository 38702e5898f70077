//! A small pseudo-random generator: `SplitMix64` (Steele, Lea and Flood, "Fast Splittable
//! Pseudorandom Number Generators", 2014). The generator is written here because a later version of
//! a crate might give other numbers. A seed that failed must fail forever.

use std::time::Duration;

/// The state is the count of numbers drawn, times the golden ratio, plus the seed.
#[derive(Clone, Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A separate generator, for another purpose.
    pub(super) fn split(&mut self) -> Self {
        Self::new(self.bits())
    }

    /// Returns 64 uniform random bits.
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns true for a share of `ratio` of all calls, to within 2⁻³². The product is the only
    /// computation with floats, and it is exact: `f32` times a power of two fits into `f64`.
    pub(super) fn chance(&mut self, ratio: f32) -> bool {
        (self.bits() >> 32) < (f64::from(ratio) * 4_294_967_296.0) as u64
    }

    /// A uniform integer from `least` to `most`, which is not below `least`.
    pub(super) fn between(&mut self, least: u32, most: u32) -> u32 {
        let count = u128::from(most - least) + 1;
        least + ((u128::from(self.bits()) * count) >> 64) as u32
    }

    /// A uniform time from 0 to `longest`, which is less than 500 years.
    pub(super) fn up_to(&mut self, longest: Duration) -> Duration {
        let count = longest.as_nanos() + 1;
        Duration::from_nanos(((u128::from(self.bits()) * count) >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_matches_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn extremes_are_reached_and_not_exceeded() {
        let mut random = Random::new(7);
        let mut seen = [false; 4];
        for _ in 0..200 {
            seen[random.up_to(Duration::from_nanos(3)).as_nanos() as usize] = true;
            assert!(random.up_to(Duration::ZERO).is_zero());
            assert!(!random.chance(0.0) && random.chance(1.0));
            assert!((3..=5).contains(&random.between(3, 5)) && random.between(9, 9) == 9);
        }
        assert_eq!(seen, [true; 4]);
    }
}
