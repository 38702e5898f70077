//! The widths of coefficients in bits. A profile gives the widths for a *piece* of a component.
//! There are 255 profiles for each piece. `kinepack anim train` computed the profiles, and they are
//! part of the format. `spec/widths.txt` is the same table as text. A piece consists of all
//! coefficients of a component in a segment, or of half of them if the block length is 32.

use crate::computed::computed;

/// The maximum number of coefficients in a piece.
pub(crate) const PIECE: usize = 16;
/// Number of profiles for each piece.
pub(crate) const PROFILES: usize = 255;
/// The byte that a segment stores in place of a profile's number if it stores the widths itself.
pub(crate) const ESCAPE: u8 = 255;
/// The size in bits of a width that a segment stores.
pub(crate) const ESCAPE_WIDTH_BITS: u32 = 5;
/// The largest width that a segment may store.
pub(crate) const MAX_ESCAPE_WIDTH: u8 = 24;
/// Returns the largest width of coefficient `k` in a profile. Coefficient 0 may be wider, because
/// it holds the mean position of a path, which may be far from the origin of a world.
pub(crate) const fn max_width(k: usize) -> u8 {
    if k == 0 { MAX_ESCAPE_WIDTH } else { 16 }
}
/// The maximum number of bits of four coefficients whose first index is a multiple of four. A
/// 64-bit load then contains all four, regardless of the bit of a byte at which they begin.
pub(crate) const MAX_FOUR_BITS: u32 = 56;

/// The widths of the coefficients of a piece.
pub(crate) type Widths = [u8; PIECE];
/// The profiles for a piece.
pub(crate) type Profiles = [Profile; PROFILES];

/// The maximum number of samples that a segment has.
///
/// ```
/// use kinepack_anim::block::BlockLength;
///
/// assert_eq!(BlockLength::ALL.map(BlockLength::samples), [8, 16, 32]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockLength {
    /// A segment has up to 8 samples.
    N8 = 0,
    /// A segment has up to 16 samples.
    N16 = 1,
    /// A segment has up to 32 samples.
    N32 = 2,
}

impl BlockLength {
    /// All lengths, from the shortest to the longest.
    pub const ALL: [Self; 3] = [Self::N8, Self::N16, Self::N32];

    /// Returns the length in samples.
    #[inline]
    pub const fn samples(self) -> usize {
        8 << self as usize
    }

    /// Returns the number of pieces of a component.
    #[inline]
    pub(crate) const fn pieces(self) -> usize {
        if matches!(self, Self::N32) { 2 } else { 1 }
    }

    /// Returns the profiles for a piece.
    #[inline]
    pub(crate) fn profiles(self, piece: usize) -> &'static Profiles {
        &TABLE[self as usize + piece]
    }
}

/// Returns the indices of a piece's coefficients, in a segment of `length` samples.
#[inline]
pub(crate) fn piece_range(piece: usize, length: usize) -> std::ops::Range<usize> {
    (PIECE * piece).min(length)..(PIECE * (piece + 1)).min(length)
}

/// The widths of a piece's coefficients, and their running sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    pub(crate) widths: Widths,
    /// Element n is the sum of the first n widths.
    pub(crate) ends: [u16; PIECE + 1],
}

impl Profile {
    pub(crate) const fn new(widths: Widths) -> Self {
        let mut ends = [0; PIECE + 1];
        let mut k = 0;
        while k < PIECE {
            ends[k + 1] = ends[k] + widths[k] as u16;
            k += 1;
        }
        Self { widths, ends }
    }
}

/// The choice of how to write the coefficients of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// The number of a profile, or [`ESCAPE`].
    pub(crate) profile: u8,
    /// The total size of the coefficients in bits. With [`ESCAPE`], the size includes the stored
    /// widths.
    pub(crate) bits: u32,
}

impl BlockLength {
    /// Returns the widths that the coefficients of a piece need, a byte each, and the bits that the
    /// piece takes with [`ESCAPE`].
    fn needed_widths(coefficients: &[i32]) -> (u128, u32) {
        let mut widths = [0; PIECE];
        widths.iter_mut().zip(coefficients).for_each(|(width, value)| *width = width_of(*value));
        let coefficient_bits: u32 = widths.iter().copied().map(u32::from).sum();
        (packed(&widths), coefficient_bits + ESCAPE_WIDTH_BITS * coefficients.len() as u32)
    }

    /// Returns whether the piece has as many coefficients as a profile has widths. For such pieces
    /// the profiles are sorted by size, so that a search can end early.
    fn is_full(self, coefficients: &[i32]) -> bool {
        coefficients.len() == self.samples().min(PIECE)
    }

    /// Returns the profile with the fewest bits that is wide enough for the coefficients of a
    /// piece.
    pub(crate) fn choose(self, piece: usize, coefficients: &[i32]) -> Choice {
        let (needed, escaped_bits) = Self::needed_widths(coefficients);
        let mut best = Choice { profile: ESCAPE, bits: escaped_bits };
        let is_full = self.is_full(coefficients);
        let profiles = PACKED_WIDTHS[self as usize + piece].iter().zip(self.profiles(piece));
        for (number, (widths, profile)) in profiles.enumerate() {
            // The next line subtracts all bytes at once. Because the high bit of each byte is set,
            // no byte borrows from the next. A byte keeps its high bit if the profile's width is
            // large enough.
            let is_wide_enough = ((widths | HIGH_BITS) - needed) & HIGH_BITS == HIGH_BITS;
            let bits = u32::from(profile.ends[coefficients.len()]);
            if bits < best.bits && is_wide_enough {
                best = Choice { profile: number as u8, bits };
            }
            if bits >= best.bits && is_full {
                break;
            }
        }
        best
    }

