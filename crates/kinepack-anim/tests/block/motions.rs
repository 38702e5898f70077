//! Makes raw clips with many sorts of motion.

use std::f32::consts::TAU;
use std::sync::Arc;

use kinepack_anim::{Joint, RawClip, Skeleton, Transform};

use crate::clip_support::skeleton;
use crate::random::Random;

/// The motion of a clip's joints.
#[derive(Clone, Copy)]
pub(crate) struct Motion {
    pub(crate) joints: usize,
    pub(crate) samples: usize,
    /// Whether each joint's parent is the previous joint, instead of any earlier one.
    pub(crate) chain: bool,
    /// Whether the last sample equals the first.
    pub(crate) loops: bool,
    /// The largest angle of rotations, in radians.
    pub(crate) swing: f32,
    /// The number of turns about an axis over the whole clip.
    pub(crate) turns: f32,
    /// The largest distance of translations.
    pub(crate) way_cm: f32,
    /// The largest change of scales.
    pub(crate) growth: f32,
    /// On average, one of this number of tracks does not move. With 0, all tracks move.
    pub(crate) still: u32,
}

pub(crate) const USUAL: Motion = Motion {
    joints: 6,
    samples: 40,
    chain: false,
    loops: false,
    swing: 0.7,
    turns: 0.0,
    way_cm: 8.0,
    growth: 0.0,
    still: 3,
};

fn product([ax, ay, az, aw]: [f32; 4], [bx, by, bz, bw]: [f32; 4]) -> [f32; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Returns a sum of waves, each with a whole number of periods over the clip.
fn waves(random: &mut Random, size: f32) -> impl Fn(f32) -> f32 + use<> {
    let waves = [1.0, 0.3, 0.1].map(|share| {
        let size = size * share;
        (
            random.between(-size, size),
            (1 + random.below((2.0 / share) as u32)) as f32,
            random.between(0.0, TAU),
        )
    });
    move |share: f32| {
        waves
            .iter()
            .map(|(size, periods, phase)| size * (TAU * periods * share + phase).sin())
            .sum()
    }
}

pub(crate) fn chain(joints: usize, bone_cm: f32) -> Arc<Skeleton> {
    let joint = |index: usize| Joint {
        name: String::new(),
        parent: index.checked_sub(1).map(|parent| parent as u16),
        bind: Transform { translation: [bone_cm, 0.0, 0.0], ..Transform::IDENTITY },
    };
    Arc::new(Skeleton::new((0..joints).map(joint).collect()).unwrap())
}

impl Motion {
    pub(crate) fn clip(&self, seed: u64) -> RawClip {
        let mut random = Random(seed);
        let skeleton =
            if self.chain { chain(self.joints, 5.0) } else { skeleton(&mut random, self.joints) };
        let mut clip = vec![Transform::IDENTITY; self.joints * self.samples];
        for (joint, bind) in skeleton.bind_pose().into_iter().enumerate() {
            let swings: [_; 3] = std::array::from_fn(|_| waves(&mut random, 0.5 * self.swing));
            let ways: [_; 3] = std::array::from_fn(|_| waves(&mut random, self.way_cm));
            let growths: [_; 3] = std::array::from_fn(|_| waves(&mut random, self.growth));
            let turn_axis = random.below(3) as usize;
            let moves = [(); 3]
                .map(|()| f32::from(u8::from(self.still == 0 || random.below(self.still) > 0)));
            // Tracks that do not move keep the bind pose's value or another one.
            let stays = f32::from(u8::from(random.below(2) == 0));
            for sample in 0..self.samples {
                let share = sample as f32 / (self.samples - 1).max(1) as f32;
                let mut at = if self.loops && sample + 1 == self.samples { 0.0 } else { share };
                let half = 0.5 * TAU * self.turns * moves[0] * at;
                let mut turn = [0.0, 0.0, 0.0, half.cos()];
                turn[turn_axis] = half.sin();
                at = if moves[0] > 0.0 { at } else { 0.3 * stays };
                let swing = swings.each_ref().map(|wave| wave(at) * moves[0].max(stays));
                let transform = &mut clip[sample * self.joints + joint];
                transform.rotation = product(turn, [swing[0], swing[1], swing[2], 1.0]);
                let time = if self.loops && sample + 1 == self.samples { 0.0 } else { share };
                for axis in 0..3 {
                    transform.translation[axis] =
                        bind.translation[axis] + ways[axis](time) * moves[1];
                    transform.scale[axis] = 1.0 + growths[axis](time) * moves[2];
                }
            }
        }
        RawClip::new("motion", skeleton, [24.0, 30.0, 29.97, 60.0][seed as usize % 4], clip)
            .unwrap()
    }
}

/// Motions of each sort, with names.
pub(crate) fn motions() -> Vec<(&'static str, Motion)> {
    let many = if cfg!(miri) { 2 } else { 40 };
    vec![
        ("usual", USUAL),
        ("one sample", Motion { samples: 1, ..USUAL }),
        ("two samples", Motion { samples: 2, ..USUAL }),
        ("two samples of a loop", Motion { samples: 2, loops: true, ..USUAL }),
        ("loop", Motion { samples: 41, loops: true, ..USUAL }),
        ("short loop", Motion { samples: 6, loops: true, ..USUAL }),
        ("chain", Motion { joints: 12, chain: true, samples: 33, ..USUAL }),
        ("many joints", Motion { joints: many, samples: 17, ..USUAL }),
        ("one joint", Motion { joints: 1, samples: 70, still: 0, ..USUAL }),
        ("beyond half a turn", Motion { swing: 9.0, samples: 30, ..USUAL }),
        ("turns", Motion { turns: 3.0, samples: 70, still: 0, ..USUAL }),
        ("fast spin", Motion { turns: 19.0, samples: 50, still: 0, loops: true, ..USUAL }),
        ("scales", Motion { growth: 0.3, still: 0, ..USUAL }),
        ("scales through zero", Motion { growth: 1.7, still: 0, samples: 25, ..USUAL }),
        ("nothing moves", Motion { swing: 0.0, way_cm: 0.0, ..USUAL }),
        ("constants", Motion { still: 1, ..USUAL }),
        ("barely", Motion { swing: 0.004, way_cm: 0.02, ..USUAL }),
        ("far", Motion { swing: 0.0, way_cm: 3e5, still: 0, joints: 1, ..USUAL }),
    ]
}
