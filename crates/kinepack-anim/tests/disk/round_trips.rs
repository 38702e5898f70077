//! Unpacking returns the packed clip, both at once and piece by piece.

use kinepack_anim::disk::{Unpacker, pack, unpack};
use kinepack_anim::{Clip, ClipError};
use proptest::prelude::*;

use super::made::{built, of_segments};
use crate::runner::for_all;

#[test]
fn unpacking_gives_back_every_clip() {
    for_all(
        60,
        (any::<u64>(), 1..6_usize, 1..90_usize, -3..1_i32),
        |(seed, joints, samples, precision)| {
            let clip = built(seed, joints, samples, 10_f64.powi(precision));
            let file = pack(&clip).unwrap();
            assert!(unpack(&file).unwrap() == clip.as_bytes());
        },
    );
}

#[test]
fn segments_are_decoded_as_soon_as_their_packet_arrives() {
    let clip = built(5, 30, 900, 0.01);
    let file = pack(&clip).unwrap();
    assert!(file.len() > 16_000 && 100 * file.len() < 97 * clip.as_bytes().len(), "{}", file.len());
    for piece in [1, 7, 1000, file.len()] {
        let mut unpacker = Unpacker::new();
        let (mut segments, mut grew) = (0, 0);
        for bytes in file.chunks(piece) {
            unpacker.push(bytes).unwrap();
            grew += usize::from(unpacker.segments() > segments);
            segments = unpacker.segments();
            let decoded = unpacker.as_bytes();
            if let Some(header) = unpacker.header() {
                assert_eq!(header, clip.header());
                // Offsets of segments that have not arrived yet are 0, so only the end is compared.
                let tail = decoded.len() - 100;
                assert!(decoded[tail..] == clip.as_bytes()[tail..decoded.len()]);
            }
            assert_eq!(unpacker.is_complete(), segments == clip.segments());
        }
        assert!(unpacker.is_complete() && (piece == file.len() || grew > 3), "{grew}");
        assert!(unpacker.finish_clip().unwrap().as_bytes() == clip.as_bytes());
    }
}

#[test]
fn unpacking_gives_back_a_clip_without_segments() {
    let mut bytes = of_segments(1, &[vec![96, 0]]);
    let clip = Clip::from_bytes(&bytes[..]).unwrap();
    assert!(unpack(&pack(&clip).unwrap()).unwrap() == bytes);
    // This clip has the same joint, but the joint stays in its bind pose.
    bytes = [&bytes[..16], &[0]].concat();
    bytes.extend([7; 8]);
    let mut hash = kinepack::hash::Fnv1a::new();
    hash.add(&bytes);
    bytes.extend((hash.finish() as u32).to_le_bytes());
    let clip = Clip::from_bytes(&bytes[..]).unwrap();
    assert!(unpack(&pack(&clip).unwrap()).unwrap() == bytes);
}

#[test]
fn a_long_still_clip_is_within_the_limits() {
    let segments = vec![vec![96, 0]; 1 << 18];
    let bytes = of_segments(1 << 21, &segments);
    let file = pack(&Clip::from_bytes(&bytes[..]).unwrap()).unwrap();
    assert!(file.len() < 1000, "{}", file.len());
    assert!(unpack(&file).unwrap() == bytes);
}

#[test]
fn unpacking_gives_back_large_coefficients() {
    // The segment has two coefficients of 24 bits, which need an escape. It stores widths of 5
    // bits, and then the coefficients.
    let [least, most] = [1_u64 << 23, (1 << 23) - 1];
    let segment = |first: u64, second: u64| {
        let bits = 24 | 24 << 5 | u128::from(first) << 10 | u128::from(second) << 34;
        [&[96, 255][..], &bits.to_le_bytes()[..8]].concat()
    };
    let segments =
        [segment(least, most), segment(most, least), segment(least, least), segment(most, most)];
    for count in 1..=4 {
        let mut bytes = of_segments(2 * count as u32, &segments[..count]);
        if count > 1 {
            // Only a clip with a single segment can have a segment of two samples. In the other
            // clips, segments get eight samples.
            let still: Vec<Vec<u8>> =
                segments[..count].iter().map(|segment| wide(segment)).collect();
            bytes = of_segments(8 * count as u32, &still);
        }
        let clip = Clip::from_bytes(&bytes[..]).unwrap();
        assert!(unpack(&pack(&clip).unwrap()).unwrap() == bytes);
    }
}

/// Returns the same segment, followed by six coefficients without bits.
fn wide(segment: &[u8]) -> Vec<u8> {
    let mut bits = [0; 16];
    bits[..8].copy_from_slice(&segment[2..]);
    let bits = u128::from_le_bytes(bits);
    let bits = bits & 0x3ff | (bits >> 10) << 40;
    [&[96, 255][..], &bits.to_le_bytes()[..11]].concat()
}

#[test]
fn a_clip_with_other_profiles_is_not_packed() {
    // Zeros do not need an escape.
    let bytes = of_segments(2, &[vec![96, 255, 0, 0]]);
    let refused = pack(&Clip::from_bytes(&bytes[..]).unwrap()).unwrap_err();
    assert!(matches!(refused, ClipError::BadSegment { segment: 0, .. }), "{refused}");
}
