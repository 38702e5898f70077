//! A sampler plays the poses that `spec/ANIM.md` defines, to the last bit. The tests use clips from
//! the builder and random valid clips.

use kinepack_anim::offline::{BlockOptions, BuildOptions, Built, Effort, Scheme, build};
use kinepack_anim::{Clip, JointMask, RawClip, Sampler, SoaPose, Transform};

use super::motions::motions;
use super::naive::Naive;
use super::write::any_parts;
use crate::clip_support::{Floats, assert_sane, pose_floats, position};
use crate::random::Random;

pub(crate) const EFFORTS: [Effort; 4] =
    [Effort::Fast, Effort::Default, Effort::Thorough, Effort::Best];

pub(crate) fn options(precision_cm: f64, effort: Effort) -> BuildOptions {
    let scheme = Scheme::Block(BlockOptions { effort, ..BlockOptions::default() });
    BuildOptions { precision_cm, scheme, ..BuildOptions::default() }
}

pub(crate) fn built(raw: &RawClip, precision_cm: f64, effort: Effort) -> (Built, Clip) {
    let built = build(raw, &options(precision_cm, effort)).unwrap();
    let clip = Clip::clone(built.clip.as_block().unwrap());
    (built, clip)
}

/// Asserts that two poses have the same bits. A zero may have either sign.
pub(crate) fn assert_bits(pose: &[Transform], naive: &[Floats], context: &str) {
    assert_eq!(pose.len(), naive.len());
    for (joint, (ours, theirs)) in pose_floats(pose).iter().zip(naive).enumerate() {
        let bits = |floats: &Floats| floats.map(|c| (c + 0.0).to_bits());
        assert!(bits(ours) == bits(theirs), "{context}, joint {joint}: {ours:?}, naive {theirs:?}");
    }
}

/// Positions at the samples, between samples and just before them, and invalid positions.
fn positions(random: &mut Random, samples: usize) -> Vec<f64> {
    let last = (samples - 1) as f64;
    let mut positions = vec![
        -1.0,
        -0.0,
        -1e300,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        last,
        last + 0.5,
        1e300,
        1e-300,
        1e-9,
        last.next_down(),
        0.5_f64.min(last),
    ];
    let step = (samples / 70).max(1);
    for sample in (0..samples).step_by(step) {
        positions.extend(
            [0.0, 0.5, f64::from(random.between(0.0, 1.0))].map(|share| sample as f64 + share),
        );
        positions.push((sample as f64).next_down());
    }
    if cfg!(miri) { positions.into_iter().step_by(5).collect() } else { positions }
}

/// Plays a clip at many times with each method of a sampler, and compares the poses with those of
/// the naive player.
pub(crate) fn compare(clip: &Clip, bind: &[Transform], context: &str) {
    compare_naive(clip, &Naive::read(clip.as_bytes()).unwrap(), bind, context);
}

/// Asserts that curves, names and markers equal those of the naive reader.
pub(crate) fn assert_curves(sampler: &Sampler, naive: &Naive, position: f64, context: &str) {
    let clip = sampler.clip();
    assert_eq!(clip.curves(), naive.curves, "{context}");
    let expected = naive.curve_values(position);
    let is_same = |ours: &[f32]| {
        ours.iter().zip(&expected).all(|(a, b)| (a + 0.0).to_bits() == (b + 0.0).to_bits())
    };
    let mut curves = vec![f32::NAN; clip.curves()];
    sampler.curves_at(position, &mut curves);
    assert!(is_same(&curves), "{context} at {position}: {curves:?}, naive {expected:?}");
    assert!(curves.iter().all(|value| value.is_finite()), "{context}");
    let mut pose = vec![Transform::IDENTITY; clip.joints()];
    let mut expected_pose = pose.clone();
    curves.fill(f32::NAN);
    sampler.sample_with_curves_at(position, &mut pose, &mut curves);
    sampler.sample_at(position, &mut expected_pose);
    assert!(is_same(&curves) && pose == expected_pose, "{context} at {position}");
}

/// Asserts that names and markers equal those of the naive reader.
pub(crate) fn assert_labels(clip: &Clip, naive: &Naive, context: &str) {
    if !naive.names.is_empty() {
        assert!(clip.curve_names().eq(naive.names.iter().map(String::as_str)), "{context}");
    }
    assert_eq!(clip.curve_names().count(), clip.curves(), "{context}");
    let markers = naive.markers.iter().map(|(position, name)| (*position, name.as_str()));
    assert!(clip.markers().map(|own| (own.position, own.name)).eq(markers), "{context}");
}

