//! Computes widths of differences, and finds the classes that hold a difference of a given size.
//! See `spec/CODEC.md`, section 9.1.
//!
//! Choosing a class takes one look-up per lane. For each size of a difference, a mask has a bit for
//! each class that holds this size. The lowest bit common to the masks of all lanes is the first
//! class that holds the differences of all lanes.

use crate::bits::bits_for;

/// The number of sizes of differences. The size of a difference is its number of bits in two's
/// complement. The size is at most 35, because a carried difference is the difference of two
/// differences.
pub(super) const SIZES: usize = 36;

/// Returns the size of a difference.
#[inline]
pub(super) fn size(difference: i64) -> usize {
    // Zigzag order turns 0, -1, 1, -2, 2 … into 0, 1, 2, 3, 4 …, whose number of bits is the width
    // in two's complement.
    let zigzag = (difference << 1) ^ (difference >> 63);
    bits_for(zigzag as u64) as usize
}

/// The width of a lane in one class. The class holds all differences of `bits` bits. If `beyond` is
/// not 0, the class holds the same number of differences, from `beyond` up and below `-beyond`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    pub(super) bits: u32,
    beyond: i64,
    /// Half the number of differences that the class holds.
    half: i64,
}

impl Width {
    pub(super) fn new(bits: u8, beyond_bits: u8) -> Self {
        Self { bits: u32::from(bits), beyond: (1i64 << beyond_bits) / 2, half: (1i64 << bits) / 2 }
    }

    // The method has no branches, because the sign of a difference is unpredictable.

    #[inline]
    pub(super) fn code(self, difference: i64) -> u64 {
        // Joins the two outer ranges into one range around zero.
        (difference - self.beyond_towards(difference) + self.half) as u64
    }

    #[inline]
    pub(super) fn difference(self, code: u64) -> i64 {
        let inward = code as i64 - self.half;
        inward + self.beyond_towards(inward)
    }

    /// Returns `beyond` with the sign of `difference`.
    #[inline]
    fn beyond_towards(self, difference: i64) -> i64 {
        let sign = difference >> 63;
        (self.beyond ^ sign) - sign
    }
}

/// The classes that hold a lane's difference, for each size of difference. For each size, one mask
/// has the classes that hold all differences of that size. Another mask has the classes that hold
/// only the magnitudes below an edge.
#[derive(Debug)]
pub(super) struct Fits {
    always: [u64; SIZES],
    below_edge: [(u64, u64); SIZES],
    /// Whether the range of some class begins beyond another's. If this is false, `below_edge` is
    /// not used.
    has_edges: bool,
}

impl Fits {
    /// Finds the classes for a lane that has these widths, one per class. Returns `None` if two
    /// classes end at different edges within one size.
    pub(super) fn new(widths: impl Iterator<Item = Width> + Clone) -> Option<Self> {
        let mut fits = Self { always: [0; SIZES], below_edge: [(0, 0); SIZES], has_edges: false };
        for size in 0..SIZES {
            // The magnitudes of this size are from `low` to `high`.
            let [low, high] = match size {
                0 | 1 => [0, 0],
                _ => [1u64 << (size - 2), (1 << (size - 1)) - 1],
            };
            let (edge, below_edge) = &mut fits.below_edge[size];
            for (class, width) in widths.clone().enumerate() {
                let end = (width.half + width.beyond) as u64;
                let begins = low >= width.beyond as u64;
                if width.bits == 0 {
                    fits.always[size] |= u64::from(size == 0) << class;
                } else if begins && high < end {
                    fits.always[size] |= 1 << class;
                } else if begins && low < end {
                    if *below_edge != 0 && *edge != end {
                        return None;
                    }
                    *edge = end;
                    *below_edge |= 1 << class;
                    fits.has_edges = true;
                }
            }
        }
        Some(fits)
    }

    /// Returns a mask of the classes that hold `difference`.
    #[inline]
    pub(super) fn classes(&self, difference: i64) -> u64 {
        let size = size(difference);
        let mut classes = self.always[size];
        if self.has_edges {
            // The magnitude is the distance from the nearer of 0 and -1. Differences of n bits have
            // magnitudes below 2^(n-1).
            let magnitude = (difference ^ (difference >> 63)) as u64;
            let (edge, below_edge) = self.below_edge[size];
            if magnitude < edge {
                classes |= below_edge;
            }
        }
        classes
    }
}
