//! The reasons why a replay cannot be written or read.

use std::{fmt, io};

use kinepack::{DecodeError, EncodeError, SetupError};
use kinepack_capture::schema_document::SchemaError;
use thiserror::Error;

/// The reason why a replay cannot be written or read. Damage to single groups is not an error: see
/// [`ReplayReader::damage`](crate::ReplayReader::damage).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is not a replay.
    #[error("not a replay that can be read: {reason}")]
    NotReplay {
        /// What is missing from the file or wrong with it.
        reason: String,
    },
    /// The file ends before its first channel, because its writer was killed very early.
    #[error("the replay ends before its first snapshot")]
    Empty,
    /// The file's schema cannot be used, or the schema cannot be stored.
    #[error("{0}")]
    Schema(#[from] SchemaError),
    /// The file's profile cannot be used.
    #[error("the replay's profile: {0}")]
    Profile(#[source] SetupError),
    /// The codec is not the one that wrote the file.
    #[error("the replay was written with codec {expected_hash:016x}, and this is {hash:016x}")]
    OtherCodec {
        /// The hash of the file's codec.
        expected_hash: u64,
        /// The hash of the codec that the caller gave, or that the file describes.
        hash: u64,
    },
    /// A snapshot or an event cannot be encoded.
    #[error("{0}")]
    Encode(#[from] EncodeError),
    /// A snapshot's tick is not above the previous snapshot's tick.
    #[error("a snapshot of tick {tick} after one of tick {last}")]
    TicksNotIncreasing {
        /// The snapshot's tick.
        tick: u32,
        /// The tick of the previous snapshot.
        last: u32,
    },
    /// A tick is beyond the last time that a file can store, 584 years.
    #[error("tick {tick} is more than 584 years after tick 0")]
    TickTooLate {
        /// The refused tick.
        tick: u32,
    },
    /// A snapshot takes more bytes than a reader accepts.
    #[error("a snapshot of {bytes} bytes: a group has at most {most}")]
    FrameTooLarge {
        /// The snapshot's size in bytes.
        bytes: usize,
        /// The maximum size of a group in bytes.
        most: usize,
    },
    /// A frame or the events of a kill cam cannot be decoded.
    #[error("{0}")]
    Decode(#[from] DecodeError),
    /// There are more events at one tick than a group can have.
    #[error("more than {most} events at one tick")]
    TooManyEvents {
        /// The maximum number of events in a group.
        most: usize,
    },
    /// An event was emitted, but the replay has no kinds of events.
    #[error("the replay has no kinds of events: set ReplayOptions::events")]
    NoEvents,
    /// The interval to cut has no snapshot.
    #[error("there is no snapshot between these ticks")]
    NothingToCut,
}

/// A part of a replay that cannot be read. All other parts can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayDamage {
    /// The byte in the file where the damaged record begins.
    pub at_byte: u64,
    /// What is wrong with the record.
    pub reason: String,
}

impl fmt::Display for ReplayDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged at byte {}: {}", self.at_byte, self.reason)
    }
}
