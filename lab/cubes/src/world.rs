//! The world, which holds the engine's state and simulates ticks.
//!
//! A tick applies the inputs' impulses, steps the engine by 1/60 s, keeps bodies inside the room,
//! and updates the flags. All bodies start at rest and asleep, so without input no bit of the state
//! ever changes. Only players that join later take a moment to come to rest.
//!
//! The engine is `rapier3d`, which runs on a single thread. Its results depend only on the order of
//! calls, so equal inputs give equal worlds on the same build. A tick of 901 bodies takes from well
//! below a millisecond to a few milliseconds, depending on how many are awake. `cargo run --release
//! -p cubes --example statistics` measures it.

use rapier3d::prelude::*;

use crate::arena::{self, Arena, NOT_A_CUBE};
use crate::body::Body;
use crate::config::{Config, ConfigError};
use crate::forces;
use crate::input::Input;
use crate::interacting::Interacting;
use crate::places::free_place;
use crate::players::{AddPlayerError, Part, Players};

/// The number of steps per second. [`World::step`] always advances by `1 / TICK_HZ` seconds.
pub const TICK_HZ: u32 = 60;

/// The gravity, as in the article's demo. It is twice that of the earth, so that small cubes fall
/// as fast as their apparent size suggests.
pub(crate) const GRAVITY_M_PER_S2: f32 = -20.0;
/// The largest speed of a body. It is below 32 m/s, so a component fits into 11 bits at 1/32 m/s.
const MAX_SPEED_M_PER_S: f32 = 31.9;
/// The damping that makes a player's cube come to rest a moment after the keys are released.
const PLAYER_ANGULAR_DAMPING_PER_S: f32 = 0.5;

/// The cubes, the players and the room around them.
///
/// Each body has a number. The first player has 0, the cubes of the grid have the numbers from 1
/// on, and further players have the numbers from [`FIRST_GUEST`](crate::FIRST_GUEST) on.
pub struct World {
    physics: PhysicsWorld,
    arena: Arena,
    players: Players,
    /// The cubes of the grid, from number 1 on. They are never removed.
    cubes: Vec<Part>,
    interacting: Interacting,
    tick: u32,
}

impl World {
    /// Returns the world at tick 0. All cubes rest on the grid, and the player rests in front of
    /// its first row.
    ///
    /// # Errors
    ///
    /// The [`ConfigError`] of [`Config::validate`].
    pub fn new(config: &Config) -> Result<World, ConfigError> {
        config.validate()?;
        let arena = Arena::new(config.cubes);
        let mut physics =
            PhysicsWorld { gravity: Vector::Z * GRAVITY_M_PER_S2, ..PhysicsWorld::default() };
        physics.integration_parameters.dt = tick_s();
        physics.integration_parameters.normalized_max_linear_velocity = MAX_SPEED_M_PER_S;
        for boundary in arena.boundaries() {
            physics.insert_collider(boundary, None);
        }
        let players = Players::new(insert_player(&mut physics, arena.player_position()));
        let cubes: Vec<Part> = (0..)
            .zip(arena.cube_positions())
            .map(|(cube, position)| {
                insert_body(&mut physics, position, arena::CUBE_EDGE_M, 0.0, cube)
            })
            .collect();
        settle(&mut physics);
        let interacting = Interacting::new(cubes.len());
        Ok(World { physics, arena, players, cubes, interacting, tick: 0 })
    }

    /// Adds a player with a cube on a free place at the edge of the grid, and returns its number.
    ///
    /// A freed number is reused, but other free numbers come first. At most, the call computes a
    /// distance for each body and each of a few hundred places.
    ///
    /// # Errors
    ///
    /// [`AddPlayerError::Full`] if the world has [`MAX_PLAYERS`](crate::MAX_PLAYERS) players, and
    /// [`AddPlayerError::NoRoom`] if no place is free. On error, the world is unchanged.
    pub fn add_player(&mut self) -> Result<u32, AddPlayerError> {
        let number = self.players.free_number().ok_or(AddPlayerError::Full)?;
        let centre = |part: &Part| self.physics.bodies[part.body].translation();
        let cubes: Vec<Vector> = self.cubes.iter().map(centre).collect();
        let players: Vec<Vector> = self.players.iter().map(|(_, part)| centre(&part)).collect();
        let place = free_place(self.arena, &cubes, &players).ok_or(AddPlayerError::NoRoom)?;
        // The body is inserted awake, because a body that is inserted asleep falls into the floor.
        self.players.insert(number, insert_player(&mut self.physics, place));
        Ok(number)
    }

    /// Removes a player and its cube. Returns false if there is no player with this number, or if
    /// it is the first player, who always stays.
    pub fn remove_player(&mut self, number: u32) -> bool {
        let removed = self.players.remove(number);
        // The engine wakes the bodies that touched the removed one.
        removed.is_some_and(|part| self.physics.remove_body(part.body).is_some())
    }

    /// Advances by one tick of `1 / TICK_HZ` seconds. The first player holds the keys of `input`,
    /// and the others hold none.
    pub fn step(&mut self, input: Input) {
        self.step_players(&[(0, input)]);
    }

