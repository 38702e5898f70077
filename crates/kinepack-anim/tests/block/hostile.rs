//! Invalid block clips are refused for the right reason, or played without harm. Our reader accepts
//! exactly the clips that a second reader, written from the spec alone, accepts.

use kinepack_anim::{AnyClip, Channel, Clip, ClipError, FileKind, Sampler, TrackId, Transform};

use super::naive::Naive;
use super::play::{assert_bits, assert_curves, assert_labels};
use super::small::small;
use super::write::{ANIMATED, CONSTANT, DEFAULT, Parts, Track, any_parts, escaped, kinds, sealed};
use crate::clip_support::{assert_sane, pose_floats};
use crate::drivers::clip as driver;
use crate::random::Random;

const KINDS: usize = 16;
const CONSTANTS: usize = KINDS + 3;
const ROTATIONS: usize = CONSTANTS + 12 + 8;
const VECTORS: usize = ROTATIONS + 9;
const OFFSETS: usize = VECTORS + 2 * 15;
const SEGMENTS: usize = OFFSETS + 3;

fn good() -> Vec<u8> {
    let bytes = small().to_bytes();
    assert!(agree(&bytes).unwrap().as_bytes() == bytes);
    bytes
}

/// Reads bytes with both readers. If they are valid, compares the poses of both players.
pub(crate) fn agree(bytes: &[u8]) -> Result<Clip, ClipError> {
    driver::play(bytes);
    let clip = Clip::from_bytes(bytes.to_vec());
    let naive = Naive::read(bytes);
    let (clip, naive) = match (clip, naive) {
        (Ok(clip), Ok(naive)) => (clip, naive),
        (Err(error), Err(_)) => return Err(error),
        (clip, naive) => panic!("ours: {:?}, naive: {:?}", clip.err(), naive.err()),
    };
    let bind = vec![Transform::IDENTITY; clip.joints()];
    let sampler = Sampler::with_bind_pose(clip.clone(), &bind).unwrap();
    let mut pose = bind.clone();
    assert_labels(&clip, &naive, "hostile");
    let last = (clip.samples() - 1) as f64;
    for position in [
        0.0,
        0.5,
        0.3 * last,
        (0.3 * last).floor(),
        0.61 * last,
        last - 0.5,
        last,
        f64::NAN,
        -1.0,
        1e300,
    ] {
        sampler.sample_at(position, &mut pose);
        assert_sane(&pose, "hostile");
        assert_bits(&pose, &naive.pose(position, &pose_floats(&bind)), "hostile");
        assert_curves(&sampler, &naive, position, "hostile");
    }
    Ok(clip)
}

/// Returns the reason why `good` is refused with other bytes at a place. The hash is corrected.
fn refused(at: usize, other: &[u8]) -> ClipError {
    let mut bytes = good();
    bytes[at..at + other.len()].copy_from_slice(other);
    let error = agree(&sealed(bytes.clone())).unwrap_err();
    assert_eq!(AnyClip::from_bytes(sealed(bytes)).unwrap_err(), error);
    error
}

