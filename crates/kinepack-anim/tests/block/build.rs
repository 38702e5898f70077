//! The builder's promises: errors stay within the precision, the reported errors are right, loops
//! are seamless, and the same clip gives the same bytes.

use std::sync::Arc;

use kinepack_anim::block::Kind;
use kinepack_anim::measure::ErrorReport;
use kinepack_anim::offline::{BlockOptions, BuildError, BuildOptions, Effort, Scheme, build};
use kinepack_anim::{
    AnyPlayer, Channel, Clip, Joint, RawClip, Sampler, Skeleton, TrackId, Transform,
};

use super::motions::{Motion, USUAL, motions};
use super::play::{EFFORTS, built, compare, options};
use crate::clip_support::pose_floats;
use crate::object_space::{self, error_cm, place};
use crate::random::Random;

fn errors_cm(raw: &RawClip, clip: &Clip, shell_cm: f64) -> Vec<f64> {
    let bind = raw.skeleton().bind_pose();
    object_space::errors_cm(
        raw,
        AnyPlayer::Block(Sampler::with_bind_pose(clip.clone(), &bind).unwrap()),
        &vec![shell_cm; raw.joints()],
    )
}

/// Asserts that a report agrees with measured errors, and returns the largest of them.
fn assert_truth(report: &ErrorReport, errors: &[f64], context: &str) -> f64 {
    for (joint, (reported, error)) in report.joints.iter().zip(errors).enumerate() {
        // A report stores errors as `f32`.
        assert!(
            (reported.max_cm - error).abs() <= 1e-6 * (1.0 + error),
            "{context}, joint {joint}: {reported:?}, {error}"
        );
    }
    let largest = errors.iter().copied().fold(0.0, f64::max);
    assert!(
        (report.all.max_cm - largest).abs() <= 1e-6 * (1.0 + largest),
        "{context}: {:?}, {largest}",
        report.all
    );
    largest
}

fn kinds(clip: &Clip, joint: usize) -> [Kind; 3] {
    Channel::ALL.map(|channel| clip.kind(TrackId { joint: joint as u16, channel }))
}

/// Returns a clip of random samples.
fn noise(joints: usize, samples: usize) -> RawClip {
    let mut random = Random(77);
    let skeleton = super::motions::chain(joints, 8.0);
    let transform = |_| {
        let rotation = [(); 4].map(|()| random.between(-1.0, 1.0));
        let translation = [(); 3].map(|()| random.between(-20.0, 20.0));
        Transform { rotation, translation, ..Transform::IDENTITY }
    };
    RawClip::new("noise", skeleton, 30.0, (0..joints * samples).map(transform).collect()).unwrap()
}

#[test]
fn errors_stay_within_the_precision() {
    for (seed, (name, motion)) in motions().into_iter().enumerate() {
        let raw = motion.clip(seed as u64);
        for (index, precision_cm) in [1.0, 0.1, 0.01, 0.002].into_iter().enumerate() {
            let effort = EFFORTS[(index + seed) % EFFORTS.len()];
            let (built, clip) = built(&raw, precision_cm, effort);
            let context = format!("{name} {effort:?} {precision_cm} cm");
            let largest = assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), &context);
            // Over kilometres, an `f32` is too coarse for a precision of less than a millimetre.
            let allowed_cm = if name == "far" { precision_cm.max(0.125) } else { precision_cm };
            assert!(largest <= allowed_cm, "{context}: {largest}");
            let bytes = clip.as_bytes().len();
            assert!(
                bytes <= raw.raw_bytes() / 2 + 70 * raw.joints() + 64,
                "{context}: {bytes} of {}",
                raw.raw_bytes()
            );
        }
    }
}

#[test]
fn errors_stay_within_the_precision_at_any_shell_distance() {
    let raw = Motion { growth: 0.2, chain: true, ..USUAL }.clip(3);
    for shell_cm in [0.01, 0.5, 40.0] {
        let mut options = options(0.05, Effort::Default);
        options.error.shell_cm = shell_cm;
        let built = build(&raw, &options).unwrap();
        let errors = errors_cm(&raw, built.clip.as_block().unwrap(), shell_cm);
        assert!(assert_truth(&built.errors, &errors, "shell") <= 0.05);
    }
}

