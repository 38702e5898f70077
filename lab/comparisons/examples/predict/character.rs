//! The player's character: its state, its input, and the step that the client and the server share.
//!
//! The inputs are the requested accelerations and jumps of `lab/character`'s scripted player. The
//! body is simpler than there: it walks with friction, falls and lands on level ground. All
//! arithmetic is + − × ÷ and square roots, so that both sides get the same bits.

use character::{Flags, Move};
use kinepack::{EntityId, Pack, Tick};
use kinepack_net::Own;

pub(crate) const HZ: u32 = 60;
pub(crate) const CHARACTER: EntityId = EntityId(7);

/// In metres and metres per second.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Character {
    #[pack(range = [-4096.0..4096.0, -4096.0..4096.0, 0.0..64.0], precision = 1.0 / 512.0, clamp)]
    pub(crate) position: [f64; 3],
    #[pack(velocity, range = -32.0..32.0, precision = 1.0 / 256.0, clamp)]
    pub(crate) velocity: [f64; 3],
    #[pack(range = 0.0..360.0, bits = 12, wrap)]
    pub(crate) yaw_deg: f64,
}

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub(crate) struct Input {
    /// In m/s².
    #[pack(range = -20.48..=20.48, precision = 0.01, clamp)]
    pub(crate) acceleration: [f64; 2],
    #[pack(range = 0.0..360.0, bits = 12, wrap)]
    pub(crate) yaw_deg: f64,
    pub(crate) jumps: bool,
}

impl Input {
    pub(crate) fn of(played: &Move) -> Self {
        Self {
            acceleration: [0, 1].map(|axis| played.acceleration[axis] / 100.0),
            yaw_deg: f64::from(played.control_rotation[1]),
            jumps: played.flags & Flags::JUMP != 0,
        }
    }
}

pub(crate) const BEGIN: Character =
    Character { position: [0.0; 3], velocity: [0.0; 3], yaw_deg: 0.0 };

const TICK_S: f64 = 1.0 / HZ as f64;
const FASTEST_M_PER_S: f64 = 6.0;
const FRICTION_PER_S: f64 = 8.0;
const GRAVITY_M_PER_S2: f64 = 9.8;
const JUMP_M_PER_S: f64 = 4.2;

/// One step of the game.
pub(crate) fn step(own: &mut [Own<Character>], input: &Input, _: Tick) {
    for Own { state, .. } in own {
        walk(state, input);
    }
}

fn walk(state: &mut Character, input: &Input) {
    let Character { position, velocity, yaw_deg } = state;
    *yaw_deg = input.yaw_deg;
    let is_on_ground = position[2] <= 0.0;
    let speed = (velocity[0] * velocity[0] + velocity[1] * velocity[1]).sqrt();
    for axis in 0..2 {
        // Faster than it walks, for example after a push, the character only slows down.
        let along = velocity[axis] * input.acceleration[axis] > 0.0;
        if !(along && speed > FASTEST_M_PER_S) {
            velocity[axis] += input.acceleration[axis] * TICK_S;
        }
        if is_on_ground && (input.acceleration[axis] == 0.0 || speed > FASTEST_M_PER_S) {
            velocity[axis] -= velocity[axis] * FRICTION_PER_S * TICK_S;
        }
        position[axis] += velocity[axis] * TICK_S;
    }
    if is_on_ground && input.jumps {
        velocity[2] = JUMP_M_PER_S;
    } else if !is_on_ground {
        velocity[2] -= GRAVITY_M_PER_S2 * TICK_S;
    }
    position[2] += velocity[2] * TICK_S;
    if position[2] <= 0.0 {
        (position[2], velocity[2]) = (0.0, 0.0);
    }
}
