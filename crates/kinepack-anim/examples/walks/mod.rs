//! Makes walking figures from formulas, for examples without animation files. A figure has 43
//! joints that all turn, and hips that move forwards.

mod figure;
mod random;

use std::error::Error;
use std::f32::consts::TAU;
use std::sync::Arc;

use figure::figure;
use kinepack_anim::{RawClip, Skeleton};
pub(crate) use random::Random;

/// The number of samples per second.
const RATE_HZ: f32 = 30.0;
/// The names of the clips and their lengths in seconds.
const CLIPS: [(&str, f32); 6] =
    [("hop", 1.0), ("run", 1.5), ("walk", 2.0), ("stroll", 3.0), ("limp", 5.0), ("wander", 10.0)];

/// Clips of one skeleton, with lengths from 1 to 10 seconds. There are six clips for each variant.
///
/// # Errors
/// There are none, because the figure and its motions are valid.
pub(crate) fn clips(variants: usize) -> Result<Vec<RawClip>, Box<dyn Error>> {
    let (skeleton, swings) = figure()?;
    let all = (0..variants).flat_map(|_| CLIPS).enumerate();
    let clip = |(index, (name, seconds)): (usize, (&str, f32))| {
        clip(name, seconds, &skeleton, &swings, index as u64 + 1)
    };
    all.map(clip).collect()
}

/// Returns a clip in which each joint turns about three axes, and the hips move forwards.
fn clip(
    name: &str,
    seconds: f32,
    skeleton: &Arc<Skeleton>,
    swings: &[f32],
    seed: u64,
) -> Result<RawClip, Box<dyn Error>> {
    let mut random = Random(seed);
    let steps_hz = random.between(0.8, 1.5);
    let speed_cm_per_s = 120.0 * steps_hz;
    let bob = Wave::new(&mut random, 3.0, 2.0 * steps_hz);
    let turns: Vec<[Wave; 3]> = swings
        .iter()
        // Joints turn mostly about one axis, as knees do.
        .map(|swing| {
            [1.0, 0.3, 0.2].map(|share| Wave::new(&mut random, 0.5 * share * swing, steps_hz))
        })
        .collect();
    let pose = |sample: usize| {
        let time_s = sample as f32 / RATE_HZ;
        let mut pose = skeleton.bind_pose();
        pose[0].translation[1] += bob.at(time_s);
        pose[0].translation[2] += speed_cm_per_s * time_s;
        for (transform, turns) in pose.iter_mut().zip(&turns) {
            let [x, y, z] = [0, 1, 2].map(|axis| turns[axis].at(time_s));
            // `RawClip::new` normalizes this quaternion.
            transform.rotation = [x, y, z, 1.0];
        }
        pose
    };
    let samples = (0..=(seconds * RATE_HZ) as usize).flat_map(pose).collect();
    Ok(RawClip::new(name, Arc::clone(skeleton), RATE_HZ, samples)?)
}

/// A motion that repeats with the steps, with added parts that never repeat: slower sway and faster
/// tremor.
struct Wave {
    /// The amplitude, the frequency in Hz and the phase of each part.
    parts: [(f32, f32, f32); 6],
}

impl Wave {
    fn new(random: &mut Random, size: f32, steps_hz: f32) -> Self {
        let sway_hz = random.between(0.1, 0.5);
        let tremor_hz = random.between(5.0, 9.0);
        let parts = [
            (1.0, steps_hz),
            (0.4, 2.0 * steps_hz),
            (0.15, 3.0 * steps_hz),
            (0.05, 4.0 * steps_hz),
            (0.3, sway_hz),
            (0.004, tremor_hz),
        ];
        Self {
            parts: parts.map(|(share, hz)| {
                (size * share * random.between(0.7, 1.3), hz, random.between(0.0, TAU))
            }),
        }
    }

    fn at(&self, time_s: f32) -> f32 {
        self.parts.iter().map(|(size, hz, phase)| size * (TAU * hz * time_s + phase).sin()).sum()
    }
}
