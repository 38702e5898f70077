//! A swarm of drones in `f64` coordinates: they charge, take off, fly from place to place in the
//! wind, hover to look, and come back. The example records a minute as two streams, one with the
//! first struct and one with the struct after `kinepack analyze`: `cargo run --release -p
//! kinepack-capture --example drones -- drones.mcap`.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/quaternion.rs"]
mod quaternion;
#[path = "../common/structs.rs"]
mod structs;
mod world;

use std::error::Error;
use std::path::Path;

use kinepack::{EntityId, Pack};
use kinepack_capture::RecordSummary;
use world::World;

const RATE_HZ: u32 = 30;
pub(crate) const DRONES: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub(crate) enum Mode {
    Charging,
    Flying,
    Hovering,
    Returning,
}

/// The struct of a first version, with generous limits.
#[derive(Clone, Debug, Pack)]
pub(crate) struct FirstDrone {
    #[pack(range = -20_000.0..=20_000.0, precision = 0.001)]
    // metres from the base: east, north, up
    position: [f64; 3],
    #[pack(range = -100.0..=100.0, precision = 0.001, velocity = position)] // metres a second
    velocity: [f64; 3],
    #[pack(rotation, bits = 12)]
    rotation: [f32; 4],
    battery: f32, // 0 to 1
    mode: Mode,
}

/// The struct after `analyze`.
#[derive(Clone, Debug, Pack)]
pub(crate) struct Drone {
    #[pack(range = [-4000.0..=4000.0, -4000.0..=4000.0, 0.0..=250.0], precision = 0.01)]
    // metres from the base: east, north, up
    position: [f64; 3],
    #[pack(rotation, bits = 9)]
    rotation: [f32; 4],
    #[pack(range = 0.0..=1.0, precision = 0.01)]
    battery: f32,
    pub(crate) mode: Mode,
}

/// Records `seconds` seconds of the swarm.
pub(crate) fn record(path: &Path, seconds: u32) -> Result<RecordSummary, Box<dyn Error>> {
    let mut world = World::new();
    structs::record(path, "drones", RATE_HZ, seconds, || {
        world.step();
        let states = (0..).zip(world.drones()).map(|(id, (drone, velocity))| {
            let Drone { position, rotation, battery, mode } = *drone;
            let first = FirstDrone { position, velocity, rotation, battery, mode };
            (EntityId(id), first, drone.clone())
        });
        states.collect()
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    common::run(record)
}
