//! Walking figures from formulas, for examples without animation files: 43 joints that all turn,
//! and hips that move forwards.

use std::error::Error;
use std::f32::consts::TAU;
use std::sync::Arc;

use kinepack_anim::{Joint, RawClip, Skeleton, Transform};

/// Samples a second.
const RATE_HZ: f32 = 30.0;
/// The names of the clips and their lengths in seconds.
const CLIPS: [(&str, f32); 6] =
    [("hop", 1.0), ("run", 1.5), ("walk", 2.0), ("stroll", 3.0), ("limp", 5.0), ("wander", 10.0)];

/// A joint, its parent, its place relative to the parent in cm, and its swing in radians. The body
/// is first, then face and fingers.
type Bone = (&'static str, Option<u16>, [f32; 3], f32);

const BODY: [Bone; 22] = [
    ("hips", None, [0.0, 95.0, 0.0], 0.15),
    ("spine", Some(0), [0.0, 10.0, 0.0], 0.06),
    ("chest", Some(1), [0.0, 14.0, 0.0], 0.06),
    ("upper chest", Some(2), [0.0, 14.0, 0.0], 0.06),
    ("neck", Some(3), [0.0, 14.0, 0.0], 0.08),
    ("head", Some(4), [0.0, 10.0, 2.0], 0.10),
    ("left shoulder", Some(3), [4.0, 11.0, 0.0], 0.08),
    ("left arm", Some(6), [13.0, 0.0, 0.0], 0.50),
    ("left elbow", Some(7), [27.0, 0.0, 0.0], 0.40),
    ("left hand", Some(8), [25.0, 0.0, 0.0], 0.20),
    ("right shoulder", Some(3), [-4.0, 11.0, 0.0], 0.08),
    ("right arm", Some(10), [-13.0, 0.0, 0.0], 0.50),
    ("right elbow", Some(11), [-27.0, 0.0, 0.0], 0.40),
    ("right hand", Some(12), [-25.0, 0.0, 0.0], 0.20),
    ("left hip", Some(0), [9.0, -4.0, 0.0], 0.60),
    ("left knee", Some(14), [0.0, -42.0, 0.0], 0.70),
    ("left foot", Some(15), [0.0, -40.0, 0.0], 0.40),
    ("left toes", Some(16), [0.0, -6.0, 13.0], 0.30),
    ("right hip", Some(0), [-9.0, -4.0, 0.0], 0.60),
    ("right knee", Some(18), [0.0, -42.0, 0.0], 0.70),
    ("right foot", Some(19), [0.0, -40.0, 0.0], 0.40),
    ("right toes", Some(20), [0.0, -6.0, 13.0], 0.30),
];

const FACE: [Bone; 3] = [
    ("jaw", Some(5), [0.0, 2.0, 5.0], 0.05),
    ("left eye", Some(5), [3.0, 5.0, 7.0], 0.10),
    ("right eye", Some(5), [-3.0, 5.0, 7.0], 0.10),
];

/// The hands, and the direction of their fingers.
const HANDS: [(u16, f32); 2] = [(9, 1.0), (13, -1.0)];

/// Clips of one skeleton, of 1 to 10 seconds: six for each variant.
///
/// # Errors
/// None, if the joints above are valid.
pub(crate) fn clips(variants: usize) -> Result<Vec<RawClip>, Box<dyn Error>> {
    let (skeleton, swings) = figure()?;
    let all = (0..variants).flat_map(|_| CLIPS).enumerate();
    let clip = |(index, (name, seconds)): (usize, (&str, f32))| {
        clip(name, seconds, &skeleton, &swings, index as u64 + 1)
    };
    all.map(clip).collect()
}

/// The skeleton, and the swing of each joint.
fn figure() -> Result<(Arc<Skeleton>, Vec<f32>), Box<dyn Error>> {
    let mut joints = Vec::new();
    let mut swings = Vec::new();
    let mut add = |name: String, parent, translation, swing| {
        joints.push(Joint { name, parent, bind: Transform { translation, ..Transform::IDENTITY } });
        swings.push(swing);
        joints.len() as u16 - 1
    };
    for (name, parent, place, swing) in BODY.into_iter().chain(FACE) {
        add(name.to_owned(), parent, place, swing);
    }
    for (hand, side) in HANDS {
        for finger in 0..3 {
            let mut parent = add(
                format!("{hand} finger {finger}"),
                Some(hand),
                [8.0 * side, 0.0, finger as f32 - 1.0],
                0.15,
            );
            for bone in 1..3 {
                parent = add(
                    format!("{hand} finger {finger}.{bone}"),
                    Some(parent),
                    [3.0 * side, 0.0, 0.0],
                    0.15,
                );
            }
        }
    }
    Ok((Arc::new(Skeleton::new(joints)?), swings))
}

/// Each joint turns about three axes, and the hips move forwards.
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
        // Mostly about one axis, as knees do.
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
            // `RawClip::new` makes it a unit quaternion.
            transform.rotation = [x, y, z, 1.0];
        }
        pose
    };
    let samples = (0..=(seconds * RATE_HZ) as usize).flat_map(pose).collect();
    Ok(RawClip::new(name, Arc::clone(skeleton), RATE_HZ, samples)?)
}

/// A motion that repeats with the steps, and parts that never repeat: slower sway and faster
/// tremor.
struct Wave {
    /// Size, frequency in Hz and phase of each part.
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

/// Seeded numbers: a linear congruential generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// From `min` to below `max`.
    pub(crate) fn between(&mut self, min: f32, max: f32) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        min + (max - min) * (self.0 >> 40) as f32 / (1 << 24) as f32
    }
}
