//! How many bits each coefficient of a segment has: 255 profiles for each *piece* of a component,
//! found by `kinepack anim train` and part of the format. `spec/widths.txt` is the same table to
//! read. A piece is a component's coefficients in a segment, of blocks of 32 each half of them.

/// The most coefficients of a piece.
pub(crate) const PIECE: usize = 16;
/// Profiles of each piece.
pub(crate) const PROFILES: usize = 255;
/// In the place of a profile: the widths stand in the segment.
pub(crate) const ESCAPE: u8 = 255;
/// Bits of a width that stands in a segment, and the largest.
pub(crate) const ESCAPE_WIDTH_BITS: u32 = 5;
pub(crate) const MAX_ESCAPE_WIDTH: u8 = 24;
/// The largest width of a coefficient in a profile: the first one of a path through a world is
/// long.
pub(crate) const fn max_width(k: usize) -> u8 {
    if k == 0 { MAX_ESCAPE_WIDTH } else { 16 }
}
/// The most bits of four coefficients from a multiple of four on, so that one load of 64 bits has
/// them from any bit of a byte on.
pub(crate) const MAX_FOUR_BITS: u32 = 56;

/// Widths of the coefficients of a piece.
pub(crate) type Widths = [u8; PIECE];
/// Profiles of a piece.
pub(crate) type Profiles = [Profile; PROFILES];

/// How many samples a segment has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockLength {
    /// 8 samples.
    N8 = 0,
    /// 16 samples.
    N16 = 1,
    /// 32 samples.
    N32 = 2,
}

impl BlockLength {
    /// From the shortest to the longest.
    pub const ALL: [Self; 3] = [Self::N8, Self::N16, Self::N32];

    /// In samples.
    #[inline]
    pub const fn samples(self) -> usize {
        8 << self as usize
    }

    /// Pieces of a component.
    #[inline]
    pub(crate) const fn pieces(self) -> usize {
        if matches!(self, Self::N32) { 2 } else { 1 }
    }

    /// The profiles of a piece.
    #[inline]
    pub(crate) fn profiles(self, piece: usize) -> &'static Profiles {
        &TABLE[self as usize + piece]
    }
}

/// The coefficients of a piece, of a segment of `length` samples.
#[inline]
pub(crate) fn of_piece(piece: usize, length: usize) -> std::ops::Range<usize> {
    (PIECE * piece).min(length)..(PIECE * (piece + 1)).min(length)
}

/// Bits of each coefficient, and what follows from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    pub(crate) widths: Widths,
    /// Bits of the first coefficients, by how many.
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

/// How the coefficients of a component are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// A profile, or [`ESCAPE`].
    pub(crate) profile: u8,
    /// Bits of the coefficients, and of their widths where those stand in front of them.
    pub(crate) bits: u32,
}

impl BlockLength {
    /// What the coefficients of a piece need of a profile, a byte each, and what they take where
    /// none is chosen.
    fn wanted(coefficients: &[i32]) -> (u128, u32) {
        let mut widths = [0; PIECE];
        widths.iter_mut().zip(coefficients).for_each(|(width, value)| *width = width_of(*value));
        let own: u32 = widths.iter().copied().map(u32::from).sum();
        (packed(&widths), own + ESCAPE_WIDTH_BITS * coefficients.len() as u32)
    }

    /// Whether it is a piece as long as profiles are, all of which are in the order of their bits.
    fn is_whole(self, coefficients: &[i32]) -> bool {
        coefficients.len() == self.samples().min(PIECE)
    }

    /// The profile of a piece with the fewest bits that has room for its coefficients.
    pub(crate) fn choose(self, piece: usize, coefficients: &[i32]) -> Choice {
        let (wanted, escaped_bits) = Self::wanted(coefficients);
        let mut best = Choice { profile: ESCAPE, bits: escaped_bits };
        let is_whole = self.is_whole(coefficients);
        let rooms = ROOMS[self as usize + piece].iter().zip(self.profiles(piece));
        for (number, (room, profile)) in rooms.enumerate() {
            // Each byte keeps its highest bit where the room is enough, and lends to no other.
            let is_enough = ((room | TOPS) - wanted) & TOPS == TOPS;
            let bits = u32::from(profile.ends[coefficients.len()]);
            if bits < best.bits && is_enough {
                best = Choice { profile: number as u8, bits };
            }
            if bits >= best.bits && is_whole {
                break;
            }
        }
        best
    }