#[test]
fn truncated_clips_and_clips_with_extra_bytes_are_refused() {
    let good = good();
    let parts = [
        (16, "header"),
        (19, "kinds"),
        (ROTATIONS, "constants"),
        (OFFSETS, "groups"),
        (SEGMENTS, "offsets"),
    ];
    for end in 0..good.len() {
        let error = agree(&good[..end]).unwrap_err();
        match parts.iter().find(|(part_end, _)| end < *part_end) {
            _ if end < 4 => assert_eq!(error, ClipError::NoClip),
            Some((_, part)) => assert_eq!(error, ClipError::EndOfData { part }, "{end}"),
            None if end >= good.len() - 12 => {
                assert_eq!(error, ClipError::EndOfData { part: "hashes" });
            }
            // The remaining bytes may happen to look like a segment that ends too early.
            None => assert!(
                matches!(error, ClipError::EndOfData { .. } | ClipError::BadSegment { .. }),
                "{error}"
            ),
        }
        assert!(agree(&sealed(good[..end].to_vec())).is_err());
    }
    for tail in [1, 2, 8, 1000] {
        let long = [&good[..], &vec![0; tail]].concat();
        assert_eq!(agree(&long).unwrap_err(), ClipError::TrailingData { bytes: tail });
        assert_eq!(agree(&sealed(long)).unwrap_err(), ClipError::TrailingData { bytes: tail });
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let good = good();
    for bit in 0..8 * good.len() {
        let mut turned = good.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        assert!(agree(&turned).is_err(), "{bit}");
    }
    assert_eq!(refused_as_it_is(SEGMENTS, &[99]), ClipError::BadHash);
    assert_eq!(refused_as_it_is(good.len() - 12, &[0]), ClipError::BadHash);
    assert_eq!(refused_as_it_is(good.len() - 4, &[good[good.len() - 4] ^ 1]), ClipError::BadHash);
}

/// Works like [`refused`], but the hash is not corrected.
fn refused_as_it_is(at: usize, other: &[u8]) -> ClipError {
    let mut bytes = good();
    bytes[at..at + other.len()].copy_from_slice(other);
    agree(&bytes).unwrap_err()
}

#[test]
fn other_files_and_versions_are_refused() {
    assert_eq!(refused(0, b"KPAX"), ClipError::NoClip);
    assert_eq!(refused(0, b"KPSK"), ClipError::OtherFile { found: FileKind::Skeleton });
    // A block clip with the magic of a keyed clip is refused.
    let mut keyed = good();
    keyed[..4].copy_from_slice(b"KPAC");
    let found = FileKind::KeyedClip;
    assert_eq!(Clip::from_bytes(keyed).unwrap_err(), ClipError::OtherFile { found });
    for version in [0, 1, 3, 255] {
        assert_eq!(refused(4, &[version]), ClipError::Version { version, newest: 2 });
    }
}

#[test]
fn headers_out_of_range_are_refused() {
    let field = |at: usize, other: &[u8]| match refused(at, other) {
        ClipError::BadHeader { field } => field,
        error => panic!("{error}"),
    };
    assert_eq!(field(5, &[3]), "block length");
    assert_eq!(field(6, &[0, 0]), "joints");
    assert_eq!(field(6, &16_385_u16.to_le_bytes()), "joints");
    assert_eq!(field(8, &[0; 4]), "samples");
    assert_eq!(field(8, &4_194_305_u32.to_le_bytes()), "samples");
    for rate in [0.0, -0.0, -30.0, f32::NAN, f32::INFINITY] {
        assert_eq!(field(12, &rate.to_le_bytes()), "rate");
    }
    // A clip with a single sample cannot loop.
    assert_eq!(field(5, &[4, 3, 0, 1, 0, 0, 0]), "samples");
}

#[test]
fn false_counts_are_refused() {
    assert_eq!(refused(6, &16_384_u16.to_le_bytes()), ClipError::EndOfData { part: "kinds" });
    for samples in [2000, 65_536, 4_194_304_u32] {
        assert_eq!(refused(8, &samples.to_le_bytes()), ClipError::EndOfData { part: "offsets" });
    }
    for flags in [0x10, 0x20, 0x30] {
        assert!(matches!(refused(5, &[flags]), ClipError::BadSegment { segment: 0, .. }));
    }
    let mut many = Parts::new(32, 1, vec![kinds(ANIMATED, ANIMATED, ANIMATED); 16_384]);
    assert_eq!(agree(&many.to_bytes()).unwrap_err(), ClipError::EndOfData { part: "groups" });
    many.kinds.fill(kinds(CONSTANT, CONSTANT, CONSTANT));
    assert_eq!(agree(&many.to_bytes()).unwrap_err(), ClipError::EndOfData { part: "constants" });
}

/// A very long clip without motion takes a few bytes if no track is animated. Otherwise it has a
/// segment for each 32 samples.
#[test]
fn clips_of_millions_of_samples_play() {
    let mut parts = Parts::new(8, 4_194_304, vec![kinds(DEFAULT, CONSTANT, DEFAULT)]);
    parts.constants = [0; 12].to_vec();
    assert_eq!(agree(&parts.to_bytes()).unwrap().segments(), 0);
    let mut parts = Parts::new(32, 4_194_304, vec![kinds(DEFAULT, ANIMATED, DEFAULT)]);
    parts.vectors = vec![Track { middle: [1.0, 2.0, 3.0], ..Track::default() }];
    parts.segments = vec![vec![0]; 131_072];
    parts.fit_offsets();
    assert_eq!(parts.offset_bytes, 3);
    assert_eq!(agree(&parts.to_bytes()).unwrap().segments(), 131_072);
    parts.offset_bytes = 2;
    let reason = "it does not begin at its offset";
    assert_eq!(
        agree(&parts.to_bytes()).unwrap_err(),
        ClipError::BadSegment { segment: 65_536, reason }
    );
}

#[test]
fn undefined_kinds_are_refused() {
    for byte in [0x80, 0x40, 0xc0, 0x03, 0x0c, 0x30, 0x3f, 0xff] {
        assert_eq!(refused(KINDS, &[byte]), ClipError::BadKind { joint: 0, byte });
    }
    assert_eq!(refused(KINDS + 2, &[0x33]), ClipError::BadKind { joint: 2, byte: 0x33 });
}

const NO_NUMBERS: [f32; 7] =
    [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1.1e18, 1e18_f32.next_up()];

#[test]
fn constants_and_middles_out_of_range_are_refused() {
    let track = |joint, channel| ClipError::BadConstant { track: TrackId { joint, channel } };
    for number in NO_NUMBERS {
        for at in [0, 4, 8] {
            assert_eq!(
                refused(CONSTANTS + at, &number.to_le_bytes()),
                track(0, Channel::Translation)
            );
        }
        // A group stores the x of both tracks, then the y of both tracks, and then the z.
        for at in [0, 8, 16] {
            assert_eq!(
                refused(VECTORS + at, &number.to_le_bytes()),
                track(1, Channel::Translation)
            );
            assert_eq!(refused(VECTORS + at + 4, &number.to_le_bytes()), track(2, Channel::Scale));
        }
    }
    assert_eq!(refused(CONSTANTS + 12 + 7, &[0x80]), track(1, Channel::Rotation));
    let with = |at: usize, number: f32| {
        let mut bytes = good();
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        agree(&sealed(bytes)).unwrap();
    };
    for number in [1e18, -1e18, -0.0, f32::MIN_POSITIVE / 2.0] {
        with(CONSTANTS, number);
        with(VECTORS, number);
    }
}

#[test]
fn invalid_segments_are_refused() {
    let segment = |error: ClipError| match error {
        ClipError::BadSegment { segment, reason } => (segment, reason),
        error => panic!("{error}"),
    };
    let reason = "it does not begin at its offset";
    let good = good();
    for index in 0..3 {
        for change in [1, 255, 128] {
            let at = OFFSETS + index;
            assert_eq!(segment(refused(at, &[good[at].wrapping_add(change)])), (index, reason));
        }
    }
    let lengths = small().segments.iter().map(Vec::len).collect::<Vec<_>>();
    // The segment has 30 bits for six widths and 12 bits for their coefficients, and then four
    // times six widths of 0.
    let last = SEGMENTS + lengths[0] - 1;
    assert_eq!((30 + 12 + 4 * 30) % 8, 2);
    for bit in 2..8 {
        let other = [good[last] | 1 << bit];
        assert_eq!(segment(refused(last, &other)), (0, "its padding bits are not 0"));
    }
    // The five lowest bits are the width of the first coefficient.
    let widths = SEGMENTS + 1 + 5;
    for width in 25..32 {
        let other = [good[widths] & 0xe0 | width];
        assert_eq!(segment(refused(widths, &other)), (0, "a coefficient has more than 24 bits"));
    }
    // The last segment is cut short.
    let mut parts = small();
    parts.segments[2].truncate(3);
    assert!(agree(&parts.to_bytes()).is_err());
    parts.segments = vec![Vec::new(); 3];
    assert!(agree(&parts.to_bytes()).is_err());
    // The first clip has live components but no segment. The second has one segment too many.
    parts.segments.clear();
    assert!(agree(&parts.to_bytes()).is_err());
    let mut parts = small();
    parts.segments.push(parts.segments[1].clone());
    assert!(agree(&parts.to_bytes()).is_err());
    // The pieces are escaped but lack widths, so that the file ends too early.
    let mut bytes = good[..SEGMENTS + 1].to_vec();
    bytes.extend([255; 5]);
    bytes.extend([0; 12]);
    assert_eq!(segment(agree(&bytes).unwrap_err()), (0, "it ends after the end of the file"));
}

/// Tracks with the largest coefficients, steps and middles still give finite poses.
#[test]
fn the_largest_numbers_give_finite_poses() {
    for n in [8, 16, 32] {
        for sign in [0, 1, 2] {
            let mut parts = Parts::new(n, 70, vec![kinds(ANIMATED, ANIMATED, ANIMATED); 2]);
            parts.is_fine = sign == 1;
            let code = if parts.is_fine { u16::MAX } else { 255 };
            let codes = [code, 0, code, 0, 0, code];
            let track = |sign: f32| Track {
                codes,
                middle: [1e18 * sign; 3],
                steps: [255; 3],
                shares: [false; 2],
            };
            parts.rotations = vec![track(1.0); 2];
            parts.vectors = vec![track(1.0), track(-1.0), track(1.0), track(-1.0)];
            let number = |k: usize| match sign {
                0 => 1 - (1 << 23),
                1 => -(1 << 23),
                _ => [-(1 << 23), (1 << 23) - 1][k % 2],
            };
            let segment =
                |length| escaped(n, 255, &vec![(0..length).map(|k| (number(k), 24)).collect(); 18]);
            parts.segments = parts.lengths().into_iter().map(segment).collect();
            parts.fit_offsets();
            agree(&parts.to_bytes()).unwrap();
        }
    }
}

#[test]
fn blend_bits_after_the_last_segment_are_refused() {
    let mut parts = Parts::new(8, 19, vec![kinds(DEFAULT, ANIMATED, DEFAULT)]);
    parts.blends = true;
    let parts = parts.filled(&mut Random(3));
    let good = parts.to_bytes();
    assert_eq!(parts.segments.len(), 3);
    agree(&good).unwrap();
    for bit in 3..8 {
        let mut turned = good.clone();
        turned[parts.offset_at() - 1] |= 1 << bit;
        assert_eq!(agree(&sealed(turned)).unwrap_err(), ClipError::BadHeader { field: "blends" });
    }
    let short = &good[..parts.offset_at() - 1];
    assert_eq!(agree(short).unwrap_err(), ClipError::EndOfData { part: "blends" });
}

#[test]
fn wrong_skip_points_are_refused() {
    let mut parts = Parts::new(16, 20, vec![kinds(ANIMATED, CONSTANT, DEFAULT); 140]);
    parts = parts.filled(&mut Random(7));
    assert!(agree(&parts.to_bytes()).is_ok());
    for point in 0..2 {
        for change in [1, 8, 0x80] {
            let mut changed = parts.clone();
            changed.segments[1][1 + 4 * point] ^= change;
            let reason = "a skip point is wrong";
            assert_eq!(
                agree(&changed.to_bytes()).unwrap_err(),
                ClipError::BadSegment { segment: 1, reason }
            );
        }
    }
}

#[test]
fn flipped_bits_with_a_correct_hash_are_refused_or_played() {
    let mut random = Random(5);
    let mut fine = any_parts(&mut random, 4, 40);
    while !fine.is_fine || fine.n != 32 || !fine.loops || !fine.blends || fine.rotations.is_empty()
    {
        fine = any_parts(&mut random, 4, 40);
    }
    for good in [good(), fine.to_bytes()] {
        let mut played = 0;
        for bit in (0..8 * (good.len() - 4)).step_by(if cfg!(miri) { 97 } else { 1 }) {
            let mut turned = good.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            let outcome = agree(&sealed(turned));
            assert_ne!(outcome.as_ref().err(), Some(&ClipError::BadHash));
            played += usize::from(outcome.is_ok());
        }
        assert!(cfg!(miri) || played > good.len(), "{played}");
    }
}

#[test]
fn noise_is_refused_or_played() {
    let mut random = Random(3);
    let good = good();
    let mut played = 0;
    for round in 0..if cfg!(miri) { 20 } else { 4000 } {
        let mut noisy = good.clone();
        for _ in 0..1 + random.below(8) {
            let begin = [0, KINDS, ROTATIONS, SEGMENTS][round % 4] as u32;
            let at = begin + random.below(noisy.len() as u32 - begin);
            noisy[at as usize] = random.below(256) as u8;
        }
        played += usize::from(agree(&sealed(noisy)).is_ok());
        let noise: Vec<u8> = (0..random.below(400)).map(|_| random.below(256) as u8).collect();
        let _ = agree(&noise);
        driver::clip(&noise);
        let _ = agree(&sealed([&b"KPAB\x02"[..], &noise].concat()));
        // The test adds noise after a valid header with a few joints and samples.
        let header = [
            b'K',
            b'P',
            b'A',
            b'B',
            2,
            (random.below(64) & !3) as u8,
            1 + random.below(4) as u8,
            0,
        ];
        let header =
            [&header[..], &(2 + random.below(60)).to_le_bytes(), &30_f32.to_le_bytes()].concat();
        let own = [0x2a, 0x0a, 0x22, 0x15][random.below(4) as usize];
        let _ = agree(&sealed([&header[..], &[own; 4][..usize::from(header[6])], &noise].concat()));
    }
    assert!(cfg!(miri) || played > 100, "{played}");
}

/// Random valid clips whose bytes are changed at random are refused or played.
#[test]
fn changed_clips_are_refused_or_played() {
    for round in 0..if cfg!(miri) { 3 } else { 600 } {
        let mut random = Random(9000 + round);
        let joints = 1 + random.below(6) as usize;
        let samples = 1 + random.below(90);
        let good = any_parts(&mut random, joints, samples).to_bytes();
        assert!(agree(&good).is_ok());
        for _ in 0..4 {
            let mut changed = good.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(changed.len() as u32) as usize;
                changed[at] = [random.below(256) as u8, 0, 255][random.below(3) as usize];
            }
            let _ = agree(&sealed(changed));
        }
    }
}

