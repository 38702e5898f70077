//! Hostile `r3d2canm` files are refused for the right reason, or played without harm.

use kinepack_anim::Channel;
use kinepack_anim::keyed::{Key, Parametrization, VectorRange};
use kinepack_anm::{Anm, AnmBlock, AnmError, AnmHead, AnmTrack, ErrorMargin, order};

use crate::driver;
use crate::random::Random;
use crate::support::{file_of, hashes, head, smooth_tracks};

const JOINTS: usize = 24;
const KEYS: usize = 28;
const CACHES: usize = 32;
const DURATION: usize = 36;
const RATE: usize = 40;
const ERRORS: usize = 44;
const TRANSLATION: usize = 68;
const SCALE: usize = 92;
const OFFSETS: usize = 116;

/// Returns a file with two joints, six tracks and two caches.
fn small() -> Vec<u8> {
    let channels =
        [0, 1].into_iter().flat_map(|joint| Channel::ALL.map(|channel| (joint, channel)));
    let tracks: Vec<_> = channels
        .map(|(joint, channel)| {
            let keys = vec![(0, [joint; 3]), (30_000 + joint, [9, 8, 7]), (65_535, [500; 3])];
            AnmTrack { joint, channel, keys }
        })
        .collect();
    file_of(head(Parametrization::Times, 1.0), 2, &tracks).with_jump_caches(2).unwrap().to_bytes()
}

fn with_word(at: usize, word: u32) -> Result<Anm, AnmError> {
    let mut bytes = small();
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    Anm::from_bytes(&bytes)
}

fn refused(result: Result<Anm, AnmError>) -> AnmError {
    let error = result.unwrap_err();
    assert!(error.to_string().len() > 5);
    error
}

#[test]
fn every_prefix_is_refused() {
    let bytes = small();
    for end in 0..bytes.len() {
        assert!(Anm::from_bytes(&bytes[..end]).is_err(), "{end}");
    }
    assert_eq!(refused(Anm::from_bytes(&bytes[..7])), AnmError::NoAnmFile);
    assert_eq!(refused(Anm::from_bytes(b"r3d2anmd")), AnmError::NoAnmFile);
    assert_eq!(refused(Anm::from_bytes(&bytes[..127])), AnmError::TruncatedHead { bytes: 127 });
}

#[test]
fn trailing_bytes_and_the_stored_size_do_not_matter() {
    let anm = Anm::from_bytes(&small()).unwrap();
    assert!(Anm::from_bytes(&[&small()[..], &[7; 100]].concat()).unwrap() == anm);
    for size in [0, 1, u32::MAX] {
        assert!(with_word(12, size).unwrap() == anm);
    }
}

#[test]
fn flipped_bits_and_noise_are_refused_or_played() {
    let bytes = small();
    driver::anm(&bytes);
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        driver::anm(&flipped);
    }
    let mut random = Random(3);
    for round in 0..3000 {
        // The test puts noise after a valid header, or in place of some bytes of a file.
        let mut noisy = bytes.clone();
        for _ in 0..1 + random.below(12) {
            let begin = if round % 2 == 0 { 128 } else { 0 };
            let at = begin + random.below((noisy.len() - begin) as u32) as usize;
            noisy[at] = random.below(256) as u8;
        }
        driver::anm(&noisy);
        let noise: Vec<u8> = (0..random.below(400)).map(|_| random.below(256) as u8).collect();
        driver::anm(&noise);
        driver::anm(&[b"r3d2canm", &noise[..]].concat());
    }
}

#[test]
fn the_driver_takes_files_of_random_tracks_and_their_prefixes() {
    for seed in 0..10 {
        let anm = file_of(head(Parametrization::Uniform, 2.0), 5, &smooth_tracks(seed, 5, 20));
        let bytes = anm.with_jump_caches(seed as u32).unwrap().to_bytes();
        for end in (0..bytes.len()).step_by(37).chain([bytes.len()]) {
            driver::anm(&bytes[..end]);
        }
    }
}

