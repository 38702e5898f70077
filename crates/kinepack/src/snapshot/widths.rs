//! Widths of differences, and which classes hold a difference of a given size. `spec/CODEC.md`,
//! section 9.1.
//!
//! Choosing a class takes one look-up per lane. For each size of a difference, a mask has a bit for
//! each class that holds it. The lowest bit common to the masks of all lanes is the first class
//! that holds them all.

use crate::bits::bits_for;

/// Number of sizes. The size of a difference is its bits in two's complement, at most 35 because a
/// carried difference is a difference of two differences.
pub(super) const SIZES: usize = 36;

/// The size of a difference.
#[inline]
pub(super) fn size(difference: i64) -> usize {
    // Zigzag: 0, -1, 1, -2, 2 … become 0, 1, 2, 3, 4 …, whose bits are the width in two's
    // complement.
    let zigzag = (difference << 1) ^ (difference >> 63);
    bits_for(zigzag as u64) as usize
}

/// A lane's width in one class. The class holds differences of `bits` bits; or if `beyond` is not
/// 0, the same number of differences from `beyond` up and below `-beyond`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    pub(super) bits: u32,
    beyond: i64,
    /// Half the number of differences.
    half: i64,
}

impl Width {
    pub(super) fn new(bits: u8, beyond_bits: u8) -> Self {
        Self { bits: u32::from(bits), beyond: (1i64 << beyond_bits) / 2, half: (1i64 << bits) / 2 }
    }

    // Written without branches, because the sign of a difference is unpredictable.

    #[inline]
    pub(super) fn code(self, difference: i64) -> u64 {
        // Joins the two outer ranges into one around zero.
        (difference - self.beyond_towards(difference) + self.half) as u64
    }

    #[inline]
    pub(super) fn difference(self, code: u64) -> i64 {
        let inward = code as i64 - self.half;
        inward + self.beyond_towards(inward)
    }

    /// `beyond` with the sign of `difference`.
    #[inline]
    fn beyond_towards(self, difference: i64) -> i64 {
        let sign = difference >> 63;
        (self.beyond ^ sign) - sign
    }
}

/// The classes that hold a lane's difference, by its size. For each size, one mask has the classes
/// that hold all differences of that size. Another has those that hold only magnitudes below an
/// edge.
#[derive(Debug)]
pub(super) struct Fits {
    always: [u64; SIZES],
    below_edge: [(u64, u64); SIZES],
    /// Whether some class begins beyond another. Otherwise `below_edge` is empty.
    has_edges: bool,
}

impl Fits {
    /// The fits of a lane that has these widths, one per class. `None` if two classes end at
    /// different edges within one size.
    pub(super) fn new(widths: impl Iterator<Item = Width> + Clone) -> Option<Self> {
        let mut fits = Self { always: [0; SIZES], below_edge: [(0, 0); SIZES], has_edges: false };
        for size in 0..SIZES {
            // Magnitudes of this size run from `low` to `high`.
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

    /// The classes that hold `difference`.
    #[inline]
    pub(super) fn classes(&self, difference: i64) -> u64 {
        let size = size(difference);
        let mut classes = self.always[size];
        if self.has_edges {
            // Distance from the nearer of 0 and -1. Differences of n bits have magnitudes below
            // 2^(n-1).
            let magnitude = (difference ^ (difference >> 63)) as u64;
            let (edge, below_edge) = self.below_edge[size];
            if magnitude < edge {
                classes |= below_edge;
            }
        }
        classes
    }
}
