//! Measured errors match the metric, which these tests compute a second time. Foot slide is
//! measured on clips with a known slide.

use std::sync::Arc;

use kinepack_anim::keyed::RotationBits;
use kinepack_anim::measure::{ErrorOptions, Errors, measure};
use kinepack_anim::offline::{BuildOptions, Scheme, build};
use kinepack_anim::{AnyClip, Joint, RawClip, Skeleton, Transform};

use super::write::Parts;
use crate::clip_support::smooth_clip;
use crate::object_space::{error_cm, place, unit};

fn assert_errors(found: Errors, mut all: Vec<f64>, context: &str) {
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    all.sort_by(f64::total_cmp);
    let position = 0.99 * (all.len() - 1) as f64;
    let lower = all[position.floor() as usize];
    let p99 = lower + position.fract() * (all[position.ceil() as usize] - lower);
    for (found, expected) in
        [(found.max_cm, all[all.len() - 1]), (found.p99_cm, p99), (found.mean_cm, mean)]
    {
        // Errors are stored as `f32`.
        assert!(
            (found - expected).abs() < 1e-6 * (1.0 + expected),
            "{context}: {found} {expected}"
        );
    }
}

#[test]
fn errors_match_the_metric() {
    for (seed, shell_cm) in [(0, 3.0), (1, 0.5), (2, 20.0)] {
        let raw = smooth_clip(seed, 6, 40);
        // The last of two entries for a joint counts. Joints that the clip does not have are
        // ignored.
        let error = ErrorOptions {
            shell_cm,
            joint_shells_cm: vec![(2, 1.0), (4, 7.0), (2, 9.0), (60, 1.0)],
            base: None,
        };
        let shells_cm = error.shells_cm(raw.joints());
        assert_eq!(shells_cm, [shell_cm, shell_cm, 9.0, shell_cm, 7.0, shell_cm]);
        let options = BuildOptions {
            precision_cm: 0.5,
            error: ErrorOptions { shell_cm, ..ErrorOptions::default() },
            ..BuildOptions::default()
        };
        let coarse =
            BuildOptions { scheme: Scheme::Quantized(RotationBits::Bits32), ..options.clone() };
        for options in [options, coarse] {
            let built = build(&raw, &options).unwrap();
            assert_eq!(measure(&raw, &built.clip, &options.error), built.errors);
            let report = measure(&raw, &built.clip, &error);
            let mut player = built.clip.player_with_bind_pose(&raw.skeleton().bind_pose()).unwrap();
            let mut pose = raw.pose(0).to_vec();
            let mut at_samples = vec![Vec::new(); raw.joints()];
            let mut between = Vec::new();
            for half in 0..2 * raw.samples() - 1 {
                player.sample_at(half as f64 / 2.0, &mut pose);
                let ours = place(raw.skeleton(), &pose);
                let theirs = place(
                    raw.skeleton(),
                    &half_way(raw.pose(half / 2), raw.pose(half.div_ceil(2))),
                );
                for joint in 0..raw.joints() {
                    let error = error_cm(&ours[joint], &theirs[joint], shells_cm[joint]);
                    if half % 2 == 0 { at_samples[joint].push(error) } else { between.push(error) }
                }
            }
            assert_errors(report.all, at_samples.concat(), "all");
            assert_errors(report.between, between, "between");
            for (found, all) in report.joints.into_iter().zip(at_samples) {
                assert_errors(found, all, "a joint");
            }
        }
    }
}

/// Returns the pose half-way between two poses, by the sine formula of slerp. If both are equal,
/// the result is that pose.
fn half_way(from: &[Transform], to: &[Transform]) -> Vec<Transform> {
    let mean = |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|axis| (a[axis] + b[axis]) / 2.0);
    let pairs = from.iter().zip(to);
    pairs
        .map(|(from, to)| {
            let [a, b] = [from, to].map(|transform| unit(transform.rotation.map(f64::from)));
            let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let angle = cosine.abs().min(1.0).acos();
            let share = if angle > 1e-9 { (angle / 2.0).sin() / angle.sin() } else { 0.5 };
            let rotation =
                [0, 1, 2, 3].map(|c| (a[c] * share + b[c] * share * cosine.signum()) as f32);
            Transform {
                rotation,
                translation: mean(from.translation, to.translation),
                scale: mean(from.scale, to.scale),
            }
        })
        .collect()
}

