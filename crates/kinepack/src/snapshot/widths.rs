//! Widths of differences, and which classes hold a difference of a given size. `spec/CODEC.md`, section 9.1.
//!
//! Choosing a class is a look-up a lane: for each size of a difference a mask tells the classes that hold it; the lowest
//! bit that the masks of all lanes share is the first class that holds them all.

use crate::bits_for;

/// Sizes of a difference: 0, and 1 + the bits of its magnitude, which are at most 34: a carried difference is one of two.
pub(super) const SIZES: usize = 36;

/// A lane's width in one class: the class holds differences of `bits` bits, or where `beyond` is not 0 those from
/// `beyond` on and those below `-beyond`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    pub(super) bits: u32,
    beyond: i64,
    /// Half of the number of differences.
    half: i64,
}

impl Width {
    pub(super) fn new(bits: u8, beyond_bits: u8) -> Self {
        Self { bits: u32::from(bits), beyond: (1i64 << beyond_bits) / 2, half: (1i64 << bits) / 2 }
    }

    #[inline]
    pub(super) fn code(self, difference: i64) -> u64 {
        // The two ranges beyond become one around zero.
        let inward = if difference >= 0 { difference - self.beyond } else { difference + self.beyond };
        (inward + self.half) as u64
    }

    #[inline]
    pub(super) fn difference(self, code: u64) -> i64 {
        let inward = code as i64 - self.half;
        if inward >= 0 { inward + self.beyond } else { inward - self.beyond }
    }
}

/// The classes that hold a difference of one size: `always`, and `below_edge` where its magnitude is below `edge`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fit {
    always: u64,
    below_edge: u64,
    edge: u64,
}

impl Fit {
    /// What holds differences of `size` in a lane with these widths, a class each; `None` where two classes of one width
    /// begin at different ends of small ones.
    pub(super) fn new(widths: impl Iterator<Item = Width>, size: u32) -> Option<Self> {
        let mut fit = Self::default();
        // Magnitudes of this size run from `low` to `high`.
        let [low, high] = match size {
            0 | 1 => [0, 0],
            _ => [1u64 << (size - 2), (1 << (size - 1)) - 1],
        };
        for (class, width) in widths.enumerate() {
            let end = (width.half + width.beyond) as u64;
            let begins = low >= width.beyond as u64;
            if width.bits == 0 {
                fit.always |= u64::from(size == 0) << class;
            } else if begins && high < end {
                fit.always |= 1 << class;
            } else if begins && low < end {
                if fit.below_edge != 0 && fit.edge != end {
                    return None;
                }
                fit.below_edge |= 1 << class;
                fit.edge = end;
            }
        }
        Some(fit)
    }

    #[inline]
    fn classes(&self, magnitude: u64) -> u64 {
        if magnitude < self.edge { self.always | self.below_edge } else { self.always }
    }
}

/// The classes that hold `difference`, of a lane's [`SIZES`] fits.
#[inline]
pub(super) fn classes(fits: &[Fit], difference: i64) -> u64 {
    // Distance from the nearer of 0 and -1: differences of `bits` bits have magnitudes below `2^(bits - 1)`.
    let magnitude = (difference ^ (difference >> 63)) as u64;
    let size = if difference == 0 { 0 } else { 1 + bits_for(magnitude) as usize };
    fits[size].classes(magnitude)
}
