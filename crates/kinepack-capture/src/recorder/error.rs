//! The reasons why something cannot be recorded.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use kinepack::EncodeError;
use thiserror::Error;

/// The reason why something cannot be recorded. After any error except [`Write`](Self::Write), the
/// recording continues without the refused part.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file cannot be created.
    #[error("{}: cannot be created: {source}", path.display())]
    Create {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file cannot be written, for example because the disk is full. The data written before
    /// can be read, but no more is recorded.
    #[error(
        "{}: {}; the frames recorded before can be read: {source}",
        path.display(),
        write_problem(source.kind())
    )]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The stream cannot be part of a capture file.
    #[error("stream {stream:?} cannot be recorded: {reason}")]
    BadStream {
        /// The stream's name.
        stream: String,
        /// What is wrong with the stream.
        reason: String,
    },
    /// The handle is from another recorder, or the snapshot's schema is not the stream's.
    #[error("not of stream {stream:?}: use this recorder's handle, with its type or schema")]
    OtherStream {
        /// The name of this recorder's stream that has the same number, if there is one.
        stream: String,
    },
    /// The tick is not above the tick of the stream's previous frame.
    #[error(
        "stream {stream:?}: tick {tick} comes after tick {last}; record each tick once, in order"
    )]
    TicksNotIncreasing {
        /// The stream's name.
        stream: String,
        /// The refused tick.
        tick: u32,
        /// The tick of the stream's previous frame.
        last: u32,
    },
    /// An id is not above the previous one in the frame, or not above the previous one of its kind.
    #[error(
        "stream {stream:?}, tick {tick}: the id {id} is not above the previous one; sort entities \
         by id"
    )]
    IdsNotIncreasing {
        /// The stream's name.
        stream: String,
        /// The frame's tick.
        tick: u32,
        /// The refused id.
        id: u32,
    },
    /// Entities of two kinds have the same id in one frame.
    #[error(
        "stream {stream:?}, tick {tick}: entities of two kinds have the id {id}; ids are one space \
         for all kinds"
    )]
    SharedId {
        /// The stream's name.
        stream: String,
        /// The frame's tick.
        tick: u32,
        /// The shared id.
        id: u32,
    },
    /// A spawn field of an entity changed since the previous frame. Give the entity another id, or
    /// do not mark the field as a spawn field.
    #[error(
        "stream {stream:?}, tick {tick}: entity {id}: the spawn field `{field}` changed; it must \
         not"
    )]
    SpawnChanged {
        /// The stream's name.
        stream: String,
        /// The frame's tick.
        tick: u32,
        /// The entity's id.
        id: u32,
        /// The name of the field, after the name of its kind if the kind has one.
        field: String,
    },
    /// A frame has more than 65,536 entities, or more than 4,194,304 words (entities times lanes).
    #[error(
        "stream {stream:?}, tick {tick}: more than {most} entities; split them over several streams"
    )]
    TooManyEntities {
        /// The stream's name.
        stream: String,
        /// The frame's tick.
        tick: u32,
        /// The maximum number of entities in a frame of this stream.
        most: usize,
    },
    /// A state cannot be stored as words.
    #[error("stream {stream:?}, tick {tick}, entity {id}: {source}")]
    BadState {
        /// The stream's name.
        stream: String,
        /// The frame's tick.
        tick: u32,
        /// The entity's id.
        id: u32,
        /// What is wrong with the state.
        source: EncodeError,
    },
}

fn write_problem(kind: ErrorKind) -> &'static str {
    if kind == ErrorKind::StorageFull { "the disk is full" } else { "cannot be written" }
}
