//! Why endpoints refuse a datagram, a configuration or a world.

use core::fmt;
use std::time::Duration;

use kinepack::{DecodeError, EncodeError, EntityId, Tick};

use crate::packet::Mismatch;
use crate::{Channel, KindOptions, ReceiverId};

/// Why a datagram was refused. A refused datagram changes no view and no shown state, except that a
/// failed state check ([`WrongState`](Self::WrongState)) drops the views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The datagram is shorter or longer than its kind requires.
    Length {
        /// The datagram's length.
        bytes: usize,
    },
    /// The first byte is not of a kind that this side accepts, or has reserved bits that are not 0.
    Kind {
        /// The first byte.
        first_byte: u8,
    },
    /// The datagram belongs to a channel other than this endpoint's.
    Channel {
        /// The number of the datagram's channel.
        number: u8,
    },
    /// The datagram was received before.
    Duplicate,
    /// The datagram is more than 32 sequences before the newest one, so it is too old to be
    /// acknowledged.
    TooOld,
    /// The snapshot is coded against a view or a reference state that this side does not hold.
    NoBaseline,
    /// The merge field names a view that this side does not hold, or a view that cannot be merged.
    BadMerge,
    /// The header names too many older views, an older view at a distance of 0, older views whose
    /// ticks do not decrease, or older views together with a reference state.
    BadOlder,
    /// The snapshot in the datagram is not valid.
    Snapshot(DecodeError),
    /// The two sides hold different states: the view's state check differs from the sender's. The
    /// receiver has dropped its views, and asks for the state again.
    WrongState {
        /// The sender's [state check](kinepack::View::check).
        theirs: u16,
        /// The check of the view that this side decoded.
        ours: u16,
    },
    /// The fragment contradicts other fragments of its full state.
    BadFragment,
    /// The full state is larger than this side's limit.
    FullStateTooLarge {
        /// The limit in bytes.
        limit_bytes: usize,
    },
    /// The events contradict each other or their datagram, or this side has not enabled events.
    BadEvents,
    /// More events wait for playback than this side keeps. Call
    /// [`Receiver::playback`](crate::Receiver::playback), or
    /// [`Receiver::take_events`](crate::Receiver::take_events) if nothing is shown.
    EventsFull,
    /// The acknowledgement is for a datagram that this side never sent.
    NeverSent,
    /// The acknowledgement is for a datagram that this side sent too long ago.
    LongAgo,
    /// The datagram is from a receiver that the hub does not have.
    UnknownReceiver,
    /// The datagram is from a receiver whose hello has not arrived.
    NoHello,
    /// The hello's version or one of its hashes differs from the hub's, so the two sides cannot
    /// understand each other.
    Mismatch(Mismatch),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { bytes } => {
                write!(f, "a datagram of {bytes} bytes is too short or too long for its kind")
            }
            Self::Kind { first_byte } => {
                write!(
                    f,
                    "not a datagram for this endpoint (first byte {first_byte:#04x}); \
                     split_datagram and datagram_kind find the endpoint"
                )
            }
            Self::Channel { number } => {
                write!(
                    f,
                    "a datagram of channel {number}; Channel::from_datagram finds the endpoint"
                )
            }
            Self::Duplicate => write!(f, "a datagram that was received before"),
            Self::TooOld => write!(f, "a datagram more than 32 before the newest"),
            Self::NoBaseline => write!(f, "coded against a view that is not held"),
            Self::BadMerge => {
                write!(f, "merges a view that is not held or that has nothing to merge")
            }
            Self::BadOlder => write!(f, "older views that cannot be used beside the baseline"),
            Self::Snapshot(error) => write!(f, "the snapshot in it is not valid: {error}"),
            Self::WrongState { theirs, ours } => {
                write!(
                    f,
                    "the sender's state differs: its check is {theirs:04x}, ours is {ours:04x}; \
                     asking for the state anew"
                )
            }
            Self::BadFragment => write!(f, "a fragment that contradicts its full state"),
            Self::FullStateTooLarge { limit_bytes } => {
                write!(f, "a full state above the limit of {limit_bytes} bytes")
            }
            Self::BadEvents => write!(f, "events that are not valid, or that were not agreed on"),
            Self::EventsFull => {
                write!(f, "too many events wait: call Receiver::playback or take_events")
            }
            Self::NeverSent => write!(f, "an answer to something that was never sent"),
            Self::LongAgo => write!(f, "an answer to something sent too long ago"),
            Self::UnknownReceiver => write!(f, "from a receiver that was not added"),
            Self::NoHello => write!(f, "from a receiver whose hello has not arrived"),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
        }
    }
}

