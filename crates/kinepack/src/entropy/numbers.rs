//! Combines decisions into numbers: one of several alternatives, and signed numbers of any
//! magnitude.

use super::{Coder, Counter};

/// A kind of decision whose probability adapts to earlier decisions.
pub(crate) trait Decision {
    /// The parameters and the state that all decisions of a packet share.
    type Rule;

    /// Selects the part of the format that the next decisions belong to.
    #[inline]
    fn select(_rule: &mut Self::Rule, _part: usize) {}

    /// Codes a decision and learns from it.
    fn decide<C: Coder>(&mut self, coder: &mut C, bit: bool, rule: &mut Self::Rule) -> bool;
}

impl Decision for Counter {
    /// The maximum number of observations that the counter remembers.
    type Rule = u8;

    #[inline(always)]
    fn decide<C: Coder>(&mut self, coder: &mut C, bit: bool, limit: &mut u8) -> bool {
        self.code(coder, bit, *limit)
    }
}

/// Codes a number of `bits` bits from the top bit down. Each bit's counter depends on the bits
/// above it. `code_tree` uses the first 2^`bits` counters, except counter 0. An alternative that
/// never occurs costs next to nothing.
///
/// Returns the coded number. Higher bits of `value` are ignored.
///
/// # Panics
/// If `counters` has fewer than 2^`bits` elements.
#[inline]
pub fn code_tree<C: Coder>(
    coder: &mut C,
    counters: &mut [Counter],
    value: u32,
    bits: u32,
    mut limit: u8,
) -> u32 {
    decide_tree(coder, counters, value, bits, &mut limit)
}

/// Like [`code_tree`], with any kind of decisions.
#[inline]
pub(crate) fn decide_tree<C: Coder, D: Decision>(
    coder: &mut C,
    decisions: &mut [D],
    value: u32,
    bits: u32,
    rule: &mut D::Rule,
) -> u32 {
    debug_assert!(bits < 32);
    let decisions = &mut decisions[..1 << bits];
    let mut node = 1;
    for bit in (0..bits).rev() {
        let is_set = decisions[node].decide(coder, value >> bit & 1 != 0, rule);
        node = node << 1 | usize::from(is_set);
    }
    (node - (1 << bits)) as u32
}

/// The largest exponent of a coded magnitude, so that magnitudes end at 2³³ − 1.
pub const MAX_EXPONENT: u32 = 32;

/// The number of bits below the leading one that have counters.
const MODELLED_BITS: u32 = 3;
/// Exponents from `LAST_MANTISSA` on share the counters of their mantissas.
const LAST_MANTISSA: u32 = 15;

/// The number of counters for [`Signed::mantissas`]: 8 for each exponent from 0 to 15.
pub const MANTISSAS: usize = (LAST_MANTISSA as usize + 1) << MODELLED_BITS;

/// The counters of one kind of signed number, for [`code_signed`].
#[derive(Debug)]
pub struct Signed<'a, D = Counter> {
    /// Decides whether the number is 0.
    pub zero: &'a mut D,
    /// Decides whether the number is negative.
    pub sign: &'a mut D,
    /// Decides at index k whether a magnitude of at least 2^k is at least 2^(k + 1). The last
    /// element also serves for all larger k. There is at least one element.
    pub exponents: &'a mut [D],
    /// Codes the 3 bits below the leading one, with a tree for each exponent k: node n is at index
    /// 8·min(k, 15) + n. The slice has exactly [`MANTISSAS`] elements.
    pub mantissas: &'a mut [D],
}

/// Codes a number of magnitude 2³³ − 1 or less: whether it is 0, its sign, its exponent in unary,
/// and the 3 bits below the leading one. Each of these decisions has a counter. The remaining bits
/// have even probabilities.
///
/// Returns the coded number. A decoder never returns a number whose magnitude is above 2³³ − 1.
///
/// # Panics
/// If a slice of `model` does not have the documented length.
#[inline]
pub fn code_signed<C: Coder>(coder: &mut C, value: i64, model: Signed<'_>, mut limit: u8) -> i64 {
    decide_signed(coder, value, model, &mut limit)
}

/// Like [`code_signed`], with any kind of decisions.
#[inline]
pub(crate) fn decide_signed<C: Coder, D: Decision>(
    coder: &mut C,
    value: i64,
    model: Signed<'_, D>,
    rule: &mut D::Rule,
) -> i64 {
    let magnitude = value.unsigned_abs();
    debug_assert!(magnitude >> MAX_EXPONENT <= 1);
    if model.zero.decide(coder, value == 0, rule) {
        return 0;
    }
    let is_negative = model.sign.decide(coder, value < 0, rule);
    let exponent = decide_exponent(coder, magnitude, model.exponents, rule);
    let tree_bits = exponent.min(MODELLED_BITS);
    let flat_bits = exponent - tree_bits;
    let from = (exponent.min(LAST_MANTISSA) << MODELLED_BITS) as usize;
    let tree = &mut model.mantissas[..MANTISSAS][from..from + (1 << MODELLED_BITS)];
    let above = decide_tree(coder, tree, (magnitude >> flat_bits) as u32, tree_bits, rule);
    let below = coder.code_direct(magnitude as u32, flat_bits);
    let magnitude = ((1i64 << tree_bits | i64::from(above)) << flat_bits) | i64::from(below);
    if is_negative { -magnitude } else { magnitude }
}

/// Codes the exponent of `magnitude`, which is not 0: the number of halvings until `magnitude`
/// becomes 1.
#[inline]
fn decide_exponent<C: Coder, D: Decision>(
    coder: &mut C,
    magnitude: u64,
    decisions: &mut [D],
    rule: &mut D::Rule,
) -> u32 {
    let last = decisions.len() - 1;
    let mut exponent = 0;
    while exponent < MAX_EXPONENT {
        let decision = &mut decisions[last.min(exponent as usize)];
        if !decision.decide(coder, magnitude >> exponent > 1, rule) {
            break;
        }
        exponent += 1;
    }
    exponent
}
