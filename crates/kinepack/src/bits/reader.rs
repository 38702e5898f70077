//! Reads bits from untrusted bytes.

use crate::DecodeError;

/// The number of bits that an 8-byte load supplies at every bit offset within the first byte.
const WORD_BITS: u32 = 57;

/// Reads bits, least significant first, from a byte slice. The counterpart of
/// [`BitWriter`](crate::bits::BitWriter). Each read loads the 8 bytes at the reader's position. A
/// read depends on the previous one only through the position, and no branch depends on the widths.
///
/// ```
/// use kinepack::bits::BitReader;
///
/// let mut reader = BitReader::new(&[0b0110_1011]);
/// assert_eq!(reader.read(4)?, 0b1011);
/// assert!(!reader.read_bool()?);
/// assert_eq!(reader.left_bits(), 3);
/// assert!(reader.read(4).is_err());
/// # Ok::<(), kinepack::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Invariant: `position_bits` is at most the number of bits in `bytes`.
    position_bits: u64,
    /// The last 8 bytes of the data, or all bytes if there are fewer. Reads use this word if fewer
    /// than 8 bytes follow the position.
    tail: u64,
}

impl<'a> BitReader<'a> {
    /// Makes a reader at the first bit of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        let tail = match bytes.last_chunk() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => bytes.iter().rev().fold(0, |tail, byte| tail << 8 | u64::from(*byte)),
        };
        Self { bytes, position_bits: 0, tail }
    }

    /// The number of bits that were already read.
    #[inline]
    pub fn position_bits(&self) -> u64 {
        self.position_bits
    }

    /// The number of bits that were not read yet, padding included.
    #[inline]
    pub fn left_bits(&self) -> u64 {
        self.bytes.len() as u64 * 8 - self.position_bits
    }

    /// Reads `bits` (0 to 64) bits.
    ///
    /// # Errors
    /// [`DecodeError::EndOfData`] if fewer than `bits` bits are left; the position then does not
    /// change.
    #[inline]
    pub fn read(&mut self, bits: u32) -> Result<u64, DecodeError> {
        debug_assert!(bits <= 64);
        if bits > WORD_BITS {
            return self.read_long(bits);
        }
        let word = match self.word() {
            Some(word) => word,
            None if u64::from(bits) <= self.left_bits() => self.tail_word(),
            None => return Err(self.end_of_data(bits)),
        };
        self.position_bits += u64::from(bits);
        Ok(word & low(bits))
    }

    /// Reads one bit.
    ///
    /// # Errors
    /// [`DecodeError::EndOfData`] if no bit is left.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.read(1)? != 0)
    }

    /// Returns the next `bits` (0 to 57) bits without reading them; bits past the end are zero.
    #[inline]
    pub fn peek(&mut self, bits: u32) -> u64 {
        debug_assert!(bits <= WORD_BITS);
        self.word().unwrap_or_else(|| self.tail_word()) & low(bits)
    }

    /// Reads a number that [`BitSink::write_gamma`](super::BitSink::write_gamma) wrote, from 1 to
    /// 2³³ − 1.
    ///
    /// # Errors
    /// [`DecodeError::EndOfData`] if the data end within the number, and
    /// [`DecodeError::OutOfRange`] if it has more leading zeros than any valid number.
    pub fn read_gamma(&mut self) -> Result<u64, DecodeError> {
        let below_bits = self.peek(33).trailing_zeros();
        if below_bits > 32 {
            // There are either more leading zeros than any valid number has, or too few bits, which
            // `read` reports.
            self.read(33)?;
            return Err(DecodeError::OutOfRange { at_bit: self.position_bits() });
        }
        self.skip(below_bits + 1)?;
        Ok(1 << below_bits | self.read(below_bits)?)
    }

    /// Skips `bits` bits that the caller has peeked at.
    #[inline]
    pub(crate) fn skip(&mut self, bits: u32) -> Result<(), DecodeError> {
        if u64::from(bits) > self.left_bits() {
            return Err(self.end_of_data(bits));
        }
        self.position_bits += u64::from(bits);
        Ok(())
    }

    /// Skips the bits up to the next multiple of 8.
    ///
    /// # Errors
    /// [`DecodeError::Padding`] if one of the skipped bits is not zero.
    #[inline]
    pub fn align(&mut self) -> Result<(), DecodeError> {
        let past = (self.position_bits() % 8) as u32;
        match self.read((8 - past) % 8)? {
            0 => Ok(()),
            _ => Err(DecodeError::Padding),
        }
    }

    /// Ends reading, and checks that all bits were read. Only the zero padding of the last byte may
    /// be left.
    ///
    /// # Errors
    /// [`DecodeError::TrailingData`] if a whole byte or more is left, [`DecodeError::Padding`] if
    /// the padding is not zero.
    pub fn finish(mut self) -> Result<(), DecodeError> {
        if self.left_bits() >= 8 {
            return Err(DecodeError::TrailingData { left_bits: self.left_bits() });
        }
        self.align()
    }

    /// Loads at least 57 bits, starting at the position; `None` if fewer than 8 bytes are left.
    #[inline]
    fn word(&self) -> Option<u64> {
        let byte = (self.position_bits / 8) as usize;
        let chunk = self.bytes.get(byte..byte + 8)?.first_chunk()?;
        Some(u64::from_le_bytes(*chunk) >> (self.position_bits % 8))
    }

    /// Loads all bits from the position on, followed by zeros. Call it only if fewer than 8 bytes
    /// are left.
    #[inline]
    fn tail_word(&self) -> u64 {
        let passed_bits = self.position_bits - self.bytes.len().saturating_sub(8) as u64 * 8;
        if passed_bits < 64 { self.tail >> passed_bits } else { 0 }
    }

    #[cold]
    fn read_long(&mut self, bits: u32) -> Result<u64, DecodeError> {
        if u64::from(bits) > self.left_bits() {
            return Err(self.end_of_data(bits));
        }
        let below = self.read(32)?;
        Ok(below | self.read(bits - 32)? << 32)
    }

    #[cold]
    fn end_of_data(&self, wanted_bits: u32) -> DecodeError {
        DecodeError::EndOfData {
            at_bit: self.position_bits,
            wanted_bits,
            left_bits: self.left_bits() as u32,
        }
    }
}

/// The lowest `bits` bits set; `bits` is at most [`WORD_BITS`].
#[inline]
fn low(bits: u32) -> u64 {
    LOW[bits as usize % LOW.len()]
}

/// The masks are in a table, because on x86-64 a look-up takes fewer instructions than two shifts,
/// whose count must be in register `cl`.
const LOW: [u64; 64] = {
    let mut low = [0; 64];
    let mut bits = 0;
    while bits < low.len() {
        low[bits] = (1 << bits) - 1;
        bits += 1;
    }
    low
};