impl core::error::Error for Refused {}

impl Refused {
    /// Whether higher limits would let this side accept the datagram.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::FullStateTooLarge { .. } | Self::Snapshot(DecodeError::TooManyEntities { .. })
        )
    }

    /// The refusal of a datagram that belongs to a channel other than the endpoint's.
    pub(crate) fn channel(datagram: &[u8]) -> Self {
        Self::Channel { number: Channel::from_datagram(datagram).number() }
    }
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Self {
        Self::Snapshot(error)
    }
}

/// Why an endpoint could not be set up, or a world could not be sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NetError {
    /// The datagram size is outside of 128 to 65,507 bytes.
    DatagramBytes {
        /// The size in the configuration.
        bytes: usize,
    },
    /// A duration or count that must be positive is zero.
    NoTime,
    /// [`RewindConfig::longest`](crate::RewindConfig::longest) is longer than a stamp can tell.
    RewindTooLong {
        /// How many ticks the configuration allows.
        ticks: u64,
    },
    /// There are more older views than a codec can use.
    OlderViews {
        /// The number in the configuration.
        count: u8,
    },
    /// The budget is too small for one small datagram per second.
    BudgetTooSmall {
        /// The budget in the options.
        bytes_per_s: u32,
    },
    /// The hub already has a receiver with this id.
    ReceiverTaken,
    /// The hub has no receiver with this id.
    UnknownReceiver,
    /// The schema of a snapshot, or of a further codec, is not that of the hub's first codec.
    SchemaMismatch {
        /// The hash of the first codec's schema.
        expected_hash: u64,
        /// The hash of the snapshot's schema, or of the further codec's.
        hash: u64,
    },
    /// Entities of two kinds in the state have the same id.
    SharedId {
        /// The id.
        id: EntityId,
    },
    /// A spawn field of an entity changed from one tick to the next. Spawn fields must not change:
    /// remove the entity, and add a new one with another id.
    SpawnChanged {
        /// The entity.
        id: EntityId,
        /// The field's name, preceded by the name of its kind if the kind has one.
        field: String,
    },
    /// A coarser world of a tick does not have the entities of the first one, or differs in their
    /// spawn fields.
    TierDiffers {
        /// The index of the world.
        tier: usize,
    },
    /// The numbers of a ring are out of range: distances are 1e-9 to 1e100 and increase from ring to
    /// ring, an entity leaves a ring where it enters it or farther away, and a tier is at most 254.
    /// There must be 1 to 254 rings.
    BadRing {
        /// The index of the ring; the number of rings if there are none, or if `beyond` is wrong.
        ring: usize,
    },
    /// The edge of a cell is not 1e-9 to 1e100.
    BadCell {
        /// The edge length.
        cell: f64,
    },
    /// The schema has no position with this name: a field of two or three numbers that do not wrap.
    NoSuchPosition {
        /// The name.
        field: String,
    },
    /// The schema has no field with this name.
    NoSuchField {
        /// The name.
        field: String,
    },
    /// A viewpoint has a number that is not finite.
    BadViewpoint {
        /// The receiver's id.
        id: ReceiverId,
    },
    /// A set of entities is not sorted, or has an entity twice.
    NotSorted {
        /// The first id that is not above the id before it.
        id: EntityId,
    },
    /// The codec's level sends every entity each time and uses no baseline (rows 1 to 6 of the
    /// table of levels).
    LevelWithoutBaseline {
        /// The level's row.
        row: u8,
    },
    /// The world's tick is not above that of the previous world.
    TickNotRising {
        /// The previous tick.
        last: Tick,
        /// The given tick.
        tick: Tick,
    },
    /// The time is before that of the previous tick.
    TimeRanBack {
        /// The time of the previous tick.
        last: Duration,
        /// The given time.
        now: Duration,
    },
    /// The snapshot of one receiver could not be encoded.
    Receiver {
        /// The receiver's id.
        id: ReceiverId,
        /// The encoder's error.
        error: EncodeError,
    },
    /// The world needs more than the 65,535 fragments that a full state can have, so one receiver
    /// cannot get its first state.
    FullStateTooLarge {
        /// The receiver's id.
        id: ReceiverId,
        /// The size of the full state in bytes.
        bytes: usize,
    },
    /// A receiver answers, but has taken no fragment of its first state for ten seconds. The state
    /// probably exceeds the receiver's limits; see
    /// [`Receiver::too_large`](crate::Receiver::too_large). The hub gives up this full state, and
    /// begins another one with the entities that are then relevant.
    FullStateRefused {
        /// The receiver's id.
        id: ReceiverId,
        /// The number of acknowledged fragments.
        arrived: usize,
        /// The number of fragments of the full state.
        fragments: usize,
    },
    /// The schema has no `Option` with this name, or that `Option` is a spawn field.
    NotOptional {
        /// The name.
        field: String,
    },
    /// The schema has no kind of entities with this name.
    NoSuchKind {
        /// The name.
        name: String,
    },
    /// Playback would run on for more than a second without a newer state.
    ExtrapolationTooLong {
        /// The given time.
        at_most: Duration,
    },
    /// The options of a kind are out of range. A kind is sent every 1, 2, 4 or 8 ticks, with a
    /// priority of at least 0.
    KindOptions {
        /// The options.
        options: KindOptions,
    },
    /// The hub has no group of fields with this name.
    NoSuchGroup {
        /// The name.
        name: String,
    },
    /// The hub already has a group of fields with this name.
    GroupTaken {
        /// The name.
        name: String,
    },
    /// The hub has no events. [`Hub::with_events`](crate::Hub::with_events) enables them.
    NoEvents,
    /// The event cannot be quantized, or its type is not one of the hub's events.
    Event(EncodeError),
    /// The event does not fit into a datagram.
    EventTooLarge {
        /// The event's size in bytes.
        bytes: usize,
        /// The maximum size in bytes.
        limit_bytes: usize,
    },
    /// The hub's queue of reliable events for one receiver is full, so this receiver misses some
    /// events of this tick. The receiver has not answered for a long time, or its budget is too
    /// small. Remove this receiver.
    EventsWaiting {
        /// The receiver's id.
        id: ReceiverId,
        /// How many of this tick's events the receiver never gets.
        refused: u64,
    },
    /// The errors of several receivers in one tick, at least two. No element is itself a `Several`.
    Several(Vec<NetError>),
    /// The playout settings contradict each other.
    Playout(crate::PlayoutError),
}

