//! The cube world as a broadcast.

use std::error::Error;

use cube_data::cube::{self, Cube, Player};
use cubes::{Config, Script, Style, World, is_player};
use kinepack::{Codec, EntityId, Level, Schema, Snapshot, Tick};
use kinepack_crowd::Catalogue;

use crate::runs::measured;

/// The built-in world of 901 cubes, which a script plays.
pub struct Cubes {
    world: World,
    script: Script,
    snapshot: Snapshot,
}

impl Cubes {
    /// Returns a world of 901 cubes at its beginning.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let snapshot = Snapshot::new(&cube::players_and_cubes()?, Tick(0));
        let world = World::new(&Config { cubes: 900 })?;
        Ok(Self { world, script: Script::new(Style::Typical, 1), snapshot })
    }

    /// Simulates a tick.
    pub fn step(&mut self, tick: u32) -> Result<&Snapshot, Box<dyn Error>> {
        let input = self.script.next_input(&self.world);
        self.world.step(input);
        self.snapshot.clear(Tick(tick));
        for (id, body) in self.world.bodies() {
            let state = measured(body);
            if is_player(id) {
                self.snapshot.push(EntityId(id), &Player::from(state))?;
            } else {
                self.snapshot.push(EntityId(id), &Cube::from(state))?;
            }
        }
        Ok(&self.snapshot)
    }
}

/// Returns the broadcast of the cubes.
pub fn catalogue() -> Result<Catalogue, Box<dyn Error>> {
    let schema = cube::players_and_cubes()?;
    let profile = cube::profile().carried(&Schema::of::<Cube>(), &schema)?;
    let codec = Codec::new(schema, Level::LEARNING, profile)?;
    Ok(Catalogue::standard(60, &codec)?)
}
