//! AVX2 and BMI2, of x86-64.

use std::arch::x86_64::{
    __cpuid, __m256, __m256i, _CMP_GT_OQ, _CMP_LT_OQ, _mm_avg_epu8, _mm_avg_epu16, _mm_cvtsi64_si128, _mm_loadl_epi64,
    _mm_set_epi64x, _mm_setzero_si128, _mm_sub_epi8, _mm_sub_epi16, _mm256_add_epi32, _mm256_add_ps, _mm256_and_ps,
    _mm256_and_si256, _mm256_blendv_ps, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_cmp_ps, _mm256_cvtepi8_epi32,
    _mm256_cvtepi16_epi32, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32, _mm256_cvtepu8_epi64, _mm256_div_ps,
    _mm256_hadd_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_permute2f128_ps, _mm256_permutevar8x32_ps,
    _mm256_set_epi64x, _mm256_set1_epi32, _mm256_set1_ps, _mm256_shuffle_ps, _mm256_slli_epi32, _mm256_sllv_epi32,
    _mm256_sqrt_ps, _mm256_srli_epi32, _mm256_srlv_epi64, _mm256_sub_epi32, _mm256_sub_ps, _mm256_unpackhi_ps,
    _mm256_unpacklo_ps, _mm256_xor_ps, _pdep_u64,
};

use super::segment::{Segment, Window};
use super::sums::{self, Sums};
use super::tables::TABLES;
use super::{Kernel, Lanes, OCTAVE, Task};
use crate::block::basis::Weights;
use crate::block::layout::GROUP;

/// AVX2: proof that the machine has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

/// AVX2, and a PDEP of few cycles: proof that the machine has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2Bmi2(());

impl Avx2 {
    pub(crate) fn new() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")).then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn run<T: Task>(self, task: T) {
        #[target_feature(enable = "avx2,popcnt")]
        fn run<T: Task>(kernel: Avx2, task: T) {
            task.run(kernel);
        }
        // SAFETY: who has an `Avx2` has the instructions.
        unsafe { run(self, task) }
    }
}

impl Avx2Bmi2 {
    pub(crate) fn new() -> Option<Self> {
        let has_all = Avx2::new().is_some() && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
        (has_all && is_pdep_fast()).then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn run<T: Task>(self, task: T) {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn run<T: Task>(kernel: Avx2Bmi2, task: T) {
            task.run(kernel);
        }
        // SAFETY: who has an `Avx2Bmi2` has the instructions.
        unsafe { run(self, task) }
    }
}

/// Before Zen 3, AMD's processors and those that others made of them take a cycle or more for each bit.
fn is_pdep_fast() -> bool {
    let vendor = __cpuid(0);
    let signature = __cpuid(1).eax;
    let family = (signature >> 8 & 15) + if signature >> 8 & 15 == 15 { signature >> 20 & 255 } else { 0 };
    let is_amd = [*b"cAMD", *b"uine"].contains(&vendor.ecx.to_le_bytes());
    !is_amd || family >= 0x19
}

impl Kernel for Avx2Bmi2 {
    type Lanes = Lanes8;

    #[inline(always)]
    unsafe fn piece<const TABLE: usize>(
        self,
        sums: Lanes8,
        number: u8,
        window: Window<'_>,
        bit: usize,
        weights: &[[f32; GROUP]; 2],
    ) -> Lanes8 {
        // SAFETY: who has an `Avx2Bmi2` has the instructions.
        unsafe { piece_of_masks::<TABLE>(sums, usize::from(number), window, bit, weights) }
    }

    #[inline(always)]
    fn escaped_sum(self, sum: &mut Lanes8, segment: &mut Segment<'_>, weights: &Weights) {
        // SAFETY: who has an `Avx2Bmi2` has the instructions.
        unsafe { escaped_sum(sum, segment, weights) }
    }

