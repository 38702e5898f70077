//! Reads the coefficients of a segment.

use super::tables::{MAX_EIGHT_BYTES, TABLES};
use crate::block::anchors::{Anchors, StoredAnchors, anchors_bytes};
use crate::block::basis::Weights;
use crate::block::layout::{Counts, GROUP, SKIP_BYTES};
use crate::block::widths::{BlockLength, ESCAPE, ESCAPE_WIDTH_BITS, MAX_ESCAPE_WIDTH, piece_range};

/// A reader of a segment. Its fields describe the part that has not been read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    pub(super) words: Words<'a>,
    /// The profiles of the pieces that have not been read yet.
    pub(super) profiles: &'a [u8],
    /// The position of the next piece, in bits from the first byte.
    pub(super) bit: usize,
    pub(super) block: BlockLength,
    /// If a component ends before this bit, all loads for it stay within the bytes.
    pub(super) limit: usize,
    /// The size of each piece in bits, by profile.
    pub(super) bits: [&'static [u8; 256]; 2],
    /// The number of samples, which is also the number of a component's coefficients.
    pub(crate) length: usize,
    /// The anchors of far tracks, in stored form.
    anchors: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Returns a reader at the beginning of a segment with `length` samples.
    #[inline]
    pub(crate) fn new(
        bytes: &'a [u8],
        Counts { components, skip_points, far }: Counts,
        block: BlockLength,
        length: usize,
    ) -> Self {
        let table =
            |piece: usize| &TABLES[block as usize + piece].bits[piece_range(piece, length).len()];
        let bits = [table(0), table(block.pieces() - 1)];
        let pieces = components * block.pieces();
        let mut first = 1 + SKIP_BYTES * skip_points;
        let mut anchors: &[u8] = &[];
        if far > 0 {
            let rest = bytes.get(first..).unwrap_or_default();
            anchors = &rest[..anchors_bytes(rest, far, length)];
            first += anchors.len();
        }
        let profiles = bytes.get(first..).and_then(|bytes| bytes.get(..pieces)).unwrap_or_default();
        let words = Words(bytes);
        // If the last piece is short, its second eight may begin after the piece's end.
        let is_short =
            block != BlockLength::N8 && piece_range(block.pieces() - 1, length).len() < GROUP;
        let limit = words.load_limit(if is_short { MAX_EIGHT_BYTES } else { 0 });
        Self { words, profiles, bit: 8 * (first + pieces), block, limit, bits, length, anchors }
    }

    /// Returns the exponent of the segment's step, in eighths.
    #[inline]
    pub(crate) fn step(&self) -> u8 {
        self.words.byte(0)
    }

    /// Returns the anchors of far tracks, in stored form.
    #[inline]
    pub(crate) fn anchors(&self) -> &'a [u8] {
        self.anchors
    }

    /// Returns the anchors of all `count` far tracks, decoded.
    pub(crate) fn to_anchors(self, count: usize) -> Vec<Anchors> {
        let stored = StoredAnchors::each(self.anchors(), self.length);
        stored.take(count).map(StoredAnchors::to_anchors).collect()
    }

    /// Returns the position of the first bit that has not been read yet.
    pub(crate) fn bit(&self) -> usize {
        self.bit
    }

    /// Returns the `width` bits that begin at bit `at`, where `width` is at most 57.
    #[inline(always)]
    pub(crate) fn bits(&self, at: usize, width: u32) -> u64 {
        self.words.at(at) & ((1 << width) - 1)
    }

    /// Moves the reader from the beginning of the segment to skip point `point`. Point 0 is the
    /// beginning. `component` is the number of the first component after the point.
    #[inline]
    pub(crate) fn go_to(&mut self, point: usize, component: usize) {
        if point > 0 {
            self.profiles =
                self.profiles.get(component * self.block.pieces()..).unwrap_or_default();
            self.bit = self.skip_point(point - 1);
        }
    }

    /// Returns the position of the first component after a skip point in bits, as the segment
    /// stores it.
    #[inline]
    pub(crate) fn skip_point(&self, index: usize) -> usize {
        self.words.at(8 * (1 + SKIP_BYTES * index)) as u32 as usize
    }

    /// Skips `count` components.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) {
        let pieces = self.block.pieces();
        let (own, rest) = self.profiles.split_at(self.profiles.len().min(pieces * count));
        let (mut bit, mut is_escaped) = (self.bit, false);
        // A loop without branches is faster, although it notices escaped pieces only at the end.
        if pieces == 1 {
            for number in own {
                bit += usize::from(self.bits[0][usize::from(*number)]);
                is_escaped |= *number == ESCAPE;
            }
        } else {
            for [first, second] in own.as_chunks().0 {
                bit += usize::from(self.bits[0][usize::from(*first)])
                    + usize::from(self.bits[1][usize::from(*second)]);
                is_escaped |= *first == ESCAPE || *second == ESCAPE;
            }
        }
        self.bit = if is_escaped { self.after(own) } else { bit };
        self.profiles = rest;
    }

    /// Returns the first bit after the next pieces, whose profiles are `profiles`. They must belong
    /// to whole components.
    #[cold]
    #[inline(never)]
    fn after(&self, profiles: &[u8]) -> usize {
        // A component has one piece or two, so `last` also works as a mask.
        let last = self.block.pieces() - 1;
        let mut bit = self.bit;
        for (index, number) in profiles.iter().enumerate() {
            bit += self.piece_bits(bit, index & last, *number);
        }
        bit
    }

    /// Skips the next piece, which is piece `piece` of its component.
    #[inline]
    pub(crate) fn skip_piece(&mut self, piece: usize) {
        let number = self.take_profile();
        self.bit += self.piece_bits(self.bit, piece, number);
    }

    /// Returns the size in bits of a piece that begins at bit `bit` and has the profile `number`.
    #[inline]
    fn piece_bits(&self, bit: usize, piece: usize, number: u8) -> usize {
        match number {
            ESCAPE => self.escaped_bits(bit, piece),
            number => usize::from(self.bits[piece][usize::from(number)]),
        }
    }

    /// Returns the size in bits of a piece that stores its own widths: the bits of the widths plus
    /// those of the coefficients.
    fn escaped_bits(&self, bit: usize, piece: usize) -> usize {
        let count = self.count(piece);
        let bits = self.escaped_widths(bit, count).map(|eight| eight.wrapping_mul(ONES) >> 56);
        (bits[0] + bits[1]) as usize + count * ESCAPE_WIDTH_BITS as usize
    }

    /// Returns the number of coefficients of piece `piece`.
    #[inline]
    pub(super) fn count(&self, piece: usize) -> usize {
        piece_range(piece, self.length).len()
    }

    /// Returns whether the next piece stores its own widths, with at least one width that is too
    /// large.
    pub(crate) fn is_bad(&self, piece: usize) -> bool {
        let is_too_large = |k| self.escaped_width(k) > MAX_ESCAPE_WIDTH;
        self.profiles.first() == Some(&ESCAPE) && (0..self.count(piece)).any(is_too_large)
    }

    /// Returns the widths that an escaped piece stores at `bit`, before its coefficients: two
    /// eights, with a byte for each width. Loading the clip has refused widths that are too large.
    #[inline]
    fn escaped_widths(&self, bit: usize, count: usize) -> [u64; 2] {
        let bits = ESCAPE_WIDTH_BITS as usize;
        let (first, second) = (bits * count.min(8), bits * count.saturating_sub(8));
        [(bit, first), (bit + first, second)]
            .map(|(bit, width)| expand_fives(self.bits(bit, width as u32)))
    }

    #[inline]
    fn escaped_width(&self, k: usize) -> u8 {
        self.bits(self.bit + k * ESCAPE_WIDTH_BITS as usize, ESCAPE_WIDTH_BITS) as u8
    }

    /// Reads the profile of the next piece.
    #[inline(always)]
    fn take_profile(&mut self) -> u8 {
        let number = self.profiles.first().copied().unwrap_or_default();
        self.profiles = self.profiles.get(1..).unwrap_or_default();
        number
    }

    /// Reads the widths of the next piece, escaped or not: two eights, with a byte for each width.
    /// Afterwards the reader is at the piece's coefficients.
    #[inline]
    pub(super) fn take_widths(&mut self, piece: usize) -> [u64; 2] {
        let count = self.count(piece);
        let number = self.take_profile();
        if number == ESCAPE {
            let widths = self.escaped_widths(self.bit, count);
            self.bit += count * ESCAPE_WIDTH_BITS as usize;
            return widths;
        }
        let [low, high] = TABLES[self.block as usize + piece].widths[usize::from(number)];
        match count {
            16.. => [low, high],
            8.. => [low, high & ((1 << (8 * (count - 8))) - 1)],
            _ => [low & ((1 << (8 * count)) - 1), 0],
        }
    }

    /// Reads the coefficients of the next piece, escaped or not. Coefficients without bits are 0.
    pub(crate) fn coefficients(&mut self, piece: usize) -> [i32; 16] {
        let eights = self.take_widths(piece).map(|widths| self.take_eight(widths));
        eights.as_flattened().try_into().unwrap_or([0; 16])
    }

    /// Reads the next eight coefficients, with the widths `widths`. Coefficients without bits are
    /// 0.
    #[inline]
    pub(super) fn take_eight(&mut self, mut widths: u64) -> [i32; 8] {
        let mut eight = [0; 8];
        for two in eight.as_chunks_mut::<2>().0 {
            let mut word = self.words.at(self.bit);
            for coefficient in two {
                // The remainder changes nothing, because loading the clip has refused widths above
                // 24.
                let width = widths as u32 % 32;
                *coefficient = sign_extended(word, width);
                word >>= width;
                widths >>= 8;
                self.bit += width as usize;
            }
        }
        eight
    }

    /// Reads the next component, and returns its sums for each set of weights. Unlike the fast
    /// path, this function handles escaped profiles and components near the clip's end.
    #[cold]
    #[inline(never)]
    pub(super) fn slow_sums<const SETS: usize>(
        &mut self,
        weights: [&Weights; SETS],
    ) -> [[f32; GROUP]; SETS] {
        let mut sums = [[0.0; GROUP]; SETS];
        for piece in 0..self.block.pieces() {
            for (nth, widths) in self.take_widths(piece).into_iter().enumerate() {
                if widths == 0 {
                    continue;
                }
                let eight = self.take_eight(widths);
                for (sums, weights) in sums.iter_mut().zip(weights) {
                    for lane in 0..GROUP {
                        sums[lane] += eight[lane] as f32 * weights.piece(piece)[nth][lane];
                    }
                }
            }
        }
        sums
    }
}

