//! Tests additive clips. They are the difference of a motion from a pose or another motion, and are
//! built against that base.

use std::sync::Arc;

use kinepack_anim::additive::{self, AdditiveError};
use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
use kinepack_anim::offline::{BuildError, BuildOptions, KeyedOptions, Scheme, build};
use kinepack_anim::{Joint, RawClip, Skeleton, Transform};

use crate::random::Random;

const JOINTS: usize = 9;

/// Returns a root with two chains of joints.
fn skeleton() -> Arc<Skeleton> {
    let joint = |index: usize| Joint {
        name: format!("joint {index}"),
        parent: (index > 0).then(|| index.saturating_sub(2) as u16),
        bind: Transform { translation: [0.0, 12.0, 1.0], ..Transform::IDENTITY },
    };
    Arc::new(Skeleton::new((0..JOINTS).map(joint).collect()).unwrap())
}

fn motion(skeleton: &Arc<Skeleton>, seed: u64, samples: usize, size: f32) -> RawClip {
    let mut random = Random(seed);
    let waves: Vec<[f32; 4]> =
        (0..JOINTS).map(|_| [0; 4].map(|_| random.between(-1.0, 1.0))).collect();
    let poses = (0..samples).flat_map(|sample| {
        let time = sample as f32 / 30.0;
        waves.iter().enumerate().map(move |(joint, wave)| {
            let half = size * (wave[0] + (3.0 * time + 5.0 * wave[1]).sin());
            let rotation = [
                wave[2] * half.sin(),
                0.0,
                (1.0 - wave[2] * wave[2]).sqrt() * half.sin(),
                half.cos(),
            ];
            let away = if joint == 0 { 20.0 * size * (time + wave[3]).cos() } else { 0.0 };
            let scale = 1.0 + if joint == 4 { 0.2 * size * (2.0 * time).sin() } else { 0.0 };
            Transform { rotation, translation: [away, 12.0, 1.0], scale: [scale; 3] }
        })
    });
    RawClip::new("motion", Arc::clone(skeleton), 30.0, poses.collect()).unwrap()
}

#[test]
fn an_additive_clip_added_to_its_base_gives_the_motion() {
    let skeleton = skeleton();
    for base_samples in [1, 50] {
        let whole = motion(&skeleton, 3, 50, 0.5);
        let base = Arc::new(motion(&skeleton, 4, base_samples, 0.9));
        let raw = additive::difference(&whole, &base).unwrap();
        assert_eq!(**raw.skeleton(), additive::skeleton(&skeleton));
        let mut options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
        options.error.base = Some(Arc::clone(&base));
        let built = build(&raw, &options).unwrap();
        assert!(built.errors.all.max_cm <= 0.01, "{}", built.errors.all.max_cm);

        // The test adds the difference in `f32`, as engines do.
        let bind = raw.skeleton().bind_pose();
        let mut player = built.clip.player_with_bind_pose(&bind).unwrap();
        let mut delta = bind.clone();
        for sample in 0..whole.samples() {
            player.sample_at(sample as f64, &mut delta);
            let mut pose = base.pose(sample.min(base_samples - 1)).to_vec();
            additive::add(&mut pose, &delta, 1.0);
            let off =
                pose_distance_cm(&skeleton, &pose, whole.pose(sample), &ErrorOptions::default());
            assert!(off <= 0.0101, "{off} at {sample}");
        }
    }
}

#[test]
fn a_clip_built_without_its_base_misses_the_precision() {
    // In the difference, all bones have length 0. Without the base, the builder cannot see how far
    // the error of a rotation moves the joints below.
    let skeleton = skeleton();
    let whole = motion(&skeleton, 5, 40, 0.3);
    let base = Arc::new(motion(&skeleton, 6, 1, 0.3));
    let raw = additive::difference(&whole, &base).unwrap();
    let on_base = ErrorOptions { base: Some(base), ..ErrorOptions::default() };
    let blind =
        build(&raw, &BuildOptions { precision_cm: 0.01, ..BuildOptions::default() }).unwrap();
    let errors = kinepack_anim::measure::measure(&raw, &blind.clip, &on_base);
    assert!(errors.all.max_cm > 0.011, "{}", errors.all.max_cm);
}