#[test]
fn noise_stays_within_the_precision_and_half_the_raw_size() {
    let raw = noise(5, 37);
    for effort in EFFORTS {
        let (built, clip) = built(&raw, 0.1, effort);
        assert!(assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), "noise") <= 0.1);
        assert!(clip.as_bytes().len() < raw.raw_bytes() / 2, "{}", clip.as_bytes().len());
        compare(&clip, &raw.skeleton().bind_pose(), "noise");
    }
}

#[test]
fn a_clip_that_loose_joints_leave_still_has_no_segments_to_blend() {
    let raw = USUAL.clip(3);
    let options = BuildOptions {
        joint_precisions_cm: (0..raw.joints()).map(|joint| (joint, 1e4)).collect(),
        ..options(0.1, Effort::Default)
    };
    let built = build(&raw, &options).unwrap();
    assert!(built.errors.between.max_cm > 10.0 && built.errors.all.max_cm <= 1e4);
}

#[test]
fn the_same_clip_gives_the_same_bytes() {
    for (seed, (name, motion)) in motions().into_iter().enumerate() {
        let effort = EFFORTS[seed % EFFORTS.len()];
        let bytes = || built(&motion.clip(9), 0.1, effort).1.as_bytes().to_vec();
        assert!(bytes() == bytes(), "{name}");
    }
}

#[test]
fn fast_spins_are_near_between_the_samples_too() {
    // The joints turn by 65 to 100 degrees per sample, so that parameters change sides within
    // segments.
    for (turns, samples) in [(7.0, 40), (9.0, 33), (5.0, 20)] {
        let raw = Motion { joints: 3, samples, still: 0, turns, ..USUAL }.clip(12);
        let (built, clip) = built(&raw, 0.02, Effort::Default);
        let errors = &built.errors;
        assert!(clip.header().blends);
        assert!(errors.all.max_cm <= 0.02 && errors.between.max_cm < 0.5, "{turns}: {errors:?}");
    }
    let slow = Motion { turns: 0.5, ..USUAL }.clip(12);
    assert!(!built(&slow, 0.02, Effort::Default).1.header().blends);
}

#[test]
fn loops_are_seamless() {
    for samples in [3, 7, 17, 33, 49, 70] {
        let raw =
            Motion { samples, loops: true, still: 0, turns: 1.0, ..USUAL }.clip(samples as u64);
        for effort in EFFORTS {
            let (built, clip) = built(&raw, 0.05, effort);
            assert!(
                clip.header().loops
                    && clip.samples() == samples
                    && clip.header().coded_samples() == samples - 1
            );
            assert!(assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), "loop") <= 0.05);
            let bind = raw.skeleton().bind_pose();
            let sampler = Sampler::with_bind_pose(clip.clone(), &bind).unwrap();
            let pose = |position: f64| {
                let mut pose = bind.clone();
                sampler.sample_at(position, &mut pose);
                pose
            };
            let last = (samples - 1) as f64;
            assert_eq!(pose_floats(&pose(0.0)), pose_floats(&pose(last)));
            let (before, first) = (pose(last - 1e-4), pose(0.0));
            let (before, first) = (place(raw.skeleton(), &before), place(raw.skeleton(), &first));
            let jump =
                before.iter().zip(&first).map(|(a, b)| error_cm(a, b, 3.0)).fold(0.0, f64::max);
            assert!(jump < 0.02, "{samples} {effort:?}: {jump}");
        }
        let open =
            Motion { samples, loops: false, still: 0, turns: 0.4, ..USUAL }.clip(samples as u64);
        assert!(!built(&open, 0.05, Effort::Fast).1.header().loops);
    }
}

