//! Reading bits from bytes that may come from anyone.

use super::mask;
use crate::DecodeError;

/// The most bits that one refill guarantees while the data last.
const REFILL_BITS: u32 = 56;

/// Reads bits, least significant first, from a byte slice. The counterpart of [`BitWriter`](crate::BitWriter).
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// First byte that is not yet counted in `available_bits`.
    next_byte: usize,
    /// The next bits. Bits at `available_bits` and above are either zero or the true next bits of the data, so that
    /// filling them in again changes nothing.
    window: u64,
    available_bits: u32,
}

impl<'a> BitReader<'a> {
    /// A reader at the first bit of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next_byte: 0, window: 0, available_bits: 0 }
    }

    /// Number of bits read so far.
    #[inline]
    pub fn position_bits(&self) -> u64 {
        self.next_byte as u64 * 8 - u64::from(self.available_bits)
    }

    /// Number of bits left, padding included.
    #[inline]
    pub fn left_bits(&self) -> u64 {
        (self.bytes.len() - self.next_byte) as u64 * 8 + u64::from(self.available_bits)
    }

    /// Reads `bits` (0 to 64) bits.
    ///
    /// # Errors
    /// [`DecodeError::EndOfData`] when fewer are left; the position then stays where it was.
    #[inline]
    pub fn read(&mut self, bits: u32) -> Result<u64, DecodeError> {
        debug_assert!(bits <= 64);
        if bits <= self.available_bits {
            return Ok(self.take(bits));
        }
        self.refill();
        if bits <= self.available_bits {
            return Ok(self.take(bits));
        }
        self.read_across(bits)
    }

    /// Reads one bit.
    ///
    /// # Errors
    /// [`DecodeError::EndOfData`] when none is left.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.read(1)? != 0)
    }

    /// The next `bits` (0 to 56) bits without reading them; zeros stand in for bits past the end.
    #[inline]
    pub fn peek(&mut self, bits: u32) -> u64 {
        debug_assert!(bits <= REFILL_BITS);
        if bits > self.available_bits {
            self.refill();
        }
        self.window & mask(bits)
    }

    /// Skips the bits up to the next multiple of 8.
    ///
    /// # Errors
    /// [`DecodeError::Padding`] when one of them is not zero.
    #[inline]
    pub fn align(&mut self) -> Result<(), DecodeError> {
        let past = (self.position_bits() % 8) as u32;
        match self.read((8 - past) % 8)? {
            0 => Ok(()),
            _ => Err(DecodeError::Padding),
        }
    }

    /// Ends the reading: what is left must be the zero padding of the last byte.
    ///
    /// # Errors
    /// [`DecodeError::TrailingData`] when a whole byte or more is left, [`DecodeError::Padding`] when the padding is not zero.
    pub fn finish(mut self) -> Result<(), DecodeError> {
        if self.left_bits() >= 8 {
            return Err(DecodeError::TrailingData { left_bits: self.left_bits() });
        }
        self.align()
    }

    /// Invariant: `bits` is at most `available_bits`.
    #[inline]
    fn take(&mut self, bits: u32) -> u64 {
        let value = self.window & mask(bits);
        self.window = if bits == 64 { 0 } else { self.window >> bits };
        self.available_bits -= bits;
        value
    }

    #[inline]
    fn refill(&mut self) {
        if let Some(chunk) = self.bytes.get(self.next_byte..).and_then(<[u8]>::first_chunk::<8>) {
            self.window |= u64::from_le_bytes(*chunk) << self.available_bits;
            let whole_bytes = (63 - self.available_bits) / 8;
            self.next_byte += whole_bytes as usize;
            self.available_bits += whole_bytes * 8;
        } else {
            self.refill_tail();
        }
    }

    #[cold]
    fn refill_tail(&mut self) {
        while self.available_bits <= REFILL_BITS
            && let Some(&byte) = self.bytes.get(self.next_byte)
        {
            self.window |= u64::from(byte) << self.available_bits;
            self.next_byte += 1;
            self.available_bits += 8;
        }
    }

    /// Reads that a refilled window does not hold: more than 56 bits, or past the end.
    #[cold]
    fn read_across(&mut self, bits: u32) -> Result<u64, DecodeError> {
        let left_bits = self.left_bits();
        if u64::from(bits) > left_bits {
            let at_bit = self.position_bits();
            return Err(DecodeError::EndOfData { at_bit, wanted_bits: bits, left_bits: left_bits as u32 });
        }
        let low_bits = self.available_bits;
        let low = self.take(low_bits);
        self.refill();
        Ok(low | self.take(bits - low_bits) << low_bits)
    }
}
