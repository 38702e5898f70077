//! Random scenes like those in games: creatures with hands and cloth, ropes, wheels, faces, long
//! journeys, jumps, and scales through zero. proptest draws and shrinks them.

use std::f32::consts::TAU;
use std::sync::Arc;

use kinepack_anim::{Curve, Joint, RawClip, Skeleton, Transform};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::random::Random;

/// The path of the root.
#[derive(Clone, Copy, Debug)]
enum Way {
    Stays,
    Walks,
    /// The root moves this distance in total.
    Travels {
        metres: f32,
    },
    /// The root jumps several times, each time up to this distance.
    Jumps {
        metres: f32,
        times: u32,
    },
}

/// The change of a joint's scale.
#[derive(Clone, Copy, Debug)]
enum Growth {
    /// The scale goes from 1 to −1 and back.
    ThroughZero,
    /// The scale is 0 for some time.
    Vanishes,
    /// The scale differs between axes.
    Uneven,
    /// The scale stays negative.
    Mirrored,
}

/// A group of joints below the root.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// A spine, a head, and two arms with hands of five fingers.
    Body,
    /// A chain of joints, which adds up errors.
    Rope { joints: usize, bone_cm: f32, swing: f32 },
    /// Strips of cloth.
    Cloth { strips: usize, joints: usize },
    /// Joints that turn by an angle, in degrees, from one sample to the next.
    Wheels { count: usize, degrees: f32, reverses: bool },
    /// A joint whose scale changes, and three joints below it.
    Grows(Growth),
}

/// A skeleton, its motion and curves.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    parts: Vec<Part>,
    way: Way,
    root_scale: f32,
    curves: usize,
    samples: usize,
    /// Whether the last sample equals the first.
    loops: bool,
    pub(crate) seed: u64,
}

pub(crate) fn scenes() -> impl Strategy<Value = Scene> {
    let metres = || (0.0f32..4.0).prop_map(|exponent| 10.0_f32.powf(exponent));
    let way = prop_oneof![
        1 => Just(Way::Stays),
        2 => Just(Way::Walks),
        2 => metres().prop_map(|metres| Way::Travels { metres }),
        2 => (metres(), 1u32..5).prop_map(|(metres, times)| Way::Jumps { metres, times }),
    ];
    let root_scale =
        prop_oneof![6 => Just(1.0f32), 1 => Just(100.0), 1 => Just(0.01), 1 => Just(-1.0)];
    let curves = prop_oneof![3 => Just(0usize), 1 => 1usize..9, 1 => Just(52)];
    (vec(part(), 1..4), way, root_scale, curves, 2usize..50, any::<bool>(), any::<u64>()).prop_map(
        |(parts, way, root_scale, curves, samples, loops, seed)| Scene {
            parts,
            way,
            root_scale,
            curves,
            samples,
            loops,
            seed,
        },
    )
}

fn part() -> impl Strategy<Value = Part> {
    let rope = (60usize..201, 1.0f32..12.0, 0.02f32..0.5)
        .prop_map(|(joints, bone_cm, swing)| Part::Rope { joints, bone_cm, swing });
    let cloth = (2usize..8, 3usize..9).prop_map(|(strips, joints)| Part::Cloth { strips, joints });
    let degrees = prop_oneof![1 => Just(166.0f32), 1 => 0.0f32..180.0, 1 => 180.0f32..700.0];
    let wheels = (1usize..7, degrees, any::<bool>())
        .prop_map(|(count, degrees, reverses)| Part::Wheels { count, degrees, reverses });
    let growths = vec![Growth::ThroughZero, Growth::Vanishes, Growth::Uneven, Growth::Mirrored];
    prop_oneof![
        2 => Just(Part::Body),
        1 => rope,
        2 => cloth,
        3 => wheels,
        3 => select(growths).prop_map(Part::Grows),
    ]
}

/// A joint's transform at each sample.
type Motion = Box<dyn Fn(usize) -> Transform>;

/// A scene under construction.
struct Stage {
    random: Random,
    joints: Vec<Joint>,
    motions: Vec<Motion>,
}