impl NetError {
    /// Combines the errors of a tick into one result.
    pub(crate) fn combine(mut errors: Vec<Self>) -> Result<(), Self> {
        match errors.len() {
            0 => Ok(()),
            1 => errors.pop().map_or(Ok(()), Err),
            _ => Err(Self::Several(errors)),
        }
    }

    /// The errors in [`Several`](Self::Several). For any other variant, only this error.
    pub fn each(&self) -> &[Self] {
        match self {
            Self::Several(errors) => errors,
            one => std::slice::from_ref(one),
        }
    }

    /// The receiver that misses a snapshot, a full state or events because of this error. `None`
    /// for [`Several`](Self::Several), and for an error that concerns no receiver. In the latter
    /// case, the call changed nothing.
    ///
    /// ```
    /// use std::time::Duration;
    /// use kinepack::Snapshot;
    /// use kinepack_net::{Hub, NetError};
    ///
    /// /// Makes a tick, and removes the receivers that cannot get it.
    /// fn tick(hub: &mut Hub, now: Duration, world: &Snapshot) -> Result<(), NetError> {
    ///     let Err(failed) = hub.tick(now, world) else { return Ok(()) };
    ///     for error in failed.each() {
    ///         let Some(id) = error.receiver() else { return Err(failed) };
    ///         eprintln!("{error}");
    ///         hub.remove(id); // and close its connection
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn receiver(&self) -> Option<ReceiverId> {
        match self {
            Self::Receiver { id, .. }
            | Self::FullStateTooLarge { id, .. }
            | Self::FullStateRefused { id, .. }
            | Self::EventsWaiting { id, .. } => Some(*id),
            _ => None,
        }
    }
}