/// Returns the lowest `width` bits of `word` as a number in two's complement, or 0 if `width` is 0.
/// `width` must be below 32.
#[inline(always)]
pub(super) fn sign_extended(word: u64, width: u32) -> i32 {
    let power = 1_u32 << width;
    ((word as u32 & (power - 1)) ^ power >> 1) as i32 - (power >> 1) as i32
}

/// A word with a 1 in each byte. Multiplying by it puts the sum of all bytes into the highest byte.
pub(super) const ONES: u64 = u64::from_ne_bytes([1; 8]);

/// Expands eight 5-bit numbers to a byte each.
#[inline]
fn expand_fives(bits: u64) -> u64 {
    let fours = bits & 0xf_ffff | (bits & 0xf_ffff << 20) << 12;
    let twos = fours & 0x3ff_0000_03ff | (fours & 0x3ff_0000_03ff << 10) << 6;
    twos & 0x1f_001f_001f_001f | (twos & 0x1f_001f_001f_001f << 5) << 3
}

/// The bytes from a segment's beginning to the end of the clip, which has more than 8 bytes after
/// its last segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    /// Returns at least 57 bits that begin at `bit`, the lowest first. Bits after the end are 0.
    #[inline]
    pub(super) fn at(&self, bit: usize) -> u64 {
        let bytes = self.0.get(bit / 8..).unwrap_or_default();
        let word = match bytes.first_chunk() {
            Some(word) => *word,
            None => padded(bytes),
        };
        u64::from_le_bytes(word) >> (bit % 8)
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or_default()
    }

    /// Returns a limit for bit positions. If a bit's position is below the limit, a load may begin
    /// in the bit's own byte, or up to `bytes` bytes after that byte.
    #[inline(always)]
    pub(super) fn load_limit(&self, bytes: usize) -> usize {
        8 * (self.0.len() + 1).saturating_sub(bytes + LOAD)
    }

    /// `N` bytes, beginning with the byte that contains `bit`.
    ///
    /// # Safety
    /// There must be `N` bytes from the bit's byte on.
    #[inline(always)]
    pub(super) unsafe fn bytes<const N: usize>(self, bit: usize) -> &'a [u8; N] {
        debug_assert!(bit / 8 + N <= self.0.len());
        // SAFETY: the caller guarantees `N` bytes from the bit's byte on. They belong to the slice,
        // which is borrowed for `'a`, and an array of bytes needs no alignment.
        unsafe { &*self.0.as_ptr().add(bit / 8).cast() }
    }

    /// Returns at least 57 bits that begin at `bit`, the lowest first.
    ///
    /// # Safety
    /// There must be eight bytes from the bit's byte on.
    #[inline(always)]
    pub(super) unsafe fn word(self, bit: usize) -> u64 {
        // SAFETY: the caller guarantees eight bytes from the bit's byte on.
        u64::from_le_bytes(*unsafe { self.bytes(bit) }) >> (bit % 8)
    }
}

/// The maximum number of bytes that a kernel loads at once.
pub(super) const LOAD: usize = 16;

fn padded(bytes: &[u8]) -> [u8; 8] {
    let mut padded = [0; 8];
    for (padded, byte) in padded.iter_mut().zip(bytes) {
        *padded = *byte;
    }
    padded
}
