//! The encoder, in which each decision narrows a range. The encoder writes a byte as soon as no
//! carry can reach it any more.
//!
//! The data are one long binary fraction within the final range, most significant bit first. The
//! sink takes the bits in that order, so data may begin and end at any bit.

use core::hint::select_unpredictable;

use super::cost::{UNIT_BITS, log2};
use super::{Coder, DIRECT_BITS, lack_bits, share, tail};
use crate::bits::BitSink;

/// Encodes decisions into a [`BitSink`], from the sink's current bit on.
///
/// Encoding cannot fail. All output goes through [`BitSink::write`], so a
/// [`BitCounter`](crate::bits::BitCounter) counts the exact bits. The data are complete only after
/// [`RangeEncoder::finish`]. [The module](super) has a longer example.
///
/// ```
/// use kinepack::bits::{BitReader, BitWriter};
/// use kinepack::entropy::{Coder, RangeDecoder, RangeEncoder};
///
/// let mut bytes = Vec::new();
/// let mut writer = BitWriter::append(&mut bytes);
/// let mut encoder = RangeEncoder::new(&mut writer);
/// encoder.code_direct(1000, 10);
/// encoder.code(true, 65_000); // nearly certain, so nearly free
/// encoder.finish();
/// assert_eq!(writer.finish()?, 2);
///
/// let mut reader = BitReader::new(&bytes);
/// let mut decoder = RangeDecoder::new(&mut reader);
/// assert_eq!(decoder.code_direct(0, 10), 1000);
/// assert!(decoder.code(false, 65_000));
/// decoder.finish()?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RangeEncoder<'a, S: BitSink> {
    sink: &'a mut S,
    /// The lower end of the range; the bits from 32 on are a carry. Invariant: `low + range` is at
    /// most 2³³.
    low: u64,
    /// Invariant: `range` is at least `MIN_RANGE`.
    range: u32,
    /// The last byte that left the window, which a carry may still increment. `held` is `None`
    /// before the first byte. No carry can pass the first byte of a fraction.
    held: Option<u8>,
    /// The number of 0xFF bytes after the held byte. A carry would make each of them 0.
    pending_bytes: u64,
}

impl<'a, S: BitSink> RangeEncoder<'a, S> {
    /// Makes an encoder that appends to `sink`.
    #[inline]
    pub fn new(sink: &'a mut S) -> Self {
        Self { sink, low: 0, range: u32::MAX, held: None, pending_bytes: 0 }
    }

    /// Writes the shortest end of the data, 0 to 8 bits. A decoder reads zeros after that end, so
    /// only the padding of the last byte may follow in the sink.
    pub fn finish(mut self) {
        let (value, tail_bits) = tail(self.low, self.range);
        self.settle(value > u64::from(u32::MAX));
        self.sink.write(u64::from((value as u32).reverse_bits()), tail_bits);
    }

    /// Shifts bits out of the range until it is at least `MIN_RANGE`.
    #[inline]
    fn normalize(&mut self) {
        let bits = lack_bits(self.range);
        if bits > 0 {
            self.range <<= bits;
            self.shift_byte();
            if bits > 8 {
                self.shift_byte();
            }
        }
    }

    #[inline]
    fn shift_byte(&mut self) {
        let byte = (self.low >> 24) as u32;
        if byte == 0xFF {
            self.pending_bytes += 1;
        } else {
            self.settle(byte > 0xFF);
            self.held = Some(byte as u8);
        }
        self.low = (self.low & 0xFF_FFFF) << 8;
    }

    /// Writes the held bytes. `carry` tells whether a carry increments them.
    #[inline]
    fn settle(&mut self, carry: bool) {
        debug_assert!(!carry || self.held.is_some());
        if let Some(byte) = self.held {
            self.sink.write(u64::from(byte.wrapping_add(u8::from(carry)).reverse_bits()), 8);
        }
        if self.pending_bytes > 0 {
            self.settle_pending(carry);
        }
    }

    #[cold]
    fn settle_pending(&mut self, carry: bool) {
        for _ in 0..self.pending_bytes {
            self.sink.write(if carry { 0 } else { 0xFF }, 8);
        }
        self.pending_bytes = 0;
    }
}

impl<S: BitSink> Coder for RangeEncoder<'_, S> {
    fn spent(&self) -> u64 {
        let bytes = u64::from(self.held.is_some()) + self.pending_bytes;
        let open = (32 << UNIT_BITS) - u64::from(log2(self.range >> 16)) - (16 << UNIT_BITS);
        ((self.sink.len_bits() + 8 * bytes) << 8) + (open >> (UNIT_BITS - 8))
    }

    #[inline]
    fn code(&mut self, bit: bool, probability: u16) -> bool {
        let upper = share(self.range, probability);
        let lower = self.range - upper;
        self.low += select_unpredictable(bit, u64::from(lower), 0);
        self.range = select_unpredictable(bit, upper, lower);
        self.normalize();
        bit
    }

    #[inline]
    fn code_direct(&mut self, value: u32, bits: u32) -> u32 {
        debug_assert!(bits <= 32);
        let value = value & crate::bits::mask(bits) as u32;
        let mut left_bits = bits;
        while left_bits > 0 {
            let now_bits = left_bits.min(DIRECT_BITS);
            left_bits -= now_bits;
            let max = (1 << now_bits) - 1;
            let index = value >> left_bits & max;
            let step = self.range >> now_bits;
            let below = step * index;
            self.low += u64::from(below);
            // The last part takes the remainder, so that every code value has a meaning.
            self.range = if index == max { self.range - below } else { step };
            self.normalize();
        }
        value
    }
}