fn product([ax, ay, az, aw]: [f32; 4], [bx, by, bz, bw]: [f32; 4]) -> [f32; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Returns a rotation about an axis of the coordinate system.
fn turn(axis: usize, angle: f32) -> [f32; 4] {
    let mut rotation = [0.0, 0.0, 0.0, (0.5 * angle).cos()];
    rotation[axis] = (0.5 * angle).sin();
    rotation
}

impl Stage {
    /// Adds a joint, and returns its index.
    fn joint(
        &mut self,
        parent: usize,
        translation: [f32; 3],
        motion: impl Fn(usize, Transform) -> Transform + 'static,
    ) -> usize {
        let bind = Transform { translation, ..Transform::IDENTITY };
        self.joints.push(Joint { name: String::new(), parent: Some(parent as u16), bind });
        self.motions.push(Box::new(move |sample| motion(sample, bind)));
        self.joints.len() - 1
    }

    /// Adds a joint that swings about two axes.
    fn swinging(&mut self, parent: usize, translation: [f32; 3], swing: f32) -> usize {
        let axis = self.random.below(3) as usize;
        let [speed, phase] = [self.random.between(0.05, 0.4), self.random.between(0.0, TAU)];
        self.joint(parent, translation, move |sample, bind| {
            let time = speed * sample as f32 + phase;
            let twist = turn((axis + 1) % 3, 0.3 * swing * (1.7 * time).cos());
            Transform { rotation: product(turn(axis, swing * time.sin()), twist), ..bind }
        })
    }

    /// Adds a chain of joints that swing.
    fn chain(&mut self, mut parent: usize, joints: usize, bone: [f32; 3], swing: f32) -> usize {
        for _ in 0..joints {
            parent = self.swinging(parent, bone, swing);
        }
        parent
    }

    fn part(&mut self, part: Part, samples: usize) {
        match part {
            Part::Body => {
                let chest = self.chain(0, 4, [0.0, 14.0, 0.0], 0.15);
                self.chain(chest, 2, [0.0, 12.0, 1.0], 0.2);
                for side in [1.0, -1.0] {
                    let hand = self.chain(chest, 4, [20.0 * side, 0.0, 0.0], 0.7);
                    for finger in 0..5 {
                        let first = self.swinging(hand, [6.0 * side, 0.0, finger as f32], 0.2);
                        self.chain(first, 2, [3.0 * side, 0.0, 0.0], 0.6);
                    }
                }
            }
            Part::Rope { joints, bone_cm, swing } => {
                self.chain(0, joints, [0.0, -bone_cm, 0.0], swing);
            }
            Part::Cloth { strips, joints } => {
                for strip in 0..strips {
                    let top = self.swinging(0, [7.0 * strip as f32, 90.0, -10.0], 0.1);
                    self.chain(top, joints, [0.0, -9.0, 0.0], 0.3);
                }
            }
            Part::Wheels { count, degrees, reverses } => self.wheels(count, degrees, reverses),
            Part::Grows(growth) => {
                let speed = self.random.between(0.1, 0.6);
                let begin = self.random.below(samples as u32) as usize;
                let top = self.joint(0, [15.0, 40.0, 0.0], move |sample, bind| {
                    let wave = (speed * sample as f32).cos();
                    let scale = match growth {
                        Growth::ThroughZero => [wave; 3],
                        Growth::Vanishes if (begin..begin + 24).contains(&sample) => [0.0; 3],
                        Growth::Vanishes => [1.0; 3],
                        Growth::Uneven => [1.0 + 0.8 * wave, wave, 1.0 - 0.3 * wave * wave],
                        Growth::Mirrored => [-1.0, 1.0, -2.0],
                    };
                    Transform { scale, ..bind }
                });
                self.chain(top, 3, [10.0, 0.0, 0.0], 0.4);
            }
        }
    }

    /// Adds wheels, each with a joint on its rim.
    fn wheels(&mut self, count: usize, degrees: f32, reverses: bool) {
        for wheel in 0..count {
            let axis = self.random.below(3) as usize;
            let back = 4 + self.random.below(20) as usize;
            let middle = [0.0, 30.0, 25.0 * wheel as f32];
            let hub = self.joint(0, middle, move |sample, bind| {
                // A wheel that reverses turns forwards, and then back again.
                let way = if reverses { sample % (2 * back) } else { sample };
                let way = if reverses { way.min(2 * back - way) } else { way };
                let angle = (degrees * way as f32).rem_euclid(360.0).to_radians();
                Transform { rotation: turn(axis, angle), ..bind }
            });
            self.swinging(hub, [0.0, 20.0, 0.0], 0.2);
        }
    }
}

impl Way {
    /// Returns the root's position at each sample, in cm.
    fn places(self, random: &mut Random, samples: usize) -> Vec<[f32; 3]> {
        let mut base = [0.0; 3];
        let mut places = Vec::with_capacity(samples);
        let jumps: Vec<usize> = match self {
            Self::Jumps { times, .. } => {
                (0..times).map(|_| random.below(samples as u32) as usize).collect()
            }
            _ => Vec::new(),
        };
        for sample in 0..samples {
            let share = sample as f32 / samples as f32;
            let sway = random.between(-0.3, 0.3);
            if let Self::Jumps { metres, .. } = self
                && jumps.contains(&sample)
            {
                let most = 100.0 * metres;
                base = [random.between(-most, most), base[1], random.between(-most, most)];
            }
            let cm = match self {
                Self::Stays => 0.0,
                Self::Walks | Self::Jumps { .. } => 4.0 * sample as f32,
                Self::Travels { metres } => 100.0 * metres * share,
            };
            places.push(match self {
                Self::Stays => [0.0, 90.0, 0.0],
                _ => [base[0] + cm, 90.0 + base[1] + sway, base[2] - 0.4 * cm],
            });
        }
        places
    }
}

/// Returns a curve whose shape depends on `number`. The shapes are smooth, blinks, steps,
/// constants, tiny, negative and noise.
fn curve(random: &mut Random, number: usize, samples: usize) -> Curve {
    let size = [1.0, 1.0, 1.0, -0.25, 1e-5, -40.0, 0.1][number % 7];
    let speed = random.between(0.05, 0.9);
    let value = |sample: usize| {
        let time = speed * sample as f32;
        let wave = match number % 7 {
            1 => (8.0 * (0.3 * time).sin() - 7.0).max(0.0),
            2 => f32::from(u8::from(time.sin() > 0.3)),
            3 => 1.0,
            6 => random.between(-1.0, 1.0),
            _ => time.sin(),
        };
        size * wave
    };
    let values = (0..samples).map(value).collect();
    let precision = [0.001, 0.0001, 0.01, 0.05][number % 4];
    Curve { name: format!("curve {number}"), precision, values }
}

impl Scene {
    /// Returns a creature with 1,033 joints: the root, two bodies of 44, ropes, cloth, and wheels
    /// of two joints each.
    pub(crate) fn of_1033_joints() -> Self {
        let rope = Part::Rope { joints: 118, bone_cm: 4.0, swing: 0.1 };
        let cloth = Part::Cloth { strips: 35, joints: 9 };
        let wheels = Part::Wheels { count: 4, degrees: 166.0, reverses: false };
        let parts = vec![Part::Body, Part::Body, rope, cloth, wheels, cloth, rope];
        Self {
            parts,
            way: Way::Travels { metres: 300.0 },
            root_scale: 1.0,
            curves: 52,
            samples: 12,
            loops: false,
            seed: 4,
        }
    }

    /// Scenes with ropes, each with a precision at which it needs small steps. Coefficients of
    /// other components are then large: those of 52 curves, or of a root that jumps by kilometres.
    pub(crate) fn ropes() -> [(Self, f64); 2] {
        let rope = |joints, bone_cm, swing| vec![Part::Rope { joints, bone_cm, swing }];
        let curves = Self {
            parts: rope(97, 10.0, 0.47),
            way: Way::Walks,
            root_scale: 0.01,
            curves: 52,
            samples: 22,
            loops: false,
            seed: 4,
        };
        let jumps = Self {
            parts: rope(133, 1.0, 0.33),
            way: Way::Jumps { metres: 5948.0, times: 3 },
            root_scale: 1.0,
            curves: 0,
            samples: 42,
            loops: false,
            seed: 7_296_469_805_492_720_867,
        };
        [(curves, 0.8), (jumps, 0.298)]
    }

    /// Returns a clip of the scene. Each variant is a different clip of the same skeleton.
    pub(crate) fn clip(&self, variant: u64) -> RawClip {
        let samples = self.samples;
        let random = Random(self.seed);
        let mut stage = Stage { random, joints: Vec::new(), motions: Vec::new() };
        let bind = Transform { scale: [self.root_scale; 3], ..Transform::IDENTITY };
        stage.joints.push(Joint { name: String::new(), parent: None, bind });
        let places = self.way.places(&mut Random(self.seed ^ variant << 9), samples);
        stage.motions.push(Box::new(move |sample| Transform {
            rotation: turn(1, 0.03 * sample as f32),
            translation: places[sample],
            scale: bind.scale,
        }));
        self.parts.iter().for_each(|part| stage.part(*part, samples));
        let skeleton = Arc::new(Skeleton::new(stage.joints).unwrap());
        let mut poses = Vec::with_capacity(samples * stage.motions.len());
        for sample in 0..samples {
            let time = if self.loops && sample + 1 == samples { 0 } else { sample };
            let shifted = (time + 3 * variant as usize).min(samples - 1);
            poses.extend(stage.motions.iter().map(|motion| motion(shifted)));
        }
        let curves = (0..self.curves).map(|number| {
            let mut curve = curve(&mut Random(self.seed + number as u64), number, samples);
            if self.loops {
                curve.values[samples - 1] = curve.values[0];
            }
            curve
        });
        let rate_hz = [24.0, 30.0, 60.0][self.seed as usize % 3];
        let raw = RawClip::new("scene", skeleton, rate_hz, poses).unwrap();
        raw.with_curves(curves.collect()).unwrap()
    }
}
