//! The kernel for AVX2 of x86-64.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_GT_OQ, _CMP_LT_OQ, _mm_cvtsi64_si128, _mm_loadl_epi64, _mm_loadu_si128,
    _mm256_add_epi32, _mm256_add_ps, _mm256_and_ps, _mm256_and_si256, _mm256_andnot_ps,
    _mm256_blendv_ps, _mm256_broadcastsi128_si256, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_cmp_ps, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32,
    _mm256_cvtepu16_epi32, _mm256_div_ps, _mm256_hadd_ps, _mm256_i32gather_epi32,
    _mm256_load_si256, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_mul_ps, _mm256_permute2f128_ps,
    _mm256_permutevar_ps, _mm256_permutevar8x32_ps, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_setr_ps, _mm256_shuffle_epi8, _mm256_shuffle_ps, _mm256_slli_epi32, _mm256_sllv_epi32,
    _mm256_sqrt_ps, _mm256_srai_epi32, _mm256_srav_epi32, _mm256_srli_epi32, _mm256_srlv_epi32,
    _mm256_sub_epi32, _mm256_sub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps, _mm256_xor_ps,
};

use super::lanes::{Kernel, Lanes, Task};
use super::proof::Avx2;
use super::scale::OCTAVE;
use super::segment::{LOAD, ONES, Segment, Words};
use super::sums::{self, Sums, Wanted};
use super::tables::{TABLES, Table};
use crate::block::basis::Weights;
use crate::block::layout::GROUP;

impl Avx2 {
    compiled!(run of Avx2 for "avx2,bmi1,bmi2,popcnt");
}

impl Kernel for Avx2 {
    type Lanes = Lanes8;

    #[inline(always)]
    fn splat(self, number: f32) -> Lanes8 {
        // SAFETY: `self` proves that the machine has AVX2.
        Lanes8(unsafe { _mm256_set1_ps(number) }, self)
    }

    #[inline(always)]
    fn load(self, numbers: &[f32; GROUP]) -> Lanes8 {
        // SAFETY: `self` proves that the machine has AVX2, and the load reads exactly the eight
        // floats of `numbers`.
        Lanes8(unsafe { _mm256_loadu_ps(numbers.as_ptr()) }, self)
    }

    #[inline(always)]
    fn bytes(self, numbers: [u8; GROUP]) -> Lanes8 {
        // SAFETY: `self` proves that the machine has AVX2.
        unsafe { Lanes8(_mm256_cvtepi32_ps(integers(numbers)), self) }
    }

    #[inline(always)]
    fn words(self, numbers: [u8; 2 * GROUP]) -> Lanes8 {
        // SAFETY: `self` proves that the machine has AVX2, and the load reads exactly the sixteen
        // bytes of `numbers`.
        unsafe {
            let words = _mm_loadu_si128(numbers.as_ptr().cast());
            Lanes8(_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(words)), self)
        }
    }

    #[inline(always)]
    fn own_scales(self, steps: [u8; GROUP]) -> Lanes8 {
        // SAFETY: `self` proves that the machine has AVX2.
        unsafe {
            let steps = integers(steps);
            // The lowest two bits select a quarter of an octave, and the others are the exponent.
            let [a, _, b, _, c, _, d, _] = OCTAVE;
            let quarters = _mm256_permutevar_ps(_mm256_setr_ps(a, b, c, d, a, b, c, d), steps);
            let exponents = _mm256_slli_epi32::<23>(_mm256_srli_epi32::<2>(steps));
            let scales = _mm256_add_epi32(_mm256_castps_si256(quarters), exponents);
            Lanes8(_mm256_castsi256_ps(scales), self)
        }
    }

    #[inline(always)]
    unsafe fn piece<const TABLE: usize, const SETS: usize>(
        self,
        mut sums: [Lanes8; SETS],
        number: u8,
        words: Words<'_>,
        bit: usize,
        weights: [[Lanes8; 2]; SETS],
    ) -> [Lanes8; SETS] {
        let (table, number) = (&TABLES[TABLE], usize::from(number));
        // SAFETY: the caller guarantees `LOAD` bytes from the byte of `bit` on, and `self` proves
        // that the machine has AVX2.
        let first = unsafe { eight(self, table, 0, number, words, bit) };
        for (sum, weights) in sums.iter_mut().zip(weights) {
            let products = first.mul(weights[0]);
            *sum = if TABLE == 3 { sum.add(products) } else { products };
        }
        if TABLE > 0 {
            let bit = bit + usize::from(table.bits[8][number]);
            // SAFETY: as for the first eight. The caller also guarantees `LOAD` bytes for the
            // second eight.
            let second = unsafe { eight(self, table, 1, number, words, bit) };
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = sum.add(second.mul(weights[1]));
            }
        }
        sums
    }

    #[inline(always)]
    fn slow_sums<const SETS: usize>(
        self,
        segment: &mut Segment<'_>,
        weights: [&Weights; SETS],
    ) -> [Lanes8; SETS] {
        // SAFETY: `self` proves that the machine has AVX2.
        unsafe { slow_sums(self, segment, weights) }
    }

    compiled!(decode of Avx2 for "avx2,bmi1,bmi2,popcnt");
}

