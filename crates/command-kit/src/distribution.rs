//! Computes percentiles of many numbers in little memory, from a histogram in steps of 1 %.

use serde::Serialize;

/// The smallest number that is counted. Smaller numbers count as this one.
const LEAST: f64 = 1e-4;
/// The ratio of each step to the previous one.
const STEP: f64 = 1.01;
/// The number of steps, which is enough for 10¹² times the smallest number.
const STEPS: usize = 2777;

/// A distribution of numbers that are at least 0.
#[derive(Clone, Debug)]
pub struct Distribution {
    counts: Vec<u64>,
    count: u64,
    sum: f64,
    max: f64,
}

/// The summary of a distribution in a report. Percentiles are accurate to 1 %.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Summary {
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl Default for Distribution {
    fn default() -> Self {
        Self { counts: vec![0; STEPS], count: 0, sum: 0.0, max: 0.0 }
    }
}

/// Returns the step that counts a number.
fn step_of(number: f64) -> usize {
    let step = (number.max(LEAST) / LEAST).ln() / STEP.ln();
    (step as usize).min(STEPS - 1)
}

impl Distribution {
    pub fn add(&mut self, number: f64) {
        self.counts[step_of(number)] += 1;
        self.count += 1;
        self.sum += number;
        self.max = self.max.max(number);
    }

    /// Adds `number` to the maximum only, not to the other statistics.
    pub fn note_largest(&mut self, number: f64) {
        self.max = self.max.max(number);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns how many of the added numbers are at most `number`. `number` is rounded to a step of
    /// 1 %.
    pub fn count_up_to(&self, number: f64) -> u64 {
        self.counts[..=step_of(number)].iter().sum()
    }

    /// Returns the mean, or 0 if there are no numbers.
    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// Returns the number that a share of `ratio` of all numbers does not exceed.
    pub fn percentile(&self, ratio: f64) -> f64 {
        let wanted = (ratio * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (step, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return (LEAST * STEP.powi(step as i32 + 1)).min(self.max);
            }
        }
        self.max
    }

    pub fn summary(&self) -> Summary {
        Summary { p50: self.percentile(0.5), p99: self.percentile(0.99), max: self.max }
    }

    /// Adds the numbers of another distribution.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_step() {
        let mut numbers = Distribution::default();
        assert_eq!(numbers.percentile(0.5), 0.0);
        (1..=1000).for_each(|number| numbers.add(f64::from(number)));
        numbers.add(0.0);
        let Summary { p50, p99, max } = numbers.summary();
        assert!((p50 - 500.0).abs() <= 5.1 && (p99 - 990.0).abs() <= 10.0, "{p50} {p99}");
        assert_eq!(max, 1000.0);
        let mut both = numbers.clone();
        both.merge(&numbers);
        assert_eq!((both.percentile(0.5), both.mean()), (p50, numbers.mean()));
        assert!((numbers.mean() - 500.0).abs() < 1e-6);
    }
}