/// The message of [`NetError::Several`] lists at most this many errors.
const NAMED: usize = 4;

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DatagramBytes { bytes } => {
                write!(f, "datagrams of {bytes} bytes; 128 to 65507 are possible")
            }
            Self::NoTime => write!(f, "a duration or a count of zero that must be positive"),
            Self::RewindTooLong { ticks } => {
                write!(f, "rewinding by up to {ticks} ticks; at most 250 are possible")
            }
            Self::OlderViews { count } => {
                write!(f, "{count} older views; a snapshot has at most 3")
            }
            Self::BudgetTooSmall { bytes_per_s } => {
                write!(f, "a budget of {bytes_per_s} bytes a second; at least 256 are needed")
            }
            Self::ReceiverTaken => write!(f, "the hub already has a receiver with this id"),
            Self::UnknownReceiver => write!(f, "the hub has no receiver with this id"),
            Self::SchemaMismatch { expected_hash, hash } => {
                write!(f, "schema {hash:016x}, but the codec's is {expected_hash:016x}")
            }
            Self::SharedId { id } => write!(f, "entity {} is there twice, as two kinds", id.0),
            Self::SpawnChanged { id, field } => {
                write!(f, "entity {}: the spawn field `{field}` changed; it must not", id.0)
            }
            Self::TierDiffers { tier } => write!(
                f,
                "world {tier} of the tick has other entities or spawn fields than world 0; push the \
                 same entities into both"
            ),
            Self::BadRing { ring } => write!(
                f,
                "ring {ring}: distances must be 1e-9 to 1e100 and increase from ring to ring, `leave` \
                 must not be below `within`, `every` is from 1 to 255, a tier is at most 254, \
                 `coarser` is at most 31, and 1 to 254 rings are needed"
            ),
            Self::BadCell { cell } => {
                write!(f, "cells with an edge of {cell}; it must be 1e-9 to 1e100")
            }
            Self::NoSuchPosition { field } => write!(
                f,
                "`{field}` is not a position of the schema: two or three numbers that do not wrap, \
                 named with their kind, such as `ship.position`"
            ),
            Self::NoSuchField { field } => write!(
                f,
                "`{field}` is not a field of the schema; name it with its kind, such as \
                 `ship.health`"
            ),
            Self::BadViewpoint { id } => {
                write!(f, "receiver {}: a viewpoint that is not finite", id.0)
            }
            Self::NotSorted { id } => write!(f, "entity {} is not above the one before it", id.0),
            Self::LevelWithoutBaseline { row } => write!(
                f,
                "level {row} sends every entity each time; a hub needs level 7 or above, such \
                 as packed"
            ),
            Self::TickNotRising { last: Tick(last), tick: Tick(tick) } => write!(
                f,
                "tick {tick} after tick {last}; keep counting, or make a new hub and new \
                 receivers"
            ),
            Self::TimeRanBack { last, now } => {
                write!(f, "the time is {now:?}, but it was {last:?} in the previous tick")
            }
            Self::Receiver { id, error } => write!(f, "receiver {}: {error}", id.0),
            Self::FullStateTooLarge { id, bytes } => write!(
                f,
                "receiver {}: a first state of {bytes} bytes needs more than 65535 datagrams; \
                 make fewer entities relevant",
                id.0
            ),
            Self::FullStateRefused { id, arrived, fragments } => write!(
                f,
                "receiver {}: it answers, but took no fragment of its first state for 10 s \
                 ({arrived} of {fragments} arrived); the state is probably above its limits, so \
                 raise those or make fewer entities relevant",
                id.0
            ),
            Self::NotOptional { field } => write!(
                f,
                "`{field}` is not an Option of the schema; only Options can be hidden, such as \
                 `player.ammunition`"
            ),
            Self::NoSuchKind { name } => write!(f, "the schema has no kind `{name}`"),
            Self::ExtrapolationTooLong { at_most } => {
                write!(f, "extrapolation by up to {at_most:?}; at most a second is possible")
            }
            Self::KindOptions { options: KindOptions { every, priority } } => write!(
                f,
                "a kind can be sent every 1, 2, 4 or 8 ticks with a priority of at least 0, \
                 not every {every} with a priority of {priority}"
            ),
            Self::NoSuchGroup { name } => write!(f, "the hub has no group of fields `{name}`"),
            Self::GroupTaken { name } => {
                write!(f, "the hub already has a group of fields `{name}`")
            }
            Self::NoEvents => write!(f, "the hub has no events; Hub::with_events gives it some"),
            Self::Event(error) => write!(f, "the event: {error}"),
            Self::EventTooLarge { bytes, limit_bytes } => {
                write!(f, "an event of {bytes} bytes; at most {limit_bytes} fit into a datagram")
            }
            Self::EventsWaiting { id, refused } => write!(
                f,
                "receiver {}: too many events wait for it, and it never gets {refused} of this \
                 tick; remove it, or give it a larger budget",
                id.0
            ),
            Self::Several(errors) => fmt_several(errors, f),
            Self::Playout(error) => error.fmt(f),
        }
    }
}

/// Writes the first errors of a list, and the number of further errors.
fn fmt_several(errors: &[NetError], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (nth, error) in errors.iter().take(NAMED).enumerate() {
        write!(f, "{}{error}", if nth == 0 { "" } else { "; " })?;
    }
    match errors.len().saturating_sub(NAMED) {
        0 => Ok(()),
        more => write!(f, "; and {more} more"),
    }
}

impl core::error::Error for NetError {}
