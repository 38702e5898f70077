//! Unusual clips are built, played as the spec requires, and within their precision.

use std::f32::consts::TAU;
use std::sync::Arc;

use kinepack_anim::keyed::{KeyedClip, Kind, RotationBits};
use kinepack_anim::offline::{BuildError, BuildOptions, KeyedOptions, Scheme, build};
use kinepack_anim::{Channel, ClipError, Joint, RawClip, Skeleton, TrackId, Transform};

use super::play::compare;
use crate::clip_support::smooth_clip;

const FINE: Scheme = Scheme::Quantized(RotationBits::Bits48);

fn keys() -> Scheme {
    Scheme::Keyed(KeyedOptions::default())
}

fn schemes() -> [(&'static str, Scheme); 4] {
    [
        ("keys", keys()),
        ("article", Scheme::Keyed(KeyedOptions::plain())),
        ("fine", FINE),
        ("coarse", Scheme::Quantized(RotationBits::Bits32)),
    ]
}

fn built(raw: &RawClip, scheme: Scheme) -> KeyedClip {
    let built = build(raw, &BuildOptions { scheme, ..BuildOptions::default() }).unwrap();
    KeyedClip::clone(built.clip.as_keyed().unwrap())
}

/// Builds a clip with all schemes and plays it. With the default keys, the clip must be within a
/// millimetre.
fn all(raw: &RawClip) -> Vec<KeyedClip> {
    let one = |(name, scheme): (&str, Scheme)| {
        let options = BuildOptions { scheme, ..BuildOptions::default() };
        let built = build(raw, &options).unwrap();
        let off = built.errors.all.max_cm;
        assert!(off <= options.precision_cm || name != "keys", "{} {name}: {off} cm", raw.name());
        let clip = built.clip.as_keyed().unwrap();
        compare(clip, &raw.skeleton().bind_pose(), 60, &format!("{} {name}", raw.name()));
        KeyedClip::clone(clip)
    };
    schemes().map(one).into()
}

/// Returns a clip of a root and its children, ten cm apart, posed by sample and joint.
fn posed(
    name: &str,
    joints: usize,
    samples: usize,
    pose: impl Fn(usize, usize) -> Transform,
) -> RawClip {
    let joint = |index: usize| Joint {
        name: String::new(),
        parent: (index > 0).then_some(0),
        bind: Transform { translation: [10.0 * index as f32, 0.0, 0.0], ..Transform::IDENTITY },
    };
    let skeleton = Arc::new(Skeleton::new((0..joints).map(joint).collect()).unwrap());
    let all = (0..samples).flat_map(|sample| (0..joints).map(move |joint| (sample, joint)));
    RawClip::new(name, skeleton, 30.0, all.map(|(sample, joint)| pose(sample, joint)).collect())
        .unwrap()
}

fn turned_z(radians: f32) -> [f32; 4] {
    [0.0, 0.0, (radians / 2.0).sin(), (radians / 2.0).cos()]
}

fn kinds(clip: &KeyedClip, joint: u16) -> [Kind; 3] {
    Channel::ALL.map(|channel| clip.kind(TrackId { joint, channel }))
}

#[test]
fn clips_of_one_sample_and_of_two() {
    for samples in [1, 2, 3] {
        let clips = all(&smooth_clip(1, 4, samples));
        assert!(clips.iter().all(|clip| clip.samples() == samples));
        if samples == 1 {
            assert!(clips.iter().all(|clip| clip.duration_s() == 0.0 && clip.key_count() == 0));
        }
    }
}

#[test]
fn still_tracks_take_only_their_kind_or_one_value() {
    let bind = |joint: usize| [10.0 * joint as f32, 0.0, 0.0];
    let still = posed("bind", 3, 20, |_, joint| Transform {
        translation: bind(joint),
        ..Transform::IDENTITY
    });
    for clip in all(&still) {
        assert_eq!(clip.as_bytes().len(), 32 + 3);
        assert!((0..3).all(|joint| kinds(&clip, joint) == [Kind::Default; 3]));
    }
    let other = posed("constant", 3, 20, |_, joint| Transform {
        rotation: turned_z(joint as f32),
        translation: bind(2 - joint),
        scale: [1.0, 1.0, 0.5 + joint as f32],
    });
    for clip in all(&other) {
        assert_eq!(kinds(&clip, 0), [Kind::Default, Kind::Constant, Kind::Constant]);
        assert_eq!(kinds(&clip, 1), [Kind::Constant, Kind::Default, Kind::Constant]);
        assert_eq!(clip.as_bytes().len(), 32 + 3 + 2 * 6 + 5 * 12);
    }
}

#[test]
fn clips_of_one_joint_and_of_many() {
    all(&smooth_clip(5, 1, 50));
    for clip in all(&smooth_clip(3, 300, 8)) {
        assert_eq!(clip.joints(), 300);
    }
}

#[test]
fn a_scale_may_go_through_zero() {
    let shrunk = posed("shrunk", 3, 40, |sample, joint| Transform {
        rotation: turned_z(0.05 * sample as f32),
        translation: [10.0 * joint as f32, 0.1 * sample as f32, 0.0],
        scale: if joint == 0 { [0.0; 3] } else { [1.0 - 0.05 * sample as f32; 3] },
    });
    all(&shrunk);
}

#[test]
fn a_joint_may_spin_for_several_turns() {
    for speed in [0.3, 1.0, 2.5] {
        let spin = posed("spin", 2, 80, |sample, joint| Transform {
            rotation: if joint == 0 {
                turned_z(speed * sample as f32)
            } else {
                [0.0, 0.0, 0.0, 1.0]
            },
            translation: [10.0 * joint as f32, 0.0, 0.0],
            scale: [1.0; 3],
        });
        let turns = speed * 79.0 / TAU;
        assert!(turns > 3.0);
        all(&spin);
    }
}

#[test]
fn a_joint_may_jump() {
    let jump = posed("jump", 3, 40, |sample, joint| {
        let is_there = sample >= 17;
        Transform {
            rotation: turned_z(if is_there { 3.0 } else { -0.1 * joint as f32 }),
            translation: [
                if is_there { 60.0 } else { 10.0 * joint as f32 },
                0.3 * sample as f32,
                0.0,
            ],
            scale: [1.0; 3],
        }
    });
    all(&jump);
}

#[test]
fn rotations_may_be_of_any_length_and_sign() {
    let any = posed("lengths", 2, 30, |sample, joint| {
        let scale = [1.0, -1.0, 1e-12, -1e12][(sample + joint) % 4];
        Transform {
            rotation: turned_z(0.05 * sample as f32).map(|c| c * scale),
            ..Transform::IDENTITY
        }
    });
    all(&any);
}

#[test]
fn clips_with_more_samples_than_ticks_become_rows() {
    for (samples, has_keys) in [(65_536, true), (65_537, false), (70_000, false)] {
        let long = posed("long", 1, samples, |sample, _| Transform {
            translation: [(sample as f32 / 9000.0).sin() * 40.0, 0.0, 0.0],
            ..Transform::IDENTITY
        });
        let options = BuildOptions {
            scheme: Scheme::Keyed(KeyedOptions {
                removal_passes: 0,
                refit: false,
                ..KeyedOptions::default()
            }),
            ..BuildOptions::default()
        };
        let built = build(&long, &options).unwrap();
        let clip = built.clip.as_keyed().unwrap();
        assert_eq!(kinds(clip, 0)[1], if has_keys { Kind::Keys } else { Kind::Rows });
        assert!(built.errors.all.max_cm <= 0.1);
        compare(clip, &long.skeleton().bind_pose(), 60, "long");
    }
}

#[test]
fn numbers_too_large_for_a_range_are_refused() {
    let far = |size: f32| {
        let raw = posed("far", 1, 9, |sample, _| Transform {
            translation: [size * (sample as f32 / 8.0 - 0.5), 0.0, 0.0],
            ..Transform::IDENTITY
        });
        build(&raw, &BuildOptions { scheme: FINE, ..BuildOptions::default() })
    };
    assert!(far(1e18).is_ok());
    for size in [3e18, 1e30, f32::MAX] {
        let error = BuildError::Clip(ClipError::BadRange { channel: Channel::Translation });
        assert_eq!(far(size).unwrap_err(), error);
    }
}

#[test]
fn any_rate_works() {
    for rate_hz in [1e-30, 0.5, 1e9] {
        let smooth = smooth_clip(2, 2, 20);
        let samples = smooth.poses().flatten().copied().collect();
        let raw = RawClip::new("rate", smooth.skeleton().clone(), rate_hz, samples).unwrap();
        compare(&built(&raw, FINE), &raw.skeleton().bind_pose(), 30, "rate");
        compare(&built(&raw, keys()), &raw.skeleton().bind_pose(), 30, "rate");
    }
}

#[test]
fn a_spin_keeps_a_loose_precision() {
    for speed in [0.05, 0.3, 1.0, 2.5] {
        let spin = posed("spin", 1, 200, |sample, _| Transform {
            rotation: turned_z(speed * sample as f32),
            ..Transform::IDENTITY
        });
        for (precision_cm, rows) in
            [(0.01, false), (0.1, false), (1.0, true), (2.0, true), (4.0, true)]
        {
            let scheme = Scheme::Keyed(KeyedOptions { rows, ..KeyedOptions::default() });
            let built =
                build(&spin, &BuildOptions { precision_cm, scheme, ..BuildOptions::default() })
                    .unwrap();
            let off_cm = built.errors.all.max_cm;
            assert!(off_cm <= precision_cm, "{speed} rad a sample, {precision_cm} cm: {off_cm} cm");
        }
    }
}
