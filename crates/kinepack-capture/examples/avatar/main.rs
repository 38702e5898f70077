//! Avatars in a virtual room: people stand, look at each other, talk with their hands, and walk to
//! another place. The example records a minute as two streams, one with the first struct and one
//! with the struct after `kinepack analyze`: `cargo run --release -p kinepack-capture --example
//! avatar -- avatar.mcap`.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/quaternion.rs"]
mod quaternion;
mod world;

use std::error::Error;
use std::path::Path;

use kinepack::{EntityId, Pack};
use kinepack_capture::{RecordError, RecordSummary};
use world::World;

const RATE_HZ: u32 = 60;
pub(crate) const AVATARS: u32 = 12;
/// The joints are the hips, spine, chest, neck, head and jaw. Each arm has the shoulder, upper arm,
/// forearm and hand, and each leg the thigh, shin and foot.
pub(crate) const JOINTS: usize = 20;

/// The attribute `rotation` is for one quaternion, so twenty rotations are an array of structs.
#[derive(Clone, Copy, Debug, Pack)]
pub(crate) struct FirstJoint {
    #[pack(rotation, bits = 12)] // from its parent
    rotation: [f32; 4],
}

/// The struct of a first version, with generous limits.
#[derive(Clone, Debug, Pack)]
pub(crate) struct FirstAvatar {
    #[pack(range = -100.0..=100.0, precision = 0.0001)] // metres
    root: [f32; 3],
    joints: [FirstJoint; JOINTS],
}

#[derive(Clone, Copy, Debug, Pack)]
pub(crate) struct Joint {
    #[pack(rotation, bits = 9)] // from its parent
    rotation: [f32; 4],
}

/// The struct after `analyze`.
#[derive(Clone, Debug, Pack)]
pub(crate) struct Avatar {
    #[pack(range = [-8.0..=8.0, -8.0..=8.0, 0.0..=2.0], precision = 0.002)] // metres
    root: [f32; 3],
    joints: [Joint; JOINTS],
}

/// Records `seconds` seconds of the game.
pub(crate) fn record(path: &Path, seconds: u32) -> Result<RecordSummary, RecordError> {
    let mut world = World::new();
    common::record(path, "avatars", RATE_HZ, seconds, || {
        world.step();
        let states = (0..).zip(world.avatars()).map(|(id, (root, rotations))| {
            let joints = rotations.map(|rotation| FirstJoint { rotation });
            let first = FirstAvatar { root, joints };
            let joints = rotations.map(|rotation| Joint { rotation });
            (EntityId(id), first, Avatar { root, joints })
        });
        states.collect()
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    common::run(record)
}
