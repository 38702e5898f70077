//! What sampling computes, eight tracks at once: the sums over the coefficients of components, and
//! what makes rotations of them. Written once over [`Kernel`] and [`Lanes`], of which there is one
//! for each instruction set; all give the same bits, since none fuses or reorders anything.
//! `spec/ANIM.md`, section 12.

#[macro_use]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod macros;

#[cfg(target_arch = "x86_64")]
mod avx2;
mod instructions;
#[cfg(target_arch = "aarch64")]
mod neon;
mod proof;
mod rotation;
mod scalar;
mod segment;
#[cfg(target_arch = "x86_64")]
mod sse41;
mod sums;
mod tables;

use super::basis::Weights;
use super::layout::GROUP;

pub use instructions::Instructions;
pub(crate) use instructions::{AnyKernel, Task};
pub(crate) use rotation::{Quaternion, Vector, blend, matrix, product, rotation};
pub(crate) use segment::Segment;
use segment::Words;
pub(crate) use sums::{Live, RUN, Sums};

/// Eight numbers, computed side by side. Those of an instruction set carry the
/// [`Kernel`] that made them, which proves that the machine has its instructions.
pub(crate) trait Lanes: Copy {
    type Kernel: Kernel<Lanes = Self>;

    /// What they were made with.
    fn kernel(self) -> Self::Kernel;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// The number, negated where that of `sign` is below 0.
    fn negate_where_negative(self, sign: Self) -> Self;
    /// The number where that of `other` is above 0, else `instead`.
    fn where_positive(self, other: Self, instead: Self) -> Self;
    /// Of each of eight its sum, `((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))`.
    fn fold(numbers: &[Self; GROUP]) -> Self;
    /// The numbers of each lane.
    fn transpose(numbers: [Self; 4]) -> [[f32; 4]; GROUP];
    /// The eight of them, one after another.
    fn numbers(self) -> [f32; GROUP];

    /// Numbers of two, each at its place; 0 where that is [`DEAD`](sums::DEAD).
    #[inline(always)]
    fn spread([here, behind]: [Self; 2], places: &[u8; GROUP]) -> Self {
        let numbers = [here.numbers(), behind.numbers()];
        let mut spread = [0.0; GROUP];
        for (number, place) in spread.iter_mut().zip(places) {
            *number = numbers.as_flattened().get(usize::from(*place)).copied().unwrap_or_default();
        }
        here.kernel().load(&spread)
    }
}

/// An instruction set: a proof that the machine has it. Whoever has one may use its instructions.
pub(crate) trait Kernel: Copy {
    type Lanes: Lanes<Kernel = Self>;

    /// The number, eight times.
    fn splat(self, number: f32) -> Self::Lanes;
    fn load(self, numbers: &[f32; GROUP]) -> Self::Lanes;

    /// The products of the coefficients of a piece and their weights, added to `sums` eight by
    /// eight; the piece begins at `bit`, and is not escaped. What is behind the last coefficient of
    /// a piece may count, with its weights of 0.
    ///
    /// # Safety
    /// There are [`LOAD`](segment::LOAD) bytes from the byte of the bit on, and from the one on in
    /// which its second eight begins. Four coefficients of a profile then have half of them.
    unsafe fn piece<const TABLE: usize>(
        self,
        sums: Self::Lanes,
        number: u8,
        words: Words<'_>,
        bit: usize,
        weights: &[[f32; GROUP]; 2],
    ) -> Self::Lanes;

    /// The sums of a component of any profiles, anywhere, which it moves behind.
    #[inline(always)]
    fn any_sum(self, segment: &mut Segment<'_>, weights: &Weights) -> Self::Lanes {
        self.load(&sums::any_sum(segment, weights))
    }

    /// [`sums::decode`], compiled for its instructions.
    fn decode(
        self,
        sums: &mut Sums<Self::Lanes>,
        count: usize,
        segment: &mut Segment<'_>,
        weights: &Weights,
    ) {
        sums::decode(self, sums, count, segment, weights);
    }
}

/// Has what is read soon brought nearer, where a machine can be told so.
#[inline(always)]
pub(crate) fn prefetch<T>(data: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..size_of_val(data)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: any x86-64 has it, and it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().cast::<i8>().wrapping_add(at)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}

/// 2^(i/8), as the format has them.
const OCTAVE: [f32; 8] = [
    1.0,
    1.090_507_7,
    1.189_207_1,
    1.296_839_6,
    std::f32::consts::SQRT_2,
    1.542_210_8,
    1.681_792_9,
    1.834_008_1,
];

/// Two to the power of `eighths / 8 + whole`, the sum of which is from −126 to 127.
#[inline]
fn power(eighths: u32, whole: i32) -> f32 {
    OCTAVE[(eighths % 8) as usize]
        * f32::from_bits(((eighths / 8) as i32 + whole + 127).cast_unsigned() << 23)
}

/// What the components of a segment are multiplied with: 2^(step / 8 − 64).
#[inline]
pub(crate) fn segment_scale(step: u8) -> f32 {
    power(u32::from(step), -64)
}

/// What a component of a track is multiplied with besides: 2^(step / 4).
#[inline]
pub(crate) fn own_scale(step: u8) -> f32 {
    power(2 * u32::from(step), 0)
}
