//! Why something cannot be recorded.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use kinepack::EncodeError;

/// Why something cannot be recorded. After any but [`Write`](Self::Write) the recording goes on
/// without what was refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// The file cannot be made.
    Create {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file cannot be written, as where the disk is full. What was written before can be read;
    /// nothing more is recorded.
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A stream that cannot be part of a capture file.
    BadStream {
        /// Its name.
        stream: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A handle that another recorder gave, or a snapshot of another schema than the stream's.
    OtherStream {
        /// The name of the stream in this recorder that has its number, if there is one.
        stream: String,
    },
    /// A tick that is not above that of the frame before in the stream.
    TicksNotIncreasing {
        /// The stream's name.
        stream: String,
        /// The refused tick.
        tick: u32,
        /// That of the frame before.
        last: u32,
    },
    /// An id that is not above the one before in the frame.
    IdsNotIncreasing {
        /// The stream's name.
        stream: String,
        /// The frame's tick.
        tick: u32,
        /// The refused id.
        id: u32,
    },
    /// More than 65,536 entities in a frame, or more than 4,194,304 words: entities times lanes.
    TooManyEntities {
        /// The stream's name.
        stream: String,
        /// The frame's tick.
        tick: u32,
        /// How many entities are possible in this stream.
        most: usize,
    },
    /// A state that has no words.
    BadState {
        /// The stream's name.
        stream: String,
        /// The frame's tick.
        tick: u32,
        /// The entity's id.
        id: u32,
        /// What is wrong with it.
        source: EncodeError,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { path, source } => {
                write!(f, "{}: cannot be created: {source}", path.display())
            }
            Self::Write { path, source } if source.kind() == ErrorKind::StorageFull => {
                write!(
                    f,
                    "{}: the disk is full; what was recorded before can be read: {source}",
                    path.display()
                )
            }
            Self::Write { path, source } => {
                write!(
                    f,
                    "{}: cannot be written; what was recorded before can be read: {source}",
                    path.display()
                )
            }
            Self::BadStream { stream, reason } => {
                write!(f, "stream {stream:?} cannot be recorded: {reason}")
            }
            Self::OtherStream { stream } => {
                write!(
                    f,
                    "not of stream {stream:?}: use the handle that this recorder gave, with its type or schema"
                )
            }
            Self::TicksNotIncreasing { stream, tick, last } => {
                write!(
                    f,
                    "stream {stream:?}: tick {tick} comes after tick {last}; record each tick once, in order"
                )
            }
            Self::IdsNotIncreasing { stream, tick, id } => {
                write!(
                    f,
                    "stream {stream:?}, tick {tick}: the id {id} is not above the one before; sort entities by id"
                )
            }
            Self::TooManyEntities { stream, tick, most } => {
                write!(
                    f,
                    "stream {stream:?}, tick {tick}: more than {most} entities; split them over several streams"
                )
            }
            Self::BadState { stream, tick, id, source } => {
                write!(f, "stream {stream:?}, tick {tick}, entity {id}: {source}")
            }
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create { source, .. } | Self::Write { source, .. } => Some(source),
            Self::BadState { source, .. } => Some(source),
            _ => None,
        }
    }
}
