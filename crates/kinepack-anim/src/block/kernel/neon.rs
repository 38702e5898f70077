//! The kernel for NEON of 64-bit ARM.

use std::arch::aarch64::{
    float32x4_t, uint32x4_t, vaddq_f32, vandq_u32, vbslq_f32, vcgtq_f32, vcltq_f32, vcvtq_f32_s32,
    vdivq_f32, vdupq_n_f32, vdupq_n_s32, vdupq_n_u32, vdupq_n_u64, veorq_u32, vld1q_f32, vld1q_s32,
    vld1q_s64, vmulq_f32, vnegq_s32, vpaddq_f32, vreinterpretq_f32_u32, vreinterpretq_s32_u32,
    vreinterpretq_u32_f32, vreinterpretq_u32_u64, vshlq_s32, vshlq_u64, vsqrtq_f32, vst1q_f32,
    vsubq_f32, vsubq_s32, vuzp1q_u32, vzip1q_f32, vzip2q_f32,
};

use super::lanes::{Kernel, Lanes, Task};
use super::proof::Neon;
use super::segment::{Segment, Words};
use super::sums::{self, Sums, Wanted};
use super::tables::TABLES;
use crate::block::basis::Weights;
use crate::block::layout::GROUP;

impl Neon {
    compiled!(run of Neon for "neon");
}

impl Kernel for Neon {
    type Lanes = Lanes4x2;

    #[inline(always)]
    fn splat(self, number: f32) -> Lanes4x2 {
        // SAFETY: `self` proves that the machine has NEON.
        unsafe { Lanes4x2(vdupq_n_f32(number), vdupq_n_f32(number), self) }
    }

    #[inline(always)]
    fn load(self, numbers: &[f32; GROUP]) -> Lanes4x2 {
        // SAFETY: `self` proves that the machine has NEON. The loads read exactly the eight floats
        // of `numbers`, four each.
        unsafe { Lanes4x2(vld1q_f32(numbers.as_ptr()), vld1q_f32(numbers.as_ptr().add(4)), self) }
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
        let table = &TABLES[TABLE];
        let number = usize::from(number);
        for eight in 0..if TABLE == 0 { 1 } else { 2 } {
            let [a, b, c, d, e, f, g, h] = table.widths[number][eight].to_le_bytes().map(i32::from);
            let middle = bit + (a + b + c + d) as usize;
            // SAFETY: the caller guarantees `LOAD` bytes from the first byte of each eight on. The
            // two words lie within them, because four coefficients take at most 56 bits.
            let words = unsafe { (words.word(bit), words.word(middle)) };
            bit = middle + (e + f + g + h) as usize;
            // SAFETY: `self` proves that the machine has NEON.
            let numbers =
                unsafe { Lanes4x2(four(words.0, [a, b, c, d]), four(words.1, [e, f, g, h]), self) };
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = sum.add(numbers.mul(weights[eight]));
            }
        }
        sums
    }

    compiled!(decode of Neon for "neon");
}

/// Four coefficients with the widths `widths`. The first begins at the lowest bit of `word`.
#[inline]
#[target_feature(enable = "neon")]
fn four(word: u64, widths: [i32; 4]) -> float32x4_t {
    let [a, b, c, _] = widths.map(i64::from);
    let (front, back) = ([0, -a], [-a - b, -a - b - c]);
    let word = vdupq_n_u64(word);
    // A left shift by a negative number shifts to the right.
    // SAFETY: the loads read exactly the two, two and four numbers of the local arrays.
    let (front, back, widths) = unsafe {
        (vld1q_s64(front.as_ptr()), vld1q_s64(back.as_ptr()), vld1q_s32(widths.as_ptr()))
    };
    let (front, back) = (vshlq_u64(word, front), vshlq_u64(word, back));
    let numbers = vuzp1q_u32(vreinterpretq_u32_u64(front), vreinterpretq_u32_u64(back));
    let unused = vsubq_s32(vdupq_n_s32(32), widths);
    let numbers = vshlq_s32(vreinterpretq_s32_u32(numbers), unused);
    vcvtq_f32_s32(vshlq_s32(numbers, vnegq_s32(unused)))
}

