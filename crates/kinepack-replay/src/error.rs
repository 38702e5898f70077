//! Why a replay cannot be written or read.

use std::{fmt, io};

use kinepack::{DecodeError, EncodeError, SetupError};
use kinepack_capture::schema_document::SchemaError;

/// Why a replay cannot be written or read. Damage to single groups is no error: see
/// [`ReplayReader::damage`](crate::ReplayReader::damage).
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file cannot be read or written.
    Io(io::Error),
    /// Not a replay file.
    NotReplay {
        /// What is missing or wrong.
        reason: String,
    },
    /// The file ends before it says what it is: its writer was killed when it had just begun.
    Empty,
    /// The file's schema cannot be used, or the schema cannot be stored.
    Schema(SchemaError),
    /// The file's profile cannot be used.
    Profile(SetupError),
    /// The codec is not the one that wrote the file.
    OtherCodec {
        /// The hash of the file's codec.
        expected_hash: u64,
        /// The hash of the codec that is given, or that the file describes.
        hash: u64,
    },
    /// A snapshot or an event cannot be encoded.
    Encode(EncodeError),
    /// A snapshot's tick is not above the one before.
    TicksNotIncreasing {
        /// The snapshot's tick.
        tick: u32,
        /// The tick of the snapshot before.
        last: u32,
    },
    /// A tick is too late for the time of a file: 584 years.
    TickTooLate {
        /// The tick.
        tick: u32,
    },
    /// A snapshot takes more bytes than a reader accepts.
    FrameTooLarge {
        /// Its bytes.
        bytes: usize,
        /// The most that a group can have.
        most: usize,
    },
    /// A frame or the events of a kill cam cannot be decoded.
    Decode(DecodeError),
    /// There are more events at one tick than a group can have.
    TooManyEvents {
        /// The largest number.
        most: usize,
    },
    /// An event was emitted, but the replay has no kinds of events.
    NoEvents,
    /// There is no snapshot in an interval to cut.
    NothingToCut,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotReplay { reason } => write!(f, "not a replay that can be read: {reason}"),
            Self::Empty => write!(f, "the replay ends before its first snapshot"),
            Self::Schema(error) => error.fmt(f),
            Self::Profile(error) => write!(f, "the replay's profile: {error}"),
            Self::OtherCodec { expected_hash, hash } => write!(
                f,
                "the replay was written with codec {expected_hash:016x}, and this is {hash:016x}"
            ),
            Self::Encode(error) => error.fmt(f),
            Self::TicksNotIncreasing { tick, last } => {
                write!(f, "a snapshot of tick {tick} after one of tick {last}")
            }
            Self::TickTooLate { tick } => {
                write!(f, "tick {tick} is more than 584 years after tick 0")
            }
            Self::FrameTooLarge { bytes, most } => {
                write!(f, "a snapshot of {bytes} bytes: a group has at most {most}")
            }
            Self::Decode(error) => error.fmt(f),
            Self::TooManyEvents { most } => write!(f, "more than {most} events at one tick"),
            Self::NoEvents => {
                write!(f, "the replay has no kinds of events: set ReplayOptions::events")
            }
            Self::NothingToCut => write!(f, "there is no snapshot between these ticks"),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Schema(error) => Some(error),
            Self::Profile(error) => Some(error),
            Self::Encode(error) => Some(error),
            Self::Decode(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReplayError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<EncodeError> for ReplayError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl From<DecodeError> for ReplayError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<SchemaError> for ReplayError {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}

/// A part of a replay that cannot be read. The rest can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayDamage {
    /// The byte in the file where the damaged record begins.
    pub at_byte: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for ReplayDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged at byte {}: {}", self.at_byte, self.reason)
    }
}
