//! Tests that no pose of any skeleton is farther off than the precision.

use kinepack_anim::figure::{Figure, FigureError, FigureOptions, Motion};
use kinepack_anim::measure::{ErrorOptions, pose_errors_cm};
use kinepack_anim::{Joint, Skeleton, Transform};

use super::{about, rotation, shown};
use crate::random::Random;

pub(super) const SKELETONS: u64 = 500;

/// Returns a skeleton of 3 to 250 joints. It may have levers from millimetres to 100 m, scales,
/// chains and stars.
fn skeleton(random: &mut Random) -> Skeleton {
    let most = if random.below(4) == 0 { 248 } else { 40 };
    let joints = 3 + random.below(most) as usize;
    let (chains, lever_cm) = (random.below(3), 10f32.powf(random.between(-1.0, 4.0)));
    let mut list: Vec<Joint> = Vec::new();
    for index in 0..joints {
        let parent = match (index, chains) {
            (0, _) => None,
            _ if random.below(40) == 0 => None,
            (_, 0) => Some(index - 1),
            (_, 1) => Some(random.below(index as u32) as usize),
            _ => Some(index - 1 - random.below(3.min(index as u32)) as usize),
        };
        let scale = match random.below(24) {
            0..3 => random.between(0.3, 2.0),
            3 => -1.0,
            4 => 0.01,
            5 => 0.0,
            _ => 1.0,
        };
        let bind = Transform {
            rotation: if random.below(2) == 0 { rotation(random) } else { [0.0, 0.0, 0.0, 1.0] },
            translation: std::array::from_fn(|_| random.between(-lever_cm, lever_cm)),
            scale: std::array::from_fn(|axis| if axis < 2 { scale } else { 1.0 }),
        };
        list.push(Joint { name: String::new(), parent: parent.map(|p| p as u16), bind });
    }
    Skeleton::new(list).unwrap()
}

fn motion(random: &mut Random, parent: Option<usize>) -> Option<Motion> {
    match random.below(12) {
        0 => Some(Motion::Still),
        1 | 2 => Some(Motion::Hinge(std::array::from_fn(|_| random.between(-1.0, 1.0) + 0.001))),
        3 => Some(Motion::Moves { range_cm: 10f32.powf(random.between(-3.0, 2.0)) }),
        4 if parent.is_none() => Some(Motion::Turns),
        _ => None,
    }
}

/// Returns a pose that the motions allow.
fn pose(random: &mut Random, skeleton: &Skeleton, motions: &[Option<Motion>]) -> Vec<Transform> {
    let mut pose = skeleton.bind_pose();
    for (joint, (transform, motion)) in pose.iter_mut().zip(motions).enumerate() {
        let root = Motion::Moves { range_cm: 10_000.0 };
        let usual = if skeleton.parent(joint).is_none() { root } else { Motion::Turns };
        match motion.unwrap_or(usual) {
            Motion::Still => {}
            Motion::Hinge(axis) => {
                let turn = about(axis, random.between(-9.0, 9.0));
                transform.rotation = product(transform.rotation, turn);
            }
            Motion::Turns => transform.rotation = rotation(random),
            Motion::Moves { range_cm } => {
                transform.rotation = rotation(random);
                for number in &mut transform.translation {
                    *number += random.between(-range_cm, range_cm) * 0.999;
                }
            }
        }
    }
    pose
}

fn product([ax, ay, az, aw]: [f32; 4], [bx, by, bz, bw]: [f32; 4]) -> [f32; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// A figure of a random skeleton, and how its joints move.
pub(super) struct Generated {
    pub(super) skeleton: Skeleton,
    motions: Vec<Option<Motion>>,
    pub(super) figure: Figure,
    precision_cm: f64,
}

impl Generated {
    /// Returns `None` if no precision suits the skeleton.
    pub(super) fn new(random: &mut Random) -> Option<Self> {
        let skeleton = skeleton(random);
        let motions: Vec<Option<Motion>> =
            (0..skeleton.len()).map(|joint| motion(random, skeleton.parent(joint))).collect();
        let listed = motions.iter().enumerate();
        let mut options = FigureOptions {
            precision_cm: f64::from(10f32.powf(random.between(-1.0, 1.0))),
            motions: listed.filter_map(|(joint, motion)| Some((joint, (*motion)?))).collect(),
            ..FigureOptions::default()
        };
        let figure = match Figure::new(&skeleton, &options) {
            // Levers of many metres may need a coarser precision than a millimetre.
            Err(FigureError::TooFine { finest_cm, .. }) => {
                options.precision_cm = finest_cm * 1.5;
                match Figure::new(&skeleton, &options) {
                    Err(FigureError::TooFine { .. } | FigureError::JointLimits { .. }) => {
                        return None;
                    }
                    figure => figure.unwrap(),
                }
            }
            Err(FigureError::JointLimits { .. }) => return None,
            figure => figure.unwrap(),
        };
        Some(Self { skeleton, motions, figure, precision_cm: options.precision_cm })
    }

    /// Returns a pose that the motions allow.
    pub(super) fn pose(&self, random: &mut Random) -> Vec<Transform> {
        pose(random, &self.skeleton, &self.motions)
    }
}

#[test]
fn no_pose_is_farther_off_than_the_precision() {
    let (mut tried, mut worst_share) = (0, 0.0f64);
    for seed in 0..SKELETONS {
        let random = &mut Random(seed);
        let Some(mut generated) = Generated::new(random) else { continue };
        tried += 1;
        let measure = ErrorOptions::default();
        for _ in 0..5 {
            let pose = generated.pose(random);
            let Generated { skeleton, figure, precision_cm, .. } = &mut generated;
            let shown = shown(figure, skeleton, &pose);
            for (joint, error_cm) in pose_errors_cm(skeleton, &pose, &shown, &measure).enumerate() {
                let limit_cm = figure.max_error_cm(joint);
                assert!(limit_cm <= *precision_cm, "seed {seed}, joint {joint}");
                assert!(error_cm <= limit_cm, "seed {seed}, joint {joint}: {error_cm} cm");
                worst_share = worst_share.max(error_cm / *precision_cm);
            }
        }
    }
    assert!(tried > SKELETONS * 4 / 5, "{tried}");
    // The steps use most of what the precision allows.
    assert!(worst_share > 0.5, "{worst_share}");
}

#[test]
fn joints_with_a_precision_of_their_own_keep_it() {
    let skeleton = super::chain(8, 25.0);
    let options =
        FigureOptions { joint_precisions_cm: vec![(7, 0.02)], ..FigureOptions::default() };
    let mut figure = Figure::new(&skeleton, &options).unwrap();
    let random = &mut Random(5);
    for _ in 0..50 {
        let pose = pose(random, &skeleton, &[None; 8]);
        let shown = shown(&mut figure, &skeleton, &pose);
        let errors = pose_errors_cm(&skeleton, &pose, &shown, &ErrorOptions::default());
        assert!(errors.last().unwrap() <= 0.02);
    }
}
