//! The classes of distances, by dynamic programming over where they begin. `spec/CODEC.md`, section
//! 7.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::super::profile::GapCode;
use super::super::sets::for_each_listed;
use crate::bits::bits_for;
use crate::entropy::log2_of;
use crate::prefix;

/// Distances, less 1, from here on belong to the last class.
const POSITIONS: usize = 1 << 14;
/// As many units are a bit, as [`log2_of`] has them.
const UNIT_BITS: u32 = 16;
/// A class has to gain 2 to the power of −`COST_SHIFT` bits a distance, as more classes fit other
/// data less.
const COST_SHIFT: u32 = 9;
/// The usual classes are kept unless 2 to the power of −`MARGIN_SHIFT` of the bits are gained: they
/// fit any data.
const MARGIN_SHIFT: u32 = 4;
/// The widest class that is looked for, in bits.
const MAX_WIDTH_BITS: usize = 13;

/// Distances that were counted, in each half of the packets.
#[derive(Debug)]
pub(super) struct GapCounts {
    /// By distance less 1.
    counts: [Vec<u64>; 2],
    farther: [u64; 2],
    /// The largest number of indices that a set was taken from.
    most: usize,
}

impl GapCounts {
    pub(super) fn new() -> Self {
        Self { counts: [vec![0; POSITIONS], vec![0; POSITIONS]], farther: [0; 2], most: 1 }
    }

    /// Counts the distances of a set of `members` among `count` indices, as it would be listed, in
    /// one half of the packets.
    pub(super) fn add(&mut self, half: usize, count: usize, members: &[u32]) {
        self.most = self.most.max(count);
        let (counts, farther) = (&mut self.counts[half], &mut self.farther[half]);
        let complement = members.len() > count / 2;
        for_each_listed(count, members, complement, |distance| {
            match counts.get_mut(distance as usize) {
                Some(count) => *count += 1,
                None => *farther += 1,
            }
        });
    }

    /// The usual classes, or where they gain a good part of the bits, those by which each half
    /// takes the fewest with words for the other one.
    pub(super) fn code(&self) -> GapCode {
        let halves = Halves::new(self);
        let usual = GapCode::doubling().widths_bits;
        let (found, found_price) = halves.best();
        let usual_price = halves.price_all(&usual);
        let gains = found_price + (usual_price >> MARGIN_SHIFT) <= usual_price;
        halves.code(if gains { found } else { usual })
    }
}

/// Both halves, of which each pays for words that are for the other one.
struct Halves {
    halves: [Smooth; 2],
    most: usize,
}

impl Halves {
    fn new(counts: &GapCounts) -> Self {
        let halves =
            [0, 1].map(|half| Smooth::new(&counts.counts[half], counts.farther[half], counts.most));
        Self { halves, most: counts.most }
    }

    fn price(&self, range: Range<usize>, offset_bits: u64) -> u64 {
        let [first, second] = &self.halves;
        first.price(&range, second, offset_bits) + second.price(&range, first, offset_bits)
    }

    /// What the last class takes, where it begins at `start`.
    fn price_rest(&self, start: usize) -> u64 {
        let offset_bits = bits_for((self.most as u64 - 1).saturating_sub(start as u64));
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

    /// The widths that take the fewest bits, and these.
    fn best(&self) -> (Vec<u8>, u64) {
        // From the end: the cheapest way to go on from a position, and the class that it begins
        // with.
        let ends = self.most.min(POSITIONS);
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

    /// With the lengths of words that all of the data ask for.
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

/// Counts that are evened out: what is peculiar to one distance belongs to these data, how many
/// there are of each magnitude to others as well.
struct Smooth {
    /// Before each distance, how many are shorter, in 1/16; behind them, all.
    sums: Vec<u64>,
}

impl Smooth {
    fn new(counts: &[u64], farther: u64, most: usize) -> Self {
        let seen = counts.iter().sum::<u64>() + farther;
        // As if each magnitude had also been seen a little.
        let rare = (seen / 2048).max(1) << 4;
        let mut sums = vec![0];
        let mut sum = 0;
        while sums.len() <= POSITIONS {
            // As long as a fourth of the distance, of which each gets its share and what it has
            // itself.
            let begin = sums.len() - 1;
            let length = (begin.div_ceil(4)).clamp(1, POSITIONS - begin);
            let alike = &counts[begin..begin + length];
            let even = alike.iter().sum::<u64>() * 8 / length as u64;
            for count in alike {
                let is_possible = sums.len() <= most;
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

    /// What the distances of a class take, with words as `learned` asks for.
    fn price(&self, range: &Range<usize>, learned: &Self, offset_bits: u64) -> u64 {
        let all = learned.count(&(0..POSITIONS + 1)).max(1);
        // No word is longer than 8 bits: a rare class takes some of what the others could have,
        // half again as much as it lacks.
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

/// Far below what a prefix code can have.
const MAX_CLASSES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    /// What the counted distances take by the code, without the flags of their sets.
    fn bits(counts: &[u64], most: usize, code: &GapCode) -> u64 {
        let mut start = 0;
        let mut sum = 0;
        for (class, length) in code.lengths_bits.iter().enumerate() {
            let width = code.widths_bits.get(class).copied();
            let end =
                width.map_or(counts.len(), |width| (start + (1usize << width)).min(counts.len()));
            let offset_bits =
                width.map_or(bits_for((most - 1).saturating_sub(start) as u64), u32::from);
            sum += counts[start.min(end)..end].iter().sum::<u64>()
                * (u64::from(*length) + u64::from(offset_bits));
            start = end;
        }
        sum
    }

    /// All sequences of up to four widths up to 4 bits.
    fn best_of_all(counts: &[u64], most: usize) -> u64 {
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
            best = best.min(bits(counts, most, &code.trained(&classes)));
        }
        best
    }

    #[test]
    fn close_to_the_best_of_all_codes_with_few_classes() {
        for decay in [2u64, 3, 8] {
            let most = 40;
            let shares: Vec<u64> =
                (0..most as u64).map(|d| 400_000 / (1 + d * d / decay + d)).collect();
            let mut gaps = GapCounts::new();
            gaps.most = most;
            gaps.counts.iter_mut().for_each(|counts| counts[..most].copy_from_slice(&shares));
            let halves = Halves::new(&gaps);
            let code = halves.code(halves.best().0);
            let (found, best) = (bits(&shares, most, &code), best_of_all(&shares, most));
            assert!(found * 100 <= best * 102, "{found} bits, {best} is possible: {code:?}");
        }
    }

    #[test]
    fn nothing_seen_gives_a_code() {
        assert!(prefix::PrefixCode::new(&GapCounts::new().code().lengths_bits).is_ok());
    }
}
