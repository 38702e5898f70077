//! The arithmetic of sampling, for eight tracks at once: it sums the coefficients of components and
//! turns components into rotations. The code is generic over [`Kernel`] and [`Lanes`], with an
//! implementation for each instruction set. All of them give the same bits, since none fuses or
//! reorders operations. `spec/ANIM.md`, section 12.

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
pub(crate) use rotation::{Quaternion, Turn, Vector, blend};
pub(crate) use segment::Segment;
use segment::Words;
pub(crate) use sums::{GROUPS_AT_ONCE, Live, Sums, Wanted};

/// Eight numbers that are computed in parallel. They carry the [`Kernel`] that made them, which
/// proves that the machine has its instructions.
pub(crate) trait Lanes: Copy {
    type Kernel: Kernel<Lanes = Self>;

    /// The kernel that made the lanes.
    fn kernel(self) -> Self::Kernel;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// Negates each lane for which the lane of `sign` is below 0.
    fn negate_where_negative(self, sign: Self) -> Self;
    /// Takes each lane from `self` if the lane of `other` is above 0, else from `instead`.
    fn where_positive(self, other: Self, instead: Self) -> Self;
    /// Lane i of the result is the sum of the lanes of `numbers[i]`, added in the order `((0 + 1) +
    /// (2 + 3)) + ((4 + 5) + (6 + 7))`.
    fn fold(numbers: &[Self; GROUP]) -> Self;
    /// Row i of the result has lane i of all four.
    fn transpose(numbers: [Self; 4]) -> [[f32; 4]; GROUP];
    /// The eight numbers, in the order of the lanes.
    fn numbers(self) -> [f32; GROUP];

    /// Lane i of the result is number `places[i]` of the sixteen, or 0 if that place is
    /// [`DEAD`](sums::DEAD).
    #[inline(always)]
    fn spread([first, second]: [Self; 2], places: &[u8; GROUP]) -> Self {
        let numbers = [first.numbers(), second.numbers()];
        let mut spread = [0.0; GROUP];
        for (number, place) in spread.iter_mut().zip(places) {
            *number = numbers.as_flattened().get(usize::from(*place)).copied().unwrap_or_default();
        }
        first.kernel().load(&spread)
    }
}

/// An instruction set. A value proves that the machine has the instructions, so that code which
/// holds a value may use them.
pub(crate) trait Kernel: Copy {
    type Lanes: Lanes<Kernel = Self>;
    /// Whether reading two components at once is faster. It takes more code.
    const PAIRS: bool = true;

    /// The same number in all lanes.
    fn splat(self, number: f32) -> Self::Lanes;
    fn load(self, numbers: &[f32; GROUP]) -> Self::Lanes;

    /// Converts eight 8-bit numbers.
    #[inline(always)]
    fn bytes(self, numbers: [u8; GROUP]) -> Self::Lanes {
        let mut lanes = [0.0; GROUP];
        lanes.iter_mut().zip(numbers).for_each(|(lane, number)| *lane = f32::from(number));
        self.load(&lanes)
    }

    /// Converts eight 16-bit numbers.
    #[inline(always)]
    fn words(self, numbers: [u8; 2 * GROUP]) -> Self::Lanes {
        let mut lanes = [0.0; GROUP];
        for (lane, number) in lanes.iter_mut().zip(numbers.as_chunks().0) {
            *lane = f32::from(u16::from_le_bytes(*number));
        }
        self.load(&lanes)
    }

    /// The [`own_scale`] of eight steps.
    #[inline(always)]
    fn own_scales(self, steps: [u8; GROUP]) -> Self::Lanes {
        let mut lanes = [0.0; GROUP];
        lanes.iter_mut().zip(steps).for_each(|(lane, step)| *lane = own_scale(step));
        self.load(&lanes)
    }

    /// Multiplies the coefficients of a piece by the weights of each spot and adds the products to
    /// the spot's sums, eight at a time. The piece begins at `bit` and is not escaped. Bits after
    /// its last coefficient may be read as coefficients, since their weights are 0.
    ///
    /// # Safety
    /// There must be [`LOAD`](segment::LOAD) bytes from the byte of `bit` on, and the same number
    /// from the byte in which the second eight begins. Four coefficients of a profile take at most
    /// half of a load.
    unsafe fn piece<const TABLE: usize, const SPOTS: usize>(
        self,
        sums: [Self::Lanes; SPOTS],
        number: u8,
        words: Words<'_>,
        bit: usize,
        weights: [[Self::Lanes; 2]; SPOTS],
    ) -> [Self::Lanes; SPOTS];

    /// Reads the next component, and returns its sums at each spot. It handles escaped profiles and
    /// components near the clip's end, unlike the fast path.
    #[inline(always)]
    fn slow_sums<const SPOTS: usize>(
        self,
        segment: &mut Segment<'_>,
        weights: [&Weights; SPOTS],
    ) -> [Self::Lanes; SPOTS] {
        let stored = sums::slow_sums(segment, weights);
        let mut sums = [self.splat(0.0); SPOTS];
        sums.iter_mut().zip(&stored).for_each(|(sum, stored)| *sum = self.load(stored));
        sums
    }

    /// [`sums::decode`], compiled for the kernel's instructions.
    fn decode<const SPOTS: usize>(
        self,
        sums: [&mut Sums<Self::Lanes>; SPOTS],
        wanted: Wanted,
        segment: &mut Segment<'_>,
        weights: [&Weights; SPOTS],
    ) {
        sums::decode(self, sums, wanted, segment, weights);
    }
}

/// Asks the processor to load data into its cache. It does nothing on architectures other than
/// x86-64.
#[inline(always)]
pub(crate) fn prefetch<T>(data: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let mut at = 0;
        while at < size_of_val(data) {
            // SAFETY: every x86-64 has the instruction, and a prefetch never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().cast::<i8>().wrapping_add(at)) };
            at += 64;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}

/// 2^(i/8), as the format defines it.
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

/// 2^(`eighths` / 8 + `whole`). The exponent must be from −126 to 127.
#[inline]
fn power(eighths: u32, whole: i32) -> f32 {
    OCTAVE[(eighths % 8) as usize]
        * f32::from_bits(((eighths / 8) as i32 + whole + 127).cast_unsigned() << 23)
}

/// The factor of all components of a segment: 2^(step / 8 − 64).
#[inline]
pub(crate) fn segment_scale(step: u8) -> f32 {
    power(u32::from(step), -64)
}

/// The additional factor of a track's component: 2^(step / 4).
#[inline]
pub(crate) fn own_scale(step: u8) -> f32 {
    power(2 * u32::from(step), 0)
}
