//! Random skeletons and motions, which proptest makes and shrinks.

use std::f32::consts::PI;
use std::sync::Arc;

use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::random::Random;

/// The shape of a track over time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// The track stays in the bind pose.
    Bind,
    Constant,
    /// The track rests, and then jumps.
    Steps,
    Smooth,
    Noise,
    /// The track turns or grows, and then starts again.
    Spin,
    /// The track leaves its position at single samples.
    Spikes,
}

/// The shape of a channel's motion, and its size.
#[derive(Clone, Copy, Debug)]
struct Track {
    shape: Shape,
    size: f32,
}

/// A joint of a skeleton and its motion.
#[derive(Clone, Debug)]
struct Part {
    /// The distance to its parent's index. A distance of 1 makes chains.
    back: usize,
    bone_cm: f32,
    scale: f32,
    /// The tracks of the rotation, translation and scale.
    tracks: [Track; 3],
    seed: u64,
}

/// A skeleton and its motion.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    parts: Vec<Part>,
    samples: usize,
    rate_hz: f32,
    /// Whether the last sample equals the first.
    loops: bool,
    /// Whether quaternions change their signs.
    flips: bool,
}

pub(crate) fn motions() -> impl Strategy<Value = Motion> {
    let joints = prop_oneof![6 => 1usize..6, 3 => 6usize..16, 1 => 16usize..41];
    let parts =
        (joints, any::<bool>()).prop_flat_map(|(joints, is_deep)| vec(part(is_deep), joints));
    let samples = prop_oneof![1 => 1usize..4, 6 => 4usize..40, 2 => 40usize..101];
    let rate_hz =
        prop_oneof![4 => select(vec![24.0, 30.0, 29.97, 60.0, 120.0]), 1 => 0.1f32..1000.0];
    (parts, samples, rate_hz, prop::bool::weighted(0.2), any::<bool>()).prop_map(
        |(parts, samples, rate_hz, loops, flips)| Motion { parts, samples, rate_hz, loops, flips },
    )
}

fn part(is_deep: bool) -> impl Strategy<Value = Part> {
    let back = if is_deep {
        (1usize..3).boxed()
    } else {
        any::<Index>().prop_map(|index| index.index(41)).boxed()
    };
    let bone_cm = prop_oneof![8 => 0.1f32..50.0, 2 => Just(0.0), 1 => 50.0f32..5000.0];
    let scale = prop_oneof![12 => Just(1.0f32), 1 => 0.3f32..3.0, 1 => select(vec![0.0, -1.0, 1e-3, 1e-20])];
    let rotation = track(&[0.0, 0.01, 0.3, 1.0, 1.0], &[1.0]);
    let translation = track(&[0.0, 0.01, 1.0, 10.0, 100.0], &[1e-30, 1e4, 1e6, 1e12, 1e19, 1e38]);
    let scaling = track(&[0.0, 1e-4, 0.1, 0.1, 1.0], &[1e-30, 30.0, 1e6, 1e19, 1e38]);
    (
        back,
        bone_cm,
        scale,
        [rotation.boxed(), translation.boxed(), still(scaling).boxed()],
        any::<u64>(),
    )
        .prop_map(|(back, bone_cm, scale, tracks, seed)| Part {
            back,
            bone_cm,
            scale,
            tracks,
            seed,
        })
}

fn track(usual: &[f32], extreme: &[f32]) -> impl Strategy<Value = Track> {
    let shapes =
        [Shape::Constant, Shape::Steps, Shape::Smooth, Shape::Noise, Shape::Spin, Shape::Spikes];
    let shape =
        prop_oneof![1 => Just(Shape::Bind), 3 => select(shapes.to_vec()), 2 => Just(Shape::Smooth)];
    let size = prop_oneof![200 => select(usual.to_vec()), 1 => select(extreme.to_vec())];
    (shape, size).prop_map(|(shape, size)| Track { shape, size })
}

