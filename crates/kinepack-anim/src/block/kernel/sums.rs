//! The sums over the coefficients of the components of a group.
//!
//! The order of each sum is fixed but for one freedom: eights of coefficients that all are 0 may be left out or added, and zeros may begin a sum.
//! For the weight of coefficient 0 is above 0, so its product is never −0, nor is then the sum over any zeros that it is added to: and the sign of
//! a zero changes nothing once it is added to something that is not −0.

use super::segment::Window;
use super::tables::MAX_EIGHT_BYTES;
use super::{Kernel, Lanes, Segment};
use crate::block::basis::Weights;
use crate::block::layout::GROUP;
use crate::block::widths::{BlockLength, ESCAPE};

/// Three components of eight tracks, by component, and room for none; of each the sums of the coefficients that have the same remainder by 8.
pub(crate) type Sums<L> = [L; SLOTS];

const SLOTS: usize = 4 * GROUP;

/// The sums of the next components of a segment, which it moves behind. Bits of `live` say which there are, bits of `wanted` of which the sum is
/// needed. Of what is wanted and not live it is 0, of what is not wanted anything finite.
#[inline(always)]
pub(super) fn fill<K: Kernel>(
    kernel: K,
    sums: &mut Sums<K::Lanes>,
    live: u32,
    wanted: u32,
    segment: &mut Segment<'_>,
    weights: &Weights,
) {
    if live & !wanted == 0 {
        fill_any::<K, true>(kernel, sums, live, wanted, segment, weights);
    } else {
        fill_any::<K, false>(kernel, sums, live, wanted, segment, weights);
    }
}

#[inline(always)]
fn fill_any<K: Kernel, const IS_WHOLE: bool>(
    kernel: K,
    sums: &mut Sums<K::Lanes>,
    live: u32,
    wanted: u32,
    segment: &mut Segment<'_>,
    weights: &Weights,
) {
    match segment.block {
        BlockLength::N8 => fill_blocks::<K, IS_WHOLE, 1, 0, 0>(kernel, sums, live, wanted, segment, weights),
        BlockLength::N16 => fill_blocks::<K, IS_WHOLE, 1, 1, 1>(kernel, sums, live, wanted, segment, weights),
        BlockLength::N32 => fill_blocks::<K, IS_WHOLE, 2, 2, 3>(kernel, sums, live, wanted, segment, weights),
    }
}

#[inline(always)]
fn fill_blocks<K: Kernel, const IS_WHOLE: bool, const PIECES: usize, const FIRST: usize, const SECOND: usize>(
    kernel: K,
    sums: &mut Sums<K::Lanes>,
    mut live: u32,
    wanted: u32,
    segment: &mut Segment<'_>,
    weights: &Weights,
) {
    let none = K::Lanes::splat(0.0);
    let mut dead = wanted & !live;
    while dead != 0 {
        sums[dead.trailing_zeros() as usize % SLOTS] = none;
        dead &= dead - 1;
    }
    let words = segment.words;
    let profiles = words.profiles(segment.next, live.count_ones() as usize * PIECES);
    let mut bit = segment.bit;
    let (first_weights, second_weights) = weights.pieces();
    for (index, numbers) in profiles.as_chunks::<PIECES>().0.iter().enumerate() {
        let slot = live.trailing_zeros() as usize % SLOTS;
        live &= live.wrapping_sub(1);
        let sum = &mut sums[slot];
        let (number, behind) = (numbers[0], numbers[PIECES - 1]);
        if number == ESCAPE || behind == ESCAPE {
            let mut escaped = Segment { next: segment.next + PIECES * index, bit, ..*segment };
            kernel.escaped_sum(sum, &mut escaped, weights);
            bit = escaped.bit;
            continue;
        }
        let bits = usize::from(segment.bits[0][usize::from(number)]);
        let end = bit + bits + if PIECES == 2 { usize::from(segment.bits[1][usize::from(behind)]) } else { 0 };
        if IS_WHOLE || wanted >> slot & 1 != 0 {
            // In a short segment the second eight of the last piece may begin behind its end.
            let last = end / 8 + if FIRST == 0 { 0 } else { MAX_EIGHT_BYTES };
            let padded;
            let window = match words.window(bit / 8, last) {
                Some(window) => window,
                None => {
                    padded = words.padded_window(bit / 8);
                    Window(&padded)
                }
            };
            // SAFETY: all eights begin in a byte that is at most the last.
            unsafe {
                let first = kernel.piece::<FIRST>(none, number, window, bit % 8, first_weights);
                *sum = if PIECES == 2 {
                    kernel.piece::<SECOND>(first, behind, window, bit % 8 + bits, second_weights)
                } else {
                    first
                };
            }
        }
        bit = end;
    }
    segment.next += profiles.len();
    segment.bit = bit;
}

/// The sums of a component of which any piece may be escaped.
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
