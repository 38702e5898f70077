//! How many bits each coefficient of a segment has: 255 profiles for each block length, found by `kinepack anim train` and part of the
//! format. `spec/widths.txt` is the same table to read.

use super::basis::MAX_LENGTH;

/// Profiles for each block length.
pub(crate) const PROFILES: usize = 255;
/// In the place of a profile: the widths stand in the segment.
pub(crate) const ESCAPE: u8 = 255;
/// Bits of a width that stands in a segment, and the largest.
pub(crate) const ESCAPE_WIDTH_BITS: u32 = 5;
pub(crate) const MAX_ESCAPE_WIDTH: u8 = 24;
/// The largest width in a profile.
pub(crate) const MAX_WIDTH: u8 = 16;
/// The most bits of four coefficients from a multiple of four on, so that one load of 64 bits has them from any bit of a byte on.
pub(crate) const MAX_FOUR_BITS: u32 = 56;

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
}

/// Bits of each coefficient, and what follows from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    pub(crate) widths: [u8; MAX_LENGTH],
    /// Bits of the first coefficients, by how many.
    pub(crate) ends: [u16; MAX_LENGTH + 1],
    /// Eights of coefficients up to the last that has a width above 0.
    pub(crate) eights: u8,
}

impl Profile {
    pub(crate) const fn new(widths: [u8; MAX_LENGTH]) -> Self {
        let mut ends = [0; MAX_LENGTH + 1];
        let mut eights = 0;
        let mut k = 0;
        while k < MAX_LENGTH {
            ends[k + 1] = ends[k] + widths[k] as u16;
            if widths[k] > 0 {
                eights = k as u8 / 8 + 1;
            }
            k += 1;
        }
        Self { widths, ends, eights }
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
    /// The profile with the fewest bits that has room for coefficients of these widths, of which there are `length`.
    pub(crate) fn choose(self, widths: &[u8; MAX_LENGTH], length: usize) -> Choice {
        let own: u32 = widths.iter().copied().map(u32::from).sum();
        let mut best = Choice { profile: ESCAPE, bits: own + ESCAPE_WIDTH_BITS * length as u32 };
        let wanted = packed(widths);
        let words = self.samples() / 8;
        for (number, (room, profile)) in ROOMS[self as usize].iter().zip(profiles(self)).enumerate() {
            // Each byte keeps its highest bit where the room is enough, and lends to no other.
            let is_enough = |word: usize| ((room[word] | TOPS) - wanted[word]) & TOPS == TOPS;
            let bits = u32::from(profile.ends[length]);
            if bits < best.bits && (0..words).all(is_enough) {
                best = Choice { profile: number as u8, bits };
                if bits == own {
                    break;
                }
            }
        }
        best
    }
}

/// How many bits a coefficient needs: of w bits are −2^(w−1) to 2^(w−1) − 1.
#[inline]
pub(crate) fn width_of(coefficient: i32) -> u8 {
    if coefficient == 0 { 0 } else { (33 - (coefficient ^ coefficient >> 31).leading_zeros()) as u8 }
}

const TOPS: u64 = 0x8080_8080_8080_8080;

/// The widths of all profiles, eight to a word.
static ROOMS: [[[u64; 4]; PROFILES]; 3] = [rooms(&TABLES[0]), rooms(&TABLES[1]), rooms(&TABLES[2])];

const fn rooms(profiles: &[Profile; PROFILES]) -> [[u64; 4]; PROFILES] {
    let mut rooms = [[0; 4]; PROFILES];
    let mut number = 0;
    while number < PROFILES {
        rooms[number] = packed(&profiles[number].widths);
        number += 1;
    }
    rooms
}

const fn packed(widths: &[u8; MAX_LENGTH]) -> [u64; 4] {
    let mut words = [0; 4];
    let mut k = 0;
    while k < MAX_LENGTH {
        words[k / 8] |= (widths[k] as u64) << (8 * (k % 8));
        k += 1;
    }
    words
}

const BYTES: &[u8; PROFILES * (8 + 16 + 32)] = include_bytes!("widths.bin");

const TABLES: [[Profile; PROFILES]; 3] = [table(0, 8), table(PROFILES * 8, 16), table(PROFILES * 24, 32)];

const fn table(first: usize, length: usize) -> [Profile; PROFILES] {
    let mut profiles = [Profile::new([0; MAX_LENGTH]); PROFILES];
    let mut index = 0;
    while index < PROFILES {
        let mut widths = [0; MAX_LENGTH];
        let mut k = 0;
        while k < length {
            widths[k] = BYTES[first + index * length + k];
            k += 1;
        }
        profiles[index] = Profile::new(widths);
        index += 1;
    }
    profiles
}

/// The profiles of a block length.
#[inline]
pub(crate) fn profiles(length: BlockLength) -> &'static [Profile; PROFILES] {
    static PROFILES_BY_LENGTH: [[Profile; PROFILES]; 3] = TABLES;
    &PROFILES_BY_LENGTH[length as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_profiles_are_within_what_kernels_take() {
        for length in BlockLength::ALL {
            for profile in profiles(length) {
                assert!(profile.widths.iter().all(|width| *width <= MAX_WIDTH));
                for four in profile.widths.chunks_exact(4) {
                    assert!(four.iter().copied().map(u32::from).sum::<u32>() <= MAX_FOUR_BITS);
                }
                assert!(profile.widths[length.samples()..].iter().all(|width| *width == 0));
            }
        }
    }
}
