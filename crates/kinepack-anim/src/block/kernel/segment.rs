//! Where reading of a segment is.

use super::tables::BITS;
use crate::block::widths::{BlockLength, ESCAPE, ESCAPE_WIDTH_BITS, MAX_ESCAPE_WIDTH, PIECE, Widths, of_piece};

/// Where reading of a segment is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    pub(super) words: Words<'a>,
    /// The byte of the profile of the next piece.
    pub(super) next: usize,
    /// Its first bit, counted from the first byte.
    pub(super) bit: usize,
    pub(super) block: BlockLength,
    /// Bits of each piece by profile.
    pub(super) bits: [&'static [u8; 256]; 2],
    /// Samples, and coefficients of a component.
    pub(super) length: usize,
}

impl<'a> Segment<'a> {
    /// The beginning of a segment of `live` components, of `length` samples.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], live: usize, block: BlockLength, length: usize) -> Self {
        let table = |piece| &BITS[block as usize + piece][of_piece(piece, length).len()];
        let bits = [table(0), table(block.pieces() - 1)];
        Self { words: Words::new(bytes), next: 1, bit: 8 * (1 + live * block.pieces()), block, bits, length }
    }

    /// The exponent of its step, in eighths.
    #[inline]
    pub(crate) fn step(&self) -> u8 {
        self.words.bytes[0]
    }

    /// The bit behind what was read.
    pub(crate) fn bit(&self) -> usize {
        self.bit
    }

    /// Some bits from a bit on, at most 57.
    #[inline(always)]
    pub(crate) fn bits(&self, at: usize, width: u32) -> u64 {
        self.words.at(at) & ((1 << width) - 1)
    }

    /// Goes behind `count` components.
    pub(crate) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            for piece in 0..self.block.pieces() {
                self.skip_piece(piece);
            }
        }
    }

    /// Goes behind a piece.
    #[inline]
    pub(crate) fn skip_piece(&mut self, piece: usize) {
        let number = self.words.byte(self.next);
        self.bit += match number {
            ESCAPE => self.escaped_bits(piece),
            _ => usize::from(self.bits[piece][usize::from(number)]),
        };
        self.next += 1;
    }

    #[cold]
    fn escaped_bits(&self, piece: usize) -> usize {
        let count = self.count(piece);
        let bits = self.escaped_widths(count).into_iter().map(usize::from).sum::<usize>();
        bits + count * ESCAPE_WIDTH_BITS as usize
    }

    /// Coefficients of a piece.
    #[inline]
    fn count(&self, piece: usize) -> usize {
        of_piece(piece, self.length).len()
    }

    /// Whether the next piece has its widths in front of it, and one of them is none.
    pub(crate) fn is_bad(&self, piece: usize) -> bool {
        let is_too_large = |k| self.escaped_width(k) > MAX_ESCAPE_WIDTH;
        self.words.byte(self.next) == ESCAPE && (0..self.count(piece)).any(is_too_large)
    }

    /// The widths that stand in front of the next piece. Larger ones than there are were refused when the clip was loaded.
    fn escaped_widths(&self, count: usize) -> Widths {
        std::array::from_fn(|k| if k < count { self.escaped_width(k).min(MAX_ESCAPE_WIDTH) } else { 0 })
    }

    #[inline]
    fn escaped_width(&self, k: usize) -> u8 {
        self.bits(self.bit + k * ESCAPE_WIDTH_BITS as usize, ESCAPE_WIDTH_BITS) as u8
    }

    /// The coefficients of the next piece, whatever its profile, which it moves behind; those of no bits are 0.
    pub(super) fn coefficients(&mut self, piece: usize) -> [i32; PIECE] {
        let count = self.count(piece);
        let widths = match self.block.profiles(piece).get(usize::from(self.words.byte(self.next))) {
            Some(profile) => profile.widths,
            None => {
                let widths = self.escaped_widths(count);
                self.bit += count * ESCAPE_WIDTH_BITS as usize;
                widths
            }
        };
        self.next += 1;
        let mut coefficients = [0; PIECE];
        for (coefficient, width) in coefficients.iter_mut().zip(widths).take(count) {
            *coefficient = self.bits(self.bit, u32::from(width)) as i32 - ((1 << width) >> 1);
            self.bit += usize::from(width);
        }
        coefficients
    }
}

/// Bytes that are read 64 bits at a time from any bit on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    /// At least 8.
    bytes: &'a [u8],
    /// The last byte from which on there are 8.
    last: usize,
}

impl<'a> Words<'a> {
    /// The bytes of a segment up to the end of the clip, where behind the last segment are more than 8.
    #[inline]
    fn new(bytes: &'a [u8]) -> Self {
        match bytes.len().checked_sub(8) {
            Some(last) => Self { bytes, last },
            None => Self { bytes: &[0; 8], last: 0 },
        }
    }

    /// At least 57 bits from a bit on, the lowest first; anything, where that is behind the end.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) fn at(&self, bit: usize) -> u64 {
        let byte = (bit / 8).min(self.last);
        // SAFETY: `last` is 8 less than there are bytes.
        let word = unsafe { self.bytes.as_ptr().add(byte).cast::<[u8; 8]>().read() };
        u64::from_le_bytes(word) >> (bit % 8)
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    /// Profiles of the next `count` pieces.
    #[inline(always)]
    pub(super) fn profiles(&self, next: usize, count: usize) -> &'a [u8] {
        self.bytes.get(next..).and_then(|bytes| bytes.get(..count)).unwrap_or_default()
    }
}
