//! The prefix code of the classes of steps. `spec/CODEC.md`, sections 16.2 and 7.1.
//!
//! It does not adapt: a value alone, against a baseline that may be any, has nothing to learn from. Steps of 0 take 2
//! bits and classes 2 to 5 four, since most differences are none or small; all further ones no more than one bit above the flat 4
//! or 5 bits of section 16.1, and what remains goes to those that only full 32-bit lanes have.

use crate::{BitReader, BitSink, DecodeError};

/// The largest class: the difference of two 32-bit lanes, and its sign.
pub(super) const MAX_CLASS: u32 = 33;
/// The symbol after the classes: components follow as they are.
pub(super) const RAW: u32 = MAX_CLASS + 1;

/// Bits of each symbol's word, as section 16.2 lists them.
const LENGTHS_BITS: [u8; RAW as usize + 1] = [
    2, 7, 4, 4, 4, 4, 5, 6, 6, 6, //
    5, 5, 5, 5, 5, 5, 5, 5, //
    6, 6, 6, 6, 6, 6, 6, 6, //
    8, 8, 8, 8, 8, 8, 8, 8, //
    7,
];
const MAX_LENGTH_BITS: u32 = 8;

struct Code {
    /// Words as they are written: their first bit is the lowest.
    words: [u8; LENGTHS_BITS.len()],
    /// The symbol that each string of [`MAX_LENGTH_BITS`] bits begins with.
    symbols: [u8; 1 << MAX_LENGTH_BITS],
}

static CODE: Code = {
    let mut code = Code { words: [0; LENGTHS_BITS.len()], symbols: [u8::MAX; 1 << MAX_LENGTH_BITS] };
    let mut next_word = 0u32;
    let mut length_bits = 1;
    while length_bits <= MAX_LENGTH_BITS {
        next_word <<= 1;
        let mut symbol = 0;
        while symbol < LENGTHS_BITS.len() {
            if LENGTHS_BITS[symbol] as u32 == length_bits {
                let word = next_word.reverse_bits() >> (32 - length_bits);
                code.words[symbol] = word as u8;
                let mut bits = word as usize;
                while bits < code.symbols.len() {
                    code.symbols[bits] = symbol as u8;
                    bits += 1 << length_bits;
                }
                next_word += 1;
            }
            symbol += 1;
        }
        length_bits += 1;
    }
    assert!(next_word == 1 << MAX_LENGTH_BITS, "the code is complete");
    code
};

pub(super) fn write_class(sink: &mut impl BitSink, class: u32) {
    debug_assert!(class <= RAW);
    let word = CODE.words[class as usize];
    sink.write(u64::from(word), u32::from(LENGTHS_BITS[class as usize]));
}

pub(super) fn read_class(reader: &mut BitReader<'_>) -> Result<u32, DecodeError> {
    let symbol = CODE.symbols[reader.peek(MAX_LENGTH_BITS) as usize];
    reader.skip(u32::from(LENGTHS_BITS[usize::from(symbol)]))?;
    Ok(u32::from(symbol))
}