    /// Advances by one tick of `1 / TICK_HZ` seconds. Each pair is a player's number and the keys
    /// that it holds.
    ///
    /// Players who are not in the list hold no keys. Numbers without a player are ignored. If a
    /// number occurs twice, the last pair counts. Apart from that, the order does not matter.
    pub fn step_players(&mut self, inputs: &[(u32, Input)]) {
        for (number, player) in self.players.iter() {
            let held = inputs.iter().rev().find(|(named, _)| *named == number);
            let input = held.map_or_else(Input::default, |(_, input)| *input);
            let touched = |cube| self.interacting.touch(cube);
            forces::apply(
                input,
                tick_s(),
                &mut self.physics.bodies,
                player.body,
                &self.cubes,
                touched,
            );
        }
        self.physics.step();
        for handle in self.physics.islands.active_bodies() {
            if !self.arena.contains(self.physics.bodies[handle].translation()) {
                self.arena.confine(&mut self.physics.bodies[handle]);
            }
        }
        self.interacting.update(
            &self.physics,
            self.players.iter().map(|(_, part)| part),
            &self.cubes,
        );
        self.tick += 1;
    }

    /// Returns the number of steps since the beginning.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Returns the number of bodies: cubes and players.
    #[expect(clippy::len_without_is_empty, reason = "there is always the first player")]
    pub fn len(&self) -> usize {
        self.players.iter().count() + self.cubes.len()
    }

    /// Returns the number of cubes without players. The cubes have the numbers from 1 to this
    /// number.
    pub fn cubes(&self) -> u32 {
        self.cubes.len() as u32
    }

    /// Returns the state of the body with the number `number`. The first player has number 0.
    ///
    /// # Panics
    ///
    /// If no body has this number.
    pub fn body(&self, number: u32) -> Body {
        let cube = (number as usize).wrapping_sub(1);
        match self.cubes.get(cube) {
            Some(part) => self.state(*part, self.interacting.is_set(cube)),
            None => {
                let player = self.players.find(number);
                self.state(player.unwrap_or_else(|| panic!("there is no body {number}")), true)
            }
        }
    }

    /// Returns the numbers and states of all bodies, by ascending number: the first player, the
    /// cubes, and then the further players.
    pub fn bodies(&self) -> impl Iterator<Item = (u32, Body)> + '_ {
        let mut players =
            self.players.iter().map(|(number, part)| (number, self.state(part, true)));
        let cubes = (1..).zip(self.cubes.iter().enumerate());
        let cubes = cubes.map(|(number, (cube, part))| {
            (number, self.state(*part, self.interacting.is_set(cube)))
        });
        players.next().into_iter().chain(cubes).chain(players)
    }

    fn state(&self, part: Part, interacting: bool) -> Body {
        let body = &self.physics.bodies[part.body];
        let limit = Vector::splat(MAX_SPEED_M_PER_S);
        Body {
            position: body.translation().to_array(),
            orientation: body.rotation().to_array(),
            // The engine bounds the speed within a step, but rounding may leave it slightly above
            // the bound.
            velocity: body.linvel().clamp(-limit, limit).to_array(),
            interacting,
        }
    }

    /// Returns the bound of |x| and |y| of all bodies' centres, in metres.
    pub fn half_width_m(&self) -> f32 {
        self.arena.half_width_m
    }

    /// Returns half the width of the grid at tick 0 in metres. The grid is centred on the origin.
    pub fn grid_half_width_m(&self) -> f32 {
        self.arena.grid_half_width_m
    }
}

fn insert_player(physics: &mut PhysicsWorld, position: Vector) -> Part {
    insert_body(physics, position, arena::PLAYER_EDGE_M, PLAYER_ANGULAR_DAMPING_PER_S, NOT_A_CUBE)
}

fn insert_body(
    physics: &mut PhysicsWorld,
    position: Vector,
    edge_m: f32,
    angular_damping_per_s: f32,
    user_data: u128,
) -> Part {
    // The engine looks for contacts as far ahead as a body can move in a tick. Otherwise a small
    // cube that falls fast would be deep in the floor for some ticks.
    let body = RigidBodyBuilder::dynamic()
        .translation(position)
        .angular_damping(angular_damping_per_s)
        .soft_ccd_prediction(MAX_SPEED_M_PER_S * tick_s());
    let (body, collider) = physics.insert(body, arena::cube_collider(edge_m, user_data));
    Part { body, collider }
}

/// Puts all bodies to sleep where they are.
///
/// The engine must find the contacts with the floor first, because bodies that are inserted asleep
/// fall into the floor.
fn settle(physics: &mut PhysicsWorld) {
    physics.step();
    for (_, body) in physics.bodies.iter_mut() {
        body.sleep();
    }
    // Only the next step removes the sleeping bodies from the list of active ones.
    physics.step();
}

fn tick_s() -> f32 {
    1.0 / TICK_HZ as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_on_a_removed_player_falls() {
        let mut world = World::new(&Config { cubes: 4 }).expect("a valid number of cubes");
        let guest = world.add_player().expect("a free place");
        let top = Vector::from_array(world.body(guest).position)
            + Vector::Z * (arena::PLAYER_EDGE_M / 2.0 + 0.21);
        world.physics.bodies[world.cubes[2].body].set_translation(top, true);
        for _ in 0..600 {
            world.step(Input::default());
        }
        let cube = world.body(3);
        assert!(
            cube.position[2] > 1.6 && cube.velocity == [0.0; 3] && cube.interacting,
            "it rests on the player: {cube:?}"
        );
        assert!(world.remove_player(guest));
        for _ in 0..120 {
            world.step(Input::default());
        }
        let [.., z] = world.body(3).position;
        assert!((z - arena::CUBE_EDGE_M / 2.0).abs() < 0.01, "on the floor: {z}");
    }
}
