//! The kernel for SSE4.1 of x86-64. It unpacks coefficients one after another, and computes
//! everything else four numbers at a time.

use std::arch::x86_64::{
    __m128, _mm_add_ps, _mm_and_ps, _mm_blendv_ps, _mm_cmpgt_ps, _mm_cmplt_ps, _mm_cvtepi32_ps,
    _mm_div_ps, _mm_hadd_ps, _mm_loadu_ps, _mm_loadu_si128, _mm_movehl_ps, _mm_movelh_ps,
    _mm_mul_ps, _mm_set1_ps, _mm_sqrt_ps, _mm_storeu_ps, _mm_sub_ps, _mm_unpackhi_ps,
    _mm_unpacklo_ps, _mm_xor_ps,
};

use super::lanes::{Kernel, Lanes, Task};
use super::proof::Sse41;
use super::scalar::coefficients;
use super::segment::{Segment, Words};
use super::sums::{self, Sums, Wanted};
use super::tables::TABLES;
use crate::block::basis::Weights;
use crate::block::layout::GROUP;

impl Sse41 {
    compiled!(run of Sse41 for "sse4.1");
}

impl Kernel for Sse41 {
    type Lanes = Lanes4x2;

    #[inline(always)]
    fn splat(self, number: f32) -> Lanes4x2 {
        // SAFETY: `self` proves that the machine has SSE4.1.
        unsafe { Lanes4x2(_mm_set1_ps(number), _mm_set1_ps(number), self) }
    }

    #[inline(always)]
    fn load(self, numbers: &[f32; GROUP]) -> Lanes4x2 {
        // SAFETY: `self` proves that the machine has SSE4.1. The loads read exactly the eight
        // floats of `numbers`, four each.
        unsafe {
            Lanes4x2(_mm_loadu_ps(numbers.as_ptr()), _mm_loadu_ps(numbers.as_ptr().add(4)), self)
        }
    }

    #[inline(always)]
    unsafe fn piece<const TABLE: usize, const SETS: usize>(
        self,
        mut sums: [Lanes4x2; SETS],
        number: u8,
        words: Words<'_>,
        mut bit: usize,
        weights: [[Lanes4x2; 2]; SETS],
    ) -> [Lanes4x2; SETS] {
        for (eight, &widths) in TABLES[TABLE].widths[usize::from(number)].iter().enumerate() {
            if widths != 0 {
                // SAFETY: the caller guarantees `LOAD` bytes from the first byte of each eight on.
                let coefficients = unsafe { coefficients(widths, words, &mut bit) };
                // SAFETY: `self` proves that the machine has SSE4.1.
                let numbers = unsafe { numbers(self, &coefficients) };
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = sum.add(numbers.mul(weights[eight]));
                }
            }
        }
        sums
    }

    compiled!(decode of Sse41 for "sse4.1");
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn numbers(sse41: Sse41, coefficients: &[i32; GROUP]) -> Lanes4x2 {
    let at = coefficients.as_ptr();
    // SAFETY: the loads read exactly the eight integers of `coefficients`, four each.
    let (low, high) = unsafe { (_mm_loadu_si128(at.cast()), _mm_loadu_si128(at.add(4).cast())) };
    Lanes4x2(_mm_cvtepi32_ps(low), _mm_cvtepi32_ps(high), sse41)
}

/// Eight numbers in two registers, and the proof that the machine has SSE4.1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes4x2(__m128, __m128, Sse41);

impl Lanes for Lanes4x2 {
    type Kernel = Sse41;

    #[inline(always)]
    fn kernel(self) -> Sse41 {
        self.2
    }

    both_registers! {
        add(other) is _mm_add_ps;
        sub(other) is _mm_sub_ps;
        mul(other) is _mm_mul_ps;
        div(other) is _mm_div_ps;
        sqrt() is _mm_sqrt_ps;
    }

    #[inline(always)]
    fn negate_where_negative(self, sign: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has SSE4.1.
        unsafe {
            let (none, bit) = (_mm_set1_ps(0.0), _mm_set1_ps(-0.0));
            let (low, high) = (_mm_cmplt_ps(sign.0, none), _mm_cmplt_ps(sign.1, none));
            Self(
                _mm_xor_ps(self.0, _mm_and_ps(low, bit)),
                _mm_xor_ps(self.1, _mm_and_ps(high, bit)),
                self.2,
            )
        }
    }

    #[inline(always)]
    fn where_positive(self, other: Self, instead: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has SSE4.1.
        unsafe {
            let none = _mm_set1_ps(0.0);
            let (low, high) = (_mm_cmpgt_ps(other.0, none), _mm_cmpgt_ps(other.1, none));
            Self(
                _mm_blendv_ps(instead.0, self.0, low),
                _mm_blendv_ps(instead.1, self.1, high),
                self.2,
            )
        }
    }

    #[inline(always)]
    fn fold(numbers: &[Self; GROUP]) -> Self {
        let [a, b, c, d, e, f, g, h] = *numbers;
        // SAFETY: the lanes carry the proof that the machine has SSE4.1.
        unsafe {
            // The first step adds the pairs 0 + 1 and 2 + 3, or 4 + 5 and 6 + 7. The next step adds
            // the sums of two pairs, and the last step adds the sums of both halves.
            let front = _mm_hadd_ps(_mm_hadd_ps(a.0, b.0), _mm_hadd_ps(c.0, d.0));
            let front_high = _mm_hadd_ps(_mm_hadd_ps(a.1, b.1), _mm_hadd_ps(c.1, d.1));
            let back = _mm_hadd_ps(_mm_hadd_ps(e.0, f.0), _mm_hadd_ps(g.0, h.0));
            let back_high = _mm_hadd_ps(_mm_hadd_ps(e.1, f.1), _mm_hadd_ps(g.1, h.1));
            Self(_mm_add_ps(front, front_high), _mm_add_ps(back, back_high), a.2)
        }
    }

    #[inline(always)]
    fn numbers(self) -> [f32; GROUP] {
        // SAFETY: both types consist of eight `f32`.
        unsafe { std::mem::transmute([self.0, self.1]) }
    }

    #[inline(always)]
    fn transpose([x, y, z, w]: [Self; 4]) -> [[f32; 4]; GROUP] {
        let mut rows = [[0.0; 4]; GROUP];
        let (low, high) = rows.split_at_mut(4);
        // SAFETY: the lanes carry the proof that the machine has SSE4.1.
        unsafe {
            store_rows([x.0, y.0, z.0, w.0], low);
            store_rows([x.1, y.1, z.1, w.1], high);
        }
        rows
    }
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn store_rows([x, y, z, w]: [__m128; 4], rows: &mut [[f32; 4]]) {
    let (xy, zw) = (_mm_unpacklo_ps(x, y), _mm_unpacklo_ps(z, w));
    let (xy_high, zw_high) = (_mm_unpackhi_ps(x, y), _mm_unpackhi_ps(z, w));
    let columns = [
        _mm_movelh_ps(xy, zw),
        _mm_movehl_ps(zw, xy),
        _mm_movelh_ps(xy_high, zw_high),
        _mm_movehl_ps(zw_high, xy_high),
    ];
    for (row, numbers) in rows.iter_mut().zip(columns) {
        // SAFETY: the store writes exactly the four floats of `row`.
        unsafe { _mm_storeu_ps(row.as_mut_ptr(), numbers) };
    }
}
