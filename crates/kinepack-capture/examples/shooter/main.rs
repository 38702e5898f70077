//! A top-down shooter: two teams walk, aim, shoot, reload, take pickups, fall and come back. The
//! example records a minute as two streams, one with the first struct and one with the struct after
//! `kinepack analyze`: `cargo run --release -p kinepack-capture --example shooter -- shooter.mcap`.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/structs.rs"]
mod structs;
mod world;

use std::error::Error;
use std::f32::consts::TAU;
use std::path::Path;

use kinepack::{EntityId, Pack};
use kinepack_capture::RecordSummary;
use world::World;

const RATE_HZ: u32 = 60;
pub(crate) const PLAYERS: u32 = 24;
pub(crate) const PICKUPS: u32 = 12;

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub(crate) enum Kind {
    Player,
    Pickup,
    Bullet,
}

/// The struct of a first version, with generous limits.
#[derive(Clone, Debug, Pack)]
pub(crate) struct FirstThing {
    pub(crate) kind: Kind,
    #[pack(range = -1000.0..=1000.0, precision = 0.001)] // metres
    position: [f32; 2],
    #[pack(range = -100.0..=100.0, precision = 0.001, velocity = position)] // metres a second
    velocity: [f32; 2],
    #[pack(range = 0.0..TAU, bits = 16, wrap)] // radians
    yaw: f32,
    health: u32,     // 0 to 100
    ammunition: u32, // rounds
    is_reloading: bool,
}

/// The struct after `analyze`: it has only visible precision, and no velocity.
#[derive(Clone, Debug, Pack)]
pub(crate) struct Thing {
    pub(crate) kind: Kind,
    #[pack(range = -64.0..=64.0, precision = 0.01)] // metres
    position: [f32; 2],
    #[pack(range = 0.0..TAU, bits = 9, wrap)] // radians
    yaw: f32,
    #[pack(max = 100)]
    health: u32,
    #[pack(max = 30)]
    ammunition: u32, // rounds
    is_reloading: bool,
}

/// Records `seconds` seconds of the game.
pub(crate) fn record(path: &Path, seconds: u32) -> Result<RecordSummary, Box<dyn Error>> {
    let mut world = World::new();
    structs::record(path, "things", RATE_HZ, seconds, || {
        world.step();
        let states = world.things().map(|(id, thing, velocity)| {
            let Thing { kind, position, yaw, health, ammunition, is_reloading } = *thing;
            let first =
                FirstThing { kind, position, velocity, yaw, health, ammunition, is_reloading };
            (EntityId(id), first, thing.clone())
        });
        states.collect()
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    common::run(record)
}
