//! The components of the tracks of a group: the sums over the coefficients, one behind the other.
//!
//! The order of each sum is fixed but for one freedom: eights of coefficients that all are 0 may be left out or added, and zeros may begin a sum.
//! For the weight of coefficient 0 is above 0, so its product is never −0, nor is then the sum over any zeros that it is added to: and the sign of
//! a zero changes nothing once it is added to something that is not −0.

use super::tables::MAX_EIGHT_BYTES;
use super::{Kernel, Lanes, Segment};
use crate::block::basis::Weights;
use crate::block::layout::GROUP;
use crate::block::widths::{BlockLength, ESCAPE};

/// Of the live components of a group, one behind the other, the sums of the coefficients that have the same remainder by 8. Those behind the last one
/// are of groups before it.
pub(crate) type Sums<L> = [L; 3 * GROUP];

/// The first, second and third components of eight tracks, from the next ones of a segment on, which it moves behind; to be multiplied with their
/// steps. Bits of `live` say which there are, first ones first; the others are 0.
#[inline(always)]
pub(super) fn components<K: Kernel>(
    kernel: K,
    sums: &mut Sums<K::Lanes>,
    live: u32,
    segment: &mut Segment<'_>,
    weights: &Weights,
) -> [K::Lanes; 3] {
    let count = live.count_ones() as usize;
    let own = &mut sums[..count];
    match segment.block {
        BlockLength::N8 => fill::<K, 1, 0, 0>(kernel, own, segment, weights),
        BlockLength::N16 => fill::<K, 1, 1, 1>(kernel, own, segment, weights),
        BlockLength::N32 => fill::<K, 2, 2, 3>(kernel, own, segment, weights),
    }
    let none = K::Lanes::splat(0.0);
    let mut numbers = [none; 4];
    for (eight, (number, sums)) in numbers.iter_mut().zip(sums.as_chunks().0).enumerate() {
        if GROUP * eight < count {
            *number = K::Lanes::fold(sums);
        }
    }
    let [first, second, third, _] = numbers;
    let mut components = [first, second, third];
    if count == 3 * GROUP {
        return components;
    }
    let mut first = 0;
    for (axis, component) in components.iter_mut().enumerate() {
        let live = (live >> (GROUP * axis)) as u8;
        let near = [numbers[first / GROUP], numbers[first / GROUP + 1]];
        *component = K::Lanes::spread(near, first % GROUP, live);
        first += live.count_ones() as usize;
    }
    components
}

#[inline(always)]
fn fill<K: Kernel, const PIECES: usize, const FIRST: usize, const SECOND: usize>(
    kernel: K,
    sums: &mut [K::Lanes],
    segment: &mut Segment<'_>,
    weights: &Weights,
) {
    let none = K::Lanes::splat(0.0);
    let (first_weights, second_weights) = weights.pieces();
    let words = segment.words;
    // In a short segment the second eight of the last piece may begin behind its end.
    let limit = words.bits_before(if FIRST == 0 { 0 } else { MAX_EIGHT_BYTES });
    let (profiles, rest) = segment.profiles.split_at(segment.profiles.len().min(PIECES * sums.len()));
    let (profiles, _) = profiles.as_chunks::<PIECES>();
    let mut bit = segment.bit;
    let mut at = 0;
    loop {
        for (sum, numbers) in sums[at..].iter_mut().zip(&profiles[at..]) {
            let (number, behind) = (numbers[0], numbers[PIECES - 1]);
            let bits = usize::from(segment.bits[0][usize::from(number)]);
            let end = bit + bits + if PIECES == 2 { usize::from(segment.bits[1][usize::from(behind)]) } else { 0 };
            if number == ESCAPE || behind == ESCAPE || end >= limit {
                break;
            }
            // SAFETY: all eights begin in a byte that has a load's from it on.
            unsafe {
                *sum = kernel.piece::<FIRST>(none, number, words, bit, first_weights);
                if PIECES == 2 {
                    *sum = kernel.piece::<SECOND>(*sum, behind, words, bit + bits, second_weights);
                }
            }
            bit = end;
            at += 1;
        }
        // What is escaped, or ends with the clip, is taken by itself.
        let (Some(sum), Some(own)) = (sums.get_mut(at), profiles.get(at..)) else {
            break;
        };
        let mut any = Segment { profiles: own.as_flattened(), bit, ..*segment };
        kernel.any_sum(sum, &mut any, weights);
        bit = any.bit;
        at += 1;
    }
    segment.profiles = rest;
    segment.bit = bit;
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
