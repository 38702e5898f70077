//! Computes components: sums of products of coefficients and weights, one component after another.
//!
//! The order of each sum is fixed, except that eight coefficients which are all 0 may be added or
//! skipped, and that a sum may begin with zeros. The weight of coefficient 0 is above 0, so its
//! product is never −0. A sum of zeros with that product is then not −0 either. The sign of a zero
//! has no effect once it is added to a number that is not −0.

use std::mem::MaybeUninit;

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
    /// The number of sums that were written: those of the components, and eight more.
    count: usize,
    /// The first sum that was not taken yet.
    next: usize,
}

impl<L: Lanes> Sums<L> {
    /// The sums of no components.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { numbers: [const { MaybeUninit::uninit() }; _], count: 0, next: 0 }
    }

    /// Takes the first, second and third components of the next group's tracks, before their own
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

    /// Takes the three components of [`decode_three`], each in all lanes.
    #[inline(always)]
    pub(crate) fn take_three(&mut self, kernel: L::Kernel) -> [L; 3] {
        let [x, y, z, ..] = L::fold(self.eight(0)).numbers();
        [kernel.splat(x), kernel.splat(y), kernel.splat(z)]
    }

    /// Eight sums from `first` on.
    #[inline(always)]
    fn eight(&self, first: usize) -> &[L; GROUP] {
        assert!(first + GROUP <= self.count);
        // SAFETY: the first `count` sums were written.
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
    /// [`DEAD`]. If the third components begin at the ninth sum or later, which the number says,
    /// their places count from there.
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

/// A 1 in each byte.
const ONES: u64 = u64::from_ne_bytes([1; 8]);

computed! {
    /// By mask: the number of lower bits for each bit that is set, and [`DEAD`] for the others; a
    /// byte for each bit.
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
    /// So many: the next ones.
    Next(usize),
    /// The ones at these places, which count from the next component and increase. Dead components
    /// have no place.
    Three([Option<usize>; 3]),
}

/// Reads components of a segment, and replaces `sums` with their sums.
#[inline(always)]
pub(super) fn decode<K: Kernel>(
    kernel: K,
    sums: &mut Sums<K::Lanes>,
    wanted: Wanted,
    segment: &mut Segment<'_>,
    weights: &Weights,
) {
    sums.next = 0;
    match wanted {
        Wanted::Next(count) => {
            let (own, padding) = sums.numbers.split_at_mut(count);
            match segment.block {
                BlockLength::N8 => fill::<K, 1, 0, 0>(kernel, own, segment, weights),
                BlockLength::N16 => fill::<K, 1, 1, 1>(kernel, own, segment, weights),
                BlockLength::N32 => fill::<K, 2, 2, 3>(kernel, own, segment, weights),
            }
            for sum in &mut padding[..GROUP] {
                sum.write(kernel.splat(0.0));
            }
            sums.count = count + GROUP;
        }
        Wanted::Three(places) => {
            for sum in &mut sums.numbers[..GROUP] {
                sum.write(kernel.splat(0.0));
            }
            sums.count = GROUP;
            let mut read = 0;
            for (sum, place) in sums.numbers.iter_mut().zip(places) {
                let Some(place) = place else { continue };
                segment.skip(place - read);
                read = place + 1;
                sum.write(one::<K>(kernel, segment, weights));
            }
        }
    }
}

/// Reads the next component.
#[inline(always)]
fn one<K: Kernel>(kernel: K, segment: &mut Segment<'_>, weights: &Weights) -> K::Lanes {
    let mut sums = [MaybeUninit::uninit()];
    let (own, rest) = segment.profiles.split_at(segment.profiles.len().min(segment.block.pieces()));
    let count = match segment.block {
        BlockLength::N8 => {
            fill_fast::<K, 1, 0, 0, 1>(kernel, &mut sums, own.as_chunks().0, segment, weights)
        }
        BlockLength::N16 => {
            fill_fast::<K, 1, 1, 1, 1>(kernel, &mut sums, own.as_chunks().0, segment, weights)
        }
        BlockLength::N32 => {
            fill_fast::<K, 2, 2, 3, 1>(kernel, &mut sums, own.as_chunks().0, segment, weights)
        }
    };
    if count == 0 {
        return kernel.slow_sum(segment, weights);
    }
    segment.profiles = rest;
    // SAFETY: the component was read, so its sum was written.
    unsafe { sums[0].assume_init() }
}

/// Reads as many components as `sums` has places, and writes all of them.
#[inline(always)]
fn fill<K: Kernel, const PIECES: usize, const FIRST: usize, const SECOND: usize>(
    kernel: K,
    sums: &mut [MaybeUninit<K::Lanes>],
    segment: &mut Segment<'_>,
    weights: &Weights,
) {
    let (profiles, rest) =
        segment.profiles.split_at(segment.profiles.len().min(PIECES * sums.len()));
    let (profiles, _) = profiles.as_chunks::<PIECES>();
    let mut at = 0;
    loop {
        // Two components at once are a little faster.
        at += fill_fast::<K, PIECES, FIRST, SECOND, 2>(
            kernel,
            &mut sums[at..],
            &profiles[at..],
            segment,
            weights,
        );
        at += fill_fast::<K, PIECES, FIRST, SECOND, 1>(
            kernel,
            &mut sums[at..],
            &profiles[at..],
            segment,
            weights,
        );
        // A component that is escaped, or too near to the clip's end, takes the slow path.
        let Some(sum) = sums.get_mut(at) else {
            break;
        };
        segment.profiles = profiles[at..].as_flattened();
        sum.write(kernel.slow_sum(segment, weights));
        at += 1;
    }
    segment.profiles = rest;
}

/// Reads components, `N` at once, and returns their number. It stops before a component that is
/// escaped or too near to the clip's end.
#[inline(always)]
fn fill_fast<
    K: Kernel,
    const PIECES: usize,
    const FIRST: usize,
    const SECOND: usize,
    const N: usize,
>(
    kernel: K,
    sums: &mut [MaybeUninit<K::Lanes>],
    profiles: &[[u8; PIECES]],
    segment: &mut Segment<'_>,
    weights: &Weights,
) -> usize {
    let mut bit = segment.bit;
    let zero = kernel.splat(0.0);
    let (first_weights, second_weights) = weights.pieces();
    let mut at = 0;
    for (sums, profiles) in sums.as_chunks_mut::<N>().0.iter_mut().zip(profiles.as_chunks::<N>().0)
    {
        let (mut bits, mut end, mut is_escaped) = ([[0; PIECES]; N], bit, false);
        for (bits, numbers) in bits.iter_mut().zip(profiles) {
            for (piece, number) in numbers.iter().enumerate() {
                bits[piece] = end;
                end += usize::from(segment.bits[piece][usize::from(*number)]);
                is_escaped |= *number == ESCAPE;
            }
        }
        if is_escaped || end >= segment.limit {
            break;
        }
        for ((sum, bits), numbers) in sums.iter_mut().zip(bits).zip(profiles) {
            // SAFETY: the component ends before the limit, so that there are enough bytes for a
            // load from the first byte of each eight on.
            let mut own = unsafe {
                kernel.piece::<FIRST>(zero, numbers[0], segment.words, bits[0], first_weights)
            };
            if let (Some(number), Some(bit)) = (numbers.get(1), bits.get(1)) {
                // SAFETY: as above.
                own = unsafe {
                    kernel.piece::<SECOND>(own, *number, segment.words, *bit, second_weights)
                };
            }
            sum.write(own);
        }
        bit = end;
        at += N;
    }
    segment.bit = bit;
    at
}

/// Reads the next component, whatever its profiles are and wherever it ends, and returns its sums.
#[cold]
#[inline(never)]
pub(super) fn slow_sum(segment: &mut Segment<'_>, weights: &Weights) -> [f32; GROUP] {
    let (first, second) = weights.pieces();
    let mut sums = [0.0; GROUP];
    for (piece, weights) in [first, second].into_iter().enumerate().take(segment.block.pieces()) {
        for (widths, weights) in segment.take_widths(piece).into_iter().zip(weights) {
            if widths == 0 {
                continue;
            }
            let eight = segment.take_eight(widths);
            for lane in 0..GROUP {
                sums[lane] += eight[lane] as f32 * weights[lane];
            }
        }
    }
    sums
}
