//! The kernel in plain Rust, for any machine. Tests compare the other kernels with this one.

use super::lanes::{Kernel, Lanes};
use super::segment::{Words, sign_extended};
use super::tables::TABLES;
use crate::block::layout::GROUP;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Kernel for Scalar {
    type Lanes = [f32; GROUP];
    const PAIRS: bool = false;

    #[inline(always)]
    fn splat(self, number: f32) -> [f32; GROUP] {
        [number; GROUP]
    }

    #[inline(always)]
    fn load(self, numbers: &[f32; GROUP]) -> [f32; GROUP] {
        *numbers
    }

    #[inline(always)]
    unsafe fn piece<const TABLE: usize, const SETS: usize>(
        self,
        mut sums: [[f32; GROUP]; SETS],
        number: u8,
        words: Words<'_>,
        mut bit: usize,
        weights: [[[f32; GROUP]; 2]; SETS],
    ) -> [[f32; GROUP]; SETS] {
        for (eight, &widths) in TABLES[TABLE].widths[usize::from(number)].iter().enumerate() {
            if widths != 0 {
                // SAFETY: the caller guarantees `LOAD` bytes from the first byte of each eight on.
                let coefficients = unsafe { coefficients(widths, words, &mut bit) };
                for (sums, weights) in sums.iter_mut().zip(weights) {
                    for lane in 0..GROUP {
                        sums[lane] += coefficients[lane] as f32 * weights[eight][lane];
                    }
                }
            }
        }
        sums
    }
}

/// Reads eight coefficients with the widths `widths`.
///
/// # Safety
/// There must be [`LOAD`](super::segment::LOAD) bytes from the byte of `bit` on.
#[inline(always)]
pub(super) unsafe fn coefficients(widths: u64, words: Words<'_>, bit: &mut usize) -> [i32; GROUP] {
    let mut coefficients = [0; GROUP];
    let widths = widths.to_le_bytes();
    for (four, widths) in
        coefficients.as_chunks_mut::<4>().0.iter_mut().zip(widths.as_chunks::<4>().0)
    {
        // SAFETY: the caller guarantees `LOAD` bytes. The words of both fours lie within them,
        // because four coefficients take at most 56 bits.
        let mut word = unsafe { words.word(*bit) };
        for (coefficient, width) in four.iter_mut().zip(widths) {
            *coefficient = sign_extended(word, u32::from(*width));
            word >>= width;
            *bit += usize::from(*width);
        }
    }
    coefficients
}

/// Computes each lane's number with an expression.
macro_rules! each {
    ($lane:ident => $value:expr) => {{
        let mut numbers = [0.0; GROUP];
        for ($lane, number) in numbers.iter_mut().enumerate() {
            *number = $value;
        }
        numbers
    }};
}

impl Lanes for [f32; GROUP] {
    type Kernel = Scalar;

    #[inline(always)]
    fn kernel(self) -> Scalar {
        Scalar
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        each!(lane => self[lane] + other[lane])
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        each!(lane => self[lane] - other[lane])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        each!(lane => self[lane] * other[lane])
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        each!(lane => self[lane] / other[lane])
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        each!(lane => self[lane].sqrt())
    }

    #[inline(always)]
    fn negate_where_negative(self, sign: Self) -> Self {
        each!(lane => if sign[lane] < 0.0 { -self[lane] } else { self[lane] })
    }

    #[inline(always)]
    fn where_positive(self, other: Self, instead: Self) -> Self {
        each!(lane => if other[lane] > 0.0 { self[lane] } else { instead[lane] })
    }

    #[inline(always)]
    fn fold(numbers: &[Self; GROUP]) -> Self {
        each!(lane => {
            let [a, b, c, d, e, f, g, h] = numbers[lane];
            ((a + b) + (c + d)) + ((e + f) + (g + h))
        })
    }

    #[inline(always)]
    fn numbers(self) -> [f32; GROUP] {
        self
    }

    #[inline(always)]
    fn transpose(numbers: [Self; 4]) -> [[f32; 4]; GROUP] {
        let mut all = [[0.0; 4]; GROUP];
        for (lane, own) in all.iter_mut().enumerate() {
            *own = [numbers[0][lane], numbers[1][lane], numbers[2][lane], numbers[3][lane]];
        }
        all
    }
}
