//! Adaptive binary arithmetic coding, which codes decisions at their ideal cost, to within a few
//! hundredths of a percent.
//!
//! A format is described once, as a function that takes a [`Coder`]. The function passes each
//! decision to the coder and continues with the decision that the coder returns. A [`RangeEncoder`]
//! returns the decision unchanged. A [`RangeDecoder`] ignores the given decision and returns the
//! one that it reads. A [`Cost`] adds up the cost. Probabilities come from [`Counter`]s, which
//! learn from each decision in the same way on both sides. [`code_tree`] and [`code_signed`]
//! combine decisions into numbers. All arithmetic is integer, so every platform writes the same
//! bits.
//!
//! The coder is the range coder of G. N. N. Martin ("Range encoding", 1979) in the
//! carry-propagating form of LZMA (Igor Pavlov). Unlike LZMA, this coder has 16-bit probabilities,
//! no extra first byte, and the shortest possible end. A decision costs 3 to 8 nanoseconds, more if
//! it is unpredictable. A coder takes a few words of memory and does not allocate.
//!
//! ```
//! use kinepack::entropy::{Coder, Counter, RangeDecoder, RangeEncoder};
//! use kinepack::bits::{BitReader, BitWriter};
//!
//! /// Codes 1000 flags, in either direction.
//! fn code_flags(coder: &mut impl Coder, flags: &mut [bool; 1000]) {
//!     let mut counter = Counter::default();
//!     for flag in flags {
//!         *flag = counter.code(coder, *flag, 60);
//!     }
//! }
//!
//! let mut flags = core::array::from_fn(|index| index % 100 == 7);
//! let mut bytes = Vec::new();
//! let mut writer = BitWriter::append(&mut bytes);
//! let mut encoder = RangeEncoder::new(&mut writer);
//! code_flags(&mut encoder, &mut flags);
//! encoder.finish();
//! assert!(writer.finish()? < 15);
//!
//! let mut read = [false; 1000];
//! let mut reader = BitReader::new(&bytes);
//! let mut decoder = RangeDecoder::new(&mut reader);
//! code_flags(&mut decoder, &mut read);
//! decoder.finish()?;
//! assert_eq!(read, flags);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cost;
mod counter;
mod decoder;
mod encoder;
mod numbers;

pub use cost::Cost;
#[cfg(feature = "training")]
pub(crate) use cost::log2_of;
pub use counter::Counter;
pub use decoder::RangeDecoder;
pub use encoder::RangeEncoder;
pub(crate) use numbers::{Decision, decide_signed, decide_tree};
pub use numbers::{MANTISSAS, MAX_EXPONENT, Signed, code_signed, code_tree};

/// Takes decisions and returns decisions, so one description of a format serves both an encoder and
/// a decoder.
///
/// An encoder returns the given decision; a decoder ignores the given decision and returns the one
/// that it reads.
///
/// Formats take a `&mut impl Coder`; [the module](self) has an example.
pub trait Coder {
    /// Codes one decision. `probability` is the probability of `true` in 1/65536; 0 counts as 1.
    fn code(&mut self, bit: bool, probability: u16) -> bool;

    /// Codes the lowest `bits` (0 to 32) bits of `value`, which are equally likely to be 0 or 1.
    /// Higher bits of `value` are ignored, and are not returned.
    fn code_direct(&mut self, value: u32, bits: u32) -> u32;

    /// Returns the number of bits already spent, in units of 1/256 bit, for statistics. Returns 0
    /// if the coder does not count bits.
    #[inline]
    fn spent(&self) -> u64 {
        0
    }

    /// Returns true if a decoder is so far past the end of its data that no encoder can have
    /// written them. Further decisions from that decoder are meaningless. Check `is_exhausted`
    /// wherever a decision could lengthen a loop or allocate memory.
    #[inline]
    fn is_exhausted(&self) -> bool {
        false
    }
}

/// The smallest range between two decisions. With `MIN_RANGE`, both parts of the range are at least
/// 2⁸ at any probability, and a decision shifts out at most 2 bytes.
const MIN_RANGE: u32 = 1 << 24;

/// The maximum number of bits that [`Coder::code_direct`] takes from a range at once. With this
/// maximum, each value still has a part of at least 2⁸.
const DIRECT_BITS: u32 = 16;

/// Returns the size of the part of `range` for `true`. The rest of `range`, which is the lower
/// part, is for `false`.
#[inline]
fn share(range: u32, probability: u16) -> u32 {
    ((u64::from(range) * u64::from(probability.max(1))) >> 16) as u32
}

/// Returns the number of bits by which a range must be shifted up after a decision: 0, 8 or 16.
#[inline]
fn lack_bits(range: u32) -> u32 {
    debug_assert!(range >= 1 << 8);
    match range {
        MIN_RANGE.. => 0,
        0x1_0000.. => 8,
        _ => 16,
    }
}

/// Finds the end of the data: the value from `low` to `low + range − 1` with the most trailing zero
/// bits. Also returns the number of bits before these zeros, among the value's low 32 bits. That
/// number is at most 8, because `range` is at least [`MIN_RANGE`].
fn tail(low: u64, range: u32) -> (u64, u32) {
    debug_assert!(range >= MIN_RANGE);
    let last = low + u64::from(range) - 1;
    // The highest bit that changes between the value before `low` and the last value.
    let zero_bits = (low.wrapping_sub(1) ^ last).ilog2().min(32);
    (last >> zero_bits << zero_bits, 32 - zero_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_shortest_of_all() {
        let ranges = [MIN_RANGE, MIN_RANGE + 1, 0x0123_4567, 0x7FFF_FFFF, 0x8000_0000, u32::MAX];
        for range in ranges {
            for seed in 0..2000u64 {
                let low = [seed, seed << 23, seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 31]
                    [seed as usize % 3];
                let is_inside = |value: u64| (low..low + u64::from(range)).contains(&value);
                let naive = (0..=32).find_map(|bits: u32| {
                    let step = 1u64 << (32 - bits);
                    let value = low.next_multiple_of(step);
                    is_inside(value).then_some((value, bits))
                });
                assert_eq!(Some(tail(low, range)), naive, "{low:x} {range:x}");
                assert!(tail(low, range).1 <= 8);
            }
        }
    }

    #[test]
    fn a_range_is_shifted_until_it_is_long_enough() {
        for range in [0x100, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u32::MAX] {
            let naive =
                (0..3).find(|bytes| u64::from(range) << (8 * bytes) >= u64::from(MIN_RANGE));
            assert_eq!(Some(lack_bits(range) / 8), naive);
        }
    }
}