/// Widens eight 8-bit numbers to 32 bits.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn integers(numbers: [u8; GROUP]) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(numbers)))
}

/// Returns the sums of the next component for each set of weights. Unlike the fast path, this
/// function handles escaped profiles and components near the clip's end.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn slow_sums<const SETS: usize>(
    avx2: Avx2,
    segment: &mut Segment<'_>,
    weights: [&Weights; SETS],
) -> [Lanes8; SETS] {
    let mut sums = [avx2.splat(0.0); SETS];
    for piece in 0..segment.block.pieces() {
        for (eight, widths) in segment.take_widths(piece).into_iter().enumerate() {
            if widths != 0 {
                let numbers = slow_eight(avx2, widths, segment);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = sum.add(numbers.mul(avx2.load(&weights.piece(piece)[eight])));
                }
            }
        }
    }
    sums
}

/// Reads the next eight coefficients, whose widths may be any that the format allows.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn slow_eight(avx2: Avx2, widths: u64, segment: &mut Segment<'_>) -> Lanes8 {
    // A coefficient starts at most 255 + 7 bits after the first byte.
    if segment.bit >= segment.words.load_limit(32) {
        let eight = segment.take_eight(widths);
        // SAFETY: the load reads exactly the eight numbers of the local array.
        let numbers = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
        return Lanes8(_mm256_cvtepi32_ps(numbers), avx2);
    }
    // The byte-wise running sums of the widths. The largest is 8 · 24, which fits into a byte.
    let ends = widths.wrapping_mul(ONES);
    let starts = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((ends << 8) as i64));
    let starts = _mm256_add_epi32(starts, _mm256_set1_epi32((segment.bit % 8) as i32));
    // SAFETY: the check above guarantees `32 + LOAD` bytes from the byte of `segment.bit` on. Each
    // lane gathers four of these bytes, starting at most 32 bytes after the first.
    let data = unsafe {
        let first = segment.words.bytes::<{ 32 + LOAD }>(segment.bit);
        _mm256_i32gather_epi32::<1>(first.as_ptr().cast(), _mm256_srli_epi32::<3>(starts))
    };
    let data = _mm256_srlv_epi32(data, _mm256_and_si256(starts, _mm256_set1_epi32(7)));
    let unused = _mm256_sub_epi32(
        _mm256_set1_epi32(32),
        _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(widths as i64)),
    );
    let numbers = _mm256_srav_epi32(_mm256_sllv_epi32(data, unused), unused);
    segment.bit += (ends >> 56) as usize;
    Lanes8(_mm256_cvtepi32_ps(numbers), avx2)
}

/// Returns the first or the second eight coefficients of a profile.
///
/// # Safety
/// There must be [`LOAD`] bytes from the byte of `bit` on.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn eight(
    avx2: Avx2,
    table: &Table,
    index: usize,
    number: usize,
    words: Words<'_>,
    bit: usize,
) -> Lanes8 {
    let eight = &table.eights[index][number];
    // SAFETY: the caller guarantees the bytes of the first load. The other loads read static
    // arrays, which are as long as a register and aligned to 32 bytes.
    let (data, bytes, left_shifts, right_shifts) = unsafe {
        (
            _mm_loadu_si128(words.bytes::<LOAD>(bit).as_ptr().cast()),
            _mm256_load_si256(eight.bytes.as_ptr().cast()),
            _mm256_load_si256(eight.left_shifts.as_ptr().cast()),
            _mm256_load_si256(eight.right_shifts.as_ptr().cast()),
        )
    };
    let data = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(data), bytes);
    let left_shifts = _mm256_add_epi32(left_shifts, _mm256_set1_epi32(table.start_shifts[bit % 8]));
    Lanes8(
        _mm256_cvtepi32_ps(_mm256_srav_epi32(_mm256_sllv_epi32(data, left_shifts), right_shifts)),
        avx2,
    )
}

/// Eight numbers in a register, and the proof that the machine has AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes8(__m256, Avx2);

impl Lanes for Lanes8 {
    type Kernel = Avx2;

    #[inline(always)]
    fn kernel(self) -> Avx2 {
        self.1
    }

