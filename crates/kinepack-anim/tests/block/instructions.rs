//! Block clips of random motions: all instruction sets give the same poses, and sampling allocates
//! nothing.

use std::sync::Arc;

use allocation_counter::measure;
use kinepack_anim::block::BlockLength;
use kinepack_anim::offline::{BlockOptions, BuildOptions, Effort, Scheme, build};
use kinepack_anim::{
    Clip, Instructions, Joint, JointMask, RawClip, Sampler, Skeleton, SoaPose, Transform,
    sample_batch,
};

use crate::support::Random;

/// A chain whose joints move by waves with some `noise`. `size` is how far they move, in cm.
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
        // Long clips stand still for 32 samples at a time. Only they pay for long blocks.
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

fn clips() -> Vec<(RawClip, Clip)> {
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

fn bits(pose: &[Transform]) -> Vec<u32> {
    let numbers = |t: &Transform| {
        t.rotation.into_iter().chain(t.translation).chain(t.scale).collect::<Vec<_>>()
    };
    pose.iter().flat_map(numbers).map(f32::to_bits).collect()
}

fn times(random: &mut Random, clip: &Clip) -> Vec<f32> {
    let halves = (0..2 * clip.samples()).map(|half| 0.5 * half as f32 / clip.rate_hz());
    let mut times: Vec<f32> = halves.collect();
    times.extend((0..30).map(|_| random.between(-0.1, clip.duration_s() + 0.1)));
    times
}

#[test]
fn all_instruction_sets_give_the_same_poses() {
    let mut random = Random(4);
    let mut blocks = Vec::new();
    for (raw, clip) in clips() {
        blocks.push(clip.header().block);
        let bind = raw.skeleton().bind_pose();
        let scalar = Sampler::with_bind_pose(clip.clone(), &bind)
            .unwrap()
            .with_instructions(Instructions::Scalar);
        let (mut expected, mut pose) = (bind.clone(), bind.clone());
        for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
            let sampler =
                Sampler::with_bind_pose(clip.clone(), &bind).unwrap().with_instructions(set);
            for time_s in times(&mut random, &clip) {
                scalar.sample(time_s, &mut expected);
                sampler.sample(time_s, &mut pose);
                assert_eq!(bits(&pose), bits(&expected), "{set:?} at {time_s}");
                let mut soa = SoaPose::new(raw.joints());
                sampler.write(time_s, &mut soa);
                for (joint, transform) in pose.iter().enumerate() {
                    assert_eq!(
                        soa.rotations.each_ref().map(|numbers| numbers[joint]),
                        transform.rotation
                    );
                    assert_eq!(
                        soa.translations.each_ref().map(|numbers| numbers[joint]),
                        transform.translation
                    );
                    assert_eq!(
                        soa.scales.each_ref().map(|numbers| numbers[joint]),
                        transform.scale
                    );
                }
            }
        }
    }
    assert!(BlockLength::ALL.iter().all(|block| blocks.contains(block)), "{blocks:?}");
}

#[test]
fn a_batch_gives_the_same_poses_as_single_samples() {
    let mut random = Random(9);
    let clips = clips();
    let binds: Vec<_> = clips.iter().map(|(raw, _)| raw.skeleton().bind_pose()).collect();
    let samplers: Vec<_> = clips
        .iter()
        .zip(&binds)
        .map(|((_, clip), bind)| Sampler::with_bind_pose(clip.clone(), bind).unwrap())
        .collect();
    let mut requests = Vec::new();
    let mut expected = Vec::new();
    for _ in 0..100 {
        let at = random.below(samplers.len() as u32) as usize;
        let time_s = random.between(0.0, clips[at].1.duration_s());
        let mut pose = binds[at].clone();
        samplers[at].sample(time_s, &mut pose);
        requests.push((&samplers[at], time_s));
        expected.extend(pose);
    }
    let mut poses = vec![Transform::IDENTITY; expected.len()];
    sample_batch(&requests, &mut poses);
    assert_eq!(bits(&poses), bits(&expected));
}

#[test]
fn sampling_with_any_instructions_allocates_nothing() {
    for (raw, clip) in clips() {
        let bind = raw.skeleton().bind_pose();
        let mask = JointMask::new(raw.joints(), |joint| joint % 2 == 0);
        let mut pose = bind.clone();
        let mut soa = SoaPose::new(raw.joints());
        for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
            let sampler =
                Sampler::with_bind_pose(clip.clone(), &bind).unwrap().with_instructions(set);
            let info = measure(|| {
                for time_s in [0.0, 0.01, 0.27, 0.5, 1.3, 0.1] {
                    sampler.sample(time_s, &mut pose);
                    sampler.sample_joints(time_s, &mask, &mut pose);
                    sampler.write(time_s, &mut soa);
                    sampler.joint(time_s, raw.joints() - 1);
                    sample_batch(&[(&sampler, time_s)], &mut pose);
                }
            });
            assert_eq!(info.count_total, 0);
        }
    }
}
