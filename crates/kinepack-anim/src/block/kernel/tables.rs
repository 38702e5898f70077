//! What kernels need of the profiles, each in as few bytes as it takes so that a cache keeps them. Computed when the library is compiled.

use crate::block::widths::{ESCAPE, PIECE, PROFILES, TABLE, TABLES_COUNT};

/// Numbers of profiles, [`ESCAPE`] too.
const NUMBERS: usize = PROFILES + 1;
/// Of something about each profile, by table.
pub(super) type Each<T> = [[T; NUMBERS]; TABLES_COUNT];

/// Bits of the first coefficients of a piece: by table, how many, profile.
pub(super) static BITS: [[[u8; NUMBERS]; PIECE + 1]; TABLES_COUNT] = {
    let mut bits = [[[0; NUMBERS]; PIECE + 1]; TABLES_COUNT];
    let mut at = 0;
    while at < TABLES_COUNT * (PIECE + 1) * PROFILES {
        let (table, count, number) = (at / PROFILES / (PIECE + 1), at / PROFILES % (PIECE + 1), at % PROFILES);
        // Four times MAX_FOUR_BITS at most.
        bits[table][count][number] = TABLE[table][number].ends[count] as u8;
        at += 1;
    }
    bits
};

/// Widths of two eights, a byte each.
pub(super) static WIDTHS: Each<[u64; 2]> = {
    let mut widths = [[[0; 2]; NUMBERS]; TABLES_COUNT];
    let mut at = 0;
    while at < TABLES_COUNT * PROFILES * PIECE {
        let (table, number, k) = (at / PIECE / PROFILES, at / PIECE % PROFILES, at % PIECE);
        widths[table][number][k / 8] |= (TABLE[table][number].widths[k] as u64) << (8 * (k % 8));
        at += 1;
    }
    widths
};

/// Where each coefficient begins, counted in bits from the beginning of its four: of each eight the numbers 0, 1, 4, 5, 2, 3, 6, 7, a byte each.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", test))]
pub(super) static STARTS: Each<[u64; 2]> = {
    let mut starts = [[[0; 2]; NUMBERS]; TABLES_COUNT];
    let mut at = 0;
    while at < TABLES_COUNT * PROFILES * PIECE {
        let (table, number, k) = (at / PIECE / PROFILES, at / PIECE % PROFILES, at % PIECE);
        let ends = &TABLE[table][number].ends;
        let place = [0, 1, 4, 5, 2, 3, 6, 7][k % 8];
        starts[table][number][k / 8] |= ((ends[k] - ends[k / 4 * 4]) as u64) << (8 * place);
        at += 1;
    }
    starts
};

/// The bits of each coefficient of four fours, at the bottom of 16 bits each.
#[cfg(target_arch = "x86_64")]
pub(super) static WIDE: Each<[u64; 4]> = {
    let mut masks = [[[0; 4]; NUMBERS]; TABLES_COUNT];
    let mut at = 0;
    while at < TABLES_COUNT * PROFILES * PIECE {
        let (table, number, k) = (at / PIECE / PROFILES, at / PIECE % PROFILES, at % PIECE);
        masks[table][number][k / 4] |= ((1 << TABLE[table][number].widths[k]) - 1) << (16 * (k % 4));
        at += 1;
    }
    masks
};

/// The bits of each coefficient of two eights, at the bottom of 8 bits each; only of those that [`IS_NARROW`].
#[cfg(target_arch = "x86_64")]
pub(super) static NARROW: Each<[u64; 2]> = {
    let mut masks = [[[0; 2]; NUMBERS]; TABLES_COUNT];
    let mut at = 0;
    while at < TABLES_COUNT * PROFILES * PIECE {
        let (table, number, k) = (at / PIECE / PROFILES, at / PIECE % PROFILES, at % PIECE);
        if is_narrow(table, number, k / 8) {
            masks[table][number][k / 8] |= ((1 << TABLE[table][number].widths[k]) - 1) << (8 * (k % 8));
        }
        at += 1;
    }
    masks
};

/// Of which eights of a piece no coefficient has more than 8 bits, and all together what one load of 64 bits has: a bit each.
#[cfg(target_arch = "x86_64")]
pub(super) static IS_NARROW: Each<u8> = {
    let mut flags = [[0; NUMBERS]; TABLES_COUNT];
    let mut at = 0;
    while at < TABLES_COUNT * PROFILES {
        let (table, number) = (at / PROFILES, at % PROFILES);
        flags[table][number] = is_narrow(table, number, 0) as u8 | (is_narrow(table, number, 1) as u8) << 1;
        at += 1;
    }
    flags
};

#[cfg(target_arch = "x86_64")]
const fn is_narrow(table: usize, number: usize, eight: usize) -> bool {
    let profile = &TABLE[table][number];
    let mut k = 8 * eight;
    while k < 8 * eight + 8 {
        if profile.widths[k] > 8 {
            return false;
        }
        k += 1;
    }
    profile.ends[8 * eight + 8] - profile.ends[8 * eight] <= crate::block::widths::MAX_FOUR_BITS as u16
}

const _: () = assert!(ESCAPE as usize == PROFILES);
