//! The prefix code of the classes of steps. `spec/CODEC.md`, sections 16.2 and 7.1, defines this
//! code.
//!
//! The code does not adapt, because a single value against an arbitrary baseline has no history.
//! Steps of 0 take 2 bits and classes 2 to 5 take 4 bits, because most differences are zero or
//! small. Larger classes take at most one bit more than the flat 4 or 5 bits of section 16.1. The
//! longest words go to classes that only full 32-bit lanes need.

use crate::DecodeError;
use crate::bits::BitReader;
use crate::prefix::FixedPrefixCode;

/// The largest class: the difference of two 32-bit lanes, with its sign.
pub(super) const MAX_CLASS: u32 = 33;
/// The symbol after the classes, which announces raw components.
pub(super) const RAW: u32 = MAX_CLASS + 1;

/// The number of bits of each symbol's word, as section 16.2 lists them.
const LENGTHS_BITS: [u8; RAW as usize + 1] = [
    2, 7, 4, 4, 4, 4, 5, 6, 6, 6, //
    5, 5, 5, 5, 5, 5, 5, 5, //
    6, 6, 6, 6, 6, 6, 6, 6, //
    8, 8, 8, 8, 8, 8, 8, 8, //
    7,
];

static CODE: FixedPrefixCode<{ LENGTHS_BITS.len() }> = FixedPrefixCode::fixed(&LENGTHS_BITS);

/// Returns the word of a class, and the word's length in bits.
#[inline]
pub(super) fn class_word(class: u32) -> (u16, u32) {
    CODE.word(class as usize)
}

pub(super) fn read_class(reader: &mut BitReader<'_>) -> Result<u32, DecodeError> {
    CODE.read(reader).map(|symbol| symbol as u32)
}
