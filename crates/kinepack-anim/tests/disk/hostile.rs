//! Invalid files are refused for the right reason, without panics.

use kinepack_anim::disk::{UnpackLimits, pack, unpack, unpack_with};
use kinepack_anim::{Clip, ClipError, FileKind};
use proptest::prelude::*;

use super::packets::first_packet;
use super::vectors::stored;
use crate::drivers::clip_disk as driver;
use crate::random::Random;
use crate::runner::for_all;

#[test]
fn truncated_files_and_files_with_extra_bytes_are_refused() {
    for (name, file, _) in stored() {
        for end in 0..file.len() {
            let error = unpack(&file[..end]).unwrap_err();
            let is_right = if end < 4 {
                error == ClipError::NoClip
            } else {
                matches!(error, ClipError::EndOfData { .. })
            };
            assert!(is_right, "{name} {end}: {error}");
        }
        let long = [&file[..], &[0; 3]].concat();
        assert_eq!(unpack(&long), Err(ClipError::TrailingData { bytes: 3 }), "{name}");
    }
}

#[test]
fn every_changed_byte_is_detected() {
    for (name, file, _) in stored() {
        // To save time, the test changes only some bytes of the long file.
        let step = 1 + file.len() / 400;
        for at in (0..file.len()).step_by(step) {
            for mask in [1, 0x10, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[at] ^= mask;
                assert!(unpack(&changed).is_err(), "{name} {at}");
            }
        }
    }
}

#[test]
fn files_are_refused_for_the_right_reason() {
    let (_, file, bytes) = stored().remove(0);
    let with = |at: usize, other: &[u8]| {
        let mut changed = file.clone();
        changed[at..at + other.len()].copy_from_slice(other);
        unpack(&changed).unwrap_err()
    };
    assert_eq!(with(0, b"KPAB"), ClipError::OtherFile { found: FileKind::BlockClip });
    assert_eq!(with(0, b"KPAX"), ClipError::NoClip);
    assert_eq!(with(4, &[3]), ClipError::Version { version: 3, newest: 2 });
    assert_eq!(with(file.len() - 4, &[0, 1, 2, 3]), ClipError::BadHash);
    let with_length = |length: &[u8]| {
        let after = 5 + if bytes.len() > 0x3fff { 3 } else { 2 };
        unpack(&[&file[..5], length, &file[after..]].concat()).unwrap_err()
    };
    let bad_length = ClipError::BadHeader { field: "length" };
    let limit = UnpackLimits::default().most_bytes(file.len() as u64 + 3);
    assert_eq!(
        with_length(&[0xff, 0xff, 0xff, 0xff, 0x0f]),
        ClipError::TooLong { bytes: u32::MAX.into(), limit }
    );
    for length in [&[0xff, 0xff, 0xff, 0xff, 0x1f][..], &[0xff; 6], &[0x80, 0], &[9], &[0xff, 0x3f]]
    {
        assert_eq!(with_length(length), bad_length, "{length:?}");
    }
}

#[test]
fn random_packets_are_decoded_or_refused() {
    let mut random = Random(11);
    for round in 0..3000_u32 {
        let length = random.below(60) as usize;
        let mut data: Vec<u8> = (0..=length).map(|_| random.below(256) as u8).collect();
        data[0] = round as u8;
        // A long run of likely decisions is added to the data.
        if round % 3 == 0 {
            data.extend(vec![[0, 0xff][round as usize / 3 % 2]; 40]);
        }
        driver::clip_disk(&data);
    }
}

#[test]
fn changed_packets_are_decoded_or_refused() {
    let packets: Vec<Vec<u8>> = stored().iter().map(|(_, file, _)| first_packet(file)).collect();
    let change = (any::<prop::sample::Index>(), any::<u8>());
    for_all(400, (0..packets.len(), prop::collection::vec(change, 1..4)), |(packet, changes)| {
        let mut data = [&[1], &packets[packet][..]].concat();
        for (at, other) in changes {
            let at = 1 + at.index(data.len() - 1);
            data[at] = other;
        }
        driver::clip_disk(&data);
    });
}

/// Returns a clip that hardly moves, with animated rotations of eight joints. `live` of their 24
/// components are live.
fn still_joints(segments: usize, live: usize) -> Clip<Vec<u8>> {
    let samples = 8 * segments as u32;
    let mut bytes =
        [&b"KPAB\x02\x20\x08\0"[..], &samples.to_le_bytes(), &30_f32.to_le_bytes(), &[2; 8]]
            .concat();
    bytes.extend([128, 128, 128, 200, 1, 77].map(|number| [number; 8]).concat());
    bytes.extend([vec![90; live], vec![0; 24 - live]].concat());
    let segment = [vec![96], vec![0; live]].concat();
    (0..segments).for_each(|index| bytes.extend(&(segment.len() * index).to_le_bytes()[..3]));
    bytes.extend(segment.repeat(segments));
    bytes.extend([7; 8]);
    let mut hash = kinepack::hash::Fnv1a::new();
    hash.add(&bytes);
    bytes.extend((hash.finish() as u32).to_le_bytes());
    Clip::from_bytes(bytes).unwrap()
}

#[test]
fn pack_refuses_a_clip_that_readers_would_refuse() {
    let error = pack(&still_joints(160_000, 24)).unwrap_err();
    assert!(matches!(error, ClipError::TooLong { .. }), "{error}");
}

/// Only live components count, since only they take time and memory in each segment.
#[test]
fn dead_components_do_not_count_against_the_limits() {
    for live in [1, 5, 24] {
        let clip = still_joints(400, live);
        let (file, bytes) = (pack(&clip).unwrap(), clip.as_bytes());
        let claimed = bytes.len() as u64 + 1024 * live as u64;
        let limits = |min_bytes| UnpackLimits { min_bytes, bytes_per_byte: 0 };
        assert!(unpack_with(&file, limits(claimed)).unwrap() == bytes);
        let limit = claimed - 1;
        assert_eq!(
            unpack_with(&file, limits(limit)),
            Err(ClipError::TooLong { bytes: claimed, limit }),
            "{live}"
        );
    }
}
