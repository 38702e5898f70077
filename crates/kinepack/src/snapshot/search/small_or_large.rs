//! Finds the widths of the article's scheme by exhaustive search. In that scheme, each lane is
//! small or large, and the large range begins where the small one ends.
//!
//! For a given small width, the cost of a vector depends on two numbers: the number of its large
//! lanes, and the narrowest large width that holds them. So one table over pairs of widths is
//! enough to compute the cost of every pair, without the vectors. The scheme is that of relative
//! position and relative orientation in the article "Snapshot Compression".

use alloc::boxed::Box;

/// The largest width, in bits.
const MAX_BITS: usize = 32;

/// Computes the cost of each pair of widths. The costs are exact, because all vectors are counted.
///
/// The table takes 18 KB of memory, for any number of vectors. Adding a vector takes about 50 ns.
///
/// ```
/// use kinepack::training::SmallOrLargeCosts;
///
/// let mut costs = SmallOrLargeCosts::new(3, 29);
/// costs.add(&[3, -16, 40]);
/// costs.add_in_full();
/// // A vector takes one bit for the field in full, then for each lane a bit and its width.
/// assert_eq!(costs.cost_bits(5, 8), (1 + 6 + 6 + 9) + (1 + 29));
/// let best = costs.best();
/// assert_eq!((best.small_bits, best.large_bits, best.cost_bits), (5, 6, 20 + 30));
/// ```
#[derive(Clone, Debug)]
pub struct SmallOrLargeCosts {
    lanes: u64,
    full_bits: u64,
    /// The counts, indexed by a small and a large width. Each count has the number of vectors for
    /// which the large width is the narrowest that suffices, and the number of large lanes in these
    /// vectors.
    vectors: Box<[[Count; MAX_BITS + 1]; MAX_BITS]>,
    /// The number of all vectors, including those in full.
    count: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    vectors: u64,
    large_lanes: u64,
}

/// A pair of widths for [`FieldCode::small_or_large`](crate::profile::FieldCode::small_or_large).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallOrLarge {
    /// The width of a small difference, in bits.
    pub small_bits: u8,
    /// The width of a large difference, in bits.
    pub large_bits: u8,
    /// The total cost of all vectors, in bits.
    pub cost_bits: u64,
}

impl SmallOrLargeCosts {
    /// Makes a table for vectors of `lanes` differences that take `full_bits` bits in full.
    pub fn new(lanes: usize, full_bits: u32) -> Self {
        Self {
            lanes: lanes as u64,
            full_bits: full_bits.into(),
            vectors: Box::new([[Count::default(); MAX_BITS + 1]; MAX_BITS]),
            count: 0,
        }
    }

    /// Counts a vector of differences, one per lane.
    pub fn add(&mut self, differences: &[i64]) {
        self.count += 1;
        // The magnitude is the distance from the nearer of 0 and -1. Differences of n bits have
        // magnitudes below 2^(n-1).
        let magnitude = |difference: &i64| (difference ^ (difference >> 63)) as u64;
        let is_large = |difference: &&i64, half: u64| match half {
            0 => **difference != 0,
            _ => magnitude(difference) >= half,
        };
        let largest = differences.iter().map(magnitude).max().unwrap_or(0);
        for (small_bits, row) in self.vectors.iter_mut().enumerate() {
            let half = (1u64 << small_bits) / 2;
            let large_lanes =
                differences.iter().filter(|difference| is_large(difference, half)).count() as u64;
            // A large range extends 2^(bits - 1) beyond the small range, and is at least as wide as
            // the small one.
            let beyond_bits = if large_lanes == 0 {
                0
            } else {
                1 + crate::bits::bits_for(largest.saturating_sub(half))
            };
            if let Some(count) = row.get_mut((beyond_bits as usize).max(small_bits)) {
                count.vectors += 1;
                count.large_lanes += large_lanes;
            }
        }
    }

    /// Counts a vector that can only be sent in full, such as a rotation that drops another
    /// component than the baseline.
    pub fn add_in_full(&mut self) {
        self.count += 1;
    }

