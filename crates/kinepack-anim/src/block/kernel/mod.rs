//! What sampling computes, eight tracks at once: the sums over the coefficients of components, and what makes rotations of them. Written once
//! over [`Lanes`], of which there is one for each instruction set; all give the same bits, since none fuses or reorders anything.
//! `spec/ANIM.md`, section 12.

mod rotation;
mod scalar;

use super::basis::Weights;
use super::layout::GROUP;
use super::widths::{BlockLength, ESCAPE, ESCAPE_WIDTH_BITS, MAX_ESCAPE_WIDTH, PIECE, Profile, of_piece};

pub(crate) use rotation::{Quaternion, blend, inner, product, rotation, unpack, unpack_fine};
pub(crate) use scalar::Scalar;

/// Eight numbers, each of which is computed by itself.
pub(crate) trait Lanes: Copy {
    fn splat(number: f32) -> Self;
    fn load(numbers: &[f32; GROUP]) -> Self;
    fn store(self) -> [f32; GROUP];
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// The number, negated where that of `sign` is below 0.
    fn negate_where_negative(self, sign: Self) -> Self;
    /// The number where that of `other` is above 0, else `instead`.
    fn where_positive(self, other: Self, instead: Self) -> Self;
    /// Eight bytes as numbers.
    fn from_bytes(bytes: &[u8; GROUP]) -> Self;
    /// Eight u16 as numbers, little-endian.
    fn from_words(bytes: &[u8; 2 * GROUP]) -> Self;
}

/// An instruction set.
pub(crate) trait Kernel: Copy {
    type Lanes: Lanes;

    /// The sum over the coefficients of each live component of a row of up to eight, not yet scaled; of dead ones 0. Moves on behind them.
    fn sums(self, steps: &[u8], segment: &mut Segment<'_>, weights: &Weights) -> Self::Lanes;
}

/// Where reading of a segment is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    /// From its first byte to the end of the clip, which has more bytes behind the last segment than a kernel loads too many.
    pub(crate) bytes: &'a [u8],
    /// The byte of the profile of the next piece.
    pub(crate) next: usize,
    /// Its first bit, counted from the first byte.
    pub(crate) bit: usize,
    pub(crate) block: BlockLength,
}

impl<'a> Segment<'a> {
    /// The beginning of a segment of `live` components.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], live: usize, block: BlockLength) -> Self {
        Self { bytes, next: 1, bit: 8 * (1 + live * block.pieces()), block }
    }

    /// The exponent of its step, in eighths.
    #[inline]
    pub(crate) fn step(&self) -> u8 {
        self.bytes.first().copied().unwrap_or_default()
    }

    /// Some bits from a bit on, at most 25; those behind the end are 0.
    #[inline]
    pub(crate) fn bits(&self, at: usize, width: u32) -> u32 {
        let byte = at / 8;
        let word = match self.bytes.get(byte..).and_then(<[u8]>::first_chunk) {
            Some(&bytes) => u32::from_le_bytes(bytes),
            None => (0..4).map(|i| u32::from(self.bytes.get(byte + i).copied().unwrap_or_default()) << (8 * i)).sum(),
        };
        word >> (at % 8) & ((1 << width) - 1)
    }

    /// Goes behind `count` components of segments of `length` samples.
    pub(crate) fn skip(&mut self, count: usize, length: usize) {
        for _ in 0..count {
            for piece in 0..self.block.pieces() {
                self.skip_piece(piece, of_piece(piece, length).len());
            }
        }
    }

    /// Goes behind a piece of `count` coefficients.
    #[inline]
    pub(crate) fn skip_piece(&mut self, piece: usize, count: usize) {
        let (profile, first) = self.profile(piece, count);
        self.bit = first + usize::from(profile.ends[count]);
        self.next += 1;
    }

    /// The profile of the next piece, of `count` coefficients, and the bit of its first one.
    #[inline]
    pub(crate) fn profile(&self, piece: usize, count: usize) -> (Profile, usize) {
        let number = self.bytes.get(self.next).copied().unwrap_or_default();
        match self.block.profiles(piece).get(usize::from(number)) {
            Some(profile) => (*profile, self.bit),
            None => self.escaped(count),
        }
    }

    /// Whether the next piece has its widths in front of it.
    #[inline]
    pub(crate) fn is_escaped(&self) -> bool {
        self.bytes.get(self.next) == Some(&ESCAPE)
    }

    #[cold]
    fn escaped(&self, count: usize) -> (Profile, usize) {
        let mut widths = [0; PIECE];
        for (k, width) in widths[..count].iter_mut().enumerate() {
            // Larger ones were refused when the clip was loaded.
            *width = self.escaped_width(k).min(MAX_ESCAPE_WIDTH);
        }
        (Profile::new(widths), self.bit + count * ESCAPE_WIDTH_BITS as usize)
    }

    /// A width that stands in front of the next piece.
    pub(crate) fn escaped_width(&self, k: usize) -> u8 {
        self.bits(self.bit + k * ESCAPE_WIDTH_BITS as usize, ESCAPE_WIDTH_BITS) as u8
    }

    /// The coefficients of the next piece, which it moves behind; those of no bits are 0.
    #[inline]
    pub(crate) fn coefficients(&mut self, piece: usize, coefficients: &mut [i32]) -> Profile {
        let (profile, first) = self.profile(piece, coefficients.len());
        let mut at = first;
        for (coefficient, &width) in coefficients.iter_mut().zip(&profile.widths) {
            let width = u32::from(width);
            *coefficient = if width == 0 { 0 } else { self.bits(at, width) as i32 - (1 << (width - 1)) };
            at += width as usize;
        }
        self.bit = at;
        self.next += 1;
        profile
    }
}

/// 2^(i/8).
const OCTAVE: [f32; 8] =
    [1.0, 1.090_507_7, 1.189_207_1, 1.296_839_6, 1.414_213_5, 1.542_210_8, 1.681_792_9, 1.834_008_1];

/// What the sums of a row of components are multiplied with: 2^((segment + 2 · step) / 8 − 64) each; of dead ones anything finite.
#[inline(always)]
pub(crate) fn scales<K: Kernel>(steps: &[u8], segment: u8) -> K::Lanes {
    let mut scales = [0.0; GROUP];
    for (scale, &step) in scales.iter_mut().zip(steps) {
        *scale = super::kernel::scale(segment, step);
    }
    K::Lanes::load(&scales)
}

/// The size of a step.
#[inline]
pub(crate) fn scale(segment: u8, step: u8) -> f32 {
    let exponent = u32::from(segment) + 2 * u32::from(step);
    // From 2^-64 to 2^31.
    OCTAVE[(exponent % 8) as usize] * f32::from_bits((exponent / 8 + 127 - 64) << 23)
}
