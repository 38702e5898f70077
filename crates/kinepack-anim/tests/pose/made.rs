//! Makes transforms, poses and skeletons for the tests, and computes distances between them.

use kinepack_anim::{Joint, Skeleton, Transform};

use crate::random::Random;

/// Returns a random rotation.
pub(crate) fn rotation(random: &mut Random) -> [f32; 4] {
    loop {
        let q = [0; 4].map(|_| random.between(-1.0, 1.0));
        let square: f32 = q.iter().map(|c| c * c).sum();
        if (0.1..1.0).contains(&square) {
            return unit(q);
        }
    }
}

/// Returns a rotation of at most about `4 * atan(bound * sqrt(3) / 2)` radians, which is `2 *
/// sqrt(3) * bound` for small bounds.
pub(crate) fn small_rotation(random: &mut Random, bound: f32) -> [f32; 4] {
    let [x, y, z] = [0; 3].map(|_| random.between(-bound, bound));
    unit([x, y, z, 1.0])
}

pub(crate) fn vector(random: &mut Random, min: f32, max: f32) -> [f32; 3] {
    [0; 3].map(|_| random.between(min, max))
}

pub(crate) fn transform(random: &mut Random) -> Transform {
    Transform {
        rotation: rotation(random),
        translation: vector(random, -50.0, 50.0),
        scale: vector(random, 0.5, 2.0),
    }
}

pub(crate) fn pose(random: &mut Random, joints: usize) -> Vec<Transform> {
    (0..joints).map(|_| transform(random)).collect()
}

pub(crate) fn at(x: f32, y: f32, z: f32) -> Transform {
    Transform { translation: [x, y, z], ..Transform::IDENTITY }
}

pub(crate) fn skeleton(joints: &[(&str, Option<u16>, Transform)]) -> Skeleton {
    let joint = |&(name, parent, bind): &(&str, Option<u16>, Transform)| Joint {
        name: name.into(),
        parent,
        bind,
    };
    Skeleton::new(joints.iter().map(joint).collect()).unwrap()
}

pub(crate) fn unit(q: [f32; 4]) -> [f32; 4] {
    let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
    q.map(|c| c / length)
}

/// Returns the rotation `b`, followed by `a`.
pub(crate) fn product(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Returns the angle between two rotations, in radians.
pub(crate) fn angle(a: [f32; 4], b: [f32; 4]) -> f64 {
    let [a, b] = [a, b].map(|q| q.map(f64::from));
    let near: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>().signum();
    let chord = a.iter().zip(b).map(|(a, b)| (a - near * b).powi(2)).sum::<f64>().sqrt();
    4.0 * (chord / 2.0).min(1.0).asin()
}

/// Returns the largest difference between two transforms. The difference is in radians for
/// rotations, in metres for translations, and a factor for scales.
pub(crate) fn difference(a: &Transform, b: &Transform) -> f64 {
    let vectors = |a: [f32; 3], b: [f32; 3]| {
        a.into_iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max)
    };
    let moved = 0.01 * vectors(a.translation, b.translation);
    angle(a.rotation, b.rotation).max(moved).max(vectors(a.scale, b.scale))
}

#[track_caller]
pub(crate) fn assert_near(a: &[Transform], b: &[Transform], most: f64) {
    assert_eq!(a.len(), b.len());
    for (joint, (a, b)) in a.iter().zip(b).enumerate() {
        let off = difference(a, b);
        assert!(off <= most, "joint {joint} is {off} off: {a:?} {b:?}");
    }
}
