//! The game events of the cube world, which are sent together with the snapshots.
//!
//! Every receiver must learn that a player joined or left. A push event is useless after half a
//! second, so push events are droppable. A client that plays also learns which cube is its own.

use cubes::{FIRST_GUEST, MAX_PLAYERS, is_player};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema};
use kinepack_net::{Audience, Event, EventKinds, Hub, NetError};
use kinepack_replay::{ReplayError, ReplayWriter};

use crate::session_error::SessionError;

/// The number of ticks after which a push event is no longer worth sending.
const PUSH_TICKS: u32 = 30;
const LAST_PLAYER: u8 = MAX_PLAYERS as u8 - 1;

/// An event of a tick. Each variant contains the cube of the event's player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameEvent {
    /// The event's receiver steers this cube from now on, or only watches if there is none. Other
    /// receivers and replays do not get this event.
    Seated(Option<EntityId>),
    Joined(EntityId),
    Left(EntityId),
    /// The player began to push the cubes around.
    Pushed(EntityId),
}

/// The number of a player. The first player has 0, and guests have higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pack)]
struct Number {
    #[pack(range = 0..=LAST_PLAYER)]
    number: u8,
}

#[derive(Pack)]
struct Seated {
    playing: bool,
    /// The number counts only if the receiver plays.
    player: Number,
}

#[derive(Pack)]
struct Joined {
    player: Number,
}

#[derive(Pack)]
struct Left {
    player: Number,
}

#[derive(Pack)]
struct Pushed {
    player: Number,
}

impl Number {
    /// Returns the number of the player whose cube is `entity`, or `None` if it is not a player's
    /// cube.
    fn of(entity: EntityId) -> Option<Self> {
        let number = entity.0.checked_sub(FIRST_GUEST).map_or(0, |guest| guest + 1);
        let number = u8::try_from(number).ok().filter(|_| is_player(entity.0))?;
        Some(Self { number })
    }

    fn entity(self) -> EntityId {
        let guest = u32::from(self.number).checked_sub(1);
        EntityId(guest.map_or(0, |guest| FIRST_GUEST + guest))
    }
}

impl GameEvent {
    /// Returns the kinds of events, which both sides share.
    pub fn kinds() -> Result<EventKinds, SessionError> {
        let schema = Schema::builder()
            .kind::<Joined>("joined")
            .kind::<Left>("left")
            .kind::<Pushed>("pushed")
            .kind::<Seated>("seated")
            .build()
            .expect("four kinds with a number are a schema");
        let profile = Profile::untrained(&schema);
        let codec = Codec::new(schema, Level::ADAPTIVE, profile).expect("it is for this schema");
        let kinds = EventKinds::new(&codec).droppable::<Pushed>(PUSH_TICKS);
        Ok(kinds.map_err(NetError::Event)?)
    }

    /// Passes the event to the hub.
    pub fn emit(self, hub: &mut Hub, audience: Audience<'_>) -> Result<(), NetError> {
        let first = EntityId(0);
        let Some(player) = Number::of(self.entity().unwrap_or(first)) else { return Ok(()) };
        match self {
            Self::Seated(cube) => hub.emit(&Seated { playing: cube.is_some(), player }, audience),
            Self::Joined(_) => hub.emit(&Joined { player }, audience),
            Self::Left(_) => hub.emit(&Left { player }, audience),
            Self::Pushed(_) => hub.emit(&Pushed { player }, audience),
        }
    }

    /// Writes the event to a replay.
    pub fn record(self, replay: &mut ReplayWriter) -> Result<(), ReplayError> {
        let Some(player) = self.entity().and_then(Number::of) else { return Ok(()) };
        match self {
            Self::Seated(_) => Ok(()),
            Self::Joined(_) => replay.emit(&Joined { player }),
            Self::Left(_) => replay.emit(&Left { player }),
            Self::Pushed(_) => replay.emit(&Pushed { player }),
        }
    }

    /// Returns the cube of the player. The value is `None` for a receiver that only watches.
    pub fn entity(self) -> Option<EntityId> {
        match self {
            Self::Seated(entity) => entity,
            Self::Joined(entity) | Self::Left(entity) | Self::Pushed(entity) => Some(entity),
        }
    }

    /// Converts a received event. Returns `None` if the event's kind is not one of
    /// [`kinds`](Self::kinds).
    pub fn of(event: &Event<'_>) -> Result<Option<Self>, SessionError> {
        let joined = event.get::<Joined>().map_err(NetError::Event)?;
        let left = event.get::<Left>().map_err(NetError::Event)?;
        let pushed = event.get::<Pushed>().map_err(NetError::Event)?;
        let seated = event.get::<Seated>().map_err(NetError::Event)?;
        let seat = |seated: Seated| seated.playing.then(|| seated.player.entity());
        Ok(joined
            .map(|joined| Self::Joined(joined.player.entity()))
            .or(left.map(|left| Self::Left(left.player.entity())))
            .or(pushed.map(|pushed| Self::Pushed(pushed.player.entity())))
            .or(seated.map(|seated| Self::Seated(seat(seated)))))
    }

    /// Returns the event as a line of a log, or `None` for frequent events and for those that
    /// concern only the receiver.
    pub fn line(self) -> Option<String> {
        match self {
            Self::Joined(entity) => Some(format!("cube {} joined", entity.0)),
            Self::Left(entity) => Some(format!("cube {} left", entity.0)),
            Self::Pushed(_) | Self::Seated(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_all_players_and_nothing_else() {
        let last = FIRST_GUEST + u32::from(LAST_PLAYER) - 1;
        for id in [0, FIRST_GUEST, last] {
            assert_eq!(Number::of(EntityId(id)).map(Number::entity), Some(EntityId(id)));
        }
        for id in [1, 900, FIRST_GUEST - 1, last + 1, u32::MAX] {
            assert_eq!(Number::of(EntityId(id)), None);
        }
    }
}
