//! The cube of the articles: its state, its schema at each row of the level table, and the profile
//! that was trained for it.

use kinepack::{EncodeError, EntityId, Level, Pack, Schema, Snapshot};

mod difference;
mod kinds;
mod players;
mod profile;

pub use difference::{Off, angle_rad, off};
pub use kinds::{split, with_player};
pub use players::{Player, SwiftPlayer, players_and_cubes, swift_players_and_cubes};
pub use profile::{bodies, coarse_profile, profile, structure, swift_profile};

/// The lane value of x and y that represents zero.
pub(crate) const POSITION_OFFSET: u32 = 1 << 17;

/// The fields of a cube that are quantized. Rows 1 to 6 of the table of levels differ in these
/// fields. A codec does not use this type, but codes the lanes of its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantized {
    /// No field is quantized: every float has 32 bits.
    Nothing,
    /// Only rotations are quantized.
    Rotations,
    /// Rotations and velocities are quantized.
    Velocities,
    /// Rotations are quantized, and velocities are not sent.
    NoVelocities,
    /// All fields are quantized.
    Everything,
}

impl Quantized {
    /// Returns the fields that are quantized at a level.
    pub fn at(level: Level) -> Self {
        match level.row() {
            1 => Self::Nothing,
            2 => Self::Rotations,
            3 | 4 => Self::Velocities,
            5 => Self::NoVelocities,
            _ => Self::Everything,
        }
    }
}

/// A cube with the simulation's floats, as in row 1 of the table. It takes 321 bits.
#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub struct Measured {
    /// The position of the centre, in metres.
    pub position: [f32; 3],
    /// The orientation as a unit quaternion x, y, z, w.
    pub orientation: [f32; 4],
    /// The linear velocity, in metres per second.
    pub velocity: [f32; 3],
    /// Whether the player moves the cube, directly or through others.
    pub interacting: bool,
}

/// A cube as in row 2, which sends the orientation as smallest three. It takes 222 bits.
#[derive(Clone, Copy, Debug, PartialEq, Pack)]
struct WithRotation {
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    velocity: [f32; 3],
    interacting: bool,
}

/// A cube as in rows 3 and 4, which send the velocity within ±32 m/s in 11 bits per axis. It takes
/// 159 bits.
#[derive(Clone, Copy, Debug, PartialEq, Pack)]
struct WithVelocity {
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(range = -32.0..32.0, bits = 11, clamp, velocity)]
    velocity: [f32; 3],
    interacting: bool,
}

/// A cube as in row 5, which sends no velocity. It takes 126 bits.
#[derive(Clone, Copy, Debug, PartialEq, Pack)]
struct WithoutVelocity {
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    interacting: bool,
}

/// A cube as in rows 6 to 12, which also send the position in steps of 1/512 m. It takes 80 bits.
/// This is the quantized cube of the challenge files.
#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub struct Cube {
    /// The position of the centre, in metres. x and y are within ±256 m, and the height is below 32
    /// m.
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0, body)]
    pub position: [f32; 3],
    /// The orientation as a unit quaternion x, y, z, w.
    #[pack(rotation, bits = 9, body)]
    pub orientation: [f32; 4],
    /// Whether the player moves the cube, directly or through others.
    #[pack(touched)]
    pub interacting: bool,
}

/// The quantized cube with its velocity, which takes 113 bits. It is for snapshots so far apart
/// that straight lines between them would be visible. Playback follows a cubic through both
/// positions with both velocities.
#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub struct SwiftCube {
    /// The position of the centre, as [`Cube::position`].
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0, body)]
    pub position: [f32; 3],
    /// The orientation as a unit quaternion x, y, z, w.
    #[pack(rotation, bits = 9, body)]
    pub orientation: [f32; 4],
    /// The linear velocity, in metres per second.
    #[pack(range = -32.0..32.0, bits = 11, clamp, velocity = position)]
    pub velocity: [f32; 3],
    /// Whether the player moves the cube, directly or through others.
    #[pack(touched)]
    pub interacting: bool,
}

impl From<Measured> for SwiftCube {
    fn from(Measured { position, orientation, velocity, interacting }: Measured) -> Self {
        Self { position, orientation, velocity, interacting }
    }
}

impl From<Measured> for Cube {
    fn from(state: Measured) -> Self {
        let Measured { position, orientation, interacting, .. } = state;
        Self { position, orientation, interacting }
    }
}

impl From<SwiftCube> for Cube {
    fn from(SwiftCube { position, orientation, interacting, .. }: SwiftCube) -> Self {
        Self { position, orientation, interacting }
    }
}

/// Returns the schema of the rows that quantize the fields `quantized`.
pub fn schema(quantized: Quantized) -> Schema {
    match quantized {
        Quantized::Nothing => Schema::of::<Measured>(),
        Quantized::Rotations => Schema::of::<WithRotation>(),
        Quantized::Velocities => Schema::of::<WithVelocity>(),
        Quantized::NoVelocities => Schema::of::<WithoutVelocity>(),
        Quantized::Everything => Schema::of::<Cube>(),
    }
}

/// Appends a cube to a snapshot whose schema quantizes the fields `quantized`.
///
/// # Errors
/// Returns [`EncodeError`] for a state that is out of the schema's range.
pub fn push(
    snapshot: &mut Snapshot,
    quantized: Quantized,
    id: EntityId,
    state: Measured,
) -> Result<(), EncodeError> {
    let Measured { position, orientation, velocity, interacting } = state;
    match quantized {
        Quantized::Nothing => snapshot.push(id, &state),
        Quantized::Rotations => {
            snapshot.push(id, &WithRotation { position, orientation, velocity, interacting })
        }
        Quantized::Velocities => {
            snapshot.push(id, &WithVelocity { position, orientation, velocity, interacting })
        }
        Quantized::NoVelocities => {
            snapshot.push(id, &WithoutVelocity { position, orientation, interacting })
        }
        Quantized::Everything => snapshot.push(id, &Cube::from(state)),
    }
}
