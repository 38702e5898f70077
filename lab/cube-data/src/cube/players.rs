//! Gives players' cubes a kind of their own, in a world that has further cubes.
//!
//! A player's cube has the same fields as any other cube, so the profile that was trained for cubes
//! suits it.

use kinepack::{Pack, Schema, SetupError};

use super::{Cube, Measured, SwiftCube};

/// Returns the schema of players and cubes, as the demo sends them.
///
/// # Errors
/// There are none, because the kinds are a valid schema.
pub fn players_and_cubes() -> Result<Schema, SetupError> {
    Schema::builder().kind::<Player>("player").kind::<Cube>("cube").build()
}

/// Returns the schema of players and cubes with velocities.
///
/// # Errors
/// There are none, because the kinds are a valid schema.
pub fn swift_players_and_cubes() -> Result<Schema, SetupError> {
    Schema::builder().kind::<SwiftPlayer>("player").kind::<SwiftCube>("cube").build()
}

/// The cube of a player, who moves the other cubes with it.
#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub struct Player {
    /// The position of the centre, as [`Cube::position`].
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0, body)]
    pub position: [f32; 3],
    /// The orientation as a unit quaternion x, y, z, w.
    #[pack(rotation, bits = 9, body)]
    pub orientation: [f32; 4],
    /// Whether a player moves the cube. In the built-in world, the value is always true.
    #[pack(touched)]
    pub interacting: bool,
}

/// The cube of a player with its velocity, like a [`SwiftCube`].
#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub struct SwiftPlayer {
    /// The position of the centre, as [`Cube::position`].
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0, body)]
    pub position: [f32; 3],
    /// The orientation as a unit quaternion x, y, z, w.
    #[pack(rotation, bits = 9, body)]
    pub orientation: [f32; 4],
    /// The linear velocity, in metres per second.
    #[pack(range = -32.0..32.0, bits = 11, clamp, velocity = position)]
    pub velocity: [f32; 3],
    /// Whether a player moves the cube. In the built-in world, the value is always true.
    #[pack(touched)]
    pub interacting: bool,
}

impl From<Measured> for Player {
    fn from(Measured { position, orientation, interacting, .. }: Measured) -> Self {
        Self { position, orientation, interacting }
    }
}

impl From<Measured> for SwiftPlayer {
    fn from(Measured { position, orientation, velocity, interacting }: Measured) -> Self {
        Self { position, orientation, velocity, interacting }
    }
}

impl From<Player> for Cube {
    fn from(Player { position, orientation, interacting }: Player) -> Self {
        Self { position, orientation, interacting }
    }
}

impl From<SwiftPlayer> for SwiftCube {
    fn from(state: SwiftPlayer) -> Self {
        let SwiftPlayer { position, orientation, velocity, interacting } = state;
        Self { position, orientation, velocity, interacting }
    }
}