#[test]
fn feet_stand_still_if_the_sum_with_the_base_does() {
    let skeleton = skeleton();
    let base = Arc::new(motion(&skeleton, 4, 40, 0.5));
    let pose = motion(&skeleton, 3, 1, 0.5).pose(0).repeat(40);
    let still = RawClip::new("still", skeleton, 30.0, pose).unwrap();
    let errors = |whole: &RawClip| {
        let mut options = BuildOptions { precision_cm: 0.05, ..BuildOptions::default() };
        options.error.base = Some(Arc::clone(&base));
        build(&additive::difference(whole, &base).unwrap(), &options).unwrap().errors
    };
    // The difference cancels the motion of the base, so the feet stay in place.
    let stands = errors(&still);
    assert!(stands.slide_joint.is_some() && stands.foot_slide_cm <= 0.1, "{stands:?}");
    // In this case the difference is zero, and the base moves.
    let moves = errors(&base);
    assert_eq!((moves.slide_joint, moves.foot_slide_cm), (None, 0.0));
}

#[test]
fn half_of_a_difference_gives_half_of_the_motion() {
    let mut pose = [Transform::IDENTITY];
    let delta = Transform {
        rotation: [0.0, 0.0, (0.4_f32).sin(), (0.4_f32).cos()],
        translation: [2.0, 0.0, 0.0],
        scale: [3.0, 1.0, 1.0],
    };
    additive::add(&mut pose, &[delta], 0.5);
    assert!((pose[0].rotation[2] - (0.2_f32).sin()).abs() < 1e-6);
    assert_eq!((pose[0].translation, pose[0].scale), ([1.0, 0.0, 0.0], [2.0, 1.0, 1.0]));
}

#[test]
fn a_base_that_hides_a_joint_of_the_clip_is_refused() {
    let skeleton = skeleton();
    let (whole, base) = (motion(&skeleton, 1, 20, 0.5), motion(&skeleton, 2, 20, 0.5));
    let hidden = |clip: &RawClip, samples: std::ops::Range<usize>| {
        let mut poses: Vec<Transform> = clip.poses().flatten().copied().collect();
        samples.for_each(|sample| poses[sample * JOINTS + 4].scale[1] = 0.0);
        RawClip::new("hidden", Arc::clone(&skeleton), 30.0, poses).unwrap()
    };
    let error = AdditiveError::ZeroScale { joint: 4, sample: 7 };
    assert_eq!(additive::difference(&whole, &hidden(&base, 7..20)), Err(error.clone()));
    assert_eq!(
        additive::difference(&hidden(&whole, 0..7), &hidden(&base, 0..20)),
        Err(error.clone())
    );
    assert!(error.to_string().starts_with("joint 4 in sample 7: the base has a scale of 0"));
    // If both clips hide the joint, or if only the clip does, the sum is right.
    for hides in [0..20, 0..0] {
        let (own, base) = (hidden(&whole, 0..20), hidden(&base, hides));
        let delta = additive::difference(&own, &base).unwrap();
        for sample in 0..20 {
            let mut pose = base.pose(sample).to_vec();
            additive::add(&mut pose, delta.pose(sample), 1.0);
            let (found, expected) = (pose[4].scale, own.pose(sample)[4].scale);
            assert!((0..3).all(|axis| (found[axis] - expected[axis]).abs() < 1e-6));
        }
    }
}

#[test]
fn a_base_must_fit() {
    let skeleton = skeleton();
    let whole = motion(&skeleton, 1, 20, 0.5);
    let short = motion(&skeleton, 2, 7, 0.5);
    let error = AdditiveError::OtherSamples { samples: 20, base: 7 };
    assert_eq!(additive::difference(&whole, &short), Err(error.clone()));
    assert_eq!(
        error.to_string(),
        "other samples: 20 in the clip and 7 in the base; \
         the base must have one, or as many as the clip"
    );
    let lone = Arc::new(Skeleton::new(skeleton.joints()[..1].to_vec()).unwrap());
    let other = RawClip::new("lone", lone, 30.0, vec![Transform::IDENTITY]).unwrap();
    assert_eq!(
        additive::difference(&whole, &other),
        Err(AdditiveError::OtherJoints { joints: 9, base: 1 })
    );

    let mut options = BuildOptions::default();
    options.error.base = Some(Arc::new(short));
    assert_eq!(build(&whole, &options).unwrap_err(), BuildError::Base(error));
    options.error.base = Some(Arc::new(motion(&skeleton, 2, 1, 0.5)));
    options.scheme = Scheme::Keyed(KeyedOptions::default());
    assert_eq!(build(&whole, &options).unwrap_err(), BuildError::NoBase);
}
