//! Canonical prefix codes of at most 8 bits, read through one table look-up. `spec/CODEC.md`,
//! section 7.1, defines these codes.
//!
//! The lengths of the symbols' words define the whole code. Words are numbered as in DEFLATE (RFC
//! 1951, 3.2.2): by length, then by symbol. Words are stored reversed because bits are written
//! least significant first.

use alloc::vec;
use alloc::vec::Vec;

use crate::bits::{BitReader, BitSink};
use crate::{DecodeError, SetupError};

/// The length of the longest word. This limit keeps a table within 512 bytes.
pub(crate) const MAX_LENGTH_BITS: u32 = 8;

/// A complete prefix code. The code is stored in vectors, or in arrays if it is known at compile
/// time.
#[derive(Clone, Debug)]
pub(crate) struct PrefixCode<W = Vec<Word>, S = Vec<Symbol>> {
    words: W,
    /// The symbol whose word begins the next `peek_bits` bits, indexed by these bits.
    symbols: S,
    peek_bits: u32,
}

/// A code of `N` symbols with words of up to [`MAX_LENGTH_BITS`].
pub(crate) type FixedPrefixCode<const N: usize> =
    PrefixCode<[Word; N], [Symbol; 1 << MAX_LENGTH_BITS]>;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Word {
    bits: u16,
    length_bits: u8,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Symbol {
    symbol: u8,
    length_bits: u8,
}

impl PrefixCode {
    /// Returns the memory that a code with these lengths takes, in bytes.
    pub(crate) fn memory_bytes(lengths_bits: &[u8]) -> usize {
        let longest = lengths_bits.iter().copied().max().map_or(0, u32::from);
        let symbols = 1 << longest.min(MAX_LENGTH_BITS);
        size_of::<Self>() + lengths_bits.len() * size_of::<Word>() + symbols * size_of::<Symbol>()
    }

    /// Makes the code whose words have these lengths. The code must be complete: each bit string
    /// begins with exactly one word. If there is only one symbol, its word has no bits.
    pub(crate) fn new(lengths_bits: &[u8]) -> Result<Self, SetupError> {
        let peek_bits = lengths_bits.iter().copied().max().map_or(0, u32::from);
        let complete = match lengths_bits {
            [0] => true,
            _ => {
                peek_bits <= MAX_LENGTH_BITS
                    && lengths_bits.len() <= usize::from(u8::MAX)
                    && lengths_bits.iter().all(|length| *length > 0)
                    && lengths_bits
                        .iter()
                        .map(|length| 1u32 << (peek_bits - u32::from(*length)))
                        .sum::<u32>()
                        == 1 << peek_bits
            }
        };
        if !complete {
            return Err(SetupError::BadPrefixCode);
        }
        let mut words = vec![Word::default(); lengths_bits.len()];
        let mut symbols = vec![Symbol::default(); 1 << peek_bits];
        number(lengths_bits, &mut words, &mut symbols);
        Ok(Self { words, symbols, peek_bits })
    }
}

impl<const N: usize> FixedPrefixCode<N> {
    /// Like `new`, but evaluated at compile time, for lengths of 1 to [`MAX_LENGTH_BITS`].
    /// Incomplete codes do not compile.
    pub(crate) const fn fixed(lengths_bits: &[u8; N]) -> Self {
        let mut words = [Word { bits: 0, length_bits: 0 }; N];
        let mut symbols = [Symbol { symbol: 0, length_bits: 0 }; 1 << MAX_LENGTH_BITS];
        let words_end = number(lengths_bits, &mut words, &mut symbols);
        assert!(words_end == 1 << MAX_LENGTH_BITS, "the code is complete");
        Self { words, symbols, peek_bits: MAX_LENGTH_BITS }
    }
}

impl<W: AsRef<[Word]>, S: AsRef<[Symbol]>> PrefixCode<W, S> {
    /// Returns a symbol's word, and the word's length in bits.
    #[inline]
    pub(crate) fn word(&self, symbol: usize) -> (u16, u32) {
        let word = self.words.as_ref()[symbol];
        (word.bits, u32::from(word.length_bits))
    }

    #[inline]
    pub(crate) fn write(&self, sink: &mut impl BitSink, symbol: usize) {
        let (word, length_bits) = self.word(symbol);
        sink.write(u64::from(word), length_bits);
    }

    #[inline]
    pub(crate) fn read(&self, reader: &mut BitReader<'_>) -> Result<usize, DecodeError> {
        let entry = self.symbols.as_ref()[reader.peek(self.peek_bits) as usize];
        reader.skip(u32::from(entry.length_bits))?;
        Ok(usize::from(entry.symbol))
    }
}

/// Numbers the words of a code. For each bit string as long as the longest word, `symbols` gets the
/// symbol whose word begins the string. Returns the number after the last word.
const fn number(lengths_bits: &[u8], words: &mut [Word], symbols: &mut [Symbol]) -> u32 {
    let peek_bits = symbols.len().trailing_zeros();
    let mut next_word = 0u32;
    let mut length_bits = 0;
    while length_bits <= peek_bits {
        next_word <<= 1;
        let mut symbol = 0;
        while symbol < lengths_bits.len() {
            if lengths_bits[symbol] as u32 == length_bits {
                let reversed = if length_bits == 0 {
                    0
                } else {
                    next_word.reverse_bits() >> (32 - length_bits)
                };
                words[symbol] = Word { bits: reversed as u16, length_bits: length_bits as u8 };
                let mut string = reversed as usize;
                while string < symbols.len() {
                    symbols[string] =
                        Symbol { symbol: symbol as u8, length_bits: length_bits as u8 };
                    string += 1 << length_bits;
                }
                next_word += 1;
            }
            symbol += 1;
        }
        length_bits += 1;
    }
    next_word
}

/// Computes Huffman code lengths for symbols that occur `counts` times, limited to
/// [`MAX_LENGTH_BITS`].
pub(crate) fn lengths_bits(counts: &[u64]) -> Vec<u8> {
    let mut counts: Vec<u64> = counts.iter().map(|count| (*count).max(1)).collect();
    loop {
        let lengths = huffman(&counts);
        if lengths.iter().all(|length| u32::from(*length) <= MAX_LENGTH_BITS) {
            return lengths;
        }
        // Flatter counts lead to a flatter tree. Repeating this step takes every count to 1 or 2.
        counts.iter_mut().for_each(|count| *count = *count / 2 + 1);
    }
}

fn huffman(counts: &[u64]) -> Vec<u8> {
    let mut lengths = vec![0; counts.len()];
    let mut trees: Vec<(u64, Vec<usize>)> =
        counts.iter().enumerate().map(|(symbol, &n)| (n, vec![symbol])).collect();
    while trees.len() > 1 {
        // Sorts the rarest trees last. In a tie, the first symbol decides, so the result depends
        // only on the counts.
        trees.sort_by(|a, b| b.0.cmp(&a.0).then(a.1[0].cmp(&b.1[0])));
        if let (Some(first), Some(second)) = (trees.pop(), trees.pop()) {
            let mut symbols = first.1;
            symbols.extend(second.1);
            symbols.iter().for_each(|symbol| lengths[*symbol] += 1);
            symbols.sort_unstable();
            trees.push((first.0 + second.0, symbols));
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::bits::BitWriter;

    #[test]
    fn words_are_read_back() {
        for counts in [&[1][..], &[5, 5], &[1, 2, 4, 8, 16, 1000], &[0; 33], &[1 << 30, 0, 0, 1]] {
            let code = PrefixCode::new(&lengths_bits(counts)).unwrap();
            let mut bytes = Vec::new();
            let mut writer = BitWriter::append(&mut bytes);
            (0..counts.len()).for_each(|symbol| code.write(&mut writer, symbol));
            writer.finish().unwrap();
            let mut reader = BitReader::new(&bytes);
            for symbol in 0..counts.len() {
                assert_eq!(code.read(&mut reader), Ok(symbol));
            }
        }
    }

    #[test]
    fn fibonacci_counts_stay_within_the_longest_word() {
        let mut counts = vec![1, 1];
        for index in 2..40 {
            counts.push(counts[index - 1] + counts[index - 2]);
        }
        let lengths = lengths_bits(&counts);
        assert_eq!(lengths.iter().copied().max(), Some(MAX_LENGTH_BITS as u8));
        assert!(PrefixCode::new(&lengths).is_ok());
    }

    #[test]
    fn incomplete_and_oversubscribed_lengths_are_refused() {
        for lengths in [&[][..], &[1], &[1, 1, 1], &[2, 2, 2], &[0, 1], &[9; 2]] {
            assert_eq!(
                PrefixCode::new(lengths).err(),
                Some(SetupError::BadPrefixCode),
                "{lengths:?}"
            );
        }
    }

    #[test]
    fn the_words_of_the_specification() {
        let code = PrefixCode::new(&[1, 2, 3, 3]).unwrap();
        let words: Vec<(u16, u8)> =
            code.words.iter().map(|word| (word.bits, word.length_bits)).collect();
        assert_eq!(words, [(0b0, 1), (0b01, 2), (0b011, 3), (0b111, 3)]);
    }
}
