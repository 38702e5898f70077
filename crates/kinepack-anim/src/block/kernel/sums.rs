//! Computes components: sums of products of coefficients and weights, one component after another.
//!
//! The order of each sum is fixed, with two exceptions. Eight coefficients that are all 0 may be
//! added or skipped, and a sum may begin with zeros. Neither exception changes the result. The
//! weight of coefficient 0 is above 0, so its product is never −0. A sum of zeros that contains
//! this product is then not −0 either. Adding a zero of either sign has no effect on a number that
//! is not −0.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::lanes::{Kernel, Lanes};
use super::live::Live;
use super::segment::Segment;
use crate::block::basis::Weights;
use crate::block::layout::GROUP;
use crate::block::widths::{BlockLength, ESCAPE};

/// Number of groups whose components are decoded in a single call.
pub(crate) const GROUPS_AT_ONCE: usize = 4;

/// The partial sums of live components, one component after another. Lane j of a component sums the
/// products of the coefficients whose index is j modulo 8.
pub(crate) struct Sums<L> {
    numbers: [MaybeUninit<L>; (3 * GROUPS_AT_ONCE + 1) * GROUP],
    /// The number of initialized sums. Zeros follow the components' sums, so that eight sums can be
    /// read starting at any of them.
    count: usize,
    /// The index of the first sum that has not been taken yet.
    next: usize,
}

impl<L: Lanes> Sums<L> {
    /// Sums that contain no components yet.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { numbers: [const { MaybeUninit::uninit() }; _], count: 0, next: 0 }
    }

    /// Takes the sums of the next group: for its tracks' first, second and third components, before
    /// multiplication by the tracks' own scales. Dead components are 0.
    #[inline(always)]
    pub(crate) fn take(&mut self, kernel: L::Kernel, live: &Live) -> [L; 3] {
        let count = usize::from(live.count);
        let mut numbers = [kernel.splat(0.0); 3];
        for (eight, number) in numbers.iter_mut().enumerate() {
            if GROUP * eight < count {
                *number = L::fold(self.eight(self.next + GROUP * eight));
            }
        }
        self.next += count;
        let [first, second, third] = numbers;
        if count == 3 * GROUP {
            return numbers;
        }
        let (places, third_begins) = live.places();
        let last = if third_begins < GROUP { [first, second] } else { [second, third] };
        [
            L::spread([first, second], &places[0]),
            L::spread([first, second], &places[1]),
            L::spread(last, &places[2]),
        ]
    }

    /// Takes the three components that [`Wanted::Three`] selected, each broadcast to all lanes.
    #[inline(always)]
    pub(crate) fn take_three(&mut self, kernel: L::Kernel) -> [L; 3] {
        let [x, y, z, ..] = L::fold(self.eight(0)).numbers();
        [kernel.splat(x), kernel.splat(y), kernel.splat(z)]
    }

    /// Eight sums, beginning with sum `first`.
    #[inline(always)]
    fn eight(&self, first: usize) -> &[L; GROUP] {
        assert!(first + GROUP <= self.count);
        // SAFETY: the first `count` sums are initialized, and the assertion keeps the eight within
        // them. The result borrows `self`.
        unsafe { &*self.numbers.as_ptr().add(first).cast() }
    }
}

/// Selects the components of a segment to read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// This number of components, beginning with the next one.
    Next(usize),
    /// The components at these places, in increasing order, counted from the next component. Dead
    /// components have no place.
    Three([Option<usize>; 3]),
}

/// Reads components of a segment. Overwrites each set of sums with the results for its own weights.
#[inline(always)]
pub(super) fn decode<K: Kernel, const SETS: usize>(
    kernel: K,
    mut sums: [&mut Sums<K::Lanes>; SETS],
    wanted: Wanted,
    segment: &mut Segment<'_>,
    weights: [&Weights; SETS],
) {
    let zeros = match wanted {
        Wanted::Next(count) => count..count + GROUP,
        Wanted::Three(_) => 0..GROUP,
    };
    for sums in &mut sums {
        for sum in &mut sums.numbers[zeros.clone()] {
            sum.write(kernel.splat(0.0));
        }
        (sums.count, sums.next) = (zeros.end, 0);
    }
    match wanted {
        Wanted::Next(count) => read(kernel, &mut sums, 0..count, segment, weights),
        Wanted::Three(places) => {
            let mut read = 0;
            for (at, place) in places.into_iter().enumerate() {
                let Some(place) = place else { continue };
                segment.skip(place - read);
                read = place + 1;
                self::read(kernel, &mut sums, at..at + 1, segment, weights);
            }
        }
    }
}

