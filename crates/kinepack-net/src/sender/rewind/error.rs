//! Why a hub cannot say what a player saw.

use core::fmt;

use kinepack::frame::FrameError;
use kinepack::{EncodeError, EntityId};

/// Why a stamp was refused, or an entity's past state is not known.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RewindError {
    /// The hub does not rewind: [`Hub::set_rewind`](crate::Hub::set_rewind) enables it.
    Disabled,
    /// The hub has no such receiver.
    UnknownReceiver,
    /// The moment is longer ago than [`RewindConfig::longest`](crate::RewindConfig::longest). Or a
    /// newer state of the entity was sent longer ago than that, and did not arrive. Or the hub no
    /// longer has what it needs to know, because it has sent more than 128 datagrams since.
    TooOld {
        /// How many ticks ago the moment is.
        ticks: f64,
        /// The most ticks that are allowed.
        longest_ticks: f64,
    },
    /// The stamp is of a state that was not sent to the receiver yet. An honest client sends no such
    /// stamp.
    Ahead,
    /// An earlier stamp of the receiver was of a later moment. An honest client sends no such stamp,
    /// but a datagram may arrive late: see [`StreamRecord::late`](crate::StreamRecord::late).
    RunsBack,
    /// According to the stamp, no state had arrived that the hub still has.
    NothingShown,
    /// The receiver did not show the entity at that moment.
    NotShown {
        /// The entity.
        id: EntityId,
    },
    /// The state cannot be read as the given type.
    State(EncodeError),
    /// The place in the world of an entity that is relative to another one is not known.
    Frame(FrameError),
}

impl From<EncodeError> for RewindError {
    fn from(error: EncodeError) -> Self {
        Self::State(error)
    }
}

impl From<FrameError> for RewindError {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

impl fmt::Display for RewindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("the hub does not rewind: call `Hub::set_rewind` first"),
            Self::UnknownReceiver => f.write_str("the hub has no such receiver"),
            Self::TooOld { ticks, longest_ticks } => write!(
                f,
                "the player saw this {ticks:.1} ticks ago, and the hub rewinds at most {longest_ticks:.1}"
            ),
            Self::Ahead => f.write_str("the stamp is of a state that was not sent yet"),
            Self::RunsBack => f.write_str("an earlier stamp of this player was of a later moment"),
            Self::NothingShown => {
                f.write_str("according to the stamp, no state had arrived that the hub still has")
            }
            Self::NotShown { id } => write!(f, "entity {} was not shown at that moment", id.0),
            Self::State(error) => error.fmt(f),
            Self::Frame(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RewindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::State(error) => Some(error),
            Self::Frame(error) => Some(error),
            _ => None,
        }
    }
}