    #[inline(always)]
    fn numbers(self) -> [f32; GROUP] {
        // SAFETY: both types consist of eight `f32`.
        unsafe { std::mem::transmute(self.0) }
    }

    #[inline(always)]
    fn spread([first, second]: [Self; 2], places: &[u8; GROUP]) -> Self {
        // SAFETY: the lanes carry the proof that the machine has AVX2, and the load reads exactly
        // the eight bytes of `places`.
        unsafe {
            // A place's lowest three bits select a lane. The fourth bit selects `first` or
            // `second`, and the highest one marks a dead component.
            let places = _mm256_cvtepi8_epi32(_mm_loadl_epi64(places.as_ptr().cast()));
            let is_second = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(places));
            let from_first = _mm256_permutevar8x32_ps(first.0, places);
            let from_second = _mm256_permutevar8x32_ps(second.0, places);
            let is_dead = _mm256_castsi256_ps(_mm256_srai_epi32::<31>(places));
            let selected = _mm256_blendv_ps(from_first, from_second, is_second);
            Self(_mm256_andnot_ps(is_dead, selected), first.1)
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has AVX2.
        unsafe { Self(_mm256_add_ps(self.0, other.0), self.1) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has AVX2.
        unsafe { Self(_mm256_sub_ps(self.0, other.0), self.1) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has AVX2.
        unsafe { Self(_mm256_mul_ps(self.0, other.0), self.1) }
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has AVX2.
        unsafe { Self(_mm256_div_ps(self.0, other.0), self.1) }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has AVX2.
        unsafe { Self(_mm256_sqrt_ps(self.0), self.1) }
    }

    #[inline(always)]
    fn negate_where_negative(self, sign: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has AVX2.
        unsafe {
            let is_negative = _mm256_cmp_ps::<_CMP_LT_OQ>(sign.0, _mm256_set1_ps(0.0));
            Self(_mm256_xor_ps(self.0, _mm256_and_ps(is_negative, _mm256_set1_ps(-0.0))), self.1)
        }
    }

    #[inline(always)]
    fn where_positive(self, other: Self, instead: Self) -> Self {
        // SAFETY: the lanes carry the proof that the machine has AVX2.
        unsafe {
            let is_positive = _mm256_cmp_ps::<_CMP_GT_OQ>(other.0, _mm256_set1_ps(0.0));
            Self(_mm256_blendv_ps(instead.0, self.0, is_positive), self.1)
        }
    }

    #[inline(always)]
    fn fold(numbers: &[Self; GROUP]) -> Self {
        let [a, b, c, d, e, f, g, h] = *numbers;
        // SAFETY: the lanes carry the proof that the machine has AVX2.
        unsafe {
            // The first step adds the pairs 0 + 1 and 2 + 3 in the lower half, and the pairs 4 + 5
            // and 6 + 7 in the upper half. The next step adds the two sums of each half, and the
            // last step adds the sums of both halves.
            let low = _mm256_hadd_ps(_mm256_hadd_ps(a.0, b.0), _mm256_hadd_ps(c.0, d.0));
            let high = _mm256_hadd_ps(_mm256_hadd_ps(e.0, f.0), _mm256_hadd_ps(g.0, h.0));
            let (front, back) = (
                _mm256_permute2f128_ps::<0x20>(low, high),
                _mm256_permute2f128_ps::<0x31>(low, high),
            );
            Self(_mm256_add_ps(front, back), a.1)
        }
    }

    #[inline(always)]
    fn transpose([x, y, z, w]: [Self; 4]) -> [[f32; 4]; GROUP] {
        // SAFETY: the lanes carry the proof that the machine has AVX2, and both types consist of 32
        // `f32`.
        unsafe {
            let (xy, zw) = (_mm256_unpacklo_ps(x.0, y.0), _mm256_unpacklo_ps(z.0, w.0));
            let (xy_high, zw_high) = (_mm256_unpackhi_ps(x.0, y.0), _mm256_unpackhi_ps(z.0, w.0));
            let a = _mm256_shuffle_ps::<0b01_00_01_00>(xy, zw);
            let b = _mm256_shuffle_ps::<0b11_10_11_10>(xy, zw);
            let c = _mm256_shuffle_ps::<0b01_00_01_00>(xy_high, zw_high);
            let d = _mm256_shuffle_ps::<0b11_10_11_10>(xy_high, zw_high);
            let pairs: [__m256; 4] = [
                _mm256_permute2f128_ps::<0x20>(a, b),
                _mm256_permute2f128_ps::<0x20>(c, d),
                _mm256_permute2f128_ps::<0x31>(a, b),
                _mm256_permute2f128_ps::<0x31>(c, d),
            ];
            std::mem::transmute(pairs)
        }
    }
}