/// Returns a clip of two joints. The second joint is at x = `theirs` cm in the raw clip and at x =
/// `ours` cm in the compressed one.
fn sliding(theirs: &[f32], ours: &[f32]) -> (RawClip, AnyClip) {
    let joint = |parent| Joint { name: String::new(), parent, bind: Transform::IDENTITY };
    let skeleton = Arc::new(Skeleton::new(vec![joint(None), joint(Some(0))]).unwrap());
    let at = |x: f32| Transform { translation: [x, 0.0, 0.0], ..Transform::IDENTITY };
    let samples = theirs.iter().flat_map(|x| [Transform::IDENTITY, at(*x)]).collect();
    let raw = RawClip::new("slide", skeleton, 30.0, samples).unwrap();
    let mut parts = Parts::keyed(0, 1, theirs.len() as u32, Vec::new());
    parts.kinds = vec![0, 0b00_11_00];
    parts.ranges[0] = [[0.0; 3], [65.535; 3]];
    let codes = ours.iter().flat_map(|x| [(x * 1000.0).round() as u16, 0, 0]);
    parts.rows = codes.flat_map(u16::to_le_bytes).collect();
    (raw, AnyClip::from_bytes(parts.to_bytes()).unwrap())
}

/// Returns the slide of a clip of [`sliding`], and the joint that slides farthest.
fn slide(theirs: &[f32], ours: &[f32]) -> (f64, Option<usize>) {
    let (raw, clip) = sliding(theirs, ours);
    let report = measure(&raw, &clip, &ErrorOptions::default());
    (report.foot_slide_cm, report.slide_joint)
}

fn assert_slide(found: (f64, Option<usize>), expected_cm: f64) {
    assert!((found.0 - expected_cm).abs() < 1e-4, "{found:?} {expected_cm}");
    // The rounding of `f32` may be the largest slide.
    assert!(found.1 == Some(1) || expected_cm == 0.0, "{found:?}");
}

#[test]
fn the_slide_is_the_change_of_the_error_since_a_foot_came_to_rest() {
    // The joint rests at 10 cm for 20 samples, moves for ten, and rests at 20 cm for ten.
    let walk: Vec<f32> = (0..40).map(|n| 10.0 + (n - 19).clamp(0, 10) as f32).collect();
    let plus = |off: &dyn Fn(usize) -> f32| {
        walk.iter().enumerate().map(|(n, x)| x + off(n)).collect::<Vec<_>>()
    };
    assert_slide(slide(&walk, &walk), 0.0);
    // A constant error is not a slide, and neither is an error while the joint walks.
    assert_slide(slide(&walk, &plus(&|n| if n < 25 { 0.5 } else { 0.2 })), 0.0);
    assert_slide(slide(&walk, &plus(&|n| if (20..29).contains(&n) { 2.0 } else { 0.3 })), 0.0);
    // The larger of two slides counts, and a slide back counts too.
    assert_slide(slide(&walk, &plus(&|n| if n == 7 { 0.55 } else { 0.3 })), 0.25);
    let both = plus(&|n| if n < 20 { 0.005 * n as f32 } else { 0.04 * (n as f32 - 20.0) });
    // From sample 29 on, the joint rests again, and slides by ten steps of 0.04.
    assert_slide(slide(&walk, &both), 0.4);
}

#[test]
fn a_rest_of_less_than_a_tenth_of_a_second_does_not_count() {
    for (still, counts) in [(3, false), (4, true)] {
        let walk: Vec<f32> =
            (0..20).map(|n: i32| (5 + n.min(8) + (n - 8 - (still - 1)).max(0)) as f32).collect();
        let off: Vec<f32> =
            walk.iter().enumerate().map(|(n, x)| x + if n == 10 { 0.5 } else { 0.0 }).collect();
        assert_slide(slide(&walk, &off), if counts { 0.5 } else { 0.0 });
    }
}

#[test]
fn a_slow_joint_stands_until_it_has_moved_a_millimetre() {
    // The joint moves by 0.03 cm per sample. Samples 0 to 3 are within 0.1 cm of sample 0, samples
    // 4 to 7 within 0.1 cm of sample 4, and so on.
    let creep: Vec<f32> = (0..16).map(|n| 5.0 + 0.03 * n as f32).collect();
    let off: Vec<f32> = creep.iter().enumerate().map(|(n, x)| x + (n / 4) as f32).collect();
    assert_slide(slide(&creep, &off), 0.0);
    let off: Vec<f32> =
        creep.iter().enumerate().map(|(n, x)| x + if n % 4 == 3 { 0.2 } else { 0.0 }).collect();
    assert_slide(slide(&creep, &off), 0.2);
}
