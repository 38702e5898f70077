//! Curves keep their precision, and markers their times.

use std::sync::Arc;

use kinepack_anim::disk::{pack, unpack};
use kinepack_anim::offline::Effort;
use kinepack_anim::{Clip, Curve, Joint, Marker, RawClip, Sampler, Skeleton, Transform};
use proptest::prelude::*;

use super::motions::{Motion, USUAL};
use super::play::{EFFORTS, built, compare};
use crate::random::Random;
use crate::runner::for_all;

/// Values of a curve, which are smooth, held, noisy or constant.
fn values(random: &mut Random, samples: usize) -> Vec<f32> {
    let shape = random.below(5);
    let (size, speed) = (random.between(0.1, 3.0), random.between(0.01, 0.4));
    let middle = random.between(-2.0, 2.0);
    (0..samples)
        .map(|sample| {
            let wave = (speed * sample as f32).sin();
            match shape {
                0 => middle,
                1 => middle + size * wave,
                2 => (2.0 * wave).clamp(0.0, 1.0),
                3 => middle + size * random.between(-1.0, 1.0),
                _ => {
                    if wave > 0.3 {
                        size
                    } else {
                        0.0
                    }
                }
            }
        })
        .collect()
}

fn curves(random: &mut Random, count: usize, samples: usize) -> Vec<Curve> {
    let curve = |index: usize| Curve {
        name: format!("curve {index}"),
        precision: [0.001, 0.01, 0.1, 1e-4][random.below(4) as usize],
        values: values(random, samples),
    };
    (0..count).map(curve).collect()
}

/// Asserts that all curves of the built clip are within their precision at the samples.
fn assert_near(raw: &RawClip, clip: &Clip) {
    let bind = raw.skeleton().bind_pose();
    let sampler = Sampler::with_bind_pose(clip.clone(), &bind).unwrap();
    let mut values = vec![0.0; clip.curves()];
    for sample in 0..raw.samples() {
        sampler.curves_at(sample as f64, &mut values);
        for (value, curve) in values.iter().zip(raw.curves()) {
            let off = (f64::from(*value) - f64::from(curve.values[sample])).abs();
            assert!(off <= f64::from(curve.precision), "{} at {sample}: {off}", curve.name);
        }
    }
    assert!(clip.curve_names().eq(raw.curves().iter().map(|curve| curve.name.as_str())));
}

#[test]
fn random_curves_keep_their_precision() {
    let effort = (0..2_usize).prop_map(|effort| EFFORTS[effort]);
    for_all(
        40,
        (any::<u64>(), 1..20_usize, 1..120_usize, effort),
        |(seed, count, samples, effort)| {
            let mut random = Random(seed);
            let motion = Motion { joints: 1 + seed as usize % 3, samples, ..USUAL };
            let raw = motion.clip(seed).with_curves(curves(&mut random, count, samples)).unwrap();
            let (built, clip) = built(&raw, 0.05, effort);
            assert!(
                built.errors.farthest_curve(&raw).unwrap().1 <= 1.0,
                "{:?}",
                built.errors.curves
            );
            assert!(built.errors.all.max_cm <= 0.05, "{:?}", built.errors.all);
            assert_near(&raw, &clip);
            compare(&clip, &raw.skeleton().bind_pose(), "curves");
            if let Ok(file) = pack(&clip) {
                assert!(unpack(&file).unwrap() == clip.as_bytes());
            }
        },
    );
}

fn still(samples: usize) -> RawClip {
    let joint = Joint { name: "head".into(), parent: None, bind: Transform::IDENTITY };
    let skeleton = Arc::new(Skeleton::new(vec![joint]).unwrap());
    RawClip::new("face", skeleton, 60.0, vec![Transform::IDENTITY; samples]).unwrap()
}

#[test]
fn a_clip_of_curves_alone_is_built() {
    for effort in EFFORTS {
        let raw = still(200).with_curves(curves(&mut Random(4), 11, 200)).unwrap();
        let (_, clip) = built(&raw, 0.1, effort);
        assert_eq!((clip.animated_tracks().len(), clip.curves()), (0, 11));
        assert_near(&raw, &clip);
        assert!(unpack(&pack(&clip).unwrap()).unwrap() == clip.as_bytes());
    }
}

#[test]
fn constant_curves_are_stored_as_middles() {
    let curve =
        |name: &str, value| Curve { name: name.into(), precision: 0.001, values: vec![value; 50] };
    let raw = still(50).with_curves(vec![curve("a", 0.25), curve("b", -3.0)]).unwrap();
    let (built, clip) = built(&raw, 0.1, Effort::Default);
    assert_eq!((clip.live_components(), &built.errors.curves[..]), (0, &[0.0, 0.0][..]));
    assert_near(&raw, &clip);
}

#[test]
fn a_clip_loops_only_if_its_curves_do() {
    let with = |last: f32| {
        let mut values = vec![0.0; 30];
        values.extend([0.5, last]);
        let curve = Curve { name: "c".into(), precision: 0.01, values };
        let raw = still(32).with_curves(vec![curve]).unwrap();
        let (_, clip) = built(&raw, 0.1, Effort::Default);
        assert_near(&raw, &clip);
        clip.header().loops
    };
    assert!(with(0.0) && with(0.0009) && !with(0.002) && !with(-1.0));
}

#[test]
fn markers_keep_their_times() {
    let marker = |name: &str, time_s| Marker { name: name.into(), time_s };
    let markers = vec![marker("left", 0.25), marker("right", 0.25), marker("end", 1.5)];
    let raw = still(91).with_markers(markers).unwrap();
    let (_, clip) = built(&raw, 0.1, Effort::Fast);
    let of = |from_s, to_s| -> Vec<&str> {
        clip.markers_between(from_s, to_s).map(|marker| marker.name).collect()
    };
    assert_eq!(of(0.0, 9.0), ["left", "right", "end"]);
    assert_eq!((of(0.0, 0.25), of(0.25, 0.26)), (vec![], vec!["left", "right"]));
    assert_eq!((of(0.26, 1.5), of(1.5, 1.6)), (vec![], vec!["end"]));
    assert_eq!(clip.markers().map(|marker| marker.time_s).collect::<Vec<_>>(), [0.25, 0.25, 1.5]);
    assert!(unpack(&pack(&clip).unwrap()).unwrap() == clip.as_bytes());
}
