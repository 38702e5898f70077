//! What kernels need of the profiles, each in as few bytes as it takes so that a cache keeps them. Computed when the library is compiled.

use crate::block::widths::{ESCAPE, MAX_FOUR_BITS, PIECE, PROFILES, Profile, TABLE, TABLES_COUNT};

/// Numbers of profiles, [`ESCAPE`] too.
const NUMBERS: usize = PROFILES + 1;

/// What is known of the profiles of a piece, by number.
pub(super) struct Table {
    /// Bits of the first coefficients, by how many.
    pub(super) bits: [[u8; NUMBERS]; PIECE + 1],
    /// Widths of two eights, a byte each.
    pub(super) widths: [[u64; 2]; NUMBERS],
    /// Where each coefficient begins, counted in bits from the beginning of its four: of each eight the numbers 0, 1, 4, 5, 2, 3, 6, 7, a byte each.
    pub(super) starts: [[u64; 2]; NUMBERS],
    /// The bits of each coefficient of four fours, at the bottom of 16 bits each.
    pub(super) wide: [[u64; 4]; NUMBERS],
    /// The bits of each coefficient of two eights, at the bottom of 8 bits each; only where it `is_narrow`.
    pub(super) narrow: [[u64; 2]; NUMBERS],
    /// Of which eights no coefficient has more than 8 bits, and all together no more than one load of 64 bits has: a bit each.
    pub(super) is_narrow: [u8; NUMBERS],
}

/// For blocks of 8, of 16, the first and the second half of those of 32.
pub(super) static TABLES: [Table; TABLES_COUNT] = [table(0), table(1), table(2), table(3)];

/// The most bits of a piece whose widths are a profile's.
pub(super) const MAX_PIECE_BITS: usize = PIECE / 4 * MAX_FOUR_BITS as usize;

const fn table(at: usize) -> Table {
    let mut table = Table {
        bits: [[0; NUMBERS]; PIECE + 1],
        widths: [[0; 2]; NUMBERS],
        starts: [[0; 2]; NUMBERS],
        wide: [[0; 4]; NUMBERS],
        narrow: [[0; 2]; NUMBERS],
        is_narrow: [0; NUMBERS],
    };
    let mut number = 0;
    while number < PROFILES {
        let profile = &TABLE[at][number];
        let narrow = [is_narrow(profile, 0), is_narrow(profile, 1)];
        table.is_narrow[number] = narrow[0] as u8 | (narrow[1] as u8) << 1;
        let mut k = 0;
        while k < PIECE {
            let (width, eight) = (profile.widths[k], k / 8);
            let mask = (1 << width) - 1;
            let start = (profile.ends[k] - profile.ends[k / 4 * 4]) as u64;
            assert!(start + width as u64 <= MAX_FOUR_BITS as u64 && width <= 16);
            table.bits[k + 1][number] = profile.ends[k + 1] as u8;
            table.widths[number][eight] |= (width as u64) << (8 * (k % 8));
            table.starts[number][eight] |= start << (8 * [0, 1, 4, 5, 2, 3, 6, 7][k % 8]);
            table.wide[number][k / 4] |= mask << (16 * (k % 4));
            if narrow[eight] {
                table.narrow[number][eight] |= mask << (8 * (k % 8));
            }
            k += 1;
        }
        number += 1;
    }
    table
}

const fn is_narrow(profile: &Profile, eight: usize) -> bool {
    let mut k = 8 * eight;
    while k < 8 * eight + 8 {
        if profile.widths[k] > 8 {
            return false;
        }
        k += 1;
    }
    profile.ends[8 * eight + 8] - profile.ends[8 * eight] <= MAX_FOUR_BITS as u16
}

const _: () = assert!(ESCAPE as usize == PROFILES && MAX_PIECE_BITS < 256);
