//! The reasons why a broadcast cannot be set up, and why a viewer refuses an object or a datagram.

use core::fmt;

use kinepack::{DecodeError, EncodeError, SetupError};
use kinepack_net::PlayoutError;

/// The reason why a catalogue, a publisher or a viewer cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CrowdError {
    /// The bytes are not a catalogue.
    Catalogue {
        /// What is wrong with the bytes.
        reason: &'static str,
    },
    /// A tier's name, times or codec cannot be in a catalogue.
    Tier {
        /// The name of the tier.
        name: String,
        /// What is wrong with the tier.
        reason: &'static str,
    },
    /// The parts of a catalogue do not form a codec.
    Codec(SetupError),
    /// The viewer's history is too long: it has more than 2³⁰ ticks, or more states than the memory
    /// can hold with one entity each.
    History,
    /// The viewer's delays are not possible.
    Playout(PlayoutError),
    /// A snapshot cannot be encoded.
    Encode(EncodeError),
    /// A snapshot needs more datagrams than a viewer puts together.
    TooLarge {
        /// The snapshot's size in bytes.
        bytes: usize,
        /// The maximum size in bytes.
        most: usize,
    },
    /// There is no tier with this number.
    NoTier {
        /// The given number.
        number: usize,
    },
}

impl fmt::Display for CrowdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalogue { reason } => write!(f, "this is not a catalogue: {reason}"),
            Self::Tier { name, reason } => write!(f, "the tier {name:?}: {reason}"),
            Self::Codec(error) => write!(f, "the catalogue's parts do not fit together: {error}"),
            Self::History => {
                f.write_str("the viewer's history is longer than its ticks or its memory allow")
            }
            Self::Playout(error) => error.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::TooLarge { bytes, most } => {
                write!(f, "a snapshot of {bytes} bytes does not fit into datagrams: {most} do")
            }
            Self::NoTier { number } => write!(f, "there is no tier number {number}"),
        }
    }
}

impl std::error::Error for CrowdError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Codec(error) => Some(error),
            Self::Playout(error) => Some(error),
            Self::Encode(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SetupError> for CrowdError {
    fn from(error: SetupError) -> Self {
        Self::Codec(error)
    }
}

impl From<EncodeError> for CrowdError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

/// The reason why a viewer refused an object or a datagram. A refused object or datagram changes
/// nothing except counters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refused {
    /// The viewer does not watch this tier.
    NotWatched,
    /// The group is older than the groups that the viewer reads.
    Late,
    /// The viewer missed or refused an earlier object of the group.
    Broken,
    /// The object has more frames than the tier allows, or no frames.
    Length,
    /// Too many objects wait for the snapshot that their group is coded against.
    Waiting,
    /// The viewer does not hold the head of the datagram's group.
    NoHead,
    /// The datagram's header is malformed, or the part contradicts another part.
    Part,
    /// The part was received before.
    Duplicate,
    /// No snapshot can be read from these bytes.
    Decode(DecodeError),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWatched => f.write_str("of a tier that is not watched"),
            Self::Late => f.write_str("of a group that is older than those being read"),
            Self::Broken => f.write_str("after an object of its group that was missed or refused"),
            Self::Length => f.write_str("the object has too many snapshots, or none"),
            Self::Waiting => f.write_str("too many objects wait for a key snapshot"),
            Self::NoHead => f.write_str("of a group whose head is not there"),
            Self::Part => f.write_str("a malformed datagram, or one that contradicts another part"),
            Self::Duplicate => f.write_str("a part that was received before"),
            Self::Decode(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Decode(error) => Some(error),
            _ => None,
        }
    }
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}
