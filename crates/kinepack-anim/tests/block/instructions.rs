//! All instruction sets give the same poses.

use kinepack_anim::block::BlockLength;
use kinepack_anim::{Clip, Instructions, Sampler, SoaPose, Transform, sample_batch};

use super::waves::clips;
use crate::random::Random;

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
