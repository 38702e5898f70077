//! These tests play clips of random coefficients, including clips that no encoder would make. All
//! instruction sets must give the same bits as the specification's formulas.
//!
//! The instructions of 64-bit ARM can be tested on any machine: `cargo test -p kinepack-anim
//! --no-default-features --lib --target aarch64-unknown-linux-gnu block`, with `qemu-aarch64 -L
//! /usr/aarch64-linux-gnu` as that target's runner and `aarch64-linux-gnu-gcc` as its linker. Miri,
//! an interpreter that finds unsound code, runs all instruction sets of x86-64: `RUSTFLAGS='-C
//! target-feature=+avx2,+bmi1,+bmi2,+popcnt' cargo +nightly miri test -p kinepack-anim
//! --no-default-features --lib block::tests`.

use super::basis::row;
use super::kernel::{own_scale, segment_scale};
use super::layout::{Header, Interpolation, Kind};
use super::{
    Anchors, BlockLength, Clip, Constant, Contents, Instructions, Sampler, SegmentContents, Track,
};
use crate::{Channel, JointMask, Transform};

#[path = "../../tests/random/mod.rs"]
mod random;
use random::Random;

/// Returns a coefficient of a random width. Large widths are rare.
fn coefficient(random: &mut Random, k: usize) -> i32 {
    let most = match random.below(40) {
        0 => 24,
        1..4 => 16,
        _ => 12_u32.saturating_sub(k as u32 / 2).max(1),
    };
    let width = random.below(most + 1);
    if width == 0 { 0 } else { random.below(1 << width) as i32 - (1 << (width - 1)) }
}

fn contents(random: &mut Random, block: BlockLength, joints: u16, samples: u32) -> Contents {
    let loops = samples > 1 && random.below(3) == 0;
    let is_fine = random.below(2) == 0;
    let blends = random.below(4) == 0;
    let header = Header {
        block,
        loops,
        is_fine,
        blends,
        is_of_rig: false,
        offset_bytes: 1,
        joints,
        samples,
        curves: 0,
        is_labelled: false,
        interpolation: Interpolation::from_bit(random.below(2) == 0),
        rate_hz: 30.0,
    };
    let kinds: Vec<_> = (0..joints)
        .map(|_| [0; 3].map(|_| Kind::ALL[[0, 1, 2, 2][random.below(4) as usize]]))
        .collect();
    let mut constants = Vec::new();
    for kinds in &kinds {
        for (channel, _) in kinds.iter().enumerate().filter(|(_, kind)| **kind == Kind::Constant) {
            constants.push(match channel {
                0 => Constant::Rotation([0; 3].map(|_| random.below(1 << 21))),
                _ => Constant::Vector([1.0, 2.0, random.below(9) as f32]),
            });
        }
    }
    let animated = super::layout::animated(&kinds);
    let codes = if is_fine { 1 << 16 } else { 1 << 8 };
    let tracks: Vec<_> = animated
        .iter()
        .map(|track| Track {
            channel: track.channel,
            codes: [[0; 3]; 2].map(|part| part.map(|_: u16| random.below(codes) as u16)),
            middle: [0; 3].map(|_| random.between(-500.0, 500.0)),
            steps: [0; 3]
                .map(|_| if random.below(6) == 0 { 0 } else { 60 + random.below(80) as u8 }),
            shares: [false; 2],
            is_far: track.channel == Channel::Translation && random.below(5) == 0,
        })
        .collect();
    let count = if tracks.is_empty() { 0 } else { header.segments() };
    let mut segments = Vec::new();
    for segment in 0..count {
        let start = header.segment_start(segment, count);
        let length = header.segment_start(segment + 1, count) - start;
        let mut coefficients = Vec::new();
        for step in tracks.iter().flat_map(|track| track.steps) {
            let last = random.below(length as u32 + 1) as usize;
            coefficients.extend(
                (0..length)
                    .map(|k| if step == 0 || k >= last { 0 } else { coefficient(random, k) }),
            );
        }
        segments.push(SegmentContents {
            step: random.below(100) as u8,
            length,
            anchors: any_anchors(random, &tracks, length),
            coefficients,
        });
    }
    let blends =
        if header.blends { (0..count).map(|_| random.below(2) == 0).collect() } else { Vec::new() };
    Contents { header, kinds, constants, tracks, blends, segments, labels: Vec::new(), owner: 7 }
}

/// Random anchors for the far tracks, either one for the segment or one for each sample.
fn any_anchors(random: &mut Random, tracks: &[Track], length: usize) -> Vec<Anchors> {
    let far = tracks.iter().filter(|track| track.is_far);
    far.map(|_| {
        let mut anchor = || [0; 3].map(|_| random.between(-1e6, 1e6));
        let first = anchor();
        if first[0] < 0.0 {
            Anchors::Segment(first)
        } else {
            Anchors::Samples((0..length).map(|_| anchor()).collect())
        }
    })
    .collect()
}

/// Returns `usual`, or the smaller number `interpreted` under Miri, which is ten thousand times
/// slower.
const fn count(usual: usize, interpreted: usize) -> usize {
    if cfg!(miri) { interpreted } else { usual }
}

fn clips() -> Vec<(Contents, Clip)> {
    let mut random = Random(5);
    let mut clips = Vec::new();
    for block in BlockLength::ALL {
        for joints in [2, 9, 17, 1, 8, 40].into_iter().take(count(6, 2)) {
            for _ in 0..count(12, 1) {
                let samples = 1 + random.below(70);
                let contents = contents(&mut random, block, joints, samples);
                let clip = Clip::from_bytes(contents.to_bytes()).unwrap();
                clips.push((contents, clip));
            }
        }
    }
    clips
}