/// Returns a track that does not move in four of five cases.
fn still(track: impl Strategy<Value = Track>) -> impl Strategy<Value = Track> {
    prop_oneof![4 => Just(Track { shape: Shape::Bind, size: 0.0 }), 1 => track]
}

/// A number from −1 to 1 for each sample.
struct Signal {
    shape: Shape,
    values: Vec<f32>,
    speed: f32,
}

impl Signal {
    fn new(random: &mut Random, shape: Shape, samples: usize) -> Self {
        let values = (0..samples.max(3)).map(|_| random.between(-1.0, 1.0)).collect();
        Self { shape, values, speed: random.between(0.01, 1.0) }
    }

    fn at(&self, sample: usize) -> f32 {
        let [first, second, third] = [self.values[0], self.values[1], self.values[2]];
        match self.shape {
            Shape::Bind => 0.0,
            Shape::Constant => first,
            Shape::Steps => self.values[(sample as f32 * self.speed * self.speed) as usize],
            Shape::Smooth => {
                let time = 0.5 * self.speed * sample as f32;
                0.7 * first * (time + 3.0 * second).sin()
                    + 0.3 * second * (2.7 * time + third).cos()
            }
            Shape::Noise => self.values[sample],
            Shape::Spin => (first + self.speed * sample as f32 + 1.0).rem_euclid(2.0) - 1.0,
            Shape::Spikes if self.values[sample] > 0.9 => third,
            Shape::Spikes => 0.0,
        }
    }
}

impl Motion {
    pub(crate) fn skeleton(&self) -> Arc<Skeleton> {
        let joint = |(index, part): (usize, &Part)| {
            let mut random = Random(part.seed);
            let translation = [(); 3].map(|()| part.bone_cm * random.between(-1.0, 1.0));
            let rotation = turned([(); 3].map(|()| random.between(-1.0, 1.0)));
            Joint {
                name: String::new(),
                parent: index
                    .checked_sub(part.back + usize::from(part.back == 0))
                    .map(|parent| parent as u16),
                bind: Transform { rotation, translation, scale: [part.scale; 3] },
            }
        };
        Arc::new(Skeleton::new(self.parts.iter().enumerate().map(joint).collect()).unwrap())
    }

    /// Returns a clip of the motion. Each variant is a different motion.
    pub(crate) fn clip(&self, skeleton: &Arc<Skeleton>, variant: u64) -> RawClip {
        let joints = self.parts.len();
        let mut samples = skeleton.bind_pose().repeat(self.samples);
        for (joint, part) in self.parts.iter().enumerate() {
            let mut random = Random(part.seed ^ (variant << 7));
            let signals = part
                .tracks
                .map(|track| [(); 3].map(|()| Signal::new(&mut random, track.shape, self.samples)));
            for sample in 0..self.samples {
                let time = if self.loops && sample + 1 == self.samples { 0 } else { sample };
                let at = |channel: usize| {
                    signals[channel]
                        .each_ref()
                        .map(|signal| part.tracks[channel].size * signal.at(time))
                };
                let transform = &mut samples[sample * joints + joint];
                if part.tracks[0].shape != Shape::Bind {
                    transform.rotation = turned(at(0));
                }
                let [ways, growths] = [at(1), at(2)];
                for axis in 0..3 {
                    transform.translation[axis] += ways[axis];
                    transform.scale[axis] += growths[axis];
                }
                if self.flips && sample % 3 == 0 {
                    transform.rotation = transform.rotation.map(|c| -c);
                }
            }
        }
        RawClip::new("generated", Arc::clone(skeleton), self.rate_hz, samples).unwrap()
    }
}

/// Returns the rotation about a vector whose length is the angle in half turns.
fn turned(half_turns: [f32; 3]) -> [f32; 4] {
    let length = half_turns.iter().map(|c| c * c).sum::<f32>().sqrt();
    let (sine, cosine) = (0.5 * PI * length).sin_cos();
    let [x, y, z] = half_turns.map(|c| if length > 0.0 { c / length * sine } else { 0.0 });
    [x, y, z, cosine]
}