    /// Clamps `coefficients` to a narrower profile if the saved bits are worth the error. A bit is
    /// worth a squared error of `1 / weight`, in squared steps. `exact` contains the values before
    /// rounding, in steps.
    #[cfg(feature = "offline")]
    pub(crate) fn shrink(self, piece: usize, exact: &[f64], coefficients: &mut [i32], weight: f64) {
        /// The maximum number of coefficients that a profile may clamp.
        const MOST: u32 = 3;
        let (needed, escaped_bits) = Self::needed_widths(coefficients);
        let is_full = self.is_full(coefficients);
        let mut best = f64::from(escaped_bits);
        let mut chosen = None;
        let profiles = PACKED_WIDTHS[self as usize + piece].iter().zip(self.profiles(piece));
        for (widths, profile) in profiles {
            let mut cost = f64::from(profile.ends[coefficients.len()]);
            if cost >= best {
                if is_full {
                    break;
                }
                continue;
            }
            let mut too_narrow = !((widths | HIGH_BITS) - needed) & HIGH_BITS;
            if too_narrow.count_ones() > MOST {
                continue;
            }
            while too_narrow != 0 && cost < best {
                let k = (too_narrow.trailing_zeros() / 8) as usize;
                let (value, before) = (
                    f64::from(clamp(coefficients[k], profile.widths[k])),
                    f64::from(coefficients[k]),
                );
                cost += weight * ((exact[k] - value).powi(2) - (exact[k] - before).powi(2));
                too_narrow &= too_narrow - 1;
            }
            if cost < best {
                best = cost;
                chosen = Some(profile);
            }
        }
        if let Some(profile) = chosen {
            coefficients
                .iter_mut()
                .zip(profile.widths)
                .for_each(|(value, width)| *value = clamp(*value, width));
        }
    }
}

/// Returns the nearest number that fits into `width` bits.
#[cfg(feature = "offline")]
pub(crate) fn clamp(coefficient: i32, width: u8) -> i32 {
    if width == 0 { 0 } else { coefficient.clamp(-(1 << (width - 1)), (1 << (width - 1)) - 1) }
}

/// Returns the number of bits that a coefficient needs. Numbers from −2^(w−1) to 2^(w−1) − 1 fit
/// into w bits.
#[inline]
pub(crate) fn width_of(coefficient: i32) -> u8 {
    if coefficient == 0 {
        0
    } else {
        (33 - (coefficient ^ coefficient >> 31).leading_zeros()) as u8
    }
}

/// A mask with the highest bit of each byte.
pub(crate) const HIGH_BITS: u128 = 0x8080_8080_8080_8080_8080_8080_8080_8080;

computed! {
    /// The widths of all profiles, a byte each.
    static PACKED_WIDTHS: [[u128; PROFILES]; TABLES_COUNT] = [
        packed_widths(&TABLE[0]),
        packed_widths(&TABLE[1]),
        packed_widths(&TABLE[2]),
        packed_widths(&TABLE[3]),
    ];
}

const fn packed_widths(table: &Profiles) -> [u128; PROFILES] {
    let mut all = [0; PROFILES];
    let mut number = 0;
    while number < PROFILES {
        all[number] = packed(&table[number].widths);
        number += 1;
    }
    all
}

const fn packed(widths: &Widths) -> u128 {
    u128::from_le_bytes(*widths)
}

/// The number of tables: for block length 8, for block length 16, and for the first and second
/// piece of block length 32.
pub(crate) const TABLES_COUNT: usize = 4;
const BYTES: &[u8; PROFILES * (8 + 3 * PIECE)] = include_bytes!("widths.bin");
computed! {
    pub(crate) static TABLE: [Profiles; TABLES_COUNT] =
        [table(0, 8), table(8, PIECE), table(8 + PIECE, PIECE), table(8 + 2 * PIECE, PIECE)];
}

const fn table(before: usize, length: usize) -> Profiles {
    let mut profiles = [Profile::new([0; PIECE]); PROFILES];
    let mut number = 0;
    while number < PROFILES {
        let mut widths = [0; PIECE];
        let mut k = 0;
        while k < length {
            widths[k] = BYTES[(before * PROFILES) + number * length + k];
            k += 1;
        }
        profiles[number] = Profile::new(widths);
        number += 1;
    }
    profiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_can_read_all_profiles() {
        for profile in TABLE.iter().flatten() {
            assert!(profile.widths.iter().enumerate().all(|(k, width)| *width <= max_width(k)));
            for four in profile.widths.chunks_exact(4) {
                assert!(four.iter().copied().map(u32::from).sum::<u32>() <= MAX_FOUR_BITS);
            }
        }
    }

    #[test]
    fn coefficients_fit_into_their_widths() {
        for (value, width) in [
            (0, 0),
            (-1, 1),
            (1, 2),
            (-2, 2),
            (2, 3),
            (-3, 3),
            (-4, 3),
            (127, 8),
            (128, 9),
            (-128, 8),
        ] {
            assert_eq!(width_of(value), width, "{value}");
        }
    }
}