#[test]
fn errors_have_these_messages() {
    let track = TrackId { joint: 4, channel: Channel::Scale };
    let messages = [
        (ClipError::NoClip, "not a compressed clip: it does not begin with KPAB, KPAC or KPAD"),
        (
            ClipError::Version { version: 9, newest: 2 },
            "version 9 of the format, at most 2 can be read",
        ),
        (ClipError::EndOfData { part: "offsets" }, "truncated: it ends within its offsets"),
        (ClipError::TrailingData { bytes: 3 }, "3 bytes follow the clip that its header describes"),
        (ClipError::BadHeader { field: "block length" }, "damaged header: block length"),
        (ClipError::BadKind { joint: 2, byte: 3 }, "damaged: joint 2 has the kind 0x03"),
        (
            ClipError::BadConstant { track },
            "damaged: the scale of joint 4 is not a number within ±10¹⁸",
        ),
        (
            ClipError::BadSegment { segment: 7, reason: "its padding bits are not 0" },
            "damaged: segment 7: its padding bits are not 0",
        ),
        (ClipError::BadHash, "damaged: its bytes do not have the hash that it stores"),
    ];
    for (error, message) in messages {
        assert_eq!(error.to_string(), message);
    }
}

/// Returns a clip with four curves, their names and three markers.
fn with_curves() -> Parts {
    let mut labels = b"\x01\0a\x02\0bc\0\0\x03\0smi\x03\0".to_vec();
    for position in [0.0_f32, 2.5, 18.0] {
        labels.extend(position.to_le_bytes());
        labels.extend(b"\x01\0x");
    }
    let own = vec![kinds(DEFAULT, DEFAULT, ANIMATED); 2];
    let parts = Parts { curves: 4, labels: Some(labels), ..Parts::new(8, 19, own) };
    parts.filled(&mut Random(8))
}

