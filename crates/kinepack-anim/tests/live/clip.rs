//! Tests of clips as live sources.

use std::sync::Arc;

use kinepack_anim::figure::{Figure, Motion};
use kinepack_anim::live::ClipSource;
use kinepack_anim::{Curve, Joint, RawClip, Skeleton, Transform};

/// Returns a clip of a root that slides, an arm that turns, a lamp that stays, and a drawer that
/// moves, at 10 Hz for a second.
fn clip() -> RawClip {
    let joint = |name: &str, parent| {
        let bind = Transform { translation: [10.0, 0.0, 0.0], ..Transform::IDENTITY };
        Joint { name: name.into(), parent, bind }
    };
    let joints = vec![
        joint("root", None),
        joint("arm", Some(0)),
        joint("lamp", Some(1)),
        joint("drawer", Some(0)),
    ];
    let skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let samples = (0..11).flat_map(|sample| {
        let mut pose = skeleton.bind_pose();
        let half = 0.1 * sample as f32;
        pose[0].translation[0] += 20.0 * sample as f32;
        pose[1].rotation = [0.0, half.sin(), 0.0, half.cos()];
        pose[3].translation[2] -= sample as f32;
        pose
    });
    let curve = Curve {
        name: "grip".into(),
        precision: 0.001,
        values: (0..11).map(|sample| 2.0 * sample as f32).collect(),
    };
    let clip = RawClip::new("cart", skeleton.clone(), 10.0, samples.collect()).unwrap();
    clip.with_curves(vec![curve]).unwrap()
}

#[test]
fn the_options_follow_from_the_motion() {
    let source = ClipSource::new(clip(), false);
    let options = source.options();
    let [
        (0, Motion::Moves { range_cm: root_cm }),
        (2, Motion::Still),
        (3, Motion::Moves { range_cm }),
    ] = options.motions[..]
    else {
        panic!("{:?}", options.motions)
    };
    assert!((200.0..203.0).contains(&root_cm) && (10.0..10.2).contains(&range_cm));
    let curve = &options.curves[0];
    assert_eq!((&*curve.name, curve.min, curve.max, curve.precision), ("grip", 0.0, 20.0, 0.2));
    let figure = Figure::new(source.skeleton(), &options).unwrap();
    assert_eq!(figure.lane_count(), 6 + 3 + 6 + 1, "the root, the arm, the drawer and the curve");
}

#[test]
fn a_clip_plays_once_or_again_and_again() {
    let (mut pose, mut curves) = (Vec::new(), Vec::new());
    for (loops, time_s, plays, grip) in [
        (false, -1.0, true, 0.0),
        (false, 0.05, true, 1.0),
        (false, 0.975, true, 19.5),
        (false, 1.0, false, 20.0),
        (false, 7.0, false, 20.0),
        (true, 0.975, true, 19.5),
        (true, 1.05, true, 1.0),
        (true, 7.25, true, 5.0),
    ] {
        let source = ClipSource::new(clip(), loops);
        assert_eq!(source.sample(time_s, &mut pose, &mut curves), plays, "{time_s}");
        assert!((curves[0] - grip).abs() < 1e-3, "{loops}, {time_s}: {}", curves[0]);
        assert!((pose[0].translation[0] - 10.0 - 10.0 * grip).abs() < 1e-2, "{time_s}");
    }
}

#[test]
fn a_clip_of_one_sample_is_a_pose() {
    let source = |loops| ClipSource::new(clip().decimated(100), loops);
    let (mut pose, mut curves) = (Vec::new(), Vec::new());
    assert!(!source(false).sample(0.0, &mut pose, &mut curves));
    assert!(source(true).sample(3.0, &mut pose, &mut curves));
    assert_eq!(curves, [0.0]);
    assert!(Figure::new(source(true).skeleton(), &source(true).options()).is_ok());
}
