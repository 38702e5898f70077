//! Plain Rust, for any machine, and what the others are compared with.

use super::{Kernel, Lanes, Segment};
use crate::block::basis::Weights;
use crate::block::layout::GROUP;
use crate::block::widths::{PIECE, of_piece};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Kernel for Scalar {
    type Lanes = [f32; GROUP];

    #[inline(always)]
    fn sums(self, steps: &[u8], segment: &mut Segment<'_>, weights: &Weights) -> [f32; GROUP] {
        let mut sums = [0.0; GROUP];
        for (sum, &step) in sums.iter_mut().zip(steps) {
            if step != 0 {
                *sum = sum_of(segment, weights);
            }
        }
        sums
    }
}

/// The sum over the coefficients of the next component, in the order that every kernel keeps.
#[inline]
pub(crate) fn sum_of(segment: &mut Segment<'_>, weights: &Weights) -> f32 {
    let mut lanes = [0.0; GROUP];
    let mut is_first = true;
    for piece in 0..segment.block.pieces() {
        let range = of_piece(piece, weights.length);
        let mut coefficients = [0; PIECE];
        let profile = segment.coefficients(piece, &mut coefficients[..range.len()]);
        let eights = usize::from(profile.eights).min(range.len().div_ceil(GROUP));
        for eight in 0..eights {
            for (index, lane) in lanes.iter_mut().enumerate() {
                let k = GROUP * eight + index;
                let product = coefficients[k] as f32 * weights.numbers[PIECE * piece + k];
                *lane = if is_first { product } else { *lane + product };
            }
            is_first = false;
        }
    }
    ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
}

impl Lanes for [f32; GROUP] {
    #[inline(always)]
    fn splat(number: f32) -> Self {
        [number; GROUP]
    }

    #[inline(always)]
    fn load(numbers: &[f32; GROUP]) -> Self {
        *numbers
    }

    #[inline(always)]
    fn store(self) -> [f32; GROUP] {
        self
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] + other[lane])
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] - other[lane])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] * other[lane])
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] / other[lane])
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f32::sqrt)
    }

    #[inline(always)]
    fn negate_where_negative(self, sign: Self) -> Self {
        std::array::from_fn(|lane| if sign[lane] < 0.0 { -self[lane] } else { self[lane] })
    }

    #[inline(always)]
    fn where_positive(self, other: Self, instead: Self) -> Self {
        std::array::from_fn(|lane| if other[lane] > 0.0 { self[lane] } else { instead[lane] })
    }

    #[inline(always)]
    fn from_bytes(bytes: &[u8; GROUP]) -> Self {
        bytes.map(f32::from)
    }

    #[inline(always)]
    fn from_words(bytes: &[u8; 2 * GROUP]) -> Self {
        std::array::from_fn(|lane| f32::from(u16::from_le_bytes([bytes[2 * lane], bytes[2 * lane + 1]])))
    }
}
