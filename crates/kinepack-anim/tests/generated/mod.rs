//! Tests generated motions, of any shape and of the sorts that games have. Clips built from them
//! keep their precision, play at any time, and survive the disk form. Damaged bytes are refused or
//! played.
//!
//! The suite runs a few dozen cases. A long run takes some minutes:
//! `PROPTEST_CASES=3000 cargo test -p kinepack-anim generated`

mod cases;
mod motions;

use std::cell::Cell;
use std::sync::Arc;

use cases::{Case, Ready, cases};
use kinepack_anim::disk::{Unpacker, pack, unpack};
use kinepack_anim::offline::{BuildError, Built, Scheme, build};
use kinepack_anim::{AnyClip, ClipError, Rig};

use crate::clip_support::assert_sane;
use crate::disk::packets::first_packet;
use crate::drivers::{clip as driver, clip_disk as disk_driver};
use crate::object_space::{ROUNDING, errors_cm};
use crate::random::Random;
use crate::runner::for_all;

/// `ROUNDING` for keyed clips, which have numbers of 15 bits and more.
const KEYED_ROUNDING: f64 = 1e-4;
/// The format has suitable steps for clips whose rounding is at most this multiple of the
/// precision. The clips' scales must also multiply lengths by at most `LARGEST_GROWTH`.
const LARGEST_STEPS: f64 = 1e5;
const LARGEST_GROWTH: f64 = 1e3;
/// Beyond this length, numbers are too large for some formats.
const LARGEST_CM: f64 = 1e17;