#[test]
fn static_tracks_take_only_their_kind_or_a_constant() {
    let bind = |joint: usize| [10.0 * joint as f32, 0.0, 0.0];
    let joint = |index: usize| Joint {
        name: String::new(),
        parent: (index > 0).then_some(0),
        bind: Transform { translation: bind(index), ..Transform::IDENTITY },
    };
    let skeleton = Arc::new(Skeleton::new((0..3).map(joint).collect()).unwrap());
    let still = |samples: usize| skeleton.bind_pose().repeat(samples);
    for samples in [1, 2, 20] {
        let raw = RawClip::new("bind", Arc::clone(&skeleton), 30.0, still(samples)).unwrap();
        for effort in EFFORTS {
            let (built, clip) = built(&raw, 0.1, effort);
            assert_eq!(clip.as_bytes().len(), 16 + 3 + 12);
            assert!(
                (0..3).all(|joint| kinds(&clip, joint) == [Kind::Default; 3])
                    && clip.segments() == 0
            );
            assert_eq!(built.errors.all.max_cm, 0.0);
        }
    }
    let mut other = still(20);
    for (index, transform) in other.iter_mut().enumerate() {
        let joint = (index % 3) as f32;
        transform.rotation = [0.0, 0.0, (0.5 * joint).sin(), (0.5 * joint).cos()];
        transform.translation = bind(2 - index % 3);
        transform.scale[2] = 0.5 + joint;
    }
    let raw = RawClip::new("constant", skeleton, 30.0, other).unwrap();
    let (built, clip) = built(&raw, 0.01, Effort::Default);
    assert_eq!(kinds(&clip, 0), [Kind::Default, Kind::Constant, Kind::Constant]);
    assert_eq!(kinds(&clip, 1), [Kind::Constant, Kind::Default, Kind::Constant]);
    assert_eq!(clip.as_bytes().len(), 16 + 3 + 2 * 8 + 5 * 12 + 12);
    assert!(assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), "constant") <= 0.01);
}

/// Returns a clip of a root with the scales `scales`, and a child that turns.
fn scaled(scales: &[f32], turn: impl Fn(usize) -> f32) -> RawClip {
    let skeleton = super::motions::chain(2, 50.0);
    let pose = |(sample, scale): (usize, &f32)| {
        let mut pose = skeleton.bind_pose();
        pose[0].scale = [*scale; 3];
        pose[1].rotation = [0.0, turn(sample).sin(), 0.0, turn(sample).cos()];
        pose
    };
    let samples = scales.iter().enumerate().flat_map(pose).collect();
    RawClip::new("scaled", Arc::clone(&skeleton), 30.0, samples).unwrap()
}

/// A change of a small scale moves the joint's children as far as the same change of a large scale.
#[test]
fn small_changes_of_small_scales_stay_within_the_precision() {
    let scales: Vec<f32> =
        (0..30).map(|sample| 0.01 + 0.001 * (0.3 * sample as f32).sin()).collect();
    let raw = scaled(&scales, |_| 0.0);
    for effort in EFFORTS {
        let (built, clip) = built(&raw, 0.03, effort);
        assert!(
            assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), "small") <= 0.03,
            "{:?}",
            built.errors.all
        );
    }
}

/// The steps of a rotation depend on the points that it moves. In the middle of this clip, a scale
/// of 0 hides these points.
#[test]
fn rotations_of_a_joint_hidden_by_its_scale_stay_within_the_precision() {
    let scales: Vec<f32> =
        (0..30).map(|sample| if (8..22).contains(&sample) { 0.0 } else { 1.0 }).collect();
    let raw = scaled(&scales, |sample| 0.005 * (0.7 * sample as f32).sin());
    for effort in EFFORTS {
        let (built, clip) = built(&raw, 0.003, effort);
        assert!(
            assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), "hidden") <= 0.003,
            "{:?}",
            built.errors.all
        );
    }
}

/// Dead components take no bits. An earlier version of best effort made components dead that the
/// precision needs.
#[test]
fn best_effort_keeps_the_components_that_the_precision_needs() {
    for seed in 0..40 {
        let raw = Motion { joints: 1, samples: 3, still: 0, swing: 0.03, way_cm: 0.02, ..USUAL }
            .clip(seed);
        let (built, clip) = built(&raw, 0.08, Effort::Best);
        assert!(
            assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), "dead") <= 0.08,
            "{seed}: {:?}",
            built.errors.all
        );
    }
}

