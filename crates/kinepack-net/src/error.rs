//! Every reason for which this crate says no.

use core::fmt;
use std::time::Duration;

use kinepack::{DecodeError, EncodeError, EntityId, Tick};

use crate::ReceiverId;
use crate::packet::Mismatch;

/// Why a datagram was refused. Nothing has changed but a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// Shorter or longer than its kind asks for.
    Length {
        /// Bytes that came.
        bytes: usize,
    },
    /// No kind of datagram that this side takes, or bits that must be 0 are not.
    Kind {
        /// The first byte.
        first_byte: u8,
    },
    /// It was taken before.
    Duplicate,
    /// It is more than 32 behind the newest: too old to be acknowledged.
    TooOld,
    /// Relative to a view or a reference state that is not held.
    NoBaseline,
    /// A merge field that names a view that is not held, or where there is nothing to merge.
    BadMerge,
    /// Older views at no distance, too many, beside a reference state, with something left out, or
    /// whose ticks do not fall.
    BadOlder,
    /// The snapshot in it is no valid one.
    Snapshot(DecodeError),
    /// The two sides do not hold the same: the view has another state check than the sender's. The
    /// receiver has dropped its views, and asks for the state anew.
    WrongState {
        /// The sender's [state check](kinepack::View::check).
        theirs: u16,
        /// That of the view that was decoded.
        ours: u16,
    },
    /// A fragment that contradicts the others of its block.
    BadFragment,
    /// A block larger than this side's limit.
    BlockTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// An acknowledgement of something that was never sent, or an anew.
    NeverSent,
    /// An acknowledgement of something sent too long ago, or an anew.
    LongAgo,
    /// From a receiver that was not added.
    UnknownReceiver,
    /// From a receiver that has not said hello.
    NoHello,
    /// A hello of other hashes or another version: the two sides cannot understand each other.
    Mismatch(Mismatch),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { bytes } => {
                write!(f, "a datagram of {bytes} bytes is too short or too long for its kind")
            }
            Self::Kind { first_byte } => {
                write!(f, "no kind of datagram for this side: first byte {first_byte:#04x}")
            }
            Self::Duplicate => write!(f, "a datagram that was taken before"),
            Self::TooOld => write!(f, "a datagram more than 32 behind the newest"),
            Self::NoBaseline => write!(f, "relative to a view that is not held"),
            Self::BadMerge => {
                write!(f, "merges a view that is not held, or where there is nothing to merge")
            }
            Self::BadOlder => write!(f, "older views that cannot be used beside the baseline"),
            Self::Snapshot(error) => write!(f, "the snapshot in it is not valid: {error}"),
            Self::WrongState { theirs, ours } => {
                write!(
                    f,
                    "not the sender's state: its check is {theirs:04x}, ours {ours:04x}; asking for it anew"
                )
            }
            Self::BadFragment => write!(f, "a fragment that contradicts its block"),
            Self::BlockTooLarge { limit_bytes } => {
                write!(f, "a block above the limit of {limit_bytes} bytes")
            }
            Self::NeverSent => write!(f, "an answer to something that was never sent"),
            Self::LongAgo => write!(f, "an answer to something sent too long ago"),
            Self::UnknownReceiver => write!(f, "from a receiver that was not added"),
            Self::NoHello => write!(f, "from a receiver that has not said hello"),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
        }
    }
}

impl core::error::Error for Refused {}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Self {
        Self::Snapshot(error)
    }
}

/// Why an endpoint cannot be set up or a world not be sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NetError {
    /// A datagram size outside of 128 to 65,507 bytes.
    DatagramBytes {
        /// What was asked for.
        bytes: usize,
    },
    /// A time of zero where one must pass, or no datagram a tick.
    NoTime,
    /// More older views than a codec looks at.
    OlderViews {
        /// What was asked for.
        count: u8,
    },
    /// A budget below what one small datagram a second needs.
    BudgetTooSmall {
        /// What was asked for.
        bytes_per_s: u32,
    },
    /// A receiver with this id is there.
    ReceiverTaken,
    /// No receiver has this id.
    UnknownReceiver,
    /// A snapshot or a further codec of another schema than the codec's.
    SchemaMismatch {
        /// The codec's.
        expected_hash: u64,
        /// That of the snapshot, or of the further codec.
        hash: u64,
    },
    /// A set of entities that is not sorted, or has one twice.
    NotSorted {
        /// The first entity that is not above the one before.
        id: EntityId,
    },
    /// A codec whose level sends every entity each time, relative to nothing: rows 1 to 6 of the
    /// table.
    LevelWithoutBaseline {
        /// The level's row.
        row: u8,
    },
    /// A world whose tick is not above that of the world before.
    TickNotRising {
        /// The tick before.
        last: Tick,
        /// The tick that was given.
        tick: Tick,
    },
    /// A time before that of the tick before.
    TimeRanBack {
        /// The time of the tick before.
        last: Duration,
        /// The time that was given.
        now: Duration,
    },
    /// The snapshot of one receiver could not be encoded.
    Receiver {
        /// Which receiver.
        id: ReceiverId,
        /// Why.
        error: EncodeError,
    },
    /// The world does not fit into the 65,535 fragments of a block: one receiver cannot be given
    /// its first state.
    BlockTooLarge {
        /// Which receiver.
        id: ReceiverId,
        /// Bytes of the block.
        bytes: usize,
    },
    /// Settings of the playout that contradict each other.
    Playout(crate::PlayoutError),
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DatagramBytes { bytes } => {
                write!(f, "datagrams of {bytes} bytes; 128 to 65507 are possible")
            }
            Self::NoTime => {
                write!(f, "a time or a count of zero where something has to happen in between")
            }
            Self::OlderViews { count } => {
                write!(f, "{count} older views; a snapshot has at most 3")
            }
            Self::BudgetTooSmall { bytes_per_s } => {
                write!(f, "a budget of {bytes_per_s} bytes a second; at least 256 are needed")
            }
            Self::ReceiverTaken => write!(f, "a receiver with this id is there"),
            Self::UnknownReceiver => write!(f, "there is no receiver with this id"),
            Self::SchemaMismatch { expected_hash, hash } => {
                write!(f, "something of schema {hash:016x}, the codec's is {expected_hash:016x}")
            }
            Self::NotSorted { id } => write!(f, "entity {} is not above the one before it", id.0),
            Self::LevelWithoutBaseline { row } => {
                write!(
                    f,
                    "level {row} sends every entity each time; a hub needs a level from 7 on, such as packed"
                )
            }
            Self::TickNotRising { last: Tick(last), tick: Tick(tick) } => {
                write!(
                    f,
                    "tick {tick} after tick {last}; keep counting, or make a new hub and new receivers"
                )
            }
            Self::TimeRanBack { last, now } => {
                write!(f, "the time is {now:?}, and was {last:?} in the tick before")
            }
            Self::Receiver { id, error } => write!(f, "receiver {}: {error}", id.0),
            Self::BlockTooLarge { id, bytes } => write!(
                f,
                "receiver {}: a first state of {bytes} bytes is more than 65535 datagrams; make fewer entities relevant",
                id.0
            ),
            Self::Playout(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for NetError {}
