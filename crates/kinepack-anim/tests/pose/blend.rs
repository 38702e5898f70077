//! Compares blends with a naive one in `f64`, and tests the edge cases of weights.

use kinepack_anim::pose::{Blend, JointWeights, Joints, Layer, MAX_WEIGHT};
use kinepack_anim::{JointMask, Transform, additive, blend};
use proptest::prelude::*;

use super::made::{assert_near, at, difference, pose, product, small_rotation};
use crate::random::Random;

const JOINTS: usize = 7;

/// Returns a pose whose rotations are within a quarter turn of the rotations of `bind`, so that
/// their quaternions need no change of sign.
fn near(bind: &[Transform], random: &mut Random) -> Vec<Transform> {
    let mut poses = pose(random, bind.len());
    for (own, bind) in poses.iter_mut().zip(bind) {
        own.rotation = product(bind.rotation, small_rotation(random, 0.2));
        if random.below(2) == 0 {
            own.rotation = own.rotation.map(|c| -c);
        }
    }
    poses
}

/// A layer in `f64`, which is a pose and the weight at each joint.
type Naive<'a> = (&'a [Transform], Vec<f64>);

/// Returns the blend of one joint, as the documentation defines it.
fn naive(
    layers: &[Naive<'_>],
    additives: &[Naive<'_>],
    bind: &Transform,
    threshold: f64,
    joint: usize,
) -> Transform {
    let usable = |weight: f64| if weight > 0.0 { weight } else { 0.0 };
    let mut parts: Vec<(Transform, f64)> =
        layers.iter().map(|(pose, weights)| (pose[joint], usable(weights[joint]))).collect();
    let sum: f64 = parts.iter().map(|(_, weight)| weight).sum();
    let rest = if sum == 0.0 { 1.0 } else { (threshold - sum).max(0.0) };
    parts.push((*bind, rest));
    let total = sum + rest;
    let first = parts.iter().find(|(_, weight)| *weight > 0.0).unwrap().0.rotation;
    let (mut q, mut t, mut s) = ([0.0; 4], [0.0; 3], [0.0; 3]);
    for (part, weight) in &parts {
        let weight = weight / total;
        let dot: f64 =
            first.iter().zip(part.rotation).map(|(a, b)| f64::from(*a) * f64::from(b)).sum();
        let side = if dot < 0.0 { -weight } else { weight };
        for (sum, number) in q.iter_mut().zip(part.rotation) {
            *sum += side * f64::from(number);
        }
        for axis in 0..3 {
            t[axis] += weight * f64::from(part.translation[axis]);
            s[axis] += weight * f64::from(part.scale[axis]);
        }
    }
    for (delta, weights) in additives {
        let (delta, weight) = (delta[joint], weights[joint]);
        let amount = weight.abs();
        let [x, y, z, w] = delta.rotation.map(f64::from);
        let side = if w < 0.0 { -amount } else { amount };
        let [x, y, z, w] = [x * side, y * side, z * side, 1.0 - amount + w * side];
        let [ax, ay, az] = [x, y, z].map(|c| if weight < 0.0 { -c } else { c });
        let [px, py, pz, pw] = q;
        q = [
            pw * ax + px * w + py * az - pz * ay,
            pw * ay + py * w + pz * ax - px * az,
            pw * az + pz * w + px * ay - py * ax,
            pw * w - px * ax - py * ay - pz * az,
        ];
        for axis in 0..3 {
            t[axis] += weight * f64::from(delta.translation[axis]);
            let factor = 1.0 + amount * (f64::from(delta.scale[axis]) - 1.0);
            s[axis] = if weight < 0.0 { s[axis] / factor } else { s[axis] * factor };
        }
    }
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    Transform {
        rotation: q.map(|c| (c / length) as f32),
        translation: t.map(|c| c as f32),
        scale: s.map(|c| c as f32),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_blend_is_the_naive_one(
        seed in any::<u64>(),
        weights in prop::collection::vec((0.0_f32..2.0, 0..3_u8), 0..6),
        adds in prop::collection::vec((-1.0_f32..1.0, 0..3_u8), 0..3),
        threshold in 0.0_f32..1.0,
    ) {
        let mut random = Random(seed);
        let bind = pose(&mut random, JOINTS);
        let mut make = |list: &[(f32, u8)], is_delta: bool| -> Vec<_> {
            list.iter().map(|(weight, joints)| {
                let base = if is_delta { vec![Transform::IDENTITY; JOINTS] } else { bind.clone() };
                let pose = near(&base, &mut random);
                let factors = JointWeights::new(JOINTS, |_| random.between(-0.3, 1.0));
                let chosen = random.below(1 << JOINTS);
                let mask = JointMask::new(JOINTS, |joint| chosen >> joint & 1 == 1);
                (pose, *weight, *joints, factors, mask)
            }).collect()
        };
        let layers = make(&weights, false);
        let additives = make(&adds, true);
        type Made = (Vec<Transform>, f32, u8, JointWeights, JointMask);
        fn lent(list: &[Made]) -> Vec<Layer<'_>> {
            list.iter().map(|(pose, weight, joints, factors, mask)| {
                let layer = Layer::new(pose, *weight);
                match joints {
                    0 => layer,
                    1 => layer.with_weights(factors),
                    _ => layer.with_mask(mask),
                }
            }).collect()
        }
        fn plain(list: &[Made]) -> Vec<Naive<'_>> {
            list.iter().map(|(pose, weight, joints, factors, mask)| {
                let factor = |joint: usize| match joints {
                    0 => 1.0,
                    1 => f64::from(factors.weight(joint).max(0.0)),
                    _ => f64::from(u8::from(mask.contains(joint))),
                };
                let weights = (0..JOINTS).map(|joint| f64::from(*weight) * factor(joint));
                (&pose[..], weights.collect())
            }).collect()
        }
        let (lent_layers, lent_additives) = (lent(&layers), lent(&additives));
        let blend =
            Blend { layers: &lent_layers, additives: &lent_additives, threshold, ..Blend::new(&bind) };
        let mut blended = vec![at(9.0, 9.0, 9.0); JOINTS];
        blend.write(&mut blended);
        for (joint, own) in blended.iter().enumerate() {
            let expected =
                naive(&plain(&layers), &plain(&additives), &bind[joint], threshold.into(), joint);
            let off = difference(own, &expected);
            prop_assert!(off < 1e-5, "{off}: {own:?} {expected:?}");
        }

        // The layers may be in any order.
        let reversed: Vec<_> = lent_layers.iter().rev().copied().collect();
        let mut other = vec![Transform::IDENTITY; JOINTS];
        Blend { layers: &reversed, ..blend }.write(&mut other);
        for (own, other) in blended.iter().zip(&other) {
            prop_assert!(difference(own, other) < 1e-5);
        }
    }
}

#[test]
fn a_layer_with_all_the_weight_is_the_result() {
    let mut random = Random(1);
    let (bind, one, two) = (pose(&mut random, 5), pose(&mut random, 5), pose(&mut random, 5));
    for weight in [0.1, 0.3, 1.0, 7.7, 1e-3, MAX_WEIGHT, f32::INFINITY] {
        let layers = [Layer::new(&two, 0.0), Layer::new(&one, weight), Layer::new(&two, -1.0)];
        let mut blended = bind.clone();
        Blend { layers: &layers, threshold: 0.0, ..Blend::new(&bind) }.write(&mut blended);
        for (own, expected) in blended.iter().zip(&one) {
            assert_eq!((own.translation, own.scale), (expected.translation, expected.scale));
        }
        assert_near(&blended, &one, 1e-6);
    }
}

#[test]
fn joints_without_weight_keep_the_bind_pose() {
    let mut random = Random(2);
    let (bind, one) = (pose(&mut random, 5), pose(&mut random, 5));
    let nan = JointWeights::new(5, |_| f32::NAN);
    let none = JointMask::new(5, |_| false);
    let layers = [
        Layer::new(&one, 0.0),
        Layer::new(&one, -3.0),
        Layer::new(&one, f32::NAN),
        Layer::new(&one, 1e-20),
        Layer::new(&one, 1.0).with_weights(&nan),
        Layer::new(&one, -1.0).with_weights(&nan),
        Layer::new(&one, 1.0).with_mask(&none),
    ];
    for threshold in [0.0, 0.1, 5.0, f32::NAN, -1.0, f32::INFINITY] {
        let mut blended = one.clone();
        Blend { layers: &layers, additives: &layers[6..], threshold, ..Blend::new(&bind) }
            .write(&mut blended);
        for (own, expected) in blended.iter().zip(&bind) {
            assert_eq!((own.translation, own.scale), (expected.translation, expected.scale));
        }
        assert_near(&blended, &bind, 1e-6);
    }
}

#[test]
fn a_lone_layer_fades_to_the_bind_pose_below_the_threshold() {
    let (bind, one) = ([at(0.0, 0.0, 0.0)], [at(8.0, 0.0, 0.0)]);
    let x = |weight| {
        let mut pose = bind;
        let layers = [Layer::new(&one, weight)];
        Blend { layers: &layers, threshold: 0.5, ..Blend::new(&bind) }.write(&mut pose);
        pose[0].translation[0]
    };
    assert_eq!([0.0, 0.125, 0.25, 0.5, 0.75].map(x), [0.0, 2.0, 4.0, 8.0, 8.0]);
}

#[test]
fn no_weight_makes_a_number_that_is_not_finite() {
    let mut random = Random(3);
    let (bind, one, two) = (pose(&mut random, 3), pose(&mut random, 3), pose(&mut random, 3));
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-45,
        1e-38,
        1e-9,
        1e-8,
        1e30,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    for first in numbers {
        for second in numbers {
            let factors = JointWeights::new(3, |joint| [first, second, 1.0][joint]);
            let layers = [
                Layer::new(&one, first),
                Layer::new(&two, second),
                Layer::new(&one, second).with_weights(&factors),
            ];
            for threshold in numbers {
                let mut pose = bind.clone();
                Blend { layers: &layers, threshold, ..Blend::new(&bind) }.write(&mut pose);
                assert!(pose.iter().all(Transform::is_valid), "{first} {second} {threshold}");
                let lengths =
                    pose.iter().map(|own| own.rotation.iter().map(|c| c * c).sum::<f32>());
                assert!(lengths.into_iter().all(|square| (square - 1.0).abs() < 1e-5));
            }
        }
    }
}

#[test]
fn a_delta_is_taken_off_as_it_was_added() {
    let mut random = Random(4);
    for _ in 0..50 {
        let (base, delta) = (pose(&mut random, 5), pose(&mut random, 5));
        let weight = random.between(0.1, 1.0);
        let mut changed = base.clone();
        additive::add(&mut changed, &delta, weight);
        assert!(base.iter().zip(&changed).all(|(a, b)| difference(a, b) > 1e-3));
        additive::add(&mut changed, &delta, -weight);
        assert_near(&changed, &base, 1e-5);

        // The blend must give the same result.
        let layers = [Layer::new(&base, 1.0)];
        let additives = [Layer::new(&delta, weight), Layer::new(&delta, -weight)];
        let blend = Blend { layers: &layers, additives: &additives, ..Blend::new(&base) };
        let mut blended = delta.clone();
        blend.write(&mut blended);
        assert_near(&blended, &base, 1e-5);
        Blend { additives: &additives[..1], ..blend }.write(&mut blended);
        additive::add(&mut changed, &delta, weight);
        assert_near(&blended, &changed, 1e-5);
    }
    // Deltas without an inverse, and weights without a meaning, leave the pose unchanged.
    let flat = [Transform { scale: [0.0, 2.0, 1.0], ..Transform::IDENTITY }];
    let mut pose = [Transform::IDENTITY];
    additive::add(&mut pose, &flat, -1.0);
    assert_eq!(pose[0].scale, [1.0, 0.5, 1.0]);
    additive::add(&mut pose, &flat, f32::NAN);
    assert_eq!(pose[0].scale, [1.0, 0.5, 1.0]);
}

#[test]
fn blends_of_two_are_blends_of_many() {
    let mut random = Random(5);
    let (one, two) = (pose(&mut random, 9), pose(&mut random, 9));
    for weight in [0.0, 0.25, 0.5, 0.7, 1.0] {
        let mut pair = one.clone();
        blend(&mut pair, &two, weight);
        let layers = [Layer::new(&one, 1.0 - weight), Layer::new(&two, weight)];
        let mut many = one.clone();
        Blend { layers: &layers, ..Blend::new(&one) }.write(&mut many);
        // A rotation and its negative are the same.
        assert_near(&pair, &many, 1e-5);
    }
}

#[test]
#[should_panic(expected = "a list of weights has 2 joints and the pose has 3")]
fn weights_of_another_skeleton_are_named() {
    let pose = [Transform::IDENTITY; 3];
    let weights = JointWeights::new(2, |_| 1.0);
    let layers = [Layer { joints: Joints::Weights(&weights), ..Layer::new(&pose, 1.0) }];
    Blend { layers: &layers, ..Blend::new(&pose) }.write(&mut pose.clone());
}
