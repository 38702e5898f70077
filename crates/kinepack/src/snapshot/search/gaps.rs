//! Finds the classes of distances by dynamic programming over the first distance of each class. See
//! `spec/CODEC.md`, section 7.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::super::profile::GapCode;
use super::super::sets::for_each_listed;
use crate::bits::bits_for;
use crate::entropy::log2_of;
use crate::prefix;

/// Distances above `POSITIONS` belong to the last class. The position of a distance is the distance
/// minus 1.
const POSITIONS: usize = 1 << 14;
/// log₂ of the number of units in a bit, the same units as those of [`log2_of`].
const UNIT_BITS: u32 = 16;
/// A further class must save 2 to the power of −`COST_SHIFT` bits per distance, because a code with
/// more classes suits other data less well.
const COST_SHIFT: u32 = 9;
/// The default classes, which fit any data, are replaced only by classes that save a share of 2 to
/// the power of −`MARGIN_SHIFT` of the bits.
const MARGIN_SHIFT: u32 = 4;
/// The width of the widest class that is tried, in bits.
const MAX_WIDTH_BITS: usize = 13;

/// The number of times that each distance occurs, separately for each half of the packets.
#[derive(Debug)]
pub(super) struct GapCounts {
    /// For each half, the counts, indexed by the distance minus 1.
    counts: [Vec<u64>; 2],
    farther: [u64; 2],
    /// The largest number of indices of any set.
    max_count: usize,
}

impl GapCounts {
    pub(super) fn new() -> Self {
        Self { counts: [vec![0; POSITIONS], vec![0; POSITIONS]], farther: [0; 2], max_count: 1 }
    }

    /// Counts the distances in the list of a set of `members` among `count` indices, for one half
    /// of the packets.
    pub(super) fn add(&mut self, half: usize, count: usize, members: &[u32]) {
        self.max_count = self.max_count.max(count);
        let (counts, farther) = (&mut self.counts[half], &mut self.farther[half]);
        let complement = members.len() > count / 2;
        for_each_listed(count, members, complement, |distance| {
            match counts.get_mut(distance as usize) {
                Some(count) => *count += 1,
                None => *farther += 1,
            }
        });
    }

    /// Returns the code with the default classes, unless other classes save a good part of the
    /// bits. The other classes are those with which each half of the packets takes the fewest bits
    /// if the words are trained on the other half.
    pub(super) fn code(&self) -> GapCode {
        let halves = Halves::new(self);
        let default = GapCode::doubling().widths_bits;
        let (found, found_price) = halves.best();
        let default_price = halves.price_all(&default);
        let gains = found_price + (default_price >> MARGIN_SHIFT) <= default_price;
        halves.code(if gains { found } else { default })
    }
}

/// The counts of both halves of the packets. Each half is priced with words trained on the other
/// half.
struct Halves {
    halves: [Smooth; 2],
    max_count: usize,
}

impl Halves {
    fn new(counts: &GapCounts) -> Self {
        let halves = [0, 1]
            .map(|half| Smooth::new(&counts.counts[half], counts.farther[half], counts.max_count));
        Self { halves, max_count: counts.max_count }
    }

    fn price(&self, range: Range<usize>, offset_bits: u64) -> u64 {
        let [first, second] = &self.halves;
        first.price(&range, second, offset_bits) + second.price(&range, first, offset_bits)
    }

    /// Computes the cost of the last class, if it begins at `start`.
    fn price_rest(&self, start: usize) -> u64 {
        let offset_bits = bits_for((self.max_count as u64 - 1).saturating_sub(start as u64));
        self.price(start..POSITIONS + 1, offset_bits.into())
    }

    fn price_all(&self, widths_bits: &[u8]) -> u64 {
        let (mut price, mut start) = (0, 0);
        for width in widths_bits {
            price += self.price(start..start + (1 << width), u64::from(*width));
            start += 1 << width;
        }
        price + self.price_rest(start)
    }

    /// Finds the widths that take the fewest bits, and their cost.
    fn best(&self) -> (Vec<u8>, u64) {
        // For each position, from the end to the start: the lowest cost of all distances from there
        // on, and the width of the class that achieves it.
        let ends = self.max_count.min(POSITIONS);
        let mut best = vec![(u64::MAX, None::<u8>); ends + 1];
        for start in (0..=ends).rev() {
            best[start] = (self.price_rest(start), None);
            for width in 0..=MAX_WIDTH_BITS {
                let end = start + (1 << width);
                let Some(&(after, _)) = best.get(end) else { break };
                let way = after.saturating_add(self.price(start..end, width as u64));
                if way < best[start].0 {
                    best[start] = (way, Some(width as u8));
                }
            }
        }
        let mut widths_bits = Vec::new();
        let mut start = 0;
        while let Some(width) = best[start].1.filter(|_| widths_bits.len() < MAX_CLASSES) {
            widths_bits.push(width);
            start += 1 << width;
        }
        (widths_bits, best[0].0)
    }

    /// Makes the code with these widths, with word lengths trained on both halves.
    fn code(&self, widths_bits: Vec<u8>) -> GapCode {
        let mut start = 0;
        let mut counts = Vec::new();
        let ends = widths_bits.iter().map(|width| Some(1usize << width)).chain([None]);
        for length in ends {
            let end = length.map_or(POSITIONS + 1, |length| start + length);
            counts.push(self.halves.iter().map(|half| half.count(&(start..end))).sum());
            start = end;
        }
        GapCode { widths_bits, lengths_bits: prefix::lengths_bits(&counts) }
    }
}

