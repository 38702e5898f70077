//! Hostile clips and skeletons are refused for the right reason, or played without harm.

use kinepack_anim::keyed::KeyedClip;
use kinepack_anim::{
    Channel, ClipError, FileKind, Skeleton, SkeletonError, SkeletonFileError, TrackId,
};
use proptest::prelude::*;

use super::naive::NaiveTrack;
use super::small::{SAMPLES, small};
use super::write::{Parts, any_track, end_of};
use crate::clip_support::skeleton;
use crate::drivers::clip as driver;
use crate::random::Random;
use crate::runner::for_all;

const KINDS: usize = 32;
const RANGES: usize = KINDS + 3;
const CONSTANTS: usize = RANGES + 48;
const ROWS: usize = CONSTANTS + 18;
const KEYS: usize = ROWS + SAMPLES as usize * 16;

fn good() -> Vec<u8> {
    let bytes = small().to_bytes();
    assert_eq!(bytes.len(), KEYS + 80 + 16);
    assert!(KeyedClip::from_bytes(&bytes[..]).unwrap().as_bytes() == bytes);
    bytes
}

/// Returns the reason why `good` is refused with other bytes at a place.
fn refused(at: usize, other: &[u8]) -> ClipError {
    let mut bytes = good();
    bytes[at..at + other.len()].copy_from_slice(other);
    driver::play(&bytes);
    KeyedClip::from_bytes(bytes).unwrap_err()
}

#[test]
fn every_prefix_and_every_suffix_is_refused() {
    let good = good();
    let parts = [
        (32, "header"),
        (35, "kinds"),
        (83, "ranges"),
        (101, "constants"),
        (181, "rows"),
        (261, "keys"),
    ];
    for end in 0..good.len() {
        let part =
            parts.iter().find(|(part_end, _)| end < *part_end).map_or("jumps", |(_, part)| part);
        let error = if end < 4 { ClipError::NoClip } else { ClipError::EndOfData { part } };
        assert_eq!(KeyedClip::from_bytes(&good[..end]).unwrap_err(), error, "{end}");
    }
    for tail in [1, 2, 8, 1000] {
        let long = [&good[..], &vec![0; tail]].concat();
        assert_eq!(
            KeyedClip::from_bytes(long).unwrap_err(),
            ClipError::TrailingData { bytes: tail }
        );
    }
}

#[test]
fn other_files_and_versions_are_refused() {
    assert_eq!(refused(0, b"KPAX"), ClipError::NoClip);
    assert_eq!(refused(0, b"KPAD"), ClipError::OtherFile { found: FileKind::DiskClip });
    assert_eq!(refused(0, b"KPSK"), ClipError::OtherFile { found: FileKind::Skeleton });
    for version in [0, 2, 255] {
        assert_eq!(refused(4, &[version]), ClipError::Version { version, newest: 1 });
    }
}

#[test]
fn headers_out_of_range_are_refused() {
    let field = |at: usize, other: &[u8]| match refused(at, other) {
        ClipError::BadHeader { field } => field,
        error => panic!("{error}"),
    };
    assert_eq!(field(5, &[4]), "parametrization");
    assert_eq!(field(6, &[1]), "reserved bytes");
    assert_eq!(field(7, &[128]), "reserved bytes");
    assert_eq!(field(8, &[0, 0]), "joints");
    assert_eq!(field(8, &16_385_u16.to_le_bytes()), "joints");
    assert_eq!(field(10, &[0, 0]), "slices");
    assert_eq!(field(12, &[0; 4]), "samples");
    assert_eq!(field(12, &4_194_305_u32.to_le_bytes()), "samples");
    for rate in [0.0, -0.0, -30.0, f32::NAN, f32::INFINITY] {
        assert_eq!(field(16, &rate.to_le_bytes()), "rate");
    }
}