    /// The number of vectors that were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Computes the cost of all vectors in bits, as an encoder writes them. A vector takes one bit
    /// that selects the field in full, or else a bit and a width for each lane. A width above 32
    /// bits counts as 32, and a large width below the small one counts as the small one.
    pub fn cost_bits(&self, small_bits: u8, large_bits: u8) -> u64 {
        let small = usize::from(small_bits).min(MAX_BITS - 1);
        let large = usize::from(large_bits).clamp(small, MAX_BITS);
        let held =
            self.vectors[small][..=large].iter().fold(Count::default(), |sum, count| Count {
                vectors: sum.vectors + count.vectors,
                large_lanes: sum.large_lanes + count.large_lanes,
            });
        let small_lanes = held.vectors * self.lanes - held.large_lanes;
        let lanes_bits = small_lanes * (1 + small as u64) + held.large_lanes * (1 + large as u64);
        self.count + lanes_bits + (self.count - held.vectors) * self.full_bits
    }

    /// Finds the pair that takes the fewest bits, out of all pairs of a small and a larger width
    /// from 1 to 32 bits. If several pairs take equally many bits, the narrowest one is returned.
    pub fn best(&self) -> SmallOrLarge {
        let pairs = (1..MAX_BITS as u8)
            .flat_map(|small| (small + 1..=MAX_BITS as u8).map(move |large| (small, large)));
        let costs = pairs.map(|(small_bits, large_bits)| SmallOrLarge {
            small_bits,
            large_bits,
            cost_bits: self.cost_bits(small_bits, large_bits),
        });
        let fewer = |best: SmallOrLarge, next: SmallOrLarge| {
            if next.cost_bits < best.cost_bits { next } else { best }
        };
        costs.reduce(fewer).unwrap_or(SmallOrLarge {
            small_bits: 1,
            large_bits: 2,
            cost_bits: self.cost_bits(1, 2),
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Makes vectors with many small and some large differences.
    fn vectors() -> Vec<[i64; 3]> {
        let mut state = 1u64;
        let mut next = |bits: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = (state >> 33) as i64;
            (value & ((1 << bits) - 1)) - ((1 << bits) >> 1)
        };
        (0..3000)
            .map(|n| [next(1 + n % 9), next(3), next(if n % 5 == 0 { 10 } else { 4 })])
            .collect()
    }

    /// Computes the cost from the ranges directly.
    fn naive_bits(vectors: &[[i64; 3]], small: u32, large: u32) -> u64 {
        let half = 1i64 << (small - 1);
        let end = half + (1i64 << (large - 1));
        let lane_bits = |d: &i64| match *d {
            d if (-half..half).contains(&d) => Some(1 + u64::from(small)),
            d if (-end..end).contains(&d) => Some(1 + u64::from(large)),
            _ => None,
        };
        let vector_bits =
            |vector: &[i64; 3]| 1 + vector.iter().map(lane_bits).sum::<Option<u64>>().unwrap_or(29);
        vectors.iter().map(vector_bits).sum()
    }

    #[test]
    fn costs_match_the_naive_count_and_the_best_pair_is_found() {
        let vectors = vectors();
        let mut costs = SmallOrLargeCosts::new(3, 29);
        vectors.iter().for_each(|vector| costs.add(vector));
        let mut best = u64::MAX;
        for (small, large) in
            (1..14).flat_map(|small| (small + 1..15).map(move |large| (small, large)))
        {
            let bits = naive_bits(&vectors, small, large);
            assert_eq!(costs.cost_bits(small as u8, large as u8), bits, "{small}-{large}");
            best = best.min(bits);
        }
        assert_eq!(costs.best().cost_bits, best);
        assert_eq!(costs.count(), 3000);
    }

    #[test]
    fn extreme_differences_are_counted() {
        let mut costs = SmallOrLargeCosts::new(2, 60);
        costs.add(&[i64::MAX, i64::MIN]);
        costs.add(&[0, 0]);
        costs.add(&[(1 << 31) - 1, -(1 << 31)]);
        assert_eq!(costs.cost_bits(1, 2), 61 + 5 + 61);
        assert_eq!(costs.cost_bits(1, 32), 61 + 5 + 67);
        assert_eq!(costs.cost_bits(0, 2), 61 + 3 + 61);
    }
}
