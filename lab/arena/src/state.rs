//! What is sent: the ferry, the players, and their inputs.

use kinepack::frame::Place;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema};
use kinepack_net::{Seen, StreamConfig};

use crate::ArenaError;
use crate::map::{self, TICK_HZ};
use crate::rules::Rules;

/// The ferry.
pub const FERRY: EntityId = EntityId(1);
/// Players have ids from this one on.
pub const FIRST_PLAYER: u32 = 16;
/// The health of a new player.
pub const HEALTH: u8 = 5;

/// The ferry's place in the world.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub struct Ferry {
    /// In metres.
    #[pack(body, range = [-32.0..32.0, -32.0..32.0, -1.0..1.0], precision = 1.0 / 512.0)]
    pub position: [f64; 3],
    /// A unit quaternion.
    #[pack(body, rotation, bits = 14)]
    pub rotation: [f64; 4],
}

impl From<Place> for Ferry {
    fn from(Place { position, rotation }: Place) -> Self {
        Self { position, rotation }
    }
}

/// A player.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub struct Player {
    /// In metres: on the ferry's deck if `ferry` is set, else in the world.
    #[pack(frame = ferry, range = [-32.0..32.0, -32.0..32.0, -1.0..1.0], precision = 1.0 / 512.0, clamp)]
    pub position: [f64; 3],
    /// In metres per second, in the same frame, but without the ferry's own velocity.
    #[pack(frame = ferry, velocity, range = -32.0..32.0, precision = 1.0 / 256.0, clamp)]
    pub velocity: [f64; 3],
    /// Where he aims: a unit vector in the world.
    #[pack(step, range = -1.0..=1.0, precision = 1.0 / 128.0, clamp)]
    pub aim: [f64; 2],
    /// The ferry, if the position is relative to it.
    pub ferry: Option<EntityId>,
    /// Whether he is on the ferry.
    pub is_aboard: bool,
    /// Counts teleports and new lives.
    #[pack(cut)]
    pub jumps: u8,
    /// 0 while he waits for a new life.
    #[pack(max = HEALTH)]
    pub health: u8,
    /// The time until he can shoot again.
    #[pack(max = 31)]
    pub reload_ticks: u8,
}

impl Player {
    /// A new player at a point of the world.
    pub fn new([x, y]: [f64; 2]) -> Self {
        Self {
            position: [x, y, 0.0],
            velocity: [0.0; 3],
            aim: [1.0, 0.0],
            ferry: None,
            is_aboard: false,
            jumps: 0,
            health: HEALTH,
            reload_ticks: 0,
        }
    }

    /// The position without height.
    pub fn point(&self) -> [f64; 2] {
        [self.position[0], self.position[1]]
    }

    /// The velocity without height.
    pub(crate) fn motion(&self) -> [f64; 2] {
        [self.velocity[0], self.velocity[1]]
    }

    /// Sets the position and the velocity.
    pub(crate) fn place(&mut self, [x, y]: [f64; 2], [east, north]: [f64; 2]) {
        (self.position, self.velocity) = ([x, y, 0.0], [east, north, 0.0]);
    }

    /// His place in the world, if the ferry is at `ferry`.
    pub fn in_world(&self, ferry: &Place) -> [f64; 2] {
        match self.ferry {
            Some(_) => map::point_in_world(ferry, self.point()),
            None => self.point(),
        }
    }
}

/// What a player does in a tick.
#[derive(Pack, Clone, Copy, Debug, Default, PartialEq)]
pub struct Input {
    /// Where he walks in the world; 1 is full speed.
    #[pack(range = -1.0..=1.0, precision = 1.0 / 64.0, clamp)]
    pub stick: [f64; 2],
    /// Where he aims: a unit vector in the world.
    #[pack(range = -1.0..=1.0, precision = 1.0 / 4096.0, clamp)]
    pub aim: [f64; 2],
    /// Whether he wants to shoot.
    pub fires: bool,
    /// What his screen showed.
    pub seen: Option<Seen>,
    /// What his shot hit on his screen. The server only counts it: a client may lie.
    pub hit: Option<Hit>,
}

/// What a shot hit on the shooter's screen.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Whom.
    pub target: EntityId,
    /// Where the shooter was, as in [`Player::position`].
    #[pack(range = [-32.0..32.0, -32.0..32.0], precision = 1.0 / 512.0, clamp)]
    pub from: [f64; 2],
}

/// The schema of the snapshots.
///
/// # Errors
/// None that a caller could cause.
pub fn schema() -> Result<Schema, ArenaError> {
    Ok(Schema::builder().kind::<Ferry>("ferry").kind::<Player>("player").build()?)
}

/// The codec of the snapshots.
///
/// # Errors
/// None that a caller could cause.
pub fn codec() -> Result<Codec, ArenaError> {
    let schema = schema()?;
    Ok(Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?)
}

/// The codec of the inputs.
///
/// # Errors
/// None that a caller could cause.
pub fn inputs() -> Result<StreamCodec, ArenaError> {
    Ok(StreamCodec::of::<Input>(StreamLevel::Adaptive)?)
}

/// How inputs are sent: each packet repeats the last seven, because a lost input is a correction.
pub fn input_config() -> StreamConfig {
    StreamConfig { repeats: 7, ..StreamConfig::at_hz(TICK_HZ) }
}

/// The marks of a player that depend on the rules.
pub(crate) fn obey(player: &mut Player, rules: &Rules, ferry: &Place) {
    let is_relative = player.ferry.is_some();
    let (point, motion) = (player.point(), player.motion());
    if player.is_aboard && rules.frames && !is_relative {
        player.place(map::point_on_deck(ferry, point), map::direction_on_deck(ferry, motion));
        player.ferry = Some(FERRY);
    } else if is_relative && !rules.frames {
        player.place(map::point_in_world(ferry, point), map::direction_in_world(ferry, motion));
        player.ferry = None;
    }
}
