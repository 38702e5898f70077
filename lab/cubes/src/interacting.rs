//! The flag "interacting" of each cube: the article's hint of which cubes the players interact
//! with. The players' own flag is always set.
//!
//! A cube interacts while a player's cube touches it, directly or through a chain of other moving
//! cubes. It also interacts while a push or pull reaches it. After that, the cube keeps the flag
//! while it moves, and for [`HOLD_TICKS`] more. A moving cube passes the flag on to the cubes that
//! it hits. The flag lasts this long for two reasons. A cube that a player has pushed away moves
//! because of that player until it lies still. A flickering flag also costs bits.
//!
//! The module finds the chains by a walk over the engine's contact graph, from the players and from
//! the interacting cubes that move. The walk visits the contacts of the cubes that it reaches. The
//! update also visits one counter for every cube.

use rapier3d::prelude::*;

use crate::arena::NOT_A_CUBE;
use crate::players::Part;

/// The time for which the flag stays set after the last touch or motion, which is one second.
const HOLD_TICKS: u8 = 60;
/// The speed below which a cube counts as lying still. It is above the engine's own limit for
/// falling asleep, 0.05 m/s, so a cube that trembles before it sleeps does not pass the flag on.
const STILL_M_PER_S: f32 = 0.1;
/// The angular speed below which a cube counts as lying still.
const STILL_RAD_PER_S: f32 = 0.5;

/// The flags, and scratch memory for the walk. In this file, cubes are counted from 0.
pub(crate) struct Interacting {
    /// For each cube, the remaining ticks in which it interacts.
    ticks_left: Vec<u8>,
    /// For each cube, whether it interacted and moved in the previous tick.
    moved: Vec<bool>,
    /// For each cube, whether this tick's walk has reached it. Between updates, all are false.
    reached: Vec<bool>,
    /// The colliders whose contacts this tick's walk follows, in order. Between updates, the queue
    /// is empty.
    queue: Vec<ColliderHandle>,
}

impl Interacting {
    pub(crate) fn new(cubes: usize) -> Self {
        Self {
            ticks_left: vec![0; cubes],
            moved: vec![false; cubes],
            reached: vec![false; cubes],
            queue: Vec::with_capacity(cubes + 1),
        }
    }

    /// Returns whether the flag of `cube` is set.
    pub(crate) fn is_set(&self, cube: usize) -> bool {
        self.ticks_left[cube] > 0
    }

    /// Sets the flag of a cube that a player acts on from afar.
    pub(crate) fn touch(&mut self, cube: usize) {
        self.ticks_left[cube] = HOLD_TICKS;
    }

    /// Updates the flags after a step of the engine.
    pub(crate) fn update(
        &mut self,
        physics: &PhysicsWorld,
        players: impl Iterator<Item = Part>,
        cubes: &[Part],
    ) {
        self.queue.extend(players.map(|player| player.collider));
        for (cube, part) in cubes.iter().enumerate() {
            if self.ticks_left[cube] == 0 {
                continue;
            }
            let moves = is_moving(&physics.bodies[part.body]);
            if moves {
                self.ticks_left[cube] = HOLD_TICKS;
            } else {
                self.ticks_left[cube] -= 1;
            }
            // A cube that has just stopped gave its motion to the cubes that it hit, so it passes
            // the flag on once more.
            if moves || self.moved[cube] {
                self.reached[cube] = true;
                self.queue.push(part.collider);
            }
            self.moved[cube] = moves;
        }
        self.walk(physics, cubes);
        self.queue.clear();
        self.reached.fill(false);
    }

    /// Sets the flags of all cubes that the queued bodies reach through contacts.
    fn walk(&mut self, physics: &PhysicsWorld, cubes: &[Part]) {
        let mut next = 0;
        while let Some(&collider) = self.queue.get(next) {
            next += 1;
            for pair in physics.narrow_phase.contact_pairs_with(collider) {
                let other =
                    if pair.collider1 == collider { pair.collider2 } else { pair.collider1 };
                let other_cube = physics.colliders[other].user_data;
                if other_cube == NOT_A_CUBE || !pair.has_any_active_contact() {
                    continue;
                }
                let other_cube = other_cube as usize;
                if self.reached[other_cube] {
                    continue;
                }
                self.reached[other_cube] = true;
                self.ticks_left[other_cube] = HOLD_TICKS;
                if is_moving(&physics.bodies[cubes[other_cube].body]) {
                    self.moved[other_cube] = true;
                    self.queue.push(other);
                }
            }
        }
    }
}

fn is_moving(body: &RigidBody) -> bool {
    !body.is_sleeping()
        && (body.linvel().length() > STILL_M_PER_S || body.angvel().length() > STILL_RAD_PER_S)
}
