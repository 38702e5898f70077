//! The operations that each instruction set implements, and the code that runs with them.

use super::scale::own_scale;
use super::segment::{Segment, Words};
use super::sums::{self, Sums, Wanted};
use crate::block::basis::Weights;
use crate::block::layout::GROUP;

/// Eight numbers that are computed in parallel. They carry the [`Kernel`] that made them. The
/// kernel proves that the machine has the instructions.
pub(crate) trait Lanes: Copy {
    type Kernel: Kernel<Lanes = Self>;

    /// Returns the kernel that made the lanes.
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
    /// Lane i of the result is the sum of the lanes of `numbers[i]`. They are added in this order:
    /// `((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))`.
    fn fold(numbers: &[Self; GROUP]) -> Self;
    /// Row i of the result contains lane i of all four values in `numbers`.
    fn transpose(numbers: [Self; 4]) -> [[f32; 4]; GROUP];
    /// Returns the eight numbers, in the order of the lanes.
    fn numbers(self) -> [f32; GROUP];

    /// Lane i of the result is number `places[i]` of the sixteen, or 0 if that place is
    /// [`DEAD`](super::live::DEAD).
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

/// An instruction set. Values exist only after a check of the machine, so code that has a value may
/// use the instructions.
pub(crate) trait Kernel: Copy {
    type Lanes: Lanes<Kernel = Self>;
    /// Whether to read two components at a time. With vector instructions this is faster, but it
    /// takes more code.
    const PAIRS: bool = true;

    /// Returns lanes that all hold `number`.
    fn splat(self, number: f32) -> Self::Lanes;
    fn load(self, numbers: &[f32; GROUP]) -> Self::Lanes;

    /// Converts eight 8-bit numbers.
    #[inline(always)]
    fn bytes(self, numbers: [u8; GROUP]) -> Self::Lanes {
        let mut lanes = [0.0; GROUP];
        lanes.iter_mut().zip(numbers).for_each(|(lane, number)| *lane = f32::from(number));
        self.load(&lanes)
    }

    /// Converts eight 16-bit numbers, two bytes each.
    #[inline(always)]
    fn words(self, numbers: [u8; 2 * GROUP]) -> Self::Lanes {
        let mut lanes = [0.0; GROUP];
        for (lane, number) in lanes.iter_mut().zip(numbers.as_chunks().0) {
            *lane = f32::from(u16::from_le_bytes(*number));
        }
        self.load(&lanes)
    }

    /// Computes [`own_scale`] of eight steps.
    #[inline(always)]
    fn own_scales(self, steps: [u8; GROUP]) -> Self::Lanes {
        let mut lanes = [0.0; GROUP];
        lanes.iter_mut().zip(steps).for_each(|(lane, step)| *lane = own_scale(step));
        self.load(&lanes)
    }

    /// Multiplies the coefficients of a piece by each set of weights and adds the products to
    /// that set's sums, eight at a time. The piece begins at `bit` and is not escaped. Bits after
    /// its last coefficient may be read as coefficients, since their weights are 0.
    ///
    /// # Safety
    /// [`LOAD`](super::segment::LOAD) bytes must be readable from the byte that contains `bit`, and
    /// from the byte in which the ninth coefficient begins. Four coefficients of a profile take at
    /// most half of a load.
    unsafe fn piece<const TABLE: usize, const SETS: usize>(
        self,
        sums: [Self::Lanes; SETS],
        number: u8,
        words: Words<'_>,
        bit: usize,
        weights: [[Self::Lanes; 2]; SETS],
    ) -> [Self::Lanes; SETS];

    /// Reads the next component, and returns its sums for each set of weights. Unlike the fast
    /// path, this function handles escaped profiles and components near the clip's end.
    #[inline(always)]
    fn slow_sums<const SETS: usize>(
        self,
        segment: &mut Segment<'_>,
        weights: [&Weights; SETS],
    ) -> [Self::Lanes; SETS] {
        let stored = segment.slow_sums(weights);
        let mut sums = [self.splat(0.0); SETS];
        sums.iter_mut().zip(&stored).for_each(|(sum, stored)| *sum = self.load(stored));
        sums
    }

    /// [`sums::decode`], compiled for the kernel's instructions.
    fn decode<const SETS: usize>(
        self,
        sums: [&mut Sums<Self::Lanes>; SETS],
        wanted: Wanted,
        segment: &mut Segment<'_>,
        weights: [&Weights; SETS],
    ) {
        sums::decode(self, sums, wanted, segment, weights);
    }
}

/// Code that is compiled once for each instruction set.
pub(crate) trait Task {
    /// Implementations must always be inlined. Otherwise the compiler uses only the instructions
    /// that every machine has.
    fn run<K: Kernel>(self, kernel: K);
}