/// Eight numbers in two registers, and the proof that the machine has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes4x2(float32x4_t, float32x4_t, Neon);

impl Lanes for Lanes4x2 {
    type Kernel = Neon;

    #[inline(always)]
    fn kernel(self) -> Neon {
        self.2
    }

    both_registers! {
        add(other) is vaddq_f32;
        sub(other) is vsubq_f32;
        mul(other) is vmulq_f32;
        div(other) is vdivq_f32;
        sqrt() is vsqrtq_f32;
    }

    #[inline(always)]
    fn negate_where_negative(self, sign: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has NEON.
        unsafe {
            let none = vdupq_n_f32(0.0);
            Self(
                negate_where(self.0, vcltq_f32(sign.0, none)),
                negate_where(self.1, vcltq_f32(sign.1, none)),
                self.2,
            )
        }
    }

    #[inline(always)]
    fn where_positive(self, other: Self, instead: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has NEON.
        unsafe {
            let none = vdupq_n_f32(0.0);
            let (low, high) = (vcgtq_f32(other.0, none), vcgtq_f32(other.1, none));
            Self(vbslq_f32(low, self.0, instead.0), vbslq_f32(high, self.1, instead.1), self.2)
        }
    }

    #[inline(always)]
    fn fold(numbers: &[Self; GROUP]) -> Self {
        let [a, b, c, d, e, f, g, h] = *numbers;
        // SAFETY: the lanes carry the proof that the machine has NEON.
        unsafe {
            // The first step adds the pairs 0 + 1 and 2 + 3, or 4 + 5 and 6 + 7. The next step adds
            // the sums of two pairs, and the last step adds the sums of both halves.
            let front = vpaddq_f32(vpaddq_f32(a.0, b.0), vpaddq_f32(c.0, d.0));
            let front_high = vpaddq_f32(vpaddq_f32(a.1, b.1), vpaddq_f32(c.1, d.1));
            let back = vpaddq_f32(vpaddq_f32(e.0, f.0), vpaddq_f32(g.0, h.0));
            let back_high = vpaddq_f32(vpaddq_f32(e.1, f.1), vpaddq_f32(g.1, h.1));
            Self(vaddq_f32(front, front_high), vaddq_f32(back, back_high), a.2)
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
        // SAFETY: the lanes carry the proof that the machine has NEON.
        unsafe {
            store_rows([x.0, y.0, z.0, w.0], low);
            store_rows([x.1, y.1, z.1, w.1], high);
        }
        rows
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn negate_where(numbers: float32x4_t, mask: uint32x4_t) -> float32x4_t {
    let sign = vandq_u32(mask, vdupq_n_u32(1 << 31));
    vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(numbers), sign))
}

#[inline]
#[target_feature(enable = "neon")]
fn store_rows([x, y, z, w]: [float32x4_t; 4], rows: &mut [[f32; 4]]) {
    // Interleaves to x0 z0 x1 z1 and so on, and then to x0 y0 z0 w0.
    let (xz, yw) = (vzip1q_f32(x, z), vzip1q_f32(y, w));
    let (xz_high, yw_high) = (vzip2q_f32(x, z), vzip2q_f32(y, w));
    let columns = [
        vzip1q_f32(xz, yw),
        vzip2q_f32(xz, yw),
        vzip1q_f32(xz_high, yw_high),
        vzip2q_f32(xz_high, yw_high),
    ];
    for (row, numbers) in rows.iter_mut().zip(columns) {
        // SAFETY: the store writes exactly the four floats of `row`.
        unsafe { vst1q_f32(row.as_mut_ptr(), numbers) };
    }
}