#[test]
fn counts_of_billions_are_refused() {
    let bytes = small().len();
    assert_eq!(
        refused(with_word(JOINTS, u32::MAX)),
        AnmError::TooManyJoints { joints: u32::MAX.into() }
    );
    assert_eq!(refused(with_word(JOINTS, 16_385)), AnmError::TooManyJoints { joints: 16_385 });
    let keys =
        AnmError::PastEnd { block: AnmBlock::Keys, begin: 128, block_bytes: 42_949_672_950, bytes };
    assert_eq!(refused(with_word(KEYS, u32::MAX)), keys);
    assert_eq!(refused(with_word(CACHES, u32::MAX)), AnmError::NegativeCacheCount { count: -1 });
    let block_bytes = 48 * i32::MAX as u128;
    let caches = refused(with_word(CACHES, i32::MAX as u32));
    assert!(
        matches!(caches, AnmError::PastEnd { block: AnmBlock::JumpCaches, block_bytes: b, .. } if b == block_bytes)
    );
}

#[test]
fn offsets_outside_their_range_are_refused() {
    let blocks = [AnmBlock::Keys, AnmBlock::JumpCaches, AnmBlock::Joints];
    for (index, block) in blocks.into_iter().enumerate() {
        let at = OFFSETS + 4 * index;
        for offset in [-1, i32::MIN, 0, 12, 115] {
            assert_eq!(
                refused(with_word(at, offset as u32)),
                AnmError::BadOffset { block, offset }
            );
        }
        for offset in [small().len() as u32 - 12, 5000, i32::MAX as u32] {
            let error = refused(with_word(at, offset));
            assert!(
                matches!(error, AnmError::PastEnd { block: found, .. } if found == block),
                "{error}"
            );
        }
    }
    let overlap = |first, second| AnmError::Overlap { first, second };
    assert_eq!(refused(with_word(OFFSETS + 4, 117)), overlap(AnmBlock::Keys, AnmBlock::JumpCaches));
    assert_eq!(refused(with_word(OFFSETS + 8, 120)), overlap(AnmBlock::Keys, AnmBlock::Joints));
}

#[test]
fn unknown_versions_are_refused() {
    for version in 1..=3 {
        assert_eq!(with_word(8, version).unwrap().head().version, version);
    }
    for version in [0, 4, u32::MAX] {
        assert_eq!(refused(with_word(8, version)), AnmError::UnknownVersion { version });
    }
}

#[test]
fn floats_that_are_not_finite_are_refused() {
    for float in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0] {
        let bits = float.to_bits();
        assert!(matches!(refused(with_word(DURATION, bits)), AnmError::BadDuration { .. }));
        assert!(matches!(refused(with_word(RATE, bits)), AnmError::BadRate { .. }));
    }
    for float in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for index in 0..6 {
            let channel = Channel::ALL[index / 2];
            assert_eq!(
                refused(with_word(ERRORS + 4 * index, float.to_bits())),
                AnmError::BadErrorMargin { channel }
            );
            for (at, channel) in [(TRANSLATION, Channel::Translation), (SCALE, Channel::Scale)] {
                assert_eq!(
                    refused(with_word(at + 4 * index, float.to_bits())),
                    AnmError::BadRange { channel }
                );
            }
        }
    }
    for (at, float) in [
        (TRANSLATION, 1e9_f32),
        (TRANSLATION, -1e31),
        (TRANSLATION + 12, 1e31),
        (TRANSLATION + 12, -1e9),
    ] {
        let channel = Channel::Translation;
        assert_eq!(refused(with_word(at, float.to_bits())), AnmError::BadRange { channel });
    }
}

#[test]
fn bad_keys_are_refused() {
    let with_joint = |key: usize, joint: u16| {
        let mut bytes = small();
        bytes[128 + 10 * key + 2..][..2].copy_from_slice(&joint.to_le_bytes());
        Anm::from_bytes(&bytes)
    };
    assert_eq!(refused(with_joint(3, 3 << 14)), AnmError::BadChannel { key: 3 });
    assert_eq!(refused(with_joint(5, 2)), AnmError::KeyOfNoJoint { key: 5, joint: 2 });
    let mut bytes = small();
    bytes[128 + 10..][..2].copy_from_slice(&[0xff; 2]);
    assert_eq!(refused(Anm::from_bytes(&bytes)), AnmError::TimeDecreases { key: 2 });
}

