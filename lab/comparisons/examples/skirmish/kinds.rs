//! The sent state of the game: five kinds of entities, and the events.

use kinepack::profile::{Bodies, BodyKind};
use kinepack::{EncodeError, EntityId, Pack, Schema, SetupError, Snapshot};
use kinepack_capture::{RecordError, RecordedFrame};

/// The first id of each kind. The crates have the ids 1 to 300.
pub(crate) const FIRST_PLAYER: u32 = 1000;
pub(crate) const FIRST_DOOR: u32 = 1100;
pub(crate) const FIRST_PICKUP: u32 = 1200;
pub(crate) const FIRST_DART: u32 = 2000;

#[derive(Clone, Debug, Pack)]
pub(crate) struct Player {
    #[pack(spawn, max = 3)]
    pub(crate) team: u8,
    #[pack(range = [-64.0..64.0, -64.0..64.0, 0.0..32.0], precision = 1.0 / 256.0, clamp, body)]
    // metres
    pub(crate) position: [f32; 3],
    #[pack(rotation, bits = 9, body)]
    pub(crate) rotation: [f32; 4],
    #[pack(range = 0.0..360.0, precision = 0.5, wrap)] // degrees
    pub(crate) aim: f32,
    #[pack(max = 100)]
    pub(crate) health: u8,
    pub(crate) weapon: Option<Weapon>,
}

#[derive(Clone, Copy, Debug, PartialEq, Pack)]
pub(crate) enum Weapon {
    Fists,
    Bow {
        #[pack(range = 0.0..=1.0, precision = 0.05, clamp)]
        tension: f32,
    },
    Rocket {
        #[pack(max = 8)]
        ammunition: u8,
    },
}

#[derive(Clone, Debug, Pack)]
pub(crate) struct Crate {
    #[pack(range = [-64.0..64.0, -64.0..64.0, 0.0..32.0], precision = 1.0 / 256.0, clamp, body)]
    // metres
    pub(crate) position: [f32; 3],
    #[pack(rotation, bits = 9, body)]
    pub(crate) rotation: [f32; 4],
    #[pack(touched)]
    pub(crate) is_touched: bool,
    /// The remaining time for which the entity burns, or `None` if it does not burn.
    #[pack(max = 15)]
    pub(crate) fire: Option<u8>,
}

#[derive(Clone, Debug, Pack)]
pub(crate) struct Dart {
    #[pack(spawn, range = FIRST_PLAYER..=1063)]
    pub(crate) shooter: u32,
    #[pack(spawn, range = 0.0..360.0, precision = 0.5, wrap)] // degrees
    pub(crate) aim: f32,
    #[pack(range = [-64.0..64.0, -64.0..64.0, 0.0..32.0], precision = 1.0 / 256.0, clamp)]
    // metres
    pub(crate) position: [f32; 3],
}

#[derive(Clone, Debug, Pack)]
pub(crate) struct Door {
    #[pack(spawn, range = -64.0..64.0, precision = 0.25)] // metres
    pub(crate) place: [f32; 2],
    #[pack(range = 0.0..=1.0, precision = 1.0 / 32.0, clamp)]
    pub(crate) open: f32,
}

#[derive(Clone, Debug, Pack)]
pub(crate) struct Pickup {
    #[pack(spawn, range = -64.0..64.0, precision = 0.25)] // metres
    pub(crate) place: [f32; 2],
    pub(crate) content: Option<Weapon>,
}

/// A player was hit. The event must arrive, because players are credited for it.
#[derive(Clone, Debug, PartialEq, Pack)]
pub(crate) struct Hit {
    #[pack(range = FIRST_PLAYER..=1063)]
    pub(crate) shooter: u32,
    #[pack(range = FIRST_PLAYER..=1063)]
    pub(crate) target: u32,
    #[pack(max = 100)]
    pub(crate) health: u8,
}

/// A player took the content of a pickup. The event must arrive.
#[derive(Clone, Debug, PartialEq, Pack)]
pub(crate) struct Taken {
    #[pack(range = FIRST_PLAYER..=1063)]
    pub(crate) player: u32,
    #[pack(range = FIRST_PICKUP..=1224)]
    pub(crate) pickup: u32,
}

/// A dart hit something here, with a noise and some dust. The event may be dropped.
#[derive(Clone, Debug, PartialEq, Pack)]
pub(crate) struct Impact {
    #[pack(range = [-64.0..64.0, -64.0..64.0, 0.0..32.0], precision = 1.0 / 8.0, clamp)]
    // metres
    pub(crate) position: [f32; 3],
    pub(crate) is_crate: bool,
}

/// Something that happened in the game, which is sent as an event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Happening {
    Hit(Hit),
    Taken(Taken),
    Impact(Impact),
}

/// Returns the schema of the events, with their kinds, names and order.
pub(crate) fn event_schema() -> Result<Schema, SetupError> {
    Schema::builder().kind::<Hit>("hit").kind::<Taken>("taken").kind::<Impact>("impact").build()
}

/// Returns the schema of the entities, with their kinds, names and order.
pub(crate) fn schema() -> Result<Schema, SetupError> {
    Schema::builder()
        .kind::<Player>("player")
        .kind::<Crate>("crate")
        .kind::<Dart>("dart")
        .kind::<Door>("door")
        .kind::<Pickup>("pickup")
        .build()
}

/// Returns the rigid bodies of a schema that has players, crates or both.
pub(crate) fn bodies(schema: &Schema) -> Option<Bodies> {
    let mut bodies = Bodies::from_schema(schema, 2, [0.2; 3], Some(0.0))?;
    bodies.kinds.push(BodyKind { half_extents: [192; 3], mover: true });
    bodies.kind_of_ids = vec![(FIRST_PLAYER, 1), (FIRST_DOOR, 0)];
    Some(bodies)
}

/// An entity of any kind.
pub(crate) enum Being<'a> {
    Player(&'a Player),
    Crate(&'a Crate),
    Dart(&'a Dart),
    Door(&'a Door),
    Pickup(&'a Pickup),
}

impl Being<'_> {
    /// Adds the entity to a snapshot.
    ///
    /// # Errors
    /// Returns [`EncodeError`] for a value that the schema cannot hold.
    pub(crate) fn push_to(&self, id: EntityId, world: &mut Snapshot) -> Result<(), EncodeError> {
        match *self {
            Self::Player(state) => world.push(id, state),
            Self::Crate(state) => world.push(id, state),
            Self::Dart(state) => world.push(id, state),
            Self::Door(state) => world.push(id, state),
            Self::Pickup(state) => world.push(id, state),
        }
    }

    /// Adds the entity to a frame of a capture.
    ///
    /// # Errors
    /// Returns [`RecordError`] for ids that do not increase.
    pub(crate) fn record(
        &self,
        id: EntityId,
        frame: &mut RecordedFrame<'_>,
    ) -> Result<(), RecordError> {
        match *self {
            Self::Player(state) => frame.push(id, state),
            Self::Crate(state) => frame.push(id, state),
            Self::Dart(state) => frame.push(id, state),
            Self::Door(state) => frame.push(id, state),
            Self::Pickup(state) => frame.push(id, state),
        }
    }
}
