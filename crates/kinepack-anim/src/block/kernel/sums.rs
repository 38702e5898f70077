//! Computes components: sums of products of coefficients and weights, one component after another.
//!
//! The order of each sum is fixed, with two exceptions. Eight coefficients that are all 0 may be
//! added or skipped, and a sum may begin with zeros. Neither changes the result. The weight of
//! coefficient 0 is above 0, so its product is never −0. A sum of zeros that contains this product
//! is then not −0 either. Adding a zero of either sign has no effect on a number that is not −0.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::segment::ONES;
use super::{Kernel, Lanes, Segment};
use crate::block::basis::Weights;
use crate::block::layout::GROUP;
use crate::block::widths::{BlockLength, ESCAPE};
use crate::computed::computed;

/// Number of groups whose components are decoded in a single call.
pub(crate) const GROUPS_AT_ONCE: usize = 4;

/// The partial sums of live components, one component after another. Lane j of a component sums the
/// products of the coefficients whose index is j modulo 8.
pub(crate) struct Sums<L> {
    numbers: [MaybeUninit<L>; (3 * GROUPS_AT_ONCE + 1) * GROUP],
    /// The number of initialized sums. Zeros follow the components' sums, so that eight sums can be
    /// read from any of them on.
    count: usize,
    /// The first sum that has not been taken yet.
    next: usize,
}

impl<L: Lanes> Sums<L> {
    /// The sums of no components.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { numbers: [const { MaybeUninit::uninit() }; _], count: 0, next: 0 }
    }

    /// Takes the first, second and third components of the next group's tracks, without their own
    /// scales. Dead components are 0.
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

    /// Takes the three components of [`Wanted::Three`], each in all lanes.
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

/// The live components of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Live {
    /// A bit for each lane, by component.
    masks: [u8; 3],
    /// Number of live components.
    pub(crate) count: u8,
}

/// The place of a dead component. It is beyond the sixteen sums that a place can select.
pub(super) const DEAD: u8 = 1 << 7;

impl Live {
    /// The components with steps that are not 0.
    pub(crate) fn new(steps: impl Iterator<Item = [u8; 3]>) -> Self {
        let mut live = Self::default();
        for (lane, steps) in steps.take(GROUP).enumerate() {
            for (mask, step) in live.masks.iter_mut().zip(steps) {
                *mask |= u8::from(step != 0) << lane;
                live.count += u8::from(step != 0);
            }
        }
        live
    }

    /// The stored form.
    pub(crate) fn words(self) -> [u16; 2] {
        let [x, y, z] = self.masks;
        [u16::from_le_bytes([x, y]), u16::from_le_bytes([z, self.count])]
    }

    /// From its stored form.
    #[inline(always)]
    pub(crate) fn from_words([first, second]: [u16; 2]) -> Self {
        let ([x, y], [z, count]) = (first.to_le_bytes(), second.to_le_bytes());
        Self { masks: [x, y, z], count }
    }

    /// The places of a lane's first, second and third component among the sums of the group. `None`
    /// for a dead component.
    #[inline(always)]
    pub(crate) fn places_of(&self, lane: usize) -> [Option<usize>; 3] {
        let mut before = 0;
        self.masks.map(|mask| {
            let lower = (mask & ((1 << lane) - 1)).count_ones();
            let place = (before + lower) as usize;
            before += mask.count_ones();
            (mask >> lane & 1 != 0).then_some(place)
        })
    }

    /// The place of each lane's first, second and third component among the sums of the group, or
    /// [`DEAD`]. The number is the index of the sum at which the third components begin. If it is 8
    /// or more, their places count from the ninth sum.
    #[inline(always)]
    fn places(&self) -> ([[u8; GROUP]; 3], usize) {
        let [x, y, z] = self.masks;
        let (second, third) = (x.count_ones(), x.count_ones() + y.count_ones());
        let from = |mask: u8, first: u32| {
            (PLACES[usize::from(mask)] + u64::from(first) * ONES).to_le_bytes()
        };
        let skipped = if third < GROUP as u32 { 0 } else { GROUP as u32 };
        ([from(x, 0), from(y, second), from(z, third - skipped)], third as usize)
    }
}

computed! {
    /// By mask, with a byte for each bit: the number of set bits below it if it is set, otherwise
    /// [`DEAD`].
    static PLACES: [u64; 256] = places();
}

const fn places() -> [u64; 256] {
    let mut places = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut count) = (0, 0);
        while lane < 8 {
            let place = if mask >> lane & 1 == 0 { DEAD as u64 } else { count };
            places[mask] |= place << (8 * lane);
            count += (mask >> lane & 1) as u64;
            lane += 1;
        }
        mask += 1;
    }
    places
}