#[test]
fn the_writer_refuses_what_the_reader_refuses() {
    let good = head(Parametrization::Times, 1.0);
    let key = Key { time: 0, joint: 0, channel: Channel::Scale, value: [0; 3] };
    let error = |head: AnmHead, joints, keys| refused(Anm::new(head, joints, keys));
    assert_eq!(
        error(good.clone(), vec![0; 16_385], vec![]),
        AnmError::TooManyJoints { joints: 16_385 }
    );
    assert_eq!(error(good.clone(), vec![], vec![key]), AnmError::KeyOfNoJoint { key: 0, joint: 0 });
    let later = Key { time: 1, ..key };
    assert_eq!(error(good.clone(), vec![1], vec![later, key]), AnmError::TimeDecreases { key: 1 });
    let head = AnmHead { version: 4, ..good.clone() };
    assert_eq!(error(head, vec![1], vec![key]), AnmError::UnknownVersion { version: 4 });
    let head = AnmHead { scale: VectorRange { min: [1.0; 3], max: [0.0; 3] }, ..good.clone() };
    assert_eq!(error(head, vec![1], vec![key]), AnmError::BadRange { channel: Channel::Scale });
    let margin = ErrorMargin { margin: f32::NAN, ..ErrorMargin::default() };
    let head = AnmHead { errors: [ErrorMargin::default(), margin, margin], ..good.clone() };
    assert_eq!(
        error(head, vec![1], vec![key]),
        AnmError::BadErrorMargin { channel: Channel::Translation }
    );

    let anm = Anm::new(good, vec![0; 16_384], vec![key]).unwrap();
    assert_eq!(
        refused(anm.clone().with_jump_caches(65_536)),
        AnmError::TooManyCaches { count: 65_536 }
    );
    let bytes = 128 + 10 + 4 * 16_384 + 65_535 * 16_384 * 24;
    assert_eq!(refused(anm.with_jump_caches(65_535)), AnmError::TooLarge { bytes });
}

#[test]
fn exactly_65536_keys_leave_no_index_for_missing_tracks() {
    let key = Key { time: 0, joint: 0, channel: Channel::Scale, value: [0; 3] };
    let anm = |keys: usize| {
        Anm::new(head(Parametrization::Times, 1.0), hashes(1), vec![key; keys]).unwrap()
    };
    assert!(anm(65_535).with_jump_caches(1).is_ok());
    assert_eq!(refused(anm(65_536).with_jump_caches(1)), AnmError::NoIndexLeft);
    assert!(anm(65_537).with_jump_caches(1).is_ok());
}

#[test]
fn bad_tracks_are_refused() {
    let track = |joint, times: &[u16]| {
        let keys = times.iter().map(|time| (*time, [0; 3])).collect();
        AnmTrack { joint, channel: Channel::Rotation, keys }
    };
    let good = track(0, &[0, 5, 65_535]);
    let error = |other| order(2, &[good.clone(), other]).unwrap_err();
    assert_eq!(error(track(2, &[0])), AnmError::TrackOfNoJoint { track: 1, joint: 2 });
    assert_eq!(error(track(0, &[0])), AnmError::TrackTwice { track: 1 });
    assert_eq!(error(track(1, &[])), AnmError::EmptyTrack { track: 1 });
    for times in
        [&[0, 0, 65_535][..], &[0, 9, 8, 65_535], &[0, 65_534], &[1, 65_535], &[0, 65_535, 65_535]]
    {
        assert_eq!(error(track(1, times)), AnmError::BadTrackTimes { track: 1 });
    }
    assert!(order(2, &[good, track(1, &[77])]).is_ok());
    assert_eq!(order(16_385, &[]).unwrap_err(), AnmError::TooManyJoints { joints: 16_385 });
}
