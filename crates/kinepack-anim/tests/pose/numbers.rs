//! All mechanisms give the same bits on every platform. The test hashes their results.

use kinepack_anim::Transform;
use kinepack_anim::pose::{
    Axis, Blend, Frames, Inertia, JointWeights, Layer, Passed, Retarget, RootMotion, SyncTrack,
};

use super::made::{pose, skeleton, transform};
use crate::random::Random;

/// FNV-1a over the bits of all numbers.
struct Hash(u64);

impl Hash {
    fn add(&mut self, pose: &[Transform]) {
        for own in pose {
            for number in own.rotation.into_iter().chain(own.translation).chain(own.scale) {
                for byte in number.to_bits().to_le_bytes() {
                    self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
    }

    fn of(act: impl FnOnce(&mut Self)) -> u64 {
        let mut hash = Self(0xcbf2_9ce4_8422_2325);
        act(&mut hash);
        hash.0
    }
}

#[test]
fn results_are_the_same_on_every_platform() {
    let mut random = Random(77);
    let poses: Vec<_> = (0..5).map(|_| pose(&mut random, 20)).collect();
    let mut own = poses[0].clone();

    let weights = JointWeights::new(20, |joint| joint as f32 / 19.0);
    let blended = Hash::of(|hash| {
        for step in 0..20 {
            let layers = [
                Layer::new(&poses[1], 0.05 * step as f32),
                Layer::new(&poses[2], 0.3).with_weights(&weights),
                Layer::new(&poses[3], 0.7),
            ];
            let additives = [Layer::new(&poses[4], 0.1 * (step - 10) as f32)];
            Blend { layers: &layers, additives: &additives, ..Blend::new(&poses[0]) }
                .write(&mut own);
            hash.add(&own);
        }
    });

    let inertial = Hash::of(|hash| {
        let mut inertia = Inertia::new();
        let shown = Frames { now: &poses[1], before: &poses[2] };
        inertia.start(shown, Frames { now: &poses[3], before: &poses[4] }, 0.3, 0.5);
        for _ in 0..20 {
            own.clone_from(&poses[3]);
            inertia.apply(&mut own, 0.02);
            hash.add(&own);
        }
    });

    let moved = Hash::of(|hash| {
        let track = SyncTrack::new(1.7, &[("left", 0.3), ("right", 1.1)]).unwrap();
        let root = |time_s: f32| {
            let mut random = Random((1000.0 * time_s) as u64);
            transform(&mut random)
        };
        for step in 0..20 {
            let motion = RootMotion::on_ground([Axis::X, Axis::Y, Axis::Z][step % 3]);
            let line = Passed::looped(1.7, 0.1 * step as f64, 0.9 * step as f64);
            hash.add(&[motion.delta(root, &line), motion.delta(root, &track.passed(0.3, 7.7))]);
        }
    });

    let bones = |poses: &[Transform]| {
        let names = ["a", "b", "c", "d", "e"];
        let bones: Vec<_> =
            (0..5).map(|i| (names[i], (i as u16).checked_sub(1), poses[i])).collect();
        skeleton(&bones)
    };
    let retargeted = Hash::of(|hash| {
        let mut retarget = Retarget::new(&bones(&poses[0]), &bones(&poses[1]), &[]);
        for pose in &poses {
            retarget.apply(&pose[..5], &mut own[..5]);
            hash.add(&own[..5]);
        }
    });

    assert_eq!(
        [blended, inertial, moved, retargeted],
        [
            8_403_800_920_464_402_812,
            1_117_886_122_370_712_043,
            3_162_722_530_929_059_704,
            15_557_880_276_611_582_353
        ]
    );
}