/// Reads the next components, and writes their sums at the places from `places`.
#[inline(always)]
fn read<K: Kernel, const SETS: usize>(
    kernel: K,
    sums: &mut [&mut Sums<K::Lanes>; SETS],
    places: Range<usize>,
    segment: &mut Segment<'_>,
    weights: [&Weights; SETS],
) {
    match segment.block {
        BlockLength::N8 => fill::<K, 1, 0, 0, SETS>(kernel, sums, places, segment, weights),
        BlockLength::N16 => fill::<K, 1, 1, 1, SETS>(kernel, sums, places, segment, weights),
        BlockLength::N32 => fill::<K, 2, 2, 3, SETS>(kernel, sums, places, segment, weights),
    }
}

/// [`read`], for components of `PIECES` pieces whose tables are `FIRST` and `SECOND`.
#[inline(always)]
fn fill<K, const PIECES: usize, const FIRST: usize, const SECOND: usize, const SETS: usize>(
    kernel: K,
    sums: &mut [&mut Sums<K::Lanes>; SETS],
    places: Range<usize>,
    segment: &mut Segment<'_>,
    weights: [&Weights; SETS],
) where
    K: Kernel,
{
    let pieces = segment.profiles.len().min(PIECES * places.len());
    let (profiles, rest) = segment.profiles.split_at(pieces);
    let (mut profiles, _) = profiles.as_chunks::<PIECES>();
    let Range { start: mut at, end } = places;
    loop {
        let twos = if K::PAIRS {
            fill_fast::<K, PIECES, FIRST, SECOND, SETS, 2>(
                kernel, sums, at, profiles, segment, weights,
            )
        } else {
            0
        };
        let ones = fill_fast::<K, PIECES, FIRST, SECOND, SETS, 1>(
            kernel,
            sums,
            at + twos,
            &profiles[twos..],
            segment,
            weights,
        );
        at += twos + ones;
        profiles = &profiles[twos + ones..];
        // A component that is escaped, or too near to the clip's end, takes the slow path.
        if at >= end {
            break;
        }
        segment.profiles = profiles.as_flattened();
        for (sums, sum) in sums.iter_mut().zip(kernel.slow_sums(segment, weights)) {
            sums.numbers[at].write(sum);
        }
        at += 1;
        profiles = profiles.get(1..).unwrap_or_default();
    }
    segment.profiles = rest;
}

/// Reads components, `N` at a time, and writes their sums from place `first` on. Returns the number
/// of components. The function stops before a component that is escaped or too near to the clip's
/// end.
#[inline(always)]
fn fill_fast<
    K: Kernel,
    const PIECES: usize,
    const FIRST: usize,
    const SECOND: usize,
    const SETS: usize,
    const N: usize,
>(
    kernel: K,
    sums: &mut [&mut Sums<K::Lanes>; SETS],
    first: usize,
    profiles: &[[u8; PIECES]],
    segment: &mut Segment<'_>,
    weights: [&Weights; SETS],
) -> usize {
    // The fields are copied, because the compiler does not know that writing the sums leaves the
    // segment unchanged.
    let Segment { words, mut bit, bits: lengths, limit, .. } = *segment;
    let zero = [kernel.splat(0.0); SETS];
    let mut first_weights = [[zero[0]; 2]; SETS];
    let mut second_weights = first_weights;
    for (set, weights) in weights.into_iter().enumerate() {
        for eight in 0..2 {
            first_weights[set][eight] = kernel.load(&weights.piece(0)[eight]);
            second_weights[set][eight] = kernel.load(&weights.piece(1)[eight]);
        }
    }
    let Some((front, others)) = sums.split_first_mut() else { return 0 };
    let places = front.numbers[first..].as_chunks_mut::<N>().0.iter_mut();
    let mut count = 0;
    for (place, profiles) in places.zip(profiles.as_chunks::<N>().0) {
        let (mut bits, mut end, mut is_escaped) = ([[0; PIECES]; N], bit, false);
        for (bits, numbers) in bits.iter_mut().zip(profiles) {
            for (piece, number) in numbers.iter().enumerate() {
                bits[piece] = end;
                end += usize::from(lengths[piece][usize::from(*number)]);
                is_escaped |= *number == ESCAPE;
            }
        }
        if is_escaped || end >= limit {
            break;
        }
        for (nth, (bits, numbers)) in bits.iter().zip(profiles).enumerate() {
            // SAFETY: the component ends before the limit, so there are `LOAD` bytes from the first
            // byte of each eight on.
            let mut component = unsafe {
                kernel.piece::<FIRST, SETS>(zero, numbers[0], words, bits[0], first_weights)
            };
            if let (Some(number), Some(bit)) = (numbers.get(1), bits.get(1)) {
                // SAFETY: as for the first piece.
                component = unsafe {
                    kernel.piece::<SECOND, SETS>(component, *number, words, *bit, second_weights)
                };
            }
            place[nth].write(component[0]);
            for (sums, sum) in others.iter_mut().zip(&component[1..]) {
                sums.numbers[first + count + nth].write(*sum);
            }
        }
        bit = end;
        count += N;
    }
    segment.bit = bit;
    count
}
