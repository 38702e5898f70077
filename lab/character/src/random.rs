//! Extends the generator of the cubes' script by shares and real numbers.

#[path = "../../cubes/src/random.rs"]
mod split_mix;

pub(crate) use split_mix::Random;

impl Random {
    /// Chooses one of the shares, with the share's percentage as the probability, and returns its
    /// index. The percentages must add up to 100.
    pub(crate) fn choose<const N: usize>(&mut self, percents: [u32; N]) -> usize {
        debug_assert_eq!(percents.iter().sum::<u32>(), 100);
        let mut left = self.below(100);
        for (index, percent) in percents.into_iter().enumerate() {
            if left < percent {
                return index;
            }
            left -= percent;
        }
        N - 1
    }

    /// Returns a real number that is at least `low` and below `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        // 53 bits are the maximum that an `f64` below 1 can have in equal steps.
        low + (high - low) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// Returns a real number from −1 to 1, which is more often near 0 than far from it. The result
    /// is the mean of two numbers.
    pub(crate) fn noise(&mut self) -> f64 {
        (self.between(-1.0, 1.0) + self.between(-1.0, 1.0)) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_ranges_are_kept() {
        let mut random = Random::new(7);
        let mut chosen = [0; 3];
        for _ in 0..200 {
            chosen[random.choose([20, 0, 80])] += 1;
            assert!((-3.0..5.0).contains(&random.between(-3.0, 5.0)));
            assert!((-1.0..=1.0).contains(&random.noise()));
        }
        assert!(chosen[0] > 20 && chosen[1] == 0 && chosen[2] > 120, "{chosen:?}");
    }
}