/// Builds the clip of a case.
fn built(case: &Case) -> Option<(Ready, Built)> {
    let ready = case.ready()?;
    match build(&ready.raw, &ready.options) {
        Ok(built) => Some((ready, built)),
        Err(BuildError::Clip(ClipError::BadConstant { .. } | ClipError::BadRange { .. })) => {
            let numbers = ready
                .raw
                .poses()
                .flatten()
                .flat_map(|transform| [transform.translation, transform.scale]);
            let largest =
                numbers.flatten().fold(0.0_f32, |largest, number| largest.max(number.abs()));
            assert!(f64::from(largest) > LARGEST_CM, "{largest}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn read(bytes: &[u8], rig: Option<&Arc<Rig>>) -> AnyClip {
    match rig {
        Some(rig) => AnyClip::with_rig(bytes, rig).unwrap(),
        None => AnyClip::from_bytes(bytes).unwrap(),
    }
}

#[test]
fn generated_clips_keep_their_precision() {
    let [exact, coarse] = [Cell::new(0), Cell::new(0)];
    for_all(60, cases(), |case| {
        let Some((ready, built)) = built(&case) else { return };
        let Ready { raw, options, rig } = &ready;
        let clip = read(built.clip.as_bytes(), rig.as_ref());
        let bind = raw.skeleton().bind_pose();
        let joints = raw.joints();
        let reaches = ready.reaches();
        if options.error.base.is_none() {
            let measured = errors_cm(
                raw,
                clip.player_with_bind_pose(&bind).unwrap(),
                &options.error.shells_cm(joints),
            );
            for (joint, (said, measured)) in built.errors.joints.iter().zip(measured).enumerate() {
                // Errors are stored as `f32`.
                let room = 1e-6 * (1e-6 + measured) + 1e-12 * reaches[joint].size_cm;
                assert!(
                    (said.max_cm - measured).abs() <= room,
                    "joint {joint}: {} and {measured}",
                    said.max_cm
                );
            }
        }
        let rounding = match options.scheme {
            Scheme::Block(_) => ROUNDING,
            Scheme::Keyed(_) => KEYED_ROUNDING,
            Scheme::Quantized(_) => f64::INFINITY,
        };
        let precisions_cm = options.precisions_cm(joints);
        let least_cm = precisions_cm.iter().copied().fold(f64::INFINITY, f64::min);
        let rounding_cm = rounding * reaches.iter().map(|reach| reach.size_cm).fold(0.0, f64::max);
        // Joints share a segment's step, so a joint with large numbers makes the steps of all
        // joints coarse.
        let is_exact = rounding_cm <= least_cm;
        let is_in_range = rounding_cm <= LARGEST_STEPS * least_cm
            && reaches.iter().all(|reach| reach.growth <= LARGEST_GROWTH);
        for (joint, precision_cm) in
            precisions_cm.into_iter().enumerate().filter(|_| is_exact || is_in_range)
        {
            let error_cm = built.errors.joints[joint].max_cm;
            let allowed_cm = precision_cm.max(if is_exact { 0.0 } else { rounding_cm });
            assert!(
                error_cm <= allowed_cm,
                "joint {joint}: an error of {error_cm} cm, allowed are {precision_cm}, {allowed_cm}"
            );
        }
        let count = if is_exact { &exact } else { &coarse };
        count.set(count.get() + 1);
    });
    assert!(exact.get() > coarse.get(), "{exact:?} held to their precision, {coarse:?} not");
}

#[test]
fn generated_clips_play_at_any_time() {
    for_all(60, cases(), |case| {
        let Some((ready, built)) = built(&case) else { return };
        driver::play_clip(built.clip.as_bytes(), ready.rig.as_ref());
        let clip = read(built.clip.as_bytes(), ready.rig.as_ref());
        let mut random = Random(case.seed);
        let span_s = clip.duration_s() + 1.0 / clip.rate_hz();
        let mut times: Vec<f32> = (0..24).map(|_| span_s * random.between(-0.3, 1.3)).collect();
        let scattered = times.clone();
        times.sort_by(f32::total_cmp);
        let back: Vec<f32> = times.iter().rev().copied().collect();
        let mut pose = ready.raw.skeleton().bind_pose();
        let mut player = clip.player_with_bind_pose(&pose).unwrap();
        for time_s in [times, back, scattered, vec![f32::MIN, f32::MAX, -0.0]].concat() {
            player.sample(time_s, &mut pose);
            assert_sane(&pose, "generated");
        }
    });
}

#[test]
fn generated_clips_survive_the_disk_form() {
    for_all(60, cases(), |case| {
        let Some((_, built)) = built(&case) else { return };
        let Some(clip) = built.clip.as_block() else { return };
        let file = pack(clip).unwrap();
        assert!(unpack(&file).unwrap() == clip.as_bytes());
        let mut random = Random(case.seed);
        let most = 1 + random.below(file.len() as u32);
        let mut unpacker = Unpacker::new();
        let mut rest = &file[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(1 + random.below(most) as usize));
            unpacker.push(piece).unwrap();
            rest = after;
        }
        assert!(unpacker.finish().unwrap() == clip.as_bytes());
    });
}

/// Bytes with some changes, or without their end.
fn damaged(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut any = |below: usize| random.below(below as u32) as usize;
    if any(4) == 0 {
        bytes.truncate(any(bytes.len()));
        return bytes;
    }
    // The first bytes change more often, because the reading of all other bytes depends on them.
    let end = if any(2) == 0 { bytes.len() } else { bytes.len().min(64) };
    for _ in 0..=any(3) {
        let at = any(end);
        bytes[at] = [any(256) as u8, 0, 0xff, bytes[at] ^ 1 << any(8)][any(4)];
    }
    bytes
}

#[test]
fn damaged_generated_clips_are_refused_or_played() {
    for_all(40, cases(), |case| {
        let Some((Ready { rig, .. }, built)) = built(&case) else { return };
        let mut random = Random(case.seed);
        let bytes = built.clip.as_bytes();
        for _ in 0..8 {
            let damaged_bytes = damaged(&mut random, bytes);
            driver::play_clip(&damaged_bytes, rig.as_ref());
            driver::play_clip(&driver::sealed(&damaged_bytes, 4), rig.as_ref());
        }
        if let Some(rig) = &rig {
            let damaged_rig = driver::sealed(&damaged(&mut random, &rig.to_bytes()), 8);
            if let Ok(rig) = Rig::from_bytes(&damaged_rig) {
                driver::play_clip(bytes, Some(&Arc::new(rig)));
            }
        }
        let Some(clip) = built.clip.as_block() else { return };
        let file = pack(clip).unwrap();
        for selector in [0, 6, 40, 1, 3, 5] {
            let bytes = if selector % 2 == 0 { file.clone() } else { first_packet(&file) };
            let damaged_bytes = damaged(&mut random, &bytes);
            disk_driver::clip_disk(&[&[selector], &damaged_bytes[..]].concat());
            if damaged_bytes.starts_with(b"KPAD") && damaged_bytes != file {
                assert!(unpack(&damaged_bytes).is_err());
            }
        }
    });
}