#[test]
fn counts_of_billions_are_refused() {
    assert_eq!(refused(8, &16_384_u16.to_le_bytes()), ClipError::EndOfData { part: "kinds" });
    assert_eq!(refused(12, &65_536_u32.to_le_bytes()), ClipError::EndOfData { part: "rows" });
    assert_eq!(
        refused(12, &65_537_u32.to_le_bytes()),
        ClipError::TooManySamples { samples: 65_537 }
    );
    assert_eq!(
        refused(12, &4_194_304_u32.to_le_bytes()),
        ClipError::TooManySamples { samples: 4_194_304 }
    );
    assert_eq!(refused(20, &[255; 4]), ClipError::EndOfData { part: "keys" });
    assert_eq!(refused(10, &[255; 2]), ClipError::EndOfData { part: "jumps" });
}

#[test]
fn unknown_kinds_are_refused() {
    for byte in [0x80, 0x40, 0xc0, 0x41, 0x42, 0xc3] {
        assert_eq!(refused(KINDS, &[byte]), ClipError::BadKind { joint: 0, byte });
    }
    assert_eq!(refused(KINDS + 2, &[0xf3]), ClipError::BadKind { joint: 2, byte: 0xf3 });
}

#[test]
fn bad_ranges_are_refused() {
    for (from, channel) in [(RANGES, Channel::Translation), (RANGES + 24, Channel::Scale)] {
        for at in [from, from + 8, from + 12, from + 20] {
            for end in
                [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e18_f32.next_up()]
            {
                assert_eq!(
                    refused(at, &end.to_le_bytes()),
                    ClipError::BadRange { channel },
                    "{at} {end}"
                );
            }
        }
        assert_eq!(refused(from, &91_f32.to_le_bytes()), ClipError::BadRange { channel });
        assert_eq!(refused(from + 16, &(-1_f32).to_le_bytes()), ClipError::BadRange { channel });
    }
}

/// Plays the widest range, with keys whose splines leave it. In a wider range, squares of chords
/// would be too large for floats.
#[test]
fn the_widest_ranges_play_finite_numbers() {
    for parametrization in 0..4 {
        let mut random = Random(2);
        let tracks = [1, 2].map(|channel| {
            let mut track = any_track(&mut random, 0, channel, 100, 40);
            track.keys.iter_mut().for_each(|(_, code)| {
                *code = [(); 3].map(|()| [0, 65_535][random.below(2) as usize]);
            });
            track
        });
        let mut parts = Parts::keyed(parametrization, 3, 100, tracks.to_vec());
        parts.ranges = [[[-1e18; 3], [1e18; 3]]; 2];
        let bytes = parts.to_bytes();
        assert!(KeyedClip::from_bytes(&bytes[..]).is_ok());
        driver::play(&bytes);
    }
}

#[test]
fn constants_that_are_not_finite_are_refused() {
    let track = TrackId { joint: 1, channel: Channel::Translation };
    for at in [0, 4, 8] {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(
                refused(CONSTANTS + 6 + at, &value.to_le_bytes()),
                ClipError::BadConstant { track }
            );
        }
    }
}

#[test]
fn bad_keys_are_refused() {
    let reason = |key: usize, other: &[u8]| match refused(KEYS + 10 * key, other) {
        ClipError::BadKey { index, reason } => (index, reason),
        error => panic!("{error}"),
    };
    // The block contains three keys of joint 1's rotation, then three of joint 0's translation,
    // then two of the rotation.
    let id = |joint: u16, channel: u16| (joint | channel << 14).to_le_bytes();
    let with_id = |tick: u16, joint, channel| [tick.to_le_bytes(), id(joint, channel)].concat();
    assert_eq!(reason(1, &with_id(9000, 1, 3)), (1, "a channel that does not exist"));
    for (joint, channel) in [(3, 0), (0x3fff, 0), (1, 1), (2, 0), (0, 2), (2, 1)] {
        assert_eq!(
            reason(2, &with_id(20_000, joint, channel)),
            (2, "a joint or channel that has no keys")
        );
    }
    assert_eq!(
        reason(1, &with_id(9000, 0, 1)),
        (1, "not among the first keys of each track, which come first")
    );
    assert_eq!(reason(0, &[1, 0]), (0, "a track that does not begin with the clip"));
    assert_eq!(reason(3, &[1, 0]), (3, "a track that does not begin with the clip"));
    for tick in [0_u16, 8999, 9000] {
        assert_eq!(reason(2, &tick.to_le_bytes()), (2, "times of a track that do not increase"));
    }
    assert_eq!(reason(2, &65_535_u16.to_le_bytes()), (2, "a time after the last sample"));
    assert_eq!(reason(7, &[0, 250]), (8, "a track that does not end with the clip"));
    // The third key of the translation is its last one, so a further key would be after the last
    // sample.
    assert_eq!(reason(6, &with_id(50_000, 0, 1)), (6, "times of a track that do not increase"));
}

