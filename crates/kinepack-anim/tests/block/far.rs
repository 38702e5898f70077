//! Clips whose roots travel far or jump keep the precision.

use std::sync::Arc;

use kinepack_anim::offline::Effort;
use kinepack_anim::{Joint, RawClip, Sampler, Skeleton, Transform};

use super::naive::Naive;
use super::play::{built, compare};
use crate::random::Random;

/// Returns a clip of a root with two limbs. `root` returns the root's position in cm at a time in
/// seconds.
fn clip(samples: usize, root: impl Fn(f64) -> [f64; 3]) -> RawClip {
    let joint = |name: &str, parent, y: f32| Joint {
        name: name.into(),
        parent,
        bind: Transform { translation: [0.0, y, 0.0], ..Transform::IDENTITY },
    };
    let joints = vec![joint("root", None, 0.0), joint("arm", Some(0), 60.0)];
    let skeleton =
        Arc::new(Skeleton::new([joints, vec![joint("hand", Some(1), 30.0)]].concat()).unwrap());
    let mut random = Random(5);
    let poses = (0..samples).flat_map(|sample| {
        let time = sample as f64 / 30.0;
        let [x, y, z] = root(time);
        let sway = f64::from(random.between(-0.2, 0.2));
        let turn = |angle: f64| [0.0, 0.0, angle.sin() as f32, angle.cos() as f32];
        let transform =
            |rotation, translation| Transform { rotation, translation, scale: [1.0; 3] };
        [
            transform(turn(0.1 * time), [x as f32, (y + sway) as f32, z as f32]),
            transform(turn((2.0 * time).sin()), [0.0, 60.0, 0.0]),
            transform(turn((3.0 * time).cos() * 0.4), [0.0, 30.0, 0.0]),
        ]
    });
    RawClip::new("far", Arc::clone(&skeleton), 30.0, poses.collect()).unwrap()
}

/// Builds the clip at several efforts, and returns whether its root is far.
fn holds(raw: &RawClip, precision_cm: f64) -> bool {
    let far = [Effort::Fast, Effort::Default].map(|effort| {
        let (built, clip) = built(raw, precision_cm, effort);
        let max_cm = built.errors.all.max_cm;
        assert!(max_cm <= precision_cm, "{max_cm} of {precision_cm} cm");
        compare(&clip, &raw.skeleton().bind_pose(), "far");
        clip.is_far(0)
    });
    assert_eq!(far[0], far[1]);
    far[0]
}

#[test]
fn roots_hold_the_precision_at_any_distance() {
    // These are a walk, a run over 300 m, a car and an aircraft.
    for (metres, is_far) in [(5.0, false), (300.0, true), (1000.0, true), (2500.0, true)] {
        let way = |time: f64| [100.0 * metres * time / 8.0, 90.0, -37.0 * metres * time / 8.0];
        assert_eq!(holds(&clip(241, way), 0.01), is_far, "{metres} m");
    }
    let orbit = |time: f64| [1e6 * (0.3 * time).sin(), 20.0 * time, 1e6 * (0.3 * time).cos()];
    assert!(holds(&clip(200, orbit), 0.01));
    // This root is far from the origin, but stays within a few metres.
    let away = |time: f64| [1e6 + 100.0 * time, 0.0, 0.0];
    holds(&clip(100, away), 0.01);
    assert!(!holds(&clip(241, |time| [1500.0 * time, 0.0, 0.0]), 0.1));
}

#[test]
fn roots_that_jump_hold_the_precision() {
    for jump in [300.0, 3e4, 1e6] {
        let way = |time: f64| [50.0 * time + if time > 2.4 { jump } else { 0.0 }, 90.0, 0.0];
        let raw = clip(160, way);
        assert_eq!(holds(&raw, 0.01), jump > 1e3, "{jump} cm");
        // Between two samples, the root moves from the position of the first to that of the second.
        let (_, clip) = built(&raw, 0.01, Effort::Default);
        let sampler = Sampler::new(clip, raw.skeleton()).unwrap();
        let mut pose = raw.skeleton().bind_pose();
        sampler.sample_at(72.5, &mut pose);
        let middle = (raw.pose(72)[0].translation[0] + raw.pose(73)[0].translation[0]) / 2.0;
        assert!((pose[0].translation[0] - middle).abs() < 0.1, "{jump} cm");
    }
}

/// A segment has anchors for each sample only if the root jumps in it.
#[test]
fn few_segments_have_anchors_for_each_sample() {
    let way = |time: f64| [1000.0 * time + if time > 2.4 { 3e4 } else { 0.0 }, 90.0, 0.0];
    let (_, clip) = built(&clip(300, way), 0.01, Effort::Default);
    let naive = Naive::read(clip.as_bytes()).unwrap();
    let by_sample = naive.segments.iter().filter(|segment| segment.anchors() > 1).count();
    assert_eq!(by_sample, 1);
}
