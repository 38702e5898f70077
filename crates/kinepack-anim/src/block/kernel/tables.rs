//! The profiles in the form that kernels read, in tables that are small enough to stay in a cache.

use crate::block::widths::{
    ESCAPE, MAX_FOUR_BITS, PIECE, PROFILES, Profiles, TABLE, TABLES_COUNT, max_width,
};
use crate::computed::computed;

/// The number of values that a profile's byte can have: the profiles and [`ESCAPE`].
const NUMBERS: usize = PROFILES + 1;

/// The profiles of a piece, by number.
pub(super) struct Table {
    /// For each n and profile, the total bits of the first n coefficients.
    pub(super) bits: [[u8; NUMBERS]; PIECE + 1],
    /// The widths of the first and the second eight coefficients, a byte each.
    pub(super) widths: [[u64; 2]; NUMBERS],
    #[cfg(target_arch = "x86_64")]
    pub(super) eights: [[Eight; NUMBERS]; 2],
    /// The number to add to the left shifts. The index is the bit of a byte at which the first
    /// coefficient begins. Because it is a table, a single load can fill all lanes.
    #[cfg(target_arch = "x86_64")]
    pub(super) start_shifts: [i32; 8],
}

/// Describes how to unpack eight coefficients into 32 bits each.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Eight {
    /// For each coefficient, the four bytes to take, as indices into sixteen bytes. Index 0 is the
    /// byte in which the first coefficient begins, possibly at its last bit.
    pub(super) bytes: [[u8; 4]; 8],
    /// For each coefficient, the left shift that moves its highest bit to the top, if the first
    /// coefficient begins at a byte's lowest bit. A coefficient without bits is shifted out.
    pub(super) left_shifts: [i32; 8],
    /// For each coefficient, the right shift that follows the left shift and extends the sign.
    pub(super) right_shifts: [i32; 8],
}

/// Unpacks eight coefficients without bits, which are 0.
#[cfg(target_arch = "x86_64")]
const ZEROS: Eight = Eight { bytes: [[0; 4]; 8], left_shifts: [64; 8], right_shifts: [0; 8] };

computed! {
    /// The tables for block length 8, for block length 16, and for the first and second piece of
    /// block length 32.
    pub(super) static TABLES: [Table; TABLES_COUNT] =
        [table(&TABLE[0]), table(&TABLE[1]), table(&TABLE[2]), table(&TABLE[3])];
}

/// The maximum number of bytes that eight coefficients of a profile occupy.
pub(super) const MAX_EIGHT_BYTES: usize = (2 * MAX_FOUR_BITS as usize).div_ceil(8);

const fn table(profiles: &Profiles) -> Table {
    let mut table = Table {
        bits: [[0; NUMBERS]; PIECE + 1],
        widths: [[0; 2]; NUMBERS],
        #[cfg(target_arch = "x86_64")]
        eights: [[ZEROS; NUMBERS]; 2],
        #[cfg(target_arch = "x86_64")]
        start_shifts: [0, -1, -2, -3, -4, -5, -6, -7],
    };
    let mut number = 0;
    while number < PROFILES {
        let profile = &profiles[number];
        let mut k = 0;
        while k < PIECE {
            let width = profile.widths[k];
            assert!(
                profile.ends[k + 1] - profile.ends[k / 4 * 4] <= MAX_FOUR_BITS as u16
                    && width <= max_width(k)
            );
            table.bits[k + 1][number] = profile.ends[k + 1] as u8;
            table.widths[number][k / 8] |= (width as u64) << (8 * (k % 8));
            #[cfg(target_arch = "x86_64")]
            {
                let eight = &mut table.eights[k / 8][number];
                let start = (profile.ends[k] - profile.ends[k / 8 * 8]) as u8;
                let first = start / 8;
                // An index past the sixteenth byte wraps, because the coefficient has no bits
                // there.
                eight.bytes[k % 8] = [first, (first + 1) % 16, (first + 2) % 16, (first + 3) % 16];
                if width != 0 {
                    eight.right_shifts[k % 8] = 32 - width as i32;
                    eight.left_shifts[k % 8] = 32 - width as i32 - (start % 8) as i32;
                }
            }
            k += 1;
        }
        number += 1;
    }
    table
}

const _: () = assert!(ESCAPE as usize == PROFILES && PIECE / 4 * (MAX_FOUR_BITS as usize) < 256);