    #[cfg(feature = "offline")]
    /// Makes coefficients smaller where a profile with fewer bits is worth it: a bit weighs as much
    /// as `1 / weight` of a squared step. `exact` is what they are rounded from, in steps.
    pub(crate) fn shrink(self, piece: usize, exact: &[f64], coefficients: &mut [i32], weight: f64) {
        /// Coefficients that may lose by one profile.
        const MOST: u32 = 3;
        let (wanted, escaped_bits) = Self::wanted(coefficients);
        let is_whole = self.is_whole(coefficients);
        let mut best = f64::from(escaped_bits);
        let mut chosen = None;
        for (room, profile) in ROOMS[self as usize + piece].iter().zip(self.profiles(piece)) {
            let mut cost = f64::from(profile.ends[coefficients.len()]);
            if cost >= best {
                if is_whole {
                    break;
                }
                continue;
            }
            let mut short = !((room | TOPS) - wanted) & TOPS;
            if short.count_ones() > MOST {
                continue;
            }
            while short != 0 && cost < best {
                let k = (short.trailing_zeros() / 8) as usize;
                let (value, before) = (
                    f64::from(clamp(coefficients[k], profile.widths[k])),
                    f64::from(coefficients[k]),
                );
                cost += weight * ((exact[k] - value).powi(2) - (exact[k] - before).powi(2));
                short &= short - 1;
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

#[cfg(feature = "offline")]
/// The nearest number of a width.
fn clamp(coefficient: i32, width: u8) -> i32 {
    if width == 0 { 0 } else { coefficient.clamp(-(1 << (width - 1)), (1 << (width - 1)) - 1) }
}

/// How many bits a coefficient needs: of w bits are −2^(w−1) to 2^(w−1) − 1.
#[inline]
pub(crate) fn width_of(coefficient: i32) -> u8 {
    if coefficient == 0 {
        0
    } else {
        (33 - (coefficient ^ coefficient >> 31).leading_zeros()) as u8
    }
}

const TOPS: u128 = 0x8080_8080_8080_8080_8080_8080_8080_8080;

/// The widths of all profiles, a byte each.
static ROOMS: [[u128; PROFILES]; TABLES_COUNT] = [rooms(0), rooms(1), rooms(2), rooms(3)];

const fn rooms(table: usize) -> [u128; PROFILES] {
    let mut rooms = [0; PROFILES];
    let mut number = 0;
    while number < PROFILES {
        rooms[number] = packed(&TABLE[table][number].widths);
        number += 1;
    }
    rooms
}

const fn packed(widths: &Widths) -> u128 {
    u128::from_le_bytes(*widths)
}

/// For blocks of 8, of 16, the first and the second half of those of 32.
pub(crate) const TABLES_COUNT: usize = 4;
const BYTES: &[u8; PROFILES * (8 + 3 * PIECE)] = include_bytes!("widths.bin");
pub(crate) static TABLE: [Profiles; TABLES_COUNT] =
    [table(0, 8), table(8, PIECE), table(8 + PIECE, PIECE), table(8 + 2 * PIECE, PIECE)];

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
    fn all_profiles_are_within_what_kernels_take() {
        for profile in TABLE.iter().flatten() {
            assert!(profile.widths.iter().enumerate().all(|(k, width)| *width <= max_width(k)));
            for four in profile.widths.chunks_exact(4) {
                assert!(four.iter().copied().map(u32::from).sum::<u32>() <= MAX_FOUR_BITS);
            }
        }
    }

    #[test]
    fn widths_have_room() {
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
