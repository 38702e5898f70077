//! Counts whole numbers in bounded memory. While there are few distinct numbers, each of them is
//! counted separately. Otherwise numbers are counted in bins whose width is a power of two.

use std::collections::HashMap;

use serde::Serialize;

/// The maximum number of bins in a [`Bins`].
const SHOWN_BINS: usize = 64;

/// Counts how many times each number occurs.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    /// The logarithm of the width of a bin, which is 2^shift.
    shift: u32,
    counts: HashMap<i64, u64>,
    /// The number of zeros, which are counted separately because most differences are zero.
    zeros: u64,
    total: u64,
    max_bins: usize,
}

/// A histogram for display. Its bins have equal width, and few of them are empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bins {
    /// The first number of the first bin.
    pub first: i64,
    /// The number of distinct numbers per bin.
    pub width: u64,
    /// The number of values in each bin.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Makes a histogram with at most `max_bins` bins.
    pub(super) fn new(max_bins: usize) -> Self {
        Self { shift: 0, counts: HashMap::new(), zeros: 0, total: 0, max_bins }
    }

    #[inline]
    pub(super) fn add(&mut self, value: i64) {
        self.total += 1;
        if value == 0 {
            self.zeros += 1;
            return;
        }
        *self.counts.entry(value >> self.shift).or_default() += 1;
        while self.counts.len() > self.max_bins {
            self.shift += 1;
            for (bin, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(bin >> 1).or_default() += count;
            }
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn zeros(&self) -> u64 {
        self.zeros
    }

    /// Returns the fewest bits of all values if each is coded separately. Within a bin wider than
    /// one number, all numbers count as equally likely.
    pub(super) fn entropy_bits(&self) -> f64 {
        let total = self.total as f64;
        let bits = |count: u64| {
            if count == 0 { 0.0 } else { count as f64 * (total / count as f64).log2() }
        };
        let within_bins = f64::from(self.shift) * (self.total - self.zeros) as f64;
        // The bins are added in order, so that the sum is always the same.
        self.in_order().iter().map(|(_, count)| bits(*count)).sum::<f64>()
            + bits(self.zeros)
            + within_bins
    }

    fn in_order(&self) -> Vec<(i64, u64)> {
        let mut bins: Vec<(i64, u64)> =
            self.counts.iter().map(|(bin, count)| (*bin, *count)).collect();
        bins.sort_unstable();
        bins
    }

    /// Returns the size that a share of `ratio` of the nonzero values does not exceed; 0 if all
    /// values are zero.
    pub(super) fn size_percentile(&self, ratio: f64) -> u64 {
        let size = |bin: i64| (bin << self.shift).unsigned_abs();
        let mut sizes: Vec<(u64, u64)> =
            self.counts.iter().map(|(bin, count)| (size(*bin), *count)).collect();
        sizes.sort_unstable();
        let wanted = (ratio * (self.total - self.zeros) as f64).ceil() as u64;
        let mut seen = 0;
        let found = sizes.iter().find(|(_, count)| {
            seen += count;
            seen >= wanted
        });
        found.map_or(0, |(size, _)| *size)
    }

    /// Returns the bins for a chart.
    pub(super) fn bins(&self) -> Bins {
        let mut all: Vec<(i64, u64)> =
            self.in_order().into_iter().map(|(bin, count)| (bin << self.shift, count)).collect();
        if self.zeros > 0 {
            all.push((0, self.zeros));
        }
        let (Some(first), Some(last)) =
            (all.iter().map(|(at, _)| *at).min(), all.iter().map(|(at, _)| *at).max())
        else {
            return Bins { first: 0, width: 1, counts: Vec::new() };
        };
        let width =
            (last.abs_diff(first) / SHOWN_BINS as u64 + 1).next_power_of_two().max(1 << self.shift);
        // A bin begins at zero, so that zero is visible in the chart.
        let first = first.div_euclid(width as i64) * width as i64;
        let mut counts = vec![0; (last.abs_diff(first) / width) as usize + 1];
        for (at, count) in all {
            counts[(at.abs_diff(first) / width) as usize] += count;
        }
        Bins { first, width, counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: impl IntoIterator<Item = i64>, max_bins: usize) -> Histogram {
        let mut histogram = Histogram::new(max_bins);
        values.into_iter().for_each(|value| histogram.add(value));
        histogram
    }

    #[test]
    fn entropy_is_that_of_the_counts() {
        assert_eq!(histogram([0, 0, 1, -1], 10).entropy_bits(), 2.0 * 1.0 + 2.0 * 2.0);
        assert_eq!(histogram(0..256, 1000).entropy_bits(), 256.0 * 8.0);
        assert_eq!(histogram([], 10).entropy_bits(), 0.0);
        assert_eq!(histogram([7; 100], 10).entropy_bits(), 0.0);
    }

    #[test]
    fn many_numbers_are_counted_in_wider_bins() {
        let wide = histogram(1..=4096, 64);
        assert!(wide.counts.len() <= 64 && wide.total() == 4096);
        let bits = wide.entropy_bits();
        assert!((bits / 4096.0 - 12.0).abs() < 0.05, "{bits}");
        assert_eq!(wide.bins().counts.iter().sum::<u64>(), 4096);
    }

    #[test]
    fn bins_cover_the_counted_numbers() {
        let bins = histogram([-3, 0, 0, 5, 300], 100).bins();
        assert_eq!((bins.first, bins.width), (-8, 8));
        assert_eq!((bins.counts[0], bins.counts[1], bins.counts.last()), (1, 3, Some(&1)));
        assert_eq!(histogram([], 10).bins().counts, Vec::<u64>::new());
        let extremes = histogram([i64::from(u32::MAX), -i64::from(u32::MAX)], 10).bins();
        assert!(extremes.counts.len() <= 66 && extremes.counts.iter().sum::<u64>() == 2);
    }

    #[test]
    fn percentiles_ignore_zeros() {
        let sizes = histogram([0, 0, 0, 0, -1, 2, -3, 100], 100);
        assert_eq!(sizes.size_percentile(0.5), 2);
        assert_eq!(sizes.size_percentile(1.0), 100);
        assert_eq!(histogram([0], 10).size_percentile(0.5), 0);
    }
}
