//! Makes block clips of seeded motions. These are chains whose joints move by waves, in blocks of
//! all lengths.

use std::sync::Arc;

use kinepack_anim::offline::{BlockOptions, BuildOptions, Effort, Scheme, build};
use kinepack_anim::{Clip, Joint, RawClip, Skeleton, Transform};

use crate::random::Random;

/// Returns a chain whose joints move by waves with `noise`. `size` is the largest distance of their
/// motion in cm.
fn motion(
    random: &mut Random,
    joints: usize,
    samples: usize,
    noise: f32,
    size: f32,
    is_scaled: bool,
) -> RawClip {
    let joint = |at: usize| Joint {
        name: format!("joint {at}"),
        parent: at.checked_sub(1).map(|parent| parent as u16),
        bind: Transform { translation: [10.0, 0.0, 0.0], ..Transform::IDENTITY },
    };
    let skeleton = Arc::new(Skeleton::new((0..joints).map(joint).collect()).unwrap());
    let waves: Vec<[f32; 2]> =
        (0..10 * joints).map(|_| [random.between(0.02, 0.2), random.between(0.0, 6.0)]).collect();
    let mut transforms = Vec::new();
    for sample in 0..samples {
        // Long clips rest for 32 samples at a time. Only such clips benefit from long blocks.
        let time = if samples >= 320 { sample / 32 * 32 } else { sample } as f32;
        for joint in 0..joints {
            let mut number = |at: usize, size: f32| {
                let [speed, phase] = waves[10 * joint + at];
                let wave = (speed * time + phase).sin();
                size * (wave + noise * random.between(-1.0, 1.0))
            };
            let q = [number(0, 0.4), number(1, 0.4), number(2, 0.4), 1.0];
            let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
            let translation = if joint % 3 == 0 {
                [number(3, size), number(4, size), 0.0]
            } else {
                [10.0, 0.0, 0.0]
            };
            let scale = if is_scaled && joint % 2 == 0 {
                [1.0 + number(6, 0.2), 1.0, 1.0 + number(7, 0.1)]
            } else {
                [1.0; 3]
            };
            transforms.push(Transform { rotation: q.map(|c| c / length), translation, scale });
        }
    }
    RawClip::new("motion", skeleton, 30.0, transforms).unwrap()
}

pub(crate) fn clips() -> Vec<(RawClip, Clip)> {
    let mut random = Random(3);
    let mut clips = Vec::new();
    for (joints, samples, noise, size) in [
        (1, 1, 0.0, 1.0),
        (1, 2, 0.0, 1.0),
        (2, 9, 0.0, 5.0),
        (3, 17, 1.0, 5.0),
        (9, 33, 0.0, 20.0),
        (9, 70, 0.3, 20.0),
        (20, 50, 0.0, 1e5),
        (33, 64, 0.02, 50.0),
        (65, 40, 0.0, 3.0),
        (5, 65, 2.0, 3000.0),
        (4, 320, 0.0005, 5.0),
        (7, 640, 0.001, 1.0),
    ] {
        for is_scaled in [false, true] {
            let raw = motion(&mut random, joints, samples, noise, size, is_scaled);
            let effort = if joints == 9 { Effort::Best } else { Effort::Default };
            let scheme = Scheme::Block(BlockOptions { effort, ..BlockOptions::default() });
            let built = build(
                &raw,
                &BuildOptions { precision_cm: 0.01, scheme, ..BuildOptions::default() },
            )
            .unwrap();
            let clip = Clip::clone(built.clip.as_block().unwrap());
            clips.push((raw, clip));
        }
    }
    clips
}
