//! Makes the clips of the tests of `anim view`. They show a walking figure, which was designed by
//! hand.

use std::f32::consts::TAU;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use kinepack_anim::{Joint, RawClip, Skeleton, Transform, exchange};
use tempfile::TempDir;

pub(crate) const JOINTS: usize = 15;
pub(crate) const SAMPLES: usize = 46;
pub(crate) const RATE_HZ: f32 = 30.0;

/// Each joint's parent, and its offset from the parent in cm.
const BONES: [(Option<u16>, [f32; 3]); JOINTS] = [
    (None, [0.0, 95.0, 0.0]),
    (Some(0), [0.0, 25.0, 0.0]),
    (Some(1), [0.0, 25.0, 0.0]),
    (Some(2), [0.0, 22.0, 0.0]),
    (Some(2), [18.0, 0.0, 0.0]),
    (Some(4), [6.0, -28.0, 0.0]),
    (Some(5), [2.0, -26.0, 0.0]),
    (Some(2), [-18.0, 0.0, 0.0]),
    (Some(7), [-6.0, -28.0, 0.0]),
    (Some(8), [-2.0, -26.0, 0.0]),
    (Some(0), [10.0, -4.0, 0.0]),
    (Some(10), [0.0, -42.0, 0.0]),
    (Some(11), [0.0, -43.0, 0.0]),
    (Some(0), [-10.0, -4.0, 0.0]),
    (Some(13), [0.0, -44.0, 0.0]),
];

/// The joints that swing about x, each with its angle and its phase. The hips move up and down
/// instead.
const SWINGS: [(usize, f32, f32); 8] = [
    (1, 0.06, 0.1),
    (4, 0.5, 0.5),
    (5, 0.3, 0.4),
    (7, 0.5, 0.0),
    (8, 0.3, 0.9),
    (10, 0.6, 0.0),
    (11, 0.5, 0.75),
    (13, 0.6, 0.5),
];

/// Returns a walk on the spot, with `pace_hz` steps per second.
pub(crate) fn walk(name: &str, pace_hz: f32) -> RawClip {
    let joint = |(parent, translation)| Joint {
        name: String::new(),
        parent,
        bind: Transform { translation, ..Transform::IDENTITY },
    };
    let skeleton = Arc::new(Skeleton::new(BONES.map(joint).to_vec()).unwrap());
    let pose = |sample: usize| {
        let turn = sample as f32 / RATE_HZ * pace_hz;
        let mut pose = skeleton.bind_pose();
        pose[0].translation[1] += 3.0 * (2.0 * turn * TAU).sin();
        for (joint, angle, phase) in SWINGS {
            let half = 0.5 * angle * ((turn + phase) * TAU).sin();
            pose[joint].rotation = [half.sin(), 0.0, 0.0, half.cos()];
        }
        pose
    };
    let samples = (0..SAMPLES).flat_map(pose).collect();
    RawClip::new(name, Arc::clone(&skeleton), RATE_HZ, samples).unwrap()
}

/// Writes files of two walks. Returns their folder, which exists until it is dropped, and their
/// paths.
pub(crate) fn files() -> (TempDir, Vec<PathBuf>) {
    let folder = TempDir::new().unwrap();
    let write = |(name, pace_hz): (&str, f32)| {
        let path = folder.path().join(format!("{name}.clip"));
        exchange::write(&walk(name, pace_hz), File::create(&path).unwrap()).unwrap();
        path
    };
    let paths = [("stroll", 0.7), ("hurry", 1.6)].map(write).to_vec();
    (folder, paths)
}
