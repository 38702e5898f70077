//! The profiles of pieces, arranged for the builder, which searches them millions of times. The
//! results equal those of [`BlockLength::choose`] and [`BlockLength::shrink`]. Two measures make
//! the search faster. The search begins at the first profile with enough bits. It also computes the
//! minimum width of each coefficient, so that one comparison rejects nearly all profiles.

use std::sync::LazyLock;

use crate::block::{
    BlockLength, ESCAPE_WIDTH_BITS, HIGH_BITS, PIECE, PROFILES, clamp, piece_range, width_of,
};

/// The maximum number of coefficients that a profile may clamp.
const MOST: u32 = 3;
/// The maximum number of bits by which a coefficient may become narrower. Each bit doubles the
/// error.
const NARROWER: usize = 4;
/// A number that exceeds the bits of any profile.
const MOST_BITS: usize = 24 * PIECE + 1;

/// The profiles of pieces of one length, sorted by their bits.
struct Piece {
    /// The widths of each profile, a byte each.
    packed: [u128; PROFILES],
    /// The total bits of each profile.
    bits: [u16; PROFILES],
    /// For each number of bits, the first profile that has at least that many.
    first: [u8; MOST_BITS],
}

/// The profiles by table, then by length. The tables are for block length 8, for block length 16,
/// and for the first and second piece of block length 32.
static PIECES: LazyLock<[Vec<Piece>; 4]> = LazyLock::new(|| {
    [(BlockLength::N8, 0), (BlockLength::N16, 0), (BlockLength::N32, 0), (BlockLength::N32, 1)].map(
        |(block, piece)| {
            let longest = block.samples().min(PIECE);
            (0..=longest).map(|length| Piece::new(block, piece, length)).collect()
        },
    )
});

impl Piece {
    fn get(block: BlockLength, piece: usize, length: usize) -> &'static Self {
        &PIECES[block as usize + piece][length]
    }

    fn new(block: BlockLength, piece: usize, length: usize) -> Self {
        let mut profiles: Vec<_> = block.profiles(piece).iter().collect();
        profiles.sort_by_key(|profile| profile.ends[length]);
        let bits: [u16; PROFILES] = std::array::from_fn(|at| profiles[at].ends[length]);
        let first = |least: usize| bits.partition_point(|own| usize::from(*own) < least) as u8;
        Self {
            packed: std::array::from_fn(|at| u128::from_le_bytes(profiles[at].widths)),
            bits,
            first: std::array::from_fn(first),
        }
    }

    /// Returns the profiles with at least `least` bits, in ascending order of bits, each with its
    /// widths, bits and place.
    fn with_bits(&self, least: u32) -> impl Iterator<Item = (u128, u32, usize)> {
        let first = usize::from(self.first[(least as usize).min(MOST_BITS - 1)]);
        let wide = self.packed[first..].iter().zip(&self.bits[first..]).enumerate();
        wide.map(move |(index, (packed, bits))| (*packed, u32::from(*bits), first + index))
    }

    /// Returns the bits and the place of the narrowest profile that is wide enough, or `None` if an
    /// escape may take fewer bits.
    fn narrowest(&self, needed: &[u8; PIECE], length: usize) -> Option<(u32, usize)> {
        let packed = u128::from_le_bytes(*needed);
        let escaped_bits = sum(needed) + ESCAPE_WIDTH_BITS * length as u32;
        let mut wide = self.with_bits(sum(needed)).take_while(|(_, bits, _)| *bits < escaped_bits);
        wide.find(|(widths, ..)| is_wide_enough(*widths, packed))
            .map(|(_, bits, place)| (bits, place))
    }
}

/// Returns the number of bits that a component's coefficients take with their profiles.
pub(super) fn bits(block: BlockLength, coefficients: &[i32]) -> usize {
    let own = |piece| &coefficients[piece_range(piece, coefficients.len())];
    (0..block.pieces()).map(|piece| 8 + piece_bits(block, piece, own(piece)) as usize).sum()
}

fn piece_bits(block: BlockLength, piece: usize, coefficients: &[i32]) -> u32 {
    let own = Piece::get(block, piece, coefficients.len());
    // Pieces that need an escape are rare, so they take the slow search.
    let narrowest = own.narrowest(&needed(coefficients), coefficients.len());
    narrowest.map_or_else(|| block.choose(piece, coefficients).bits, |(bits, _)| bits)
}

/// Returns the widths that a component's coefficients have with their profiles.
pub(super) fn widths(block: BlockLength, coefficients: &[i32]) -> impl Iterator<Item = u8> {
    (0..block.pieces()).flat_map(move |piece| {
        let coefficients = &coefficients[piece_range(piece, coefficients.len())];
        let own = Piece::get(block, piece, coefficients.len());
        let needed = needed(coefficients);
        let narrowest = own.narrowest(&needed, coefficients.len());
        let widths = narrowest.map_or(needed, |(_, place)| own.packed[place].to_le_bytes());
        widths.into_iter().take(coefficients.len())
    })
}