fn positions(random: &mut Random, samples: usize) -> Vec<f64> {
    let last = (samples - 1) as f64;
    let halves = (0..2 * samples).map(|half| 0.5 * half as f64);
    let mut positions: Vec<f64> = halves.step_by(count(1, 11)).collect();
    positions.extend(
        (0..count(40, 3)).map(|_| last * f64::from(random.below(1 << 20)) / f64::from(1 << 20)),
    );
    positions
}

fn bits(pose: &[Transform]) -> Vec<u32> {
    let numbers = |t: &Transform| {
        t.rotation.into_iter().chain(t.translation).chain(t.scale).collect::<Vec<_>>()
    };
    pose.iter().flat_map(numbers).map(f32::to_bits).collect()
}

fn available() -> Vec<Instructions> {
    Instructions::ALL.into_iter().filter(|instructions| instructions.is_available()).collect()
}

#[test]
fn all_instructions_give_the_same_bits() {
    let mut random = Random(6);
    for (_, clip) in clips() {
        let bind = vec![Transform::IDENTITY; clip.joints()];
        let samplers = available().into_iter().map(|set| {
            Sampler::with_bind_pose(clip.clone(), &bind).unwrap().with_instructions(set)
        });
        let samplers: Vec<_> = samplers.collect();
        for position in positions(&mut random, clip.samples()) {
            let mut poses = vec![bind.clone(); samplers.len()];
            for (sampler, pose) in samplers.iter().zip(&mut poses) {
                sampler.sample_at(position, pose);
            }
            for pose in &poses[1..] {
                assert_eq!(bits(pose), bits(&poses[0]), "{:?} at {position}", clip.header());
            }
            assert!(poses[0].iter().all(Transform::is_valid));
        }
    }
}

#[test]
fn sampling_some_joints_gives_the_transforms_of_the_whole_pose() {
    let mut random = Random(8);
    for (_, clip) in clips().iter().step_by(3) {
        let joints = clip.joints();
        let bind = vec![Transform::IDENTITY; joints];
        let untouched = Transform { translation: [9.0; 3], ..Transform::IDENTITY };
        for set in available() {
            let sampler =
                Sampler::with_bind_pose(clip.clone(), &bind).unwrap().with_instructions(set);
            for position in positions(&mut random, clip.samples()).into_iter().step_by(7) {
                let time_s = position as f32 / clip.rate_hz();
                let mut whole = bind.clone();
                sampler.sample(time_s, &mut whole);
                let wanted: Vec<bool> = (0..joints).map(|_| random.below(3) == 0).collect();
                let mut some = vec![untouched; joints];
                sampler.sample_joints(
                    time_s,
                    &JointMask::new(joints, |joint| wanted[joint]),
                    &mut some,
                );
                for joint in 0..joints {
                    let expected = if wanted[joint] { whole[joint] } else { untouched };
                    assert_eq!(bits(&[some[joint]]), bits(&[expected]), "joint {joint}");
                }
                let joint = random.below(joints as u32) as usize;
                assert_eq!(bits(&[sampler.joint(time_s, joint)]), bits(&[whole[joint]]));
            }
        }
    }
}

/// Returns the value of a component at a sample, computed coefficient by coefficient as section 12
/// of the specification defines it.
fn component(
    contents: &Contents,
    segments: usize,
    sample: usize,
    track: usize,
    axis: usize,
) -> f32 {
    let header = &contents.header;
    let number = header.segment_of(sample, segments);
    let segment = &contents.segments[number];
    let (length, step) = (segment.length, contents.tracks[track].steps[axis]);
    if step == 0 {
        return 0.0;
    }
    let own = &segment.coefficients[(3 * track + axis) * length..][..length];
    let weights = row(length, sample - header.segment_start(number, segments));
    let mut sums = [0.0_f32; 8];
    for (k, coefficient) in own.iter().enumerate() {
        sums[k % 8] += *coefficient as f32 * (weights[k] * segment_scale(segment.step));
    }
    let [a, b, c, d, e, f, g, h] = sums;
    (((a + b) + (c + d)) + ((e + f) + (g + h))) * own_scale(step)
}

#[test]
fn vectors_follow_the_formulas_of_the_specification() {
    for (contents, clip) in clips() {
        let bind = vec![Transform::IDENTITY; clip.joints()];
        let sampler = Sampler::with_bind_pose(clip.clone(), &bind).unwrap();
        let mut pose = bind.clone();
        for sample in (0..contents.header.coded_samples()).step_by(count(1, 11)) {
            sampler.sample_at(sample as f64, &mut pose);
            // Far tracks are excluded here, because tests/block compares them with another player.
            let tracks = clip.animated_tracks().zip(&contents.tracks).enumerate();
            for (at, (id, track)) in tracks.filter(|(_, (_, track))| !track.is_far) {
                let transform = &pose[usize::from(id.joint)];
                let value = match id.channel {
                    Channel::Rotation => continue,
                    Channel::Translation => transform.translation,
                    Channel::Scale => transform.scale,
                };
                for (axis, value) in value.into_iter().enumerate() {
                    let expected = track.middle[axis]
                        + component(&contents, clip.segments(), sample, at, axis);
                    assert_eq!(value.to_bits(), expected.to_bits());
                }
            }
        }
    }
}
