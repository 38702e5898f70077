//! Numbers from decisions: one of several alternatives, and signed numbers of any magnitude.

use super::{Coder, Counter};

/// Codes a number of `bits` bits from the top bit down, each with a counter for the bits above it.
/// Uses the first 2^`bits` counters, except for number 0. An alternative that never occurs costs
/// next to nothing.
///
/// Returns the number. Bits of `value` above `bits` are ignored.
///
/// # Panics
/// If there are fewer counters.
#[inline]
pub fn code_tree<C: Coder>(
    coder: &mut C,
    counters: &mut [Counter],
    value: u32,
    bits: u32,
    limit: u8,
) -> u32 {
    debug_assert!(bits < 32);
    let counters = &mut counters[..1 << bits];
    let mut node = 1;
    for bit in (0..bits).rev() {
        let is_set = counters[node].code(coder, value >> bit & 1 != 0, limit);
        node = node << 1 | usize::from(is_set);
    }
    (node - (1 << bits)) as u32
}

/// The largest exponent: magnitudes end at 2³³ − 1.
pub const MAX_EXPONENT: u32 = 32;

/// Bits below the leading one that have counters.
const MODELLED_BITS: u32 = 3;
/// Exponents from this one on share the counters of their mantissas.
const LAST_MANTISSA: u32 = 15;

/// Number of counters for [`Signed::mantissas`]: 8 for each exponent from 0 to 15.
pub const MANTISSAS: usize = (LAST_MANTISSA as usize + 1) << MODELLED_BITS;

/// The counters of one kind of signed number, for [`code_signed`].
#[derive(Debug)]
pub struct Signed<'a> {
    /// Whether it is 0.
    pub zero: &'a mut Counter,
    /// Whether it is negative.
    pub sign: &'a mut Counter,
    /// At index k: whether a magnitude of at least 2^k is at least 2^(k + 1). The last one also
    /// serves for all larger k. There is at least one.
    pub exponents: &'a mut [Counter],
    /// The 3 bits below the leading one, with a tree for each exponent k: node n is at index
    /// 8·min(k, 15) + n. Exactly [`MANTISSAS`].
    pub mantissas: &'a mut [Counter],
}

/// Codes a number of magnitude 2³³ − 1 or less: whether it is 0, its sign, its exponent in unary,
/// the 3 bits below the leading one, each decision with its counter; then the rest with even
/// probabilities. Returns the number. A decoder never returns one outside.
///
/// # Panics
/// If a slice of the model does not have the documented length.
#[inline]
pub fn code_signed<C: Coder>(coder: &mut C, value: i64, model: Signed<'_>, limit: u8) -> i64 {
    let magnitude = value.unsigned_abs();
    debug_assert!(magnitude >> MAX_EXPONENT <= 1);
    if model.zero.code(coder, value == 0, limit) {
        return 0;
    }
    let is_negative = model.sign.code(coder, value < 0, limit);
    let exponent = code_exponent(coder, magnitude, model.exponents, limit);
    let tree_bits = exponent.min(MODELLED_BITS);
    let flat_bits = exponent - tree_bits;
    let from = (exponent.min(LAST_MANTISSA) << MODELLED_BITS) as usize;
    let tree = &mut model.mantissas[..MANTISSAS][from..from + (1 << MODELLED_BITS)];
    let above = code_tree(coder, tree, (magnitude >> flat_bits) as u32, tree_bits, limit);
    let below = coder.code_direct(magnitude as u32, flat_bits);
    let magnitude = ((1i64 << tree_bits | i64::from(above)) << flat_bits) | i64::from(below);
    if is_negative { -magnitude } else { magnitude }
}

/// The number of halvings until `magnitude`, which is not 0, becomes 1.
#[inline]
fn code_exponent<C: Coder>(
    coder: &mut C,
    magnitude: u64,
    counters: &mut [Counter],
    limit: u8,
) -> u32 {
    let last = counters.len() - 1;
    let mut exponent = 0;
    while exponent < MAX_EXPONENT {
        let counter = &mut counters[last.min(exponent as usize)];
        if !counter.code(coder, magnitude >> exponent > 1, limit) {
            break;
        }
        exponent += 1;
    }
    exponent
}
