//! The flag "interacting" of each body: the article's hint of what the player has to do with.
//!
//! A cube interacts while the player's cube touches it, directly or through a chain of other moving cubes, and while
//! a push or pull reaches it. From then on it interacts as long as it moves, passes the flag on to what it hits, and
//! keeps it for [`HOLD_TICKS`] more: a cube that was blown away is the player's doing until it lies still, and a flag
//! that flickers costs bits.
//!
//! The chains are a walk over the engine's contact graph, from the player and from the interacting cubes that move.
//! Cost: the contacts of the cubes reached, and one counter for every body.

use rapier3d::prelude::*;

use crate::arena::NOT_A_BODY;

/// How long the flag stays set after the last touch or motion: a second.
const HOLD_TICKS: u8 = 60;
/// Speed below which a cube counts as lying still. Above the engine's own limit for falling asleep, 0.05 m/s, so
/// that a cube which trembles on its way to sleep passes nothing on.
const STILL_M_PER_S: f32 = 0.1;
/// The same for turning.
const STILL_RAD_PER_S: f32 = 0.5;

/// The flags, with the memory of the walk.
pub(crate) struct Interacting {
    /// For each body the ticks for which it still interacts. The player's is unused.
    ticks_left: Vec<u8>,
    /// For each body whether it interacted and moved in the tick before.
    moved: Vec<bool>,
    /// For each body whether this tick's walk has come by. False for all between two updates.
    reached: Vec<bool>,
    /// Bodies whose contacts this tick's walk follows, in its order. Empty between two updates.
    queue: Vec<usize>,
}

impl Interacting {
    pub(crate) fn new(bodies: usize) -> Self {
        Self {
            ticks_left: vec![0; bodies],
            moved: vec![false; bodies],
            reached: vec![false; bodies],
            queue: Vec::with_capacity(bodies),
        }
    }

    /// The flag of body `index`; the player's is always set.
    pub(crate) fn is_set(&self, index: usize) -> bool {
        index == 0 || self.ticks_left[index] > 0
    }

    /// Sets the flag of a cube that the player acts on from afar.
    pub(crate) fn touch(&mut self, index: usize) {
        self.ticks_left[index] = HOLD_TICKS;
    }

    /// Brings the flags up to date after a step of the engine.
    pub(crate) fn update(&mut self, physics: &PhysicsWorld, handles: &[RigidBodyHandle], colliders: &[ColliderHandle]) {
        self.queue.push(0);
        for (index, &handle) in handles.iter().enumerate().skip(1) {
            if self.ticks_left[index] == 0 {
                continue;
            }
            let moves = is_moving(&physics.bodies[handle]);
            if moves {
                self.ticks_left[index] = HOLD_TICKS;
            } else {
                self.ticks_left[index] -= 1;
            }
            // One that stops dead has given its motion to what it hit, and passes on once more.
            if moves || self.moved[index] {
                self.queue.push(index);
            }
            self.moved[index] = moves;
        }
        for &index in &self.queue {
            self.reached[index] = true;
        }
        self.walk(physics, handles, colliders);
        self.queue.clear();
        self.reached.fill(false);
    }

    /// Sets the flags of all cubes that the bodies in the queue reach over contacts.
    fn walk(&mut self, physics: &PhysicsWorld, handles: &[RigidBodyHandle], colliders: &[ColliderHandle]) {
        let mut next = 0;
        while let Some(&index) = self.queue.get(next) {
            next += 1;
            let collider = colliders[index];
            for pair in physics.narrow_phase.contact_pairs_with(collider) {
                let other = if pair.collider1 == collider { pair.collider2 } else { pair.collider1 };
                let other_index = physics.colliders[other].user_data;
                if other_index == NOT_A_BODY || !pair.has_any_active_contact() {
                    continue;
                }
                let other_index = other_index as usize;
                if self.reached[other_index] {
                    continue;
                }
                self.reached[other_index] = true;
                self.ticks_left[other_index] = HOLD_TICKS;
                if is_moving(&physics.bodies[handles[other_index]]) {
                    self.moved[other_index] = true;
                    self.queue.push(other_index);
                }
            }
        }
    }
}

fn is_moving(body: &RigidBody) -> bool {
    !body.is_sleeping() && (body.linvel().length() > STILL_M_PER_S || body.angvel().length() > STILL_RAD_PER_S)
}
