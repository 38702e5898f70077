//! The bit cursor: the first stage of every encoder and the last of every decoder.
//!
//! Bits fill bytes from the least significant end, and values are little-endian. One call reads or
//! writes up to 64 bits (`spec/CODEC.md`, section 1). Reader and writer work on 64-bit words: a
//! write goes to an accumulator, and a read loads the word at its position. Each call costs about a
//! nanosecond.

mod reader;
mod writer;

pub use reader::BitReader;
pub use writer::{BitCounter, BitSink, BitWriter};

/// The number of bits that hold every value from 0 to `max`; 0 for `max` = 0.
///
/// ```
/// assert_eq!(kinepack::bits::bits_for(900), 10);
/// ```
#[inline]
pub const fn bits_for(max: u64) -> u32 {
    64 - max.leading_zeros()
}

/// The lowest `bits` bits set; `bits` is at most 64.
#[inline]
pub(crate) const fn mask(bits: u32) -> u64 {
    1u64.unbounded_shl(bits).wrapping_sub(1)
}