/// Clamps the coefficients of a component to narrower profiles if the saved bits are worth the
/// error. A bit is worth a squared error of `1 / weight`, in squared steps. `exact` contains the
/// values before rounding, in steps.
pub(super) fn shrink(block: BlockLength, exact: &[f64], coefficients: &mut [i32], weight: f64) {
    for piece in 0..block.pieces() {
        let range = piece_range(piece, exact.len());
        let (exact, coefficients) = (&exact[range.clone()], &mut coefficients[range]);
        if coefficients.iter().any(|coefficient| *coefficient != 0) {
            let own = Piece::get(block, piece, coefficients.len());
            let needed = needed(coefficients);
            match own.narrowest(&needed, coefficients.len()) {
                Some((most, _)) => own.shrink(most, &needed, exact, coefficients, weight),
                None => block.shrink(piece, exact, coefficients, weight),
            }
        }
    }
}

impl Piece {
    /// Clamps coefficients that need the widths `needed` and that take `most` bits with the
    /// narrowest profile.
    fn shrink(
        &self,
        most: u32,
        needed: &[u8; PIECE],
        exact: &[f64],
        coefficients: &mut [i32],
        weight: f64,
    ) {
        // An entry is the cost of making a coefficient narrower by one bit, by two bits and so on.
        let mut costs = [[f64::INFINITY; NARROWER + 1]; PIECE];
        let mut least = *needed;
        let mut best = f64::from(most);
        for k in 0..coefficients.len() {
            let before = (exact[k] - f64::from(coefficients[k])).powi(2);
            let fewest = needed[k].saturating_sub(NARROWER as u8);
            for (width, cost_of) in (fewest..needed[k]).rev().zip(&mut costs[k][1..]) {
                let value = f64::from(clamp(coefficients[k], width));
                let cost = weight * ((exact[k] - value).powi(2) - before);
                if cost >= best {
                    break;
                }
                *cost_of = cost;
                least[k] = width;
            }
        }
        // Any profile takes at least the sum of these minimum widths, so the clamps may cost only
        // the remaining bits.
        let rest = best - f64::from(sum(&least));
        for k in 0..coefficients.len() {
            while least[k] < needed[k] && costs[k][usize::from(needed[k] - least[k])] >= rest {
                least[k] += 1;
            }
        }
        let (packed_needed, packed_least) =
            (u128::from_le_bytes(*needed), u128::from_le_bytes(least));
        let mut chosen = None;
        for (widths, bits, number) in self.with_bits(sum(&least)) {
            let mut cost = f64::from(bits);
            if cost >= best {
                break;
            }
            if !is_wide_enough(widths, packed_least) {
                continue;
            }
            let mut too_narrow = !((widths | HIGH_BITS) - packed_needed) & HIGH_BITS;
            let mut clamped = 0;
            while too_narrow != 0 && clamped < MOST && cost < best {
                let k = (too_narrow.trailing_zeros() / 8) as usize;
                cost += costs[k][usize::from(needed[k] - widths.to_le_bytes()[k])];
                too_narrow &= too_narrow - 1;
                clamped += 1;
            }
            if too_narrow == 0 && cost < best {
                best = cost;
                chosen = Some(number);
            }
        }
        if let Some(number) = chosen {
            let widths = self.packed[number].to_le_bytes();
            coefficients
                .iter_mut()
                .zip(widths)
                .for_each(|(value, width)| *value = clamp(*value, width));
        }
    }
}

/// Returns the widths that the coefficients of a piece need.
fn needed(coefficients: &[i32]) -> [u8; PIECE] {
    let mut widths = [0; PIECE];
    widths.iter_mut().zip(coefficients).for_each(|(width, value)| *width = width_of(*value));
    widths
}

fn sum(widths: &[u8; PIECE]) -> u32 {
    widths.iter().copied().map(u32::from).sum()
}

/// Compares all widths at once. Because the high bit of each byte is set, no byte borrows from the
/// next. A byte keeps its high bit if the profile's width is large enough.
fn is_wide_enough(widths: u128, least: u128) -> bool {
    ((widths | HIGH_BITS) - least) & HIGH_BITS == HIGH_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random coefficients before rounding. Small ones are more frequent.
    fn exact(seed: &mut u64, length: usize) -> Vec<f64> {
        let mut random = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*seed >> 33) as f64 / f64::from(1_u32 << 31)
        };
        let size = 2.0_f64.powf(10.0 * random());
        let slope = random();
        (0..length).map(|k| (random() - 0.5) * size * (-slope * k as f64).exp()).collect()
    }

    #[test]
    fn pieces_get_the_profiles_of_the_plain_search() {
        let mut seed = 7;
        for block in BlockLength::ALL {
            for length in [1, 3, block.samples() - 3, block.samples()] {
                for _ in 0..1000 {
                    let exact = exact(&mut seed, length);
                    let mut fast: Vec<i32> =
                        exact.iter().map(|number| number.round() as i32).collect();
                    let mut plain = fast.clone();
                    shrink(block, &exact, &mut fast, 12.0);
                    let mut expected_bits = 0;
                    for piece in 0..block.pieces() {
                        let own = piece_range(piece, length);
                        block.shrink(piece, &exact[own.clone()], &mut plain[own.clone()], 12.0);
                        expected_bits += 8 + block.choose(piece, &plain[own]).bits as usize;
                    }
                    assert_eq!(fast, plain);
                    assert_eq!(bits(block, &fast), expected_bits);
                }
            }
        }
    }
}