    #[inline(always)]
    fn fill(self, sums: &mut Sums<Lanes8>, live: u32, wanted: u32, segment: &mut Segment<'_>, weights: &Weights) {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn fill(
            kernel: Avx2Bmi2,
            sums: &mut Sums<Lanes8>,
            live: u32,
            wanted: u32,
            segment: &mut Segment<'_>,
            weights: &Weights,
        ) {
            sums::fill(kernel, sums, live, wanted, segment, weights);
        }
        // SAFETY: who has an `Avx2Bmi2` has the instructions.
        unsafe { fill(self, sums, live, wanted, segment, weights) }
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn piece_of_masks<const TABLE: usize>(
    sums: Lanes8,
    number: usize,
    window: Window<'_>,
    bit: usize,
    weights: &[[f32; GROUP]; 2],
) -> Lanes8 {
    let table = &TABLES[TABLE];
    if TABLE == 3 && table.is_narrow[number] == 3 {
        let [a, b] = table.narrow[number];
        let behind = bit + a.count_ones() as usize;
        // SAFETY: all of this is within the piece.
        let (first, second) = unsafe { (narrow(a, window, bit), narrow(b, window, behind)) };
        return sums.add(first.mul(Lanes8::load(&weights[0]))).add(second.mul(Lanes8::load(&weights[1])));
    }
    let [a, b, c, d] = table.wide[number];
    // SAFETY: all of this is within the piece.
    let products = unsafe { wide([a, b], window, bit) }.mul(Lanes8::load(&weights[0]));
    let sums = if TABLE == 3 { sums.add(products) } else { products };
    if TABLE == 0 {
        return sums;
    }
    let behind = bit + (a.count_ones() + b.count_ones()) as usize;
    // SAFETY: all of this is within the piece.
    sums.add(unsafe { wide([c, d], window, behind) }.mul(Lanes8::load(&weights[1])))
}

/// Eight coefficients, two words with 16 bits for each.
///
/// # Safety
/// They are within the window.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn wide([first, second]: [u64; 2], window: Window<'_>, bit: usize) -> Lanes8 {
    // SAFETY: they are.
    let (low, high) = unsafe { (window.at(bit), window.at(bit + first.count_ones() as usize)) };
    let numbers = _mm_set_epi64x(_pdep_u64(high, second) as i64, _pdep_u64(low, first) as i64);
    // Of w bits that are set half and a half is 2^(w − 1), of none 0.
    let bias = _mm_avg_epu16(_mm_set_epi64x(second as i64, first as i64), _mm_setzero_si128());
    Lanes8(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_sub_epi16(numbers, bias))))
}

/// Eight coefficients, one word with 8 bits for each.
///
/// # Safety
/// They are within the window.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn narrow(mask: u64, window: Window<'_>, bit: usize) -> Lanes8 {
    // SAFETY: they are.
    let numbers = _mm_cvtsi64_si128(_pdep_u64(unsafe { window.at(bit) }, mask) as i64);
    let bias = _mm_avg_epu8(_mm_cvtsi64_si128(mask as i64), _mm_setzero_si128());
    Lanes8(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_sub_epi8(numbers, bias))))
}

