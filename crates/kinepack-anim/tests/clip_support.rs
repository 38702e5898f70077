//! Helpers that the tests of clips share: seeded smooth motion, and comparisons of poses bit by
//! bit.

use std::sync::Arc;

use kinepack_anim::{Joint, RawClip, Skeleton, Transform};

use crate::random::Random;

/// The numbers of a transform: rotation x, y, z, w, then translation, then scale.
pub(crate) type Floats = [f32; 10];

/// Joints whose parents are random earlier joints.
pub(crate) fn skeleton(random: &mut Random, joints: usize) -> Arc<Skeleton> {
    let joint = |index: usize| Joint {
        name: format!("joint {index}"),
        parent: (index > 0).then(|| random.below(index as u32) as u16),
        bind: Transform {
            translation: [random.between(-9.0, 9.0), 4.0, 0.0],
            ..Transform::IDENTITY
        },
    };
    Arc::new(Skeleton::new((0..joints).map(joint).collect()).unwrap())
}

/// A sum of a few slow waves.
struct Waves([[f32; 3]; 3]);

impl Waves {
    fn new(random: &mut Random, size: f32) -> Self {
        Self([1.0, 0.4, 0.1].map(|share| {
            let size = size * share;
            [
                random.between(-size, size),
                random.between(0.5, 2.0) / share.sqrt(),
                random.between(0.0, 6.0),
            ]
        }))
    }

    fn at(&self, time_s: f32) -> f32 {
        self.0.iter().map(|[size, speed, phase]| size * (speed * time_s + phase).sin()).sum()
    }
}

/// Returns a clip of smooth motion. Some channels stay in the bind pose, and some keep another
/// constant value.
pub(crate) fn smooth_clip(seed: u64, joints: usize, samples: usize) -> RawClip {
    let mut random = Random(seed);
    let skeleton = skeleton(&mut random, joints);
    let rate_hz = [24.0, 30.0, 29.97, 60.0][seed as usize % 4];
    let mut clip = vec![Transform::IDENTITY; joints * samples];
    for (joint, bind) in skeleton.bind_pose().into_iter().enumerate() {
        let waves: [Waves; 9] =
            std::array::from_fn(|wave| Waves::new(&mut random, [0.6, 10.0, 0.2][wave / 3]));
        let speeds = [(); 3].map(|()| [0.0, 0.0, 1.0, 1.0, 1.0][random.below(5) as usize]);
        let moves = [(); 3].map(|()| random.below(4) > 0);
        for sample in 0..samples {
            let at = |wave: usize| waves[wave].at(speeds[wave / 3] * sample as f32 / rate_hz);
            let vector = |from: usize, middle: [f32; 3]| {
                [0, 1, 2].map(|axis| middle[axis] + at(from + axis))
            };
            let transform = &mut clip[sample * joints + joint];
            *transform = bind;
            if moves[0] {
                transform.rotation = [at(0), at(1), at(2), 1.0];
            }
            if moves[1] {
                transform.translation = vector(3, bind.translation);
            }
            if moves[2] && joint % 3 == 0 {
                transform.scale = vector(6, [1.0; 3]);
            }
        }
    }
    RawClip::new("smooth", skeleton, rate_hz, clip).unwrap()
}

pub(crate) fn floats(transform: &Transform) -> Floats {
    let [x, y, z, w] = transform.rotation;
    let ([a, b, c], [d, e, f]) = (transform.translation, transform.scale);
    [x, y, z, w, a, b, c, d, e, f]
}

pub(crate) fn pose_floats(pose: &[Transform]) -> Vec<Floats> {
    pose.iter().map(floats).collect()
}

/// Checks that two poses have the same bits, except for the signs of quaternions.
pub(crate) fn assert_same(pose: &[Transform], naive: &[Floats], context: &str) {
    assert_eq!(pose.len(), naive.len());
    for (joint, (ours, theirs)) in pose.iter().map(floats).zip(naive).enumerate() {
        // A zero may have either sign.
        let bits = |floats: &Floats, sign: f32| {
            let rotation = floats[..4].iter().map(|c| (c * sign + 0.0).to_bits());
            rotation.chain(floats[4..].iter().map(|c| (c + 0.0).to_bits())).collect::<Vec<_>>()
        };
        let same = [1.0, -1.0].iter().any(|sign| bits(&ours, *sign) == bits(theirs, 1.0));
        assert!(same, "{context}, joint {joint}: {ours:?}, naive {theirs:?}");
    }
}

/// Checks that a pose is finite.
pub(crate) fn assert_sane(pose: &[Transform], context: &str) {
    for transform in pose {
        assert!(floats(transform).iter().all(|c| c.is_finite()), "{context}: {transform:?}");
        let length = transform.rotation.iter().map(|c| c * c).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-3, "{context}: {transform:?}");
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a pose as text in hexadecimal. A rotation has two quaternions. The text has the one
/// whose last nonzero component is positive.
pub(crate) fn pose_hex(pose: &[Transform]) -> String {
    let floats = pose.iter().flat_map(|transform| {
        let mut all = floats(transform);
        if all[..4].iter().rev().find(|c| **c != 0.0).is_some_and(|c| *c < 0.0) {
            all[..4].iter_mut().for_each(|c| *c = -*c);
        }
        // Adding 0 makes both zeros the same.
        all.map(|c| c + 0.0)
    });
    floats.map(|float| format!("{:08x}", float.to_bits())).collect()
}

/// Returns the bytes of a dump: each line has an offset, bytes in hex, and a comment.
pub(crate) fn dumped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("      ")) {
        let mut words = line.split_whitespace();
        assert_eq!(words.next().unwrap().parse(), Ok(bytes.len()), "{line}");
        let is_byte = |word: &&str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
        bytes.extend(words.take_while(is_byte).map(|word| u8::from_str_radix(word, 16).unwrap()));
    }
    bytes
}

/// Returns the position of a time, as section 6 of `spec/ANIM.md` specifies.
pub(crate) fn position(time_s: f32, rate_hz: f32) -> f64 {
    let position = f64::from(time_s) * f64::from(rate_hz);
    let n = position.round();
    if (position - n).abs() <= n * 2.0_f64.powi(-24) { n } else { position }
}