/// Which components of a segment are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// This number of components, beginning with the next one.
    Next(usize),
    /// The components at these places, in increasing order, counted from the next component. Dead
    /// components have no place.
    Three([Option<usize>; 3]),
}

/// Reads components of a segment, and overwrites each spot's sums with those for its weights.
#[inline(always)]
pub(super) fn decode<K: Kernel, const SPOTS: usize>(
    kernel: K,
    mut sums: [&mut Sums<K::Lanes>; SPOTS],
    wanted: Wanted,
    segment: &mut Segment<'_>,
    weights: [&Weights; SPOTS],
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

/// Reads the next components, and writes their sums to these places.
#[inline(always)]
fn read<K: Kernel, const SPOTS: usize>(
    kernel: K,
    sums: &mut [&mut Sums<K::Lanes>; SPOTS],
    places: Range<usize>,
    segment: &mut Segment<'_>,
    weights: [&Weights; SPOTS],
) {
    match segment.block {
        BlockLength::N8 => fill::<K, 1, 0, 0, SPOTS>(kernel, sums, places, segment, weights),
        BlockLength::N16 => fill::<K, 1, 1, 1, SPOTS>(kernel, sums, places, segment, weights),
        BlockLength::N32 => fill::<K, 2, 2, 3, SPOTS>(kernel, sums, places, segment, weights),
    }
}

/// [`read`], for components of `PIECES` pieces whose tables are `FIRST` and `SECOND`.
#[inline(always)]
fn fill<K, const PIECES: usize, const FIRST: usize, const SECOND: usize, const SPOTS: usize>(
    kernel: K,
    sums: &mut [&mut Sums<K::Lanes>; SPOTS],
    places: Range<usize>,
    segment: &mut Segment<'_>,
    weights: [&Weights; SPOTS],
) where
    K: Kernel,
{
    let pieces = segment.profiles.len().min(PIECES * places.len());
    let (profiles, rest) = segment.profiles.split_at(pieces);
    let (mut profiles, _) = profiles.as_chunks::<PIECES>();
    let Range { start: mut at, end } = places;
    loop {
        let twos = if K::PAIRS {
            fill_fast::<K, PIECES, FIRST, SECOND, SPOTS, 2>(
                kernel, sums, at, profiles, segment, weights,
            )
        } else {
            0
        };
        let ones = fill_fast::<K, PIECES, FIRST, SECOND, SPOTS, 1>(
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
/// of components. It stops before a component that is escaped or too near to the clip's end.
#[inline(always)]
fn fill_fast<
    K: Kernel,
    const PIECES: usize,
    const FIRST: usize,
    const SECOND: usize,
    const SPOTS: usize,
    const N: usize,
>(
    kernel: K,
    sums: &mut [&mut Sums<K::Lanes>; SPOTS],
    first: usize,
    profiles: &[[u8; PIECES]],
    segment: &mut Segment<'_>,
    weights: [&Weights; SPOTS],
) -> usize {
    // These are copies, because the compiler does not know that writing the sums leaves the segment
    // unchanged.
    let Segment { words, mut bit, bits: lengths, limit, .. } = *segment;
    let zero = [kernel.splat(0.0); SPOTS];
    let mut first_weights = [[zero[0]; 2]; SPOTS];
    let mut second_weights = first_weights;
    for (spot, weights) in weights.into_iter().enumerate() {
        for eight in 0..2 {
            first_weights[spot][eight] = kernel.load(&weights.piece(0)[eight]);
            second_weights[spot][eight] = kernel.load(&weights.piece(1)[eight]);
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
                kernel.piece::<FIRST, SPOTS>(zero, numbers[0], words, bits[0], first_weights)
            };
            if let (Some(number), Some(bit)) = (numbers.get(1), bits.get(1)) {
                // SAFETY: as above.
                component = unsafe {
                    kernel.piece::<SECOND, SPOTS>(component, *number, words, *bit, second_weights)
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

/// Reads the next component, and returns its sums at each spot. It handles escaped profiles and
/// components near the clip's end, unlike the fast path.
#[cold]
#[inline(never)]
pub(super) fn slow_sums<const SPOTS: usize>(
    segment: &mut Segment<'_>,
    weights: [&Weights; SPOTS],
) -> [[f32; GROUP]; SPOTS] {
    let mut sums = [[0.0; GROUP]; SPOTS];
    for piece in 0..segment.block.pieces() {
        for (nth, widths) in segment.take_widths(piece).into_iter().enumerate() {
            if widths == 0 {
                continue;
            }
            let eight = segment.take_eight(widths);
            for (sums, weights) in sums.iter_mut().zip(weights) {
                for lane in 0..GROUP {
                    sums[lane] += eight[lane] as f32 * weights.piece(piece)[nth][lane];
                }
            }
        }
    }
    sums
}