#[test]
fn keys_that_are_not_in_the_order_of_playback_are_refused() {
    let track = |joint, ticks: [u16; 5]| NaiveTrack {
        joint,
        channel: 0,
        keys: ticks.into_iter().map(|tick| (tick, [tick; 3])).collect(),
    };
    let end = end_of(5);
    let swapped = |second: [u16; 5]| {
        let mut bytes =
            Parts::keyed(1, 1, 5, vec![track(0, [0, 10, 20, 30, end]), track(1, second)])
                .to_bytes();
        let keys_at = 32 + 2;
        let (before, after) = bytes[keys_at + 60..keys_at + 80].split_at_mut(10);
        before.swap_with_slice(after);
        driver::play(&bytes);
        KeyedClip::from_bytes(bytes)
    };
    let reason = "not in the order in which playback needs it";
    assert_eq!(swapped([0, 15, 25, 35, end]).unwrap_err(), ClipError::BadKey { index: 7, reason });
    // Keys that are needed at the same time may be in any order.
    assert!(swapped([0, 10, 20, 30, end]).is_ok());
}

#[test]
fn a_clip_with_missing_keys_is_refused() {
    let reason = "a track that does not end with the clip";
    for samples in [1, 2] {
        let mut parts = Parts::keyed(0, 1, samples, Vec::new());
        parts.kinds = vec![2];
        assert_eq!(
            KeyedClip::from_bytes(parts.to_bytes()).unwrap_err(),
            ClipError::BadKey { index: 0, reason }
        );
        parts.tracks = vec![NaiveTrack { joint: 0, channel: 0, keys: vec![(0, [0; 3])] }];
        assert_eq!(
            KeyedClip::from_bytes(parts.to_bytes()).unwrap_err(),
            ClipError::BadKey { index: 1, reason }
        );
    }
    let keys = vec![(0, [0; 3]), (0, [0; 3])];
    let parts = Parts::keyed(0, 1, 1, vec![NaiveTrack { joint: 0, channel: 0, keys }]);
    let reason = "times of a track that do not increase";
    assert_eq!(
        KeyedClip::from_bytes(parts.to_bytes()).unwrap_err(),
        ClipError::BadKey { index: 1, reason }
    );
}

#[test]
fn a_jump_table_that_does_not_fit_the_keys_is_refused() {
    let jumps = KEYS + 80;
    let tracks = [(1, Channel::Rotation), (0, Channel::Translation)];
    for place in 0..8 {
        for other in [9, 255, 65_535_u16] {
            let (joint, channel) = tracks[place / 4];
            let error = ClipError::BadJump { slice: 1, track: TrackId { joint, channel } };
            assert_eq!(refused(jumps + 2 * place, &other.to_le_bytes()), error);
        }
    }
}

#[test]
fn flipped_bits_and_noise_are_refused_or_played() {
    let mut coarse = Parts::keyed(0, 9, 4, Vec::new());
    coarse.kinds = vec![0x40 | 0b00_11_11];
    coarse.rows = (0..4 * 10).collect();
    for good in [good(), coarse.to_bytes()] {
        driver::play(&good);
        let mut played = 0;
        for bit in 0..8 * good.len() {
            let mut flipped = good.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            driver::play(&flipped);
            played += usize::from(KeyedClip::from_bytes(flipped).is_ok());
        }
        assert!(played > good.len(), "{played}");
    }
    let mut random = Random(3);
    for round in 0..3000 {
        let mut noisy = good();
        for _ in 0..1 + random.below(12) {
            let begin = if round % 2 == 0 { KINDS as u32 } else { 0 };
            let at = begin + random.below(noisy.len() as u32 - begin);
            noisy[at as usize] = random.below(256) as u8;
        }
        driver::play(&noisy);
        let noise: Vec<u8> = (0..random.below(400)).map(|_| random.below(256) as u8).collect();
        driver::clip(&noise);
        driver::play(&[b"KPAC\x01", &noise[..]].concat());
    }
}