/// The counts of distances, smoothed. The exact count of a single distance is specific to these
/// data. The total count of the distances of each magnitude is similar in other data.
struct Smooth {
    /// For each distance, the number of shorter distances, in 1/16; the last element is the number
    /// of all distances.
    sums: Vec<u64>,
}

impl Smooth {
    fn new(counts: &[u64], farther: u64, max_count: usize) -> Self {
        let seen = counts.iter().sum::<u64>() + farther;
        // Counts as if each magnitude had occurred a few more times.
        let rare = (seen / 2048).max(1) << 4;
        let mut sums = vec![0];
        let mut sum = 0;
        while sums.len() <= POSITIONS {
            // Averages the counts of a run as long as a quarter of the distance. Each distance gets
            // half of that mean plus half of its own count.
            let begin = sums.len() - 1;
            let length = (begin.div_ceil(4)).clamp(1, POSITIONS - begin);
            let alike = &counts[begin..begin + length];
            let even = alike.iter().sum::<u64>() * 8 / length as u64;
            for count in alike {
                let is_possible = sums.len() <= max_count;
                sum += count * 8 + even + if is_possible { rare / (begin as u64 + 1) } else { 0 };
                sums.push(sum);
            }
        }
        sums.push(sum + (farther << 4) + rare);
        Self { sums }
    }

    fn count(&self, range: &Range<usize>) -> u64 {
        self.sums[range.end] - self.sums[range.start]
    }

    /// Computes the cost of the distances of a class, with words trained on `learned`.
    fn price(&self, range: &Range<usize>, learned: &Self, offset_bits: u64) -> u64 {
        let all = learned.count(&(0..POSITIONS + 1)).max(1);
        // No word is longer than 8 bits, so a rare class takes code space from the other classes.
        // Each count that the class lacks for its word costs about 1.5 bits.
        let rarest = (all >> prefix::MAX_LENGTH_BITS).max(1);
        let count = learned.count(range);
        let word =
            (log2_of(all) - log2_of(count.max(rarest)).min(log2_of(all))).max(1 << UNIT_BITS);
        let lacks = rarest.saturating_sub(count);
        self.count(range) * ((offset_bits << UNIT_BITS) + word)
            + ((lacks + lacks / 2) << UNIT_BITS)
            + ((all >> COST_SHIFT) << UNIT_BITS)
    }
}

/// The maximum number of classes, far below the limit of a prefix code.
const MAX_CLASSES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the bits that the counted distances take with `code`, excluding the flags of their
    /// sets.
    fn bits(counts: &[u64], max_count: usize, code: &GapCode) -> u64 {
        let mut start = 0;
        let mut sum = 0;
        for (class, length) in code.lengths_bits.iter().enumerate() {
            let width = code.widths_bits.get(class).copied();
            let end =
                width.map_or(counts.len(), |width| (start + (1usize << width)).min(counts.len()));
            let offset_bits =
                width.map_or(bits_for((max_count - 1).saturating_sub(start) as u64), u32::from);
            sum += counts[start.min(end)..end].iter().sum::<u64>()
                * (u64::from(*length) + u64::from(offset_bits));
            start = end;
        }
        sum
    }

    /// Tries all sequences of up to four widths of up to 4 bits, and returns the fewest bits.
    fn best_of_all(counts: &[u64], max_count: usize) -> u64 {
        let mut best = u64::MAX;
        let mut sequences: Vec<Vec<u8>> = vec![Vec::new()];
        for _ in 0..4 {
            let longer =
                sequences.iter().flat_map(|s| (0..5).map(|width| [&s[..], &[width]].concat()));
            let longer: Vec<Vec<u8>> = longer.collect();
            sequences.extend(longer);
        }
        for widths_bits in sequences {
            let code = GapCode { lengths_bits: vec![0; widths_bits.len() + 1], widths_bits };
            let mut classes = Vec::new();
            let mut start = 0;
            for width in &code.widths_bits {
                let end = (start + (1usize << width)).min(counts.len());
                classes.push(counts[start..end].iter().sum());
                start = end;
            }
            classes.push(counts[start..].iter().sum());
            best = best.min(bits(counts, max_count, &code.trained(&classes)));
        }
        best
    }

    #[test]
    fn the_found_code_is_close_to_the_best_with_few_classes() {
        for decay in [2u64, 3, 8] {
            let max_count = 40;
            let shares: Vec<u64> =
                (0..max_count as u64).map(|d| 400_000 / (1 + d * d / decay + d)).collect();
            let mut gaps = GapCounts::new();
            gaps.max_count = max_count;
            gaps.counts.iter_mut().for_each(|counts| counts[..max_count].copy_from_slice(&shares));
            let halves = Halves::new(&gaps);
            let code = halves.code(halves.best().0);
            let (found, best) = (bits(&shares, max_count, &code), best_of_all(&shares, max_count));
            assert!(found * 100 <= best * 102, "{found} bits, {best} is possible: {code:?}");
        }
    }

    #[test]
    fn counts_of_nothing_give_a_valid_code() {
        assert!(prefix::PrefixCode::new(&GapCounts::new().code().lengths_bits).is_ok());
    }
}
