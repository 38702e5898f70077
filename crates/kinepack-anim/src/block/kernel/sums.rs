//! The components of tracks: the sums over the coefficients, one component behind the other.
//!
//! The order of each sum is fixed but for one freedom: eights of coefficients that all are 0 may be
//! left out or added, and zeros may begin a sum. For the weight of coefficient 0 is above 0, so its
//! product is never −0, nor is then the sum over any zeros that it is added to: and the sign of a
//! zero changes nothing once it is added to something that is not −0.

use std::mem::MaybeUninit;

use super::{Kernel, Lanes, Segment};
use crate::block::basis::Weights;
use crate::block::layout::GROUP;
use crate::block::widths::{BlockLength, ESCAPE};

/// Groups whose components are decoded at once.
pub(crate) const RUN: usize = 4;

/// Of live components, one behind the other, the sums of the coefficients that have the same
/// remainder by 8.
pub(crate) struct Sums<L> {
    numbers: [MaybeUninit<L>; (3 * RUN + 1) * GROUP],
    /// The first ones of them, which are there: those of the components, and an eight behind them.
    count: usize,
    /// The first one that was not taken.
    next: usize,
}

impl<L: Lanes> Sums<L> {
    /// Of no components.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { numbers: [const { MaybeUninit::uninit() }; _], count: 0, next: 0 }
    }

    /// The first, second and third components of the tracks of the next group, to be multiplied
    /// with their scales. Those that are not live are 0.
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
        let last = if live.third == 0 { [first, second] } else { [second, third] };
        [
            L::spread([first, second], &live.places[0]),
            L::spread([first, second], &live.places[1]),
            L::spread(last, &live.places[2]),
        ]
    }

    /// Eight of them from one on.
    #[inline(always)]
    fn eight(&self, first: usize) -> &[L; GROUP] {
        assert!(first + GROUP <= self.count);
        // SAFETY: the first `count` were written.
        unsafe { &*self.numbers.as_ptr().add(first).cast() }
    }
}

/// Which components of a group are live, and where those are among its sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    /// Of each lane its first, second and third component's place, or [`DEAD`]. First ones count
    /// from the first eight sums on, second ones too.
    places: [[u8; GROUP]; 3],
    /// Which eight sums third components count from, the first or the second.
    third: u8,
    /// Live components.
    pub(crate) count: u8,
}

/// The place of a component that is not live: behind two eights of sums.
pub(super) const DEAD: u8 = 1 << 7;

impl Live {
    /// Those of which `is_live` says so, by axis and lane.
    pub(crate) fn new(is_live: impl Fn(usize, usize) -> bool) -> Self {
        let mut live = Self { places: [[DEAD; GROUP]; 3], third: 0, count: 0 };
        for (axis, places) in live.places.iter_mut().enumerate() {
            if axis == 2 {
                live.third = u8::from(usize::from(live.count) >= GROUP);
            }
            for (lane, place) in places.iter_mut().enumerate() {
                if is_live(axis, lane) {
                    *place = live.count - if axis == 2 { GROUP as u8 * live.third } else { 0 };
                    live.count += 1;
                }
            }
        }
        live
    }
}

/// Decodes the next `count` components of a segment, which it moves behind.
#[inline(always)]
pub(super) fn decode<K: Kernel>(
    kernel: K,
    sums: &mut Sums<K::Lanes>,
    count: usize,
    segment: &mut Segment<'_>,
    weights: &Weights,
) {
    (sums.count, sums.next) = (0, 0);
    let (own, behind) = sums.numbers.split_at_mut(count);
    match segment.block {
        BlockLength::N8 => fill::<K, 1, 0, 0>(kernel, own, segment, weights),
        BlockLength::N16 => fill::<K, 1, 1, 1>(kernel, own, segment, weights),
        BlockLength::N32 => fill::<K, 2, 2, 3>(kernel, own, segment, weights),
    }
    for sum in &mut behind[..GROUP] {
        sum.write(kernel.splat(0.0));
    }
    sums.count = count + GROUP;
}

/// Decodes as many components as there are sums: all of them are written.
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
        // Two at once are a little faster.
        at += plain::<K, PIECES, FIRST, SECOND, 2>(
            kernel,
            &mut sums[at..],
            &profiles[at..],
            segment,
            weights,
        );
        at += plain::<K, PIECES, FIRST, SECOND, 1>(
            kernel,
            &mut sums[at..],
            &profiles[at..],
            segment,
            weights,
        );
        // What is escaped, or ends with the clip, is taken by itself.
        let Some(sum) = sums.get_mut(at) else {
            break;
        };
        segment.profiles = profiles[at..].as_flattened();
        sum.write(kernel.any_sum(segment, weights));
        at += 1;
    }
    segment.profiles = rest;
}

/// Decodes components, `N` at once, up to one that is escaped or ends with the clip, to whose bits
/// it goes. How many it decoded.
#[inline(always)]
fn plain<
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
    let none = kernel.splat(0.0);
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
            // SAFETY: all eights begin in a byte that has a load's from it on.
            let mut own = unsafe {
                kernel.piece::<FIRST>(none, numbers[0], segment.words, bits[0], first_weights)
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

/// The sums of a component of any profiles, anywhere.
#[cold]
#[inline(never)]
pub(super) fn any_sum(segment: &mut Segment<'_>, weights: &Weights) -> [f32; GROUP] {
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
