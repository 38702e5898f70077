//! Avatars in a virtual room: people stand, look at each other, talk with their hands, and walk to
//! another place. The example records a minute as two streams: one with joints that a first struct
//! quantizes by hand, and one with a figure, which chooses the steps of all joints from an error in
//! centimetres. `cargo run --release -p kinepack-capture --example avatar -- avatar.mcap`.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/quaternion.rs"]
mod quaternion;
pub(crate) mod skeleton;
pub(crate) mod world;

use std::error::Error;
use std::path::Path;

use kinepack::{Pack, Schema, Snapshot, Tick};
use kinepack_anim::Transform;
use kinepack_anim::figure::{Figure, FigureOptions, FigurePose, Motion};
use kinepack_capture::{RecordSummary, Recorder};
use skeleton::{HIPS, JAW, JOINTS, SHINS, skeleton};
use world::World;

const RATE_HZ: u32 = 60;
pub(crate) const AVATARS: u32 = 12;

/// The attribute `rotation` is for one quaternion, so twenty rotations are an array of structs.
#[derive(Clone, Copy, Debug, Pack)]
pub(crate) struct FirstJoint {
    #[pack(rotation, bits = 12)] // from its parent
    rotation: [f32; 4],
}

/// The struct of a first version, in which every joint has the same bits.
#[derive(Clone, Debug, Pack)]
pub(crate) struct FirstAvatar {
    #[pack(range = -100.0..=100.0, precision = 0.0001)] // metres
    root: [f32; 3],
    joints: [FirstJoint; JOINTS],
}

impl FirstAvatar {
    fn of(pose: &[Transform; JOINTS]) -> Self {
        let root = pose[HIPS].translation.map(|cm| 0.01 * cm);
        Self { root, joints: pose.map(|Transform { rotation, .. }| FirstJoint { rotation }) }
    }
}

/// The largest error of any point within 3 cm of a joint.
pub(crate) const PRECISION_CM: f64 = 1.0;

/// Makes the figure of all avatars. Both sides of a connection call this.
pub(crate) fn body() -> Result<Figure, Box<dyn Error>> {
    let hinge = |joint| (joint, Motion::Hinge([1.0, 0.0, 0.0]));
    let moves = (HIPS, Motion::Moves { range_cm: 800.0 });
    let motions = vec![moves, hinge(JAW), hinge(SHINS[0]), hinge(SHINS[1])];
    let options = FigureOptions { precision_cm: PRECISION_CM, motions, ..Default::default() };
    Ok(Figure::new(&skeleton()?, &options)?)
}

/// Records `seconds` seconds of the game.
pub(crate) fn record(path: &Path, seconds: u32) -> Result<RecordSummary, Box<dyn Error>> {
    let mut body = body()?;
    let schema = Schema::new(body.fields());
    let mut recorder = Recorder::create(path)?;
    let first = recorder.stream::<FirstAvatar>("avatars-first", RATE_HZ.into())?;
    let avatars = recorder.stream_of_lanes("avatars", &schema, RATE_HZ.into())?;
    let mut world = World::new();
    for tick in (0..seconds * RATE_HZ).map(Tick) {
        world.step();
        let states = world.poses().map(|(id, pose)| (id, FirstAvatar::of(&pose)));
        recorder.record(&first, tick, states)?;
        let mut snapshot = Snapshot::new(&schema, tick);
        for (id, pose) in world.poses() {
            body.push(&mut snapshot, 0, id, &FigurePose::new(&pose))?;
        }
        recorder.record_snapshot(&avatars, &snapshot)?;
    }
    Ok(recorder.finish()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    common::run(record)
}
