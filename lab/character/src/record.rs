//! The record that the client sends for one move. It follows the article's 540 bits.
//!
//! Vectors are in centimetres and in steps of a tenth, as Unreal's `FVector_NetQuantize10` sends
//! them, but with the whole range of 32 bits, so any place in a large world has a code. Angles have
//! the 16 bits of Unreal's compressed rotators.

use kinepack::{Bytes, Pack};

/// [`Move::movement_mode`] of a character on the ground, as Unreal numbers it.
pub const WALKING: u8 = 1;
/// [`Move::movement_mode`] of a character in the air.
pub const FALLING: u8 = 3;

/// The bits of [`Move::flags`]. The lower four bits are those of Unreal, two of which are free. The
/// upper four are the game's own.
pub struct Flags;

impl Flags {
    /// The jump key is held.
    pub const JUMP: u8 = 0x01;
    /// The player wants to crouch, which waits for the ground.
    pub const CROUCH: u8 = 0x02;
    /// The sprint key is held.
    pub const SPRINT: u8 = 0x10;
    /// The player aims down the sights of the weapon.
    pub const AIM: u8 = 0x20;
}

/// One move of the player's character. In full it takes 540 bits, and there are 60 moves per
/// second.
#[derive(Pack, Clone, Debug, PartialEq)]
pub struct Move {
    /// The time at the move's end, in milliseconds since the server began. It has 64 bits. The
    /// first move is already hours after the start.
    #[pack(clock)]
    pub time_ms: u64,
    /// The acceleration that the player requests with the keys, in cm/s² and in the world's axes:
    /// up to 2048 along the ground, and 0 upwards. It is the player's input, and not the rate of
    /// `velocity`, which has friction and limits.
    ///
    /// The vector has 3 × 32 bits, from −214,748,364.8 to below 214,748,364.8 in steps of 0.1.
    #[pack(range = -214_748_364.8..214_748_364.8, precision = 0.1)]
    pub acceleration: [f64; 3],
    /// The middle of the character's capsule in cm. x and y are along the ground, and z points up.
    /// The middle is lower for a crouched character.
    ///
    /// The vector has 3 × 32 bits, from −214,748,364.8 to below 214,748,364.8 in steps of 0.1,
    /// which is 1 mm.
    #[pack(range = -214_748_364.8..214_748_364.8, precision = 0.1)]
    pub location: [f64; 3],
    /// The rate of `location` in cm/s. On the ground, z is 0 even on slopes, as in Unreal. In the
    /// air, z decreases by 980 cm/s each second.
    ///
    /// The vector has 3 × 32 bits, from −214,748,364.8 to below 214,748,364.8 in steps of 0.1. It
    /// is exactly 0 for a standing character.
    #[pack(range = -214_748_364.8..214_748_364.8, precision = 0.1, velocity = location)]
    pub velocity: [f64; 3],
    /// The direction in which the player looks: pitch, yaw and roll in degrees, each from 0 to
    /// below 360. Pitch is 0 to 89 upwards and 360 to 271 downwards. Yaw turns from x to y, and
    /// roll is 0.
    ///
    /// The angles have 3 × 16 bits, in steps of 360° / 65536, which is about 0.0055°.
    #[pack(range = 0.0..360.0, bits = 16, wrap)]
    pub control_rotation: [f32; 3],
    /// The held keys and states as [`Flags`], in 8 bits.
    pub flags: u8,
    /// The movement mode, [`WALKING`] or [`FALLING`], in 4 bits.
    #[pack(max = 15)]
    pub movement_mode: u8,
    /// The rest of the game's state, in 128 bits that only the game understands. Most bytes stay
    /// the same from move to move.
    #[pack(with = Bytes)]
    pub payload: [u8; 16],
}