/// The sums of a component of which any piece may be escaped.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn escaped_sum(sum: &mut Lanes8, segment: &mut Segment<'_>, weights: &Weights) {
    let (first, second) = weights.pieces();
    *sum = Lanes8::splat(0.0);
    for (piece, weights) in [first, second].into_iter().enumerate().take(segment.block.pieces()) {
        // Five bits become a byte.
        const SPREAD: u64 = 0x1f1f_1f1f_1f1f_1f1f;
        let widths = segment.take_widths(piece, |bits| _pdep_u64(bits, SPREAD));
        for (&widths, weights) in widths.iter().zip(weights) {
            if widths == 0 {
                continue;
            }
            let widths = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(widths as i64));
            let powers = _mm256_sllv_epi32(_mm256_set1_epi32(1), widths);
            let mut numbers: [u64; 4] = lanes_to_words(_mm256_sub_epi32(powers, _mm256_set1_epi32(1)));
            for number in &mut numbers {
                let mask = *number;
                *number = _pdep_u64(segment.words.at(segment.bit), mask);
                segment.bit += mask.count_ones() as usize;
            }
            let numbers = _mm256_sub_epi32(words_to_lanes(numbers), _mm256_srli_epi32::<1>(powers));
            *sum = sum.add(Lanes8(_mm256_cvtepi32_ps(numbers)).mul(Lanes8::load(weights)));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn lanes_to_words(lanes: __m256i) -> [u64; 4] {
    // SAFETY: both are 32 bytes, of any bits.
    unsafe { std::mem::transmute(lanes) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn words_to_lanes(words: [u64; 4]) -> __m256i {
    // SAFETY: both are 32 bytes, of any bits.
    unsafe { std::mem::transmute(words) }
}

impl Kernel for Avx2 {
    type Lanes = Lanes8;

    #[inline(always)]
    unsafe fn piece<const TABLE: usize>(
        self,
        sums: Lanes8,
        number: u8,
        window: Window<'_>,
        bit: usize,
        weights: &[[f32; GROUP]; 2],
    ) -> Lanes8 {
        // SAFETY: who has an `Avx2` has the instructions.
        unsafe { piece_of_shifts::<TABLE>(sums, usize::from(number), window, bit, weights) }
    }

    #[inline(always)]
    fn fill(self, sums: &mut Sums<Lanes8>, live: u32, wanted: u32, segment: &mut Segment<'_>, weights: &Weights) {
        #[target_feature(enable = "avx2,popcnt")]
        fn fill(
            kernel: Avx2,
            sums: &mut Sums<Lanes8>,
            live: u32,
            wanted: u32,
            segment: &mut Segment<'_>,
            weights: &Weights,
        ) {
            sums::fill(kernel, sums, live, wanted, segment, weights);
        }
        // SAFETY: who has an `Avx2` has the instructions.
        unsafe { fill(self, sums, live, wanted, segment, weights) }
    }
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
unsafe fn piece_of_shifts<const TABLE: usize>(
    mut sums: Lanes8,
    number: usize,
    window: Window<'_>,
    bit: usize,
    weights: &[[f32; GROUP]; 2],
) -> Lanes8 {
    let mut bit = bit;
    let eights = if TABLE == 0 { 1 } else { 2 };
    for (eight, weights) in weights.iter().enumerate().take(eights) {
        let (starts, widths) = (TABLES[TABLE].starts[number][eight], TABLES[TABLE].widths[number][eight]);
        let (four, end) = (total(widths as u32), total((widths >> 32) as u32));
        // SAFETY: they are of the piece.
        let (first, second) = unsafe { (window.at(bit) as i64, window.at(bit + four) as i64) };
        bit += four + end;
        let both = _mm256_set_epi64x(second, second, first, first);

        let front =
            _mm256_castsi256_ps(_mm256_srlv_epi64(both, _mm256_cvtepu8_epi64(_mm_cvtsi64_si128(starts as i64))));
        let back = _mm256_castsi256_ps(_mm256_srlv_epi64(
            both,
            _mm256_cvtepu8_epi64(_mm_cvtsi64_si128((starts >> 32) as i64)),
        ));
        let numbers = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(front, back));
        let widths = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(widths as i64));
        let powers = _mm256_sllv_epi32(_mm256_set1_epi32(1), widths);
        let masks = _mm256_sub_epi32(powers, _mm256_set1_epi32(1));
        let bias = _mm256_srli_epi32::<1>(powers);
        let numbers = _mm256_sub_epi32(_mm256_and_si256(numbers, masks), bias);
        sums = sums.add(Lanes8(_mm256_cvtepi32_ps(numbers)).mul(Lanes8::load(weights)));
    }
    sums
}

/// Eight numbers in a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes8(__m256);

/// SAFETY, of all of these: there are lanes only where there is a kernel, and who has that has the instructions.
impl Lanes for Lanes8 {
    #[inline(always)]
    fn splat(number: f32) -> Self {
        // SAFETY: as above.
        unsafe { Self(_mm256_set1_ps(number)) }
    }

    #[inline(always)]
    fn load(numbers: &[f32; GROUP]) -> Self {
        // SAFETY: as above; there are eight numbers.
        unsafe { Self(_mm256_loadu_ps(numbers.as_ptr())) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { Self(_mm256_add_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { Self(_mm256_sub_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { Self(_mm256_mul_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { Self(_mm256_div_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: as above.
        unsafe { Self(_mm256_sqrt_ps(self.0)) }
    }

    #[inline(always)]
    fn negate_where_negative(self, sign: Self) -> Self {
        // SAFETY: as above.
        unsafe {
            let is_negative = _mm256_cmp_ps::<_CMP_LT_OQ>(sign.0, _mm256_set1_ps(0.0));
            Self(_mm256_xor_ps(self.0, _mm256_and_ps(is_negative, _mm256_set1_ps(-0.0))))
        }
    }

    #[inline(always)]
    fn where_positive(self, other: Self, instead: Self) -> Self {
        // SAFETY: as above.
        unsafe {
            let is_positive = _mm256_cmp_ps::<_CMP_GT_OQ>(other.0, _mm256_set1_ps(0.0));
            Self(_mm256_blendv_ps(instead.0, self.0, is_positive))
        }
    }

    #[inline(always)]
    fn fold(numbers: &[Self; GROUP]) -> Self {
        let [Self(a), Self(b), Self(c), Self(d), Self(e), Self(f), Self(g), Self(h)] = *numbers;
        // SAFETY: as above.
        unsafe {
            // 0 + 1 and 2 + 3 in the lower half, 4 + 5 and 6 + 7 in the upper one; then those two; then the halves.
            let low = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
            let high = _mm256_hadd_ps(_mm256_hadd_ps(e, f), _mm256_hadd_ps(g, h));
            let (front, back) = (_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high));
            Self(_mm256_add_ps(front, back))
        }
    }

    #[inline(always)]
    fn transpose([x, y, z, w]: [Self; 4]) -> [[f32; 4]; GROUP] {
        // SAFETY: as above; what is stored has as many bytes as what holds it.
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

    #[inline(always)]
    fn scales(steps: &[u8; GROUP], segment: u8) -> Self {
        // SAFETY: as above; there are eight steps.
        unsafe {
            let steps = _mm256_cvtepu8_epi32(_mm_loadl_epi64(steps.as_ptr().cast()));
            let exponents = _mm256_add_epi32(_mm256_slli_epi32::<1>(steps), _mm256_set1_epi32(i32::from(segment)));
            // What counts are the lowest three bits.
            let octave: __m256i =
                _mm256_castps_si256(_mm256_permutevar8x32_ps(_mm256_loadu_ps(OCTAVE.as_ptr()), exponents));
            let powers =
                _mm256_slli_epi32::<23>(_mm256_sub_epi32(_mm256_srli_epi32::<3>(exponents), _mm256_set1_epi32(64)));
            Self(_mm256_castsi256_ps(_mm256_add_epi32(octave, powers)))
        }
    }
}

/// The sum of four bytes, which is a byte.
#[inline(always)]
fn total(widths: u32) -> usize {
    (widths.wrapping_mul(0x0101_0101) >> 24) as usize
}
