//! What kernels need of the profiles, each in as few bytes as it takes so that a cache keeps them.
//! Computed when the library is compiled.

use crate::block::widths::{
    ESCAPE, MAX_FOUR_BITS, PIECE, PROFILES, TABLE, TABLES_COUNT, max_width,
};

/// Numbers of profiles, [`ESCAPE`] too.
const NUMBERS: usize = PROFILES + 1;

/// What is known of the profiles of a piece, by number.
pub(super) struct Table {
    /// Bits of the first coefficients, by how many.
    pub(super) bits: [[u8; NUMBERS]; PIECE + 1],
    /// Widths of two eights, a byte each.
    pub(super) widths: [[u64; 2]; NUMBERS],
    #[cfg(target_arch = "x86_64")]
    pub(super) eights: [[Eight; NUMBERS]; 2],
    /// How much less far to the left they go that begin with each bit of a byte: a number in all
    /// lanes is one load.
    #[cfg(target_arch = "x86_64")]
    pub(super) counts: [i32; 8],
}

/// How eight coefficients are brought into 32 bits each.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Eight {
    /// Which of the sixteen bytes from the one on in which the first begins have those of each; it
    /// may begin in the last bit of a byte.
    pub(super) bytes: [[u8; 4]; 8],
    /// How far to the left each goes, so that its highest bit is the highest, if the first one
    /// begins with a byte; of no bits, so far that none is left.
    pub(super) lefts: [i32; 8],
    /// How far to the right then.
    pub(super) rights: [i32; 8],
}

/// Eight coefficients of no bits.
#[cfg(target_arch = "x86_64")]
const NOTHING: Eight = Eight { bytes: [[0; 4]; 8], lefts: [64; 8], rights: [0; 8] };

/// For blocks of 8, of 16, the first and the second half of those of 32.
pub(super) static TABLES: [Table; TABLES_COUNT] = [table(0), table(1), table(2), table(3)];

/// The most bytes of eight coefficients of a profile.
pub(super) const MAX_EIGHT_BYTES: usize = (2 * MAX_FOUR_BITS as usize).div_ceil(8);

const fn table(at: usize) -> Table {
    let mut table = Table {
        bits: [[0; NUMBERS]; PIECE + 1],
        widths: [[0; 2]; NUMBERS],
        #[cfg(target_arch = "x86_64")]
        eights: [[NOTHING; NUMBERS]; 2],
        #[cfg(target_arch = "x86_64")]
        counts: [0, -1, -2, -3, -4, -5, -6, -7],
    };
    let mut number = 0;
    while number < PROFILES {
        let profile = &TABLE[at][number];
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
                // Behind the sixteenth byte there are none of it.
                eight.bytes[k % 8] = [first, (first + 1) % 16, (first + 2) % 16, (first + 3) % 16];
                if width != 0 {
                    eight.rights[k % 8] = 32 - width as i32;
                    eight.lefts[k % 8] = 32 - width as i32 - (start % 8) as i32;
                }
            }
            k += 1;
        }
        number += 1;
    }
    table
}

const _: () = assert!(ESCAPE as usize == PROFILES && PIECE / 4 * (MAX_FOUR_BITS as usize) < 256);