#[test]
fn invalid_extensions_are_refused() {
    let good = with_curves().to_bytes();
    agree(&good).unwrap();
    let refused = |at: usize, other: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + other.len()].copy_from_slice(other);
        agree(&sealed(bytes)).unwrap_err()
    };
    let extension = ClipError::BadHeader { field: "extension" };
    for flags in [4, 7, 0x80] {
        assert_eq!(refused(18, &[flags]), extension);
    }
    assert_eq!(refused(19, &[1]), extension);
    assert_eq!(refused(16, &[0, 0, 0, 0]), extension);
    let curves = ClipError::BadHeader { field: "curves" };
    assert_eq!(refused(16, &4097_u16.to_le_bytes()), curves);
    assert_eq!(refused(16, &4096_u16.to_le_bytes()), ClipError::EndOfData { part: "groups" });
    // The header states more joints than a clip may have, with and without the extension.
    assert_eq!(refused(6, &0xc001_u16.to_le_bytes()), ClipError::BadHeader { field: "joints" });
    for end in 16..20 {
        let error = agree(&good[..end]).unwrap_err();
        assert_eq!(error, ClipError::EndOfData { part: "header" });
    }
    // These numbers of curves do not match the live components of the stored curve tracks.
    for count in [3_u16, 5, 6, 1] {
        assert!(agree(&sealed([&good[..16], &count.to_le_bytes(), &good[18..]].concat())).is_err());
    }
}