/// Additive clips contain small differences from another clip, around the identity.
#[test]
fn additive_clips_stay_within_the_precision() {
    let joint = |index: usize| Joint {
        name: String::new(),
        parent: index.checked_sub(1).map(|parent| parent as u16),
        bind: Transform::IDENTITY,
    };
    let skeleton = Arc::new(Skeleton::new((0..10).map(joint).collect()).unwrap());
    let moved = Motion {
        joints: 10,
        chain: true,
        swing: 0.05,
        way_cm: 0.3,
        growth: 0.01,
        still: 4,
        ..USUAL
    }
    .clip(4);
    let samples = moved.poses().flatten().map(|transform| {
        let [x, y, z] = transform.translation;
        Transform { translation: [x - 5.0, y, z], ..*transform }
    });
    let raw = RawClip::new("additive", skeleton, 30.0, samples.collect()).unwrap();
    for effort in EFFORTS {
        let (built, clip) = built(&raw, 0.005, effort);
        assert!(assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), "additive") <= 0.005);
        // Tracks that the clip does not store take their values from any base pose.
        let base = Motion { samples: 1, ..USUAL }.clip(8).pose(0)[..1].repeat(10);
        let mut pose = base.clone();
        Sampler::with_bind_pose(clip.clone(), &base).unwrap().sample_at(3.5, &mut pose);
        for joint in 0..10 {
            if kinds(&clip, joint)[1] == Kind::Default {
                assert_eq!(pose[joint].translation, base[joint].translation);
            }
        }
    }
}

#[test]
fn pinned_joints_have_animated_tracks() {
    let raw =
        Motion { joints: 14, chain: true, still: 0, way_cm: 0.0, samples: 50, ..USUAL }.clip(6);
    // The last joint does not move relative to its parent.
    let mut samples: Vec<Transform> = raw.poses().flatten().copied().collect();
    samples
        .iter_mut()
        .skip(13)
        .step_by(14)
        .for_each(|last| *last = raw.skeleton().joints()[13].bind);
    let raw = RawClip::new("pinned", Arc::clone(raw.skeleton()), 30.0, samples).unwrap();
    for effort in EFFORTS {
        let free = built(&raw, 0.3, effort).1;
        assert_eq!(kinds(&free, 13), [Kind::Default; 3]);
        for pins in [vec![13], vec![5, 13], (0..14).collect()] {
            let block = BlockOptions { effort, pins: pins.clone(), ..BlockOptions::default() };
            let scheme = Scheme::Block(block);
            let built = build(&raw, &BuildOptions { scheme, ..options(0.3, effort) }).unwrap();
            let clip = built.clip.as_block().unwrap();
            let errors = errors_cm(&raw, clip, 3.0);
            assert!(assert_truth(&built.errors, &errors, "pinned") <= 0.3);
            for joint in pins {
                assert_eq!(kinds(clip, joint), [Kind::Animated, Kind::Animated, Kind::Default]);
            }
            compare(clip, &raw.skeleton().bind_pose(), "pinned");
        }
    }
}

#[test]
fn five_hundred_joints_stay_within_the_precision() {
    let raw = Motion { joints: 500, samples: 18, ..USUAL }.clip(5);
    for effort in [Effort::Fast, Effort::Default] {
        let (built, clip) = built(&raw, 0.1, effort);
        assert!(assert_truth(&built.errors, &errors_cm(&raw, &clip, 3.0), "many") <= 0.1);
        assert!(10 * clip.as_bytes().len() < 4 * raw.raw_bytes(), "{}", clip.as_bytes().len());
    }
}

#[test]
fn invalid_options_are_refused() {
    let raw = USUAL.clip(1);
    for precision_cm in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = build(&raw, &options(precision_cm, Effort::Fast)).unwrap_err();
        assert_eq!(error, BuildError::BadOption { option: "precision" });
    }
    let scheme = Scheme::Block(BlockOptions { pins: vec![2, 6], ..BlockOptions::default() });
    let error = build(&raw, &BuildOptions { scheme, ..BuildOptions::default() }).unwrap_err();
    assert_eq!(error, BuildError::BadPin { joint: 6 });
}
