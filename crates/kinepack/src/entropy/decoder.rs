//! The decoder, which tracks the encoder's range and the position of the data within that range.

use core::hint::select_unpredictable;

use super::{Coder, DIRECT_BITS, lack_bits, share, tail};
use crate::DecodeError;
use crate::bits::BitReader;

/// The width of the window on the data.
const WINDOW_BITS: u32 = 32;

/// Decodes decisions from a [`BitReader`], from the reader's current bit to the end of the data.
///
/// The decoder accepts any data: it never panics, and reads zeros past the end. During decoding the
/// reader is at the beginning of a window of 32 bits, and no decision depends on bits after the
/// window. [`RangeEncoder`](super::RangeEncoder) and [the module](super) have examples.
#[derive(Debug)]
pub struct RangeDecoder<'a, 'b> {
    reader: &'a mut BitReader<'b>,
    /// Invariant: `range` is at least `MIN_RANGE`.
    range: u32,
    /// The window minus the lower end of the encoder's range, modulo 2³². Invariant: `code` is
    /// below `range`.
    code: u32,
    /// The bits after the window, the first in the highest place. The decoder loads these bits
    /// ahead, so that a decision does not wait for them.
    next: u32,
    /// The reason why no encoder can have written the data, once the decoder has detected one.
    refusal: Option<DecodeError>,
}

impl<'a, 'b> RangeDecoder<'a, 'b> {
    /// Makes a decoder for the unread data in `reader`.
    #[inline]
    pub fn new(reader: &'a mut BitReader<'b>) -> Self {
        let range = u32::MAX;
        let (code, next) = (window(reader), after_window(reader));
        // The encoder's initial range is 2³² − 1, so only a window of all ones lies outside of it.
        let refusal =
            (code == range).then(|| DecodeError::OutOfRange { at_bit: reader.position_bits() });
        Self { reader, range, code: code.min(range - 1), next, refusal }
    }

    /// Ends decoding, and checks the end of the data. The data must be exactly the bits that an
    /// encoder writes for the decisions that were decoded. Only the zero padding of the last byte
    /// may follow these bits. So each sequence of decisions has exactly one encoding. After this
    /// call, the reader is at its end.
    ///
    /// Truncated or extended data are refused too, unless they are the encoding of other decisions.
    ///
    /// # Errors
    /// [`DecodeError::EndOfData`] if the data are too short, and [`DecodeError::TrailingData`] if a
    /// whole byte or more is left. [`DecodeError::Padding`] if the end or the padding differs from
    /// what an encoder writes. [`DecodeError::OutOfRange`] if the data begin with 32 ones, which no
    /// encoder writes.
    pub fn finish(self) -> Result<(), DecodeError> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let window = window(self.reader);
        let low = window.wrapping_sub(self.code);
        let (value, tail_bits) = tail(u64::from(low), self.range);
        self.reader.skip(tail_bits)?;
        if self.reader.left_bits() >= 8 {
            return Err(DecodeError::TrailingData { left_bits: self.reader.left_bits() });
        }
        if value as u32 != window {
            return Err(DecodeError::Padding);
        }
        self.reader.align()
    }

    /// Shifts bits into the range until it is at least `MIN_RANGE`.
    #[inline]
    fn normalize(&mut self) {
        let bits = lack_bits(self.range);
        if bits > 0 {
            self.range <<= bits;
            self.code = self.code << bits | self.next >> (32 - bits);
            if let Err(end_of_data) = self.reader.skip(bits) {
                self.refuse(end_of_data);
            }
            self.next = after_window(self.reader);
        }
    }

    #[cold]
    fn refuse(&mut self, error: DecodeError) {
        self.refusal.get_or_insert(error);
    }
}

/// Returns the next 32 bits of the fraction, the first in the highest place.
#[inline]
fn window(reader: &mut BitReader<'_>) -> u32 {
    (reader.peek(WINDOW_BITS) as u32).reverse_bits()
}

/// Returns the 16 bits after the window, the first in the highest place.
#[inline]
fn after_window(reader: &mut BitReader<'_>) -> u32 {
    ((reader.peek(WINDOW_BITS + 16) >> WINDOW_BITS) as u32).reverse_bits()
}

impl Coder for RangeDecoder<'_, '_> {
    #[inline]
    fn code(&mut self, _bit: bool, probability: u16) -> bool {
        let upper = share(self.range, probability);
        let lower = self.range - upper;
        let bit = self.code >= lower;
        self.code -= select_unpredictable(bit, lower, 0);
        self.range = select_unpredictable(bit, upper, lower);
        self.normalize();
        bit
    }

    #[inline]
    fn code_direct(&mut self, _value: u32, bits: u32) -> u32 {
        debug_assert!(bits <= 32);
        let mut value = 0;
        let mut left_bits = bits;
        while left_bits > 0 {
            let now_bits = left_bits.min(DIRECT_BITS);
            left_bits -= now_bits;
            let max = (1 << now_bits) - 1;
            let step = self.range >> now_bits;
            let index = (self.code / step).min(max);
            let below = step * index;
            self.code -= below;
            self.range = if index == max { self.range - below } else { step };
            self.normalize();
            value = value << now_bits | index;
        }
        value
    }

    #[inline]
    fn is_exhausted(&self) -> bool {
        self.refusal.is_some()
    }
}