#[test]
fn curves_out_of_range_are_refused() {
    for (axis, number) in [(0, f32::NAN), (0, 2e18), (1, 1.0), (2, -0.0), (1, f32::MIN_POSITIVE)] {
        let mut parts = with_curves();
        parts.vectors[3].middle[axis] = number;
        let error = agree(&parts.to_bytes()).unwrap_err();
        assert_eq!(error, ClipError::BadCurve { curve: 3 + axis });
    }
    let mut parts = with_curves();
    parts.vectors[3].steps[2] = 1;
    assert_eq!(agree(&parts.to_bytes()).unwrap_err(), ClipError::BadCurve { curve: 5 });
}

#[test]
fn invalid_names_and_markers_are_refused() {
    let parts = with_curves();
    let labels = parts.labels.clone().unwrap();
    let refused = |at: usize, other: &[u8]| {
        let mut labels = labels.clone();
        labels[at..at + other.len()].copy_from_slice(other);
        agree(&Parts { labels: Some(labels), ..parts.clone() }.to_bytes()).unwrap_err()
    };
    let label = |reason| ClipError::BadLabel { reason };
    assert_eq!(refused(2, &[0xff]), label("a name is not UTF-8"));
    let markers = 3 + 4 + 2 + 5;
    assert_eq!(refused(markers, &16_385_u16.to_le_bytes()), label("too many markers"));
    let out = label("a marker is out of order, or outside of the clip");
    for position in [-0.0, -1.0, f32::NAN, f32::INFINITY, 18.5, 2.6] {
        assert_eq!(refused(markers + 2, &f32::to_le_bytes(position)), out, "{position}");
    }
    // Equal positions are allowed.
    let tie = [&labels[..markers + 2], &2.5_f32.to_le_bytes(), &labels[markers + 6..]].concat();
    agree(&Parts { labels: Some(tie), ..parts.clone() }.to_bytes()).unwrap();
    for end in 0..labels.len() {
        let labels = Some(labels[..end].to_vec());
        assert!(agree(&Parts { labels, ..parts.clone() }.to_bytes()).is_err(), "{end}");
    }
    let none = Parts { labels: Some(vec![0, 0]), ..Parts::new(8, 9, vec![DEFAULT]) };
    assert_eq!(agree(&none.to_bytes()).unwrap_err(), label("there are none"));
    let mut many = vec![0x01, 0x40];
    many.extend([0; 6 * 16_385]);
    let many = Parts { labels: Some(many), ..Parts::new(8, 9, vec![DEFAULT]) };
    assert_eq!(agree(&many.to_bytes()).unwrap_err(), label("too many markers"));
    let mut most = vec![0x00, 0x40];
    most.extend([0; 6 * 16_384]);
    let most = Parts { labels: Some(most), ..Parts::new(8, 9, vec![DEFAULT]) };
    assert_eq!(agree(&most.to_bytes()).unwrap().markers().count(), 16_384);
}

#[test]
fn flipped_bits_of_clips_with_curves_are_refused_or_played() {
    let good = with_curves().to_bytes();
    for bit in (0..8 * (good.len() - 4)).step_by(if cfg!(miri) { 97 } else { 1 }) {
        let mut turned = good.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        let _ = agree(&sealed(turned));
    }
}