pub(crate) fn compare_naive(clip: &Clip, naive: &Naive, bind: &[Transform], context: &str) {
    let mut random = Random(clip.as_bytes().len() as u64);
    let sampler = Sampler::with_bind_pose(clip.clone(), bind).unwrap();
    let mut pose = bind.to_vec();
    assert_labels(clip, naive, context);
    for position in positions(&mut random, clip.samples()) {
        let expected = naive.pose(position, &pose_floats(bind));
        sampler.sample_at(position, &mut pose);
        assert_bits(&pose, &expected, &format!("{context} at {position}"));
        assert_sane(&pose, context);
        assert_curves(&sampler, naive, position, context);
    }
    for time_s in [0.0, 0.3, random.between(0.0, clip.duration_s()), -2.0, 1e9, f32::NAN] {
        let expected = naive.pose(position(time_s, clip.rate_hz()), &pose_floats(bind));
        sampler.sample(time_s, &mut pose);
        assert_bits(&pose, &expected, &format!("{context} at {time_s} s"));
        let one = random.below(clip.joints() as u32) as usize;
        assert_bits(&[sampler.joint(time_s, one)], &expected[one..=one], context);
        let mut soa = SoaPose::new(clip.joints());
        sampler.write(time_s, &mut soa);
        for (joint, expected) in expected.iter().enumerate() {
            let numbers = soa.rotations.iter().chain(&soa.translations).chain(&soa.scales);
            assert!(
                numbers.map(|numbers| numbers[joint] + 0.0).eq(expected.iter().map(|c| c + 0.0)),
                "{context}"
            );
        }
        let mask = JointMask::new(clip.joints(), |joint| joint % 3 != 1 && joint != one);
        let mut some = bind.to_vec();
        sampler.sample_joints(time_s, &mask, &mut some);
        for joint in 0..clip.joints() {
            if mask.contains(joint) {
                assert_bits(&some[joint..=joint], &expected[joint..=joint], context);
            } else {
                assert_eq!(some[joint], bind[joint], "{context}");
            }
        }
    }
}

#[test]
fn built_clips_play_as_the_spec_says() {
    let mut escapes = 0;
    for (seed, (name, motion)) in motions().into_iter().enumerate() {
        let raw = motion.clip(seed as u64);
        for (effort, precision_cm) in EFFORTS.into_iter().zip([0.1, 0.01, 0.5]) {
            let precision_cm = if name == "far" { 0.001 } else { precision_cm };
            let (_, clip) = built(&raw, precision_cm, effort);
            let naive = Naive::read(clip.as_bytes()).unwrap();
            let profiles =
                naive.segments.iter().flat_map(|segment| segment.components.iter().flatten());
            escapes += profiles
                .flat_map(|component| &component.profiles)
                .filter(|number| **number == 255)
                .count();
            compare(&clip, &raw.skeleton().bind_pose(), &format!("{name} {effort:?}"));
        }
    }
    assert!(escapes > 0);
}

/// Clips of all lengths have segments of all lengths.
#[test]
fn random_clips_play_as_the_spec_says() {
    let rounds = if cfg!(miri) { 4 } else { 1400 };
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..rounds {
        let mut random = Random(1000 + u64::from(round));
        let joints = 1 + random.below([2, 5, 12][round as usize % 3]) as usize;
        let parts = any_parts(&mut random, joints, 1 + round % 70);
        let bytes = parts.to_bytes();
        let clip = Clip::from_bytes(bytes).unwrap_or_else(|error| panic!("{round}: {error}"));
        let naive = Naive::read(clip.as_bytes()).unwrap();
        assert_eq!(naive.segments.len(), clip.segments());
        seen.extend(naive.segments.iter().map(|segment| (naive.n, segment.length)));
        let bind = vec![Transform { translation: [1.0, -2.0, 0.5], ..Transform::IDENTITY }; joints];
        compare(&clip, &bind, &format!("round {round}"));
    }
    assert!(
        cfg!(miri)
            || [8, 16, 32].into_iter().all(|n| (1..=n).all(|length| seen.contains(&(n, length)))),
        "{seen:?}"
    );
}

/// With more than eight groups, segments have skip points.
#[test]
fn random_clips_of_many_joints_play_as_the_spec_says() {
    for round in 0..if cfg!(miri) { 1 } else { 30_u32 } {
        let mut random = Random(u64::from(round));
        let joints = 40 + random.below(300) as usize;
        let samples = 2 + random.below(20);
        let parts = any_parts(&mut random, joints, samples);
        let clip = Clip::from_bytes(parts.to_bytes()).unwrap();
        let bind = vec![Transform::IDENTITY; joints];
        compare(&clip, &bind, &format!("round {round} of many joints"));
    }
}
