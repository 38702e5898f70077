//! `.clip` files are written as section 9 of `spec/ANIM.md` specifies. Other files are refused for
//! the right reason.

use kinepack_anim::{ExchangeError, RawClip, RawClipError, SkeletonError, exchange};

use crate::clip_support::{floats, smooth_clip};
use crate::drivers::clip as driver;
use crate::random::Random;

const JOINTS: usize = 3;
const SAMPLES: usize = 4;
const BIND: usize = 16 + 4 * JOINTS;

fn good() -> (RawClip, Vec<u8>) {
    let raw = smooth_clip(7, JOINTS, SAMPLES);
    let mut bytes = Vec::new();
    exchange::write(&raw, &mut bytes).unwrap();
    (raw, bytes)
}

fn refused(at: usize, other: &[u8]) -> ExchangeError {
    let (_, mut bytes) = good();
    bytes[at..at + other.len()].copy_from_slice(other);
    exchange::read("", &bytes).unwrap_err()
}

#[test]
fn a_file_matches_the_spec_and_is_read_back() {
    let (raw, bytes) = good();
    let mut expected = b"CLIP".to_vec();
    expected.extend([JOINTS as u32, SAMPLES as u32].iter().flat_map(|count| count.to_le_bytes()));
    expected.extend(raw.rate_hz().to_le_bytes());
    for joint in raw.skeleton().joints() {
        expected.extend(joint.parent.map_or(-1, i32::from).to_le_bytes());
    }
    let poses = std::iter::once(raw.skeleton().bind_pose()).chain(raw.poses().map(<[_]>::to_vec));
    expected.extend(
        poses.flatten().flat_map(|transform| floats(&transform)).flat_map(f32::to_le_bytes),
    );
    assert!(bytes == expected);

    let back = exchange::read("smooth", &bytes).unwrap();
    assert_eq!((back.name(), back.rate_hz()), (raw.name(), raw.rate_hz()));
    for (ours, theirs) in
        back.poses().zip(raw.poses()).flat_map(|(ours, theirs)| ours.iter().zip(theirs))
    {
        assert_eq!((ours.translation, ours.scale), (theirs.translation, theirs.scale));
        assert!(ours.rotation.iter().zip(theirs.rotation).all(|(a, b)| (a - b).abs() < 1e-6));
    }
    assert!(back.skeleton().joints().iter().all(|joint| joint.name.is_empty()));
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let (_, bytes) = good();
    let expected = bytes.len() as u64;
    for end in 0..bytes.len() {
        let error = match end {
            0..4 => ExchangeError::NoClipFile,
            4..16 => ExchangeError::WrongLength { bytes: end, expected: 16 },
            _ => ExchangeError::WrongLength { bytes: end, expected },
        };
        assert_eq!(exchange::read("", &bytes[..end]), Err(error));
    }
    let long = [&bytes[..], &[0]].concat();
    let error = ExchangeError::WrongLength { bytes: long.len(), expected };
    assert_eq!(exchange::read("", &long), Err(error));
    for at in [4, 8] {
        for count in [0_u32, 2, 65_536, u32::MAX] {
            let error = refused(at, &count.to_le_bytes());
            assert!(matches!(error, ExchangeError::WrongLength { .. }), "{at} {count}: {error}");
        }
    }
    // The header states 2³² samples, and a bind pose of 2³² − 1 joints. With ten floats each, this
    // is more bytes than 64 bits can count.
    let most = [&b"CLIP"[..], &[255; 8], &30_f32.to_le_bytes()].concat();
    let error = ExchangeError::WrongLength { bytes: 16, expected: u64::MAX };
    assert_eq!(exchange::read("", &most), Err(error));
}

#[test]
fn other_files_are_refused() {
    let (raw, bytes) = good();
    assert_eq!(refused(0, b"KPAC"), ExchangeError::NoClipFile);
    for parent in [-2, i32::MIN, 65_536, i32::MAX] {
        assert_eq!(
            refused(20, &parent.to_le_bytes()),
            ExchangeError::BadParent { joint: 1, parent }
        );
    }
    for parent in [1, 2, 3, 65_535] {
        let error = ExchangeError::Skeleton(SkeletonError::ParentAfterChild { joint: 1 });
        assert_eq!(refused(20, &i32::to_le_bytes(parent)), error);
    }
    for bad in [f32::NAN, f32::INFINITY] {
        for float in 0..10 {
            let error = ExchangeError::Skeleton(SkeletonError::BadBindPose { joint: 2 });
            assert_eq!(refused(BIND + 80 + 4 * float, &bad.to_le_bytes()), error);
            let error = ExchangeError::Clip(RawClipError::BadTransform { sample: 3, joint: 1 });
            assert_eq!(
                refused(BIND + 40 * (4 * JOINTS + 1) + 4 * float, &bad.to_le_bytes()),
                error
            );
        }
    }
    let error = ExchangeError::Clip(RawClipError::BadTransform { sample: 0, joint: 0 });
    assert_eq!(refused(BIND + 40 * JOINTS, &[0; 16]), error);
    for rate_hz in [0.0, -1.0, f32::INFINITY] {
        let error = ExchangeError::Clip(RawClipError::BadRate { rate_hz });
        assert_eq!(refused(12, &rate_hz.to_le_bytes()), error);
    }
    let none = [&bytes[..8], &[0; 4], &bytes[12..BIND + 40 * JOINTS]].concat();
    let error =
        ExchangeError::Clip(RawClipError::WrongCount { joints: raw.joints(), transforms: 0 });
    assert_eq!(exchange::read("", &none), Err(error));
    let none = [&bytes[..4], &[0; 4], &bytes[8..16]].concat();
    let error = ExchangeError::Clip(RawClipError::WrongCount { joints: 0, transforms: 0 });
    assert_eq!(exchange::read("", &none), Err(error));
    let many =
        [&b"CLIP"[..], &16_385_u32.to_le_bytes(), &[0; 4], &bytes[12..16], &[255; 4 * 16_385]]
            .concat();
    let many = [many, 1_f32.to_le_bytes().repeat(10 * 16_385)].concat();
    let error = ExchangeError::Skeleton(SkeletonError::TooManyJoints { joints: 16_385 });
    assert_eq!(exchange::read("", &many), Err(error));
}

#[test]
fn flipped_bits_and_noise_are_refused_or_read() {
    let (_, bytes) = good();
    let good = [&[2], &bytes[..]].concat();
    for bit in 0..8 * good.len() {
        let mut flipped = good.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        driver::clip(&flipped);
    }
    let mut random = Random(1);
    for _ in 0..2000 {
        let mut noisy = good.clone();
        for _ in 0..1 + random.below(9) {
            noisy[1 + random.below(bytes.len() as u32) as usize] = random.below(256) as u8;
        }
        driver::clip(&noisy);
        let skeleton = smooth_clip(random.below(4).into(), 2, 1).skeleton().to_bytes();
        let mut noisy = [&[1], &skeleton[..]].concat();
        noisy[1 + random.below(skeleton.len() as u32) as usize] = random.below(256) as u8;
        driver::clip(&noisy);
    }
}
