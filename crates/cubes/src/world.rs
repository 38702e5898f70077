//! The world: the engine's state, and one tick of it.
//!
//! A tick applies the input's impulses, steps the engine by 1/60 s, keeps bodies inside the room, and updates the
//! flags. Everything starts at rest and asleep, so that without input nothing ever changes, not even by a bit.
//!
//! The engine is `rapier3d`, single-threaded. Its results depend on nothing but the order of calls, so equal inputs
//! give equal worlds on the same build. Cost: a tick of 901 bodies takes well below a millisecond to a few, by how
//! many are awake; `cargo run --release -p cubes --example statistics` measures it.

use rapier3d::prelude::*;

use crate::arena::{self, Arena};
use crate::body::Body;
use crate::config::{Config, ConfigError};
use crate::forces;
use crate::input::Input;
use crate::interacting::Interacting;

/// Steps a second. [`World::step`] always advances by `1 / TICK_HZ` seconds.
pub const TICK_HZ: u32 = 60;

/// As in the article's demo: twice the earth's, so that small cubes fall as fast as they look large.
pub(crate) const GRAVITY_M_PER_S2: f32 = -20.0;
/// No body gets faster. Below 32 m/s, so that a component fits 11 bits at 1/32 m/s.
const MAX_SPEED_M_PER_S: f32 = 31.9;
/// Lets the player's cube come to rest a moment after the keys are let go.
const PLAYER_ANGULAR_DAMPING_PER_S: f32 = 0.5;

/// The cubes, the player and the room around them. Body 0 is the player's, 1 and up are the cubes of the grid.
pub struct World {
    physics: PhysicsWorld,
    arena: Arena,
    /// The bodies by entity number. As long as `colliders`; none is ever removed.
    handles: Vec<RigidBodyHandle>,
    colliders: Vec<ColliderHandle>,
    interacting: Interacting,
    tick: u32,
}

impl World {
    /// The world at tick 0: all cubes at rest on the grid, the player at rest before its first row.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] if [`Config::validate`] has one.
    pub fn new(config: &Config) -> Result<World, ConfigError> {
        config.validate()?;
        let arena = Arena::new(config.cubes);
        let mut physics = PhysicsWorld { gravity: Vector::Z * GRAVITY_M_PER_S2, ..PhysicsWorld::default() };
        physics.integration_parameters.dt = tick_s();
        physics.integration_parameters.normalized_max_linear_velocity = MAX_SPEED_M_PER_S;
        for boundary in arena.boundaries() {
            physics.insert_collider(boundary, None);
        }

        let cubes = arena.cube_positions().map(|position| (position, arena::CUBE_EDGE_M, 0.0));
        let player = (arena.player_position(), arena::PLAYER_EDGE_M, PLAYER_ANGULAR_DAMPING_PER_S);
        // Contacts are looked for as far ahead as a body may get in a tick: else a small cube that falls fast would
        // be seen deep in the floor for some ticks.
        let (handles, colliders): (Vec<_>, Vec<_>) = core::iter::once(player)
            .chain(cubes)
            .enumerate()
            .map(|(index, (position, edge_m, angular_damping_per_s))| {
                let body = RigidBodyBuilder::dynamic()
                    .translation(position)
                    .angular_damping(angular_damping_per_s)
                    .soft_ccd_prediction(MAX_SPEED_M_PER_S * tick_s());
                physics.insert(body, arena::cube_collider(edge_m, index))
            })
            .unzip();
        settle(&mut physics);
        let interacting = Interacting::new(handles.len());
        Ok(World { physics, arena, handles, colliders, interacting, tick: 0 })
    }

    /// Advances by one tick of `1 / TICK_HZ` seconds with the keys of `input` held.
    pub fn step(&mut self, input: Input) {
        let interacting = &mut self.interacting;
        forces::apply(input, tick_s(), &mut self.physics.bodies, &self.handles, |index| interacting.touch(index));
        self.physics.step();
        for handle in self.physics.islands.active_bodies() {
            if !self.arena.contains(self.physics.bodies[handle].translation()) {
                self.arena.confine(&mut self.physics.bodies[handle]);
            }
        }
        self.interacting.update(&self.physics, &self.handles, &self.colliders);
        self.tick += 1;
    }

    /// The number of steps so far.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// The number of bodies, the player included: one more than the cubes.
    #[expect(clippy::len_without_is_empty, reason = "there is always the player")]
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// The state of body `index`, 0 being the player.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`World::len`].
    pub fn body(&self, index: usize) -> Body {
        let body = &self.physics.bodies[self.handles[index]];
        let limit = Vector::splat(MAX_SPEED_M_PER_S);
        Body {
            position: body.translation().to_array(),
            orientation: body.rotation().to_array(),
            // The engine bounds the speed within a step; rounding may leave it a little above.
            velocity: body.linvel().clamp(-limit, limit).to_array(),
            interacting: self.interacting.is_set(index),
        }
    }

    /// The states of all bodies in the order of their numbers, the player first.
    pub fn bodies(&self) -> impl Iterator<Item = Body> + '_ {
        (0..self.len()).map(|index| self.body(index))
    }

    /// The bound of |x| and |y| in metres: no body's centre is ever farther out.
    pub fn half_width_m(&self) -> f32 {
        self.arena.half_width_m
    }

    /// Half the width of the grid at tick 0 in metres. Around the origin, where there is something to do.
    pub fn grid_half_width_m(&self) -> f32 {
        self.arena.grid_half_width_m
    }
}

/// Puts all bodies to sleep where they are.
///
/// The engine must have found the contacts with the floor first: bodies that are inserted asleep fall into it.
fn settle(physics: &mut PhysicsWorld) {
    physics.step();
    for (_, body) in physics.bodies.iter_mut() {
        body.sleep();
    }
    // Only the next step takes them off the list of active bodies.
    physics.step();
}

fn tick_s() -> f32 {
    1.0 / TICK_HZ as f32
}