/// Clips of random tracks are read with random changes of their bytes.
#[test]
fn random_clips_and_damaged_ones_are_refused_or_played() {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let clips = (any::<u64>(), 0..4_u8, 1..9_u16, 2..90_u32, changes);
    for_all(400, clips, |(seed, parametrization, slices, samples, changes)| {
        let mut random = Random(seed);
        let tracks = (0..3).flat_map(|joint| [0, 1, 2].map(|channel| (joint, channel)));
        let mut kept = tracks.filter(|_| random.below(2) > 0).collect::<Vec<_>>();
        kept.push((3, 0));
        let tracks = kept
            .iter()
            .map(|(joint, channel)| any_track(&mut random, *joint, *channel, samples, 9))
            .collect();
        let mut bytes = Parts::keyed(parametrization, slices, samples, tracks).to_bytes();
        assert!(KeyedClip::from_bytes(&bytes[..]).unwrap().as_bytes() == bytes);
        driver::play(&bytes);
        for (at, other) in changes {
            let at = at.index(bytes.len());
            bytes[at] = other;
        }
        driver::play(&bytes);
    });
}

#[test]
fn skeletons_are_read_back_or_refused() {
    let skeleton = skeleton(&mut Random(1), 7);
    let bytes = skeleton.to_bytes();
    assert_eq!(Skeleton::from_bytes(&bytes).unwrap(), *skeleton);
    for end in 0..bytes.len() {
        let error =
            if end < 4 { SkeletonFileError::NoSkeleton } else { SkeletonFileError::EndOfData };
        assert_eq!(Skeleton::from_bytes(&bytes[..end]), Err(error));
    }
    let long = [&bytes[..], &[0; 3]].concat();
    assert_eq!(Skeleton::from_bytes(&long), Err(SkeletonFileError::TrailingData { bytes: 3 }));
    let with = |at: usize, other: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + other.len()].copy_from_slice(other);
        Skeleton::from_bytes(&bytes).unwrap_err()
    };
    assert_eq!(with(0, b"KPAX"), SkeletonFileError::NoSkeleton);
    assert_eq!(with(0, b"KPAC"), SkeletonFileError::OtherFile { found: FileKind::KeyedClip });
    for (at, version) in [(4, 0), (4, 2), (5, 7)] {
        let found = if at == 4 { version } else { 1 };
        assert_eq!(with(at, &[version]), SkeletonFileError::Version { version: found, newest: 1 });
    }
    assert_eq!(with(6, &[255, 255]), SkeletonFileError::EndOfData);
    assert_eq!(with(8 + 7 * 42 + 2, &[0xff]), SkeletonFileError::BadName);
    let broken = |error| SkeletonFileError::Skeleton(error);
    assert_eq!(with(8 + 42, &[1, 0]), broken(SkeletonError::ParentAfterChild { joint: 1 }));
    assert_eq!(
        with(8 + 42 * 3 + 2, &f32::NAN.to_le_bytes()),
        broken(SkeletonError::BadBindPose { joint: 3 })
    );
    assert_eq!(with(8 + 42 * 3 + 2, &[0; 16]), broken(SkeletonError::BadBindPose { joint: 3 }));
    let many = [&b"KPSK\x01\0"[..], &16_385_u16.to_le_bytes()].concat();
    let joint = [&[255, 255][..], &1_f32.to_le_bytes().repeat(10)].concat();
    let many = [&many[..], &joint.repeat(16_385), &vec![0; 2 * 16_385]].concat();
    let error = Skeleton::from_bytes(&many);
    assert_eq!(error, Err(broken(SkeletonError::TooManyJoints { joints: 16_385 })));
    assert_eq!(Skeleton::from_bytes(b"KPSK\x01\0\0\0").map(|skeleton| skeleton.len()), Ok(0));
}
