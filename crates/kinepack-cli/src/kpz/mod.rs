//! The commands for replay files: `pack`, `unpack`, `info`, `cut`.

pub(crate) mod cut;
pub(crate) mod info;
mod moment;
pub(crate) mod pack;
mod transforms;
pub(crate) mod unpack;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use command_kit::output::Problem;
use command_kit::{Failure, OutputError, READ_ONCE, is_read_once, own_file_limits};
use cube_data::ConvertError;
use kinepack::SetupError;
use kinepack_capture::RecordError;
use kinepack_replay::{ReplayError, ReplayLimits, ReplayReader};

use crate::captured::CapturedError;
use crate::ladder::ProfileError;

/// The reason why a command for replay files failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KpzError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error("{}: {error}", path.display())]
    Replay { path: PathBuf, error: ReplayError },
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Record(RecordError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{}: {error}; write a .mcap or a .csv instead", path.display())]
    Convert { path: PathBuf, error: ConvertError },
    #[error("--level {name}: no such level; learning is the smallest, adaptive reads faster")]
    UnknownLevel { name: String },
    #[error("--note {key}: it is given twice")]
    NoteTwice { key: String },
    #[error("--{option}: {reason}")]
    Moment { option: &'static str, reason: String },
    #[error("{}: {reason}", path.display())]
    CannotUnpack { path: PathBuf, reason: String },
    /// The replay is damaged. The report is already printed.
    #[error("{}: {}", path.display(), damage_found(*count, *is_complete))]
    Damaged { path: PathBuf, count: usize, is_complete: bool },
}

impl From<RecordError> for KpzError {
    fn from(error: RecordError) -> Self {
        OutputError::of_recorder(error).map_or_else(Self::Record, Self::Output)
    }
}

/// Returns a sentence about the damage that was found. A file without an end has no index, so
/// groups after a damaged length cannot be found.
fn damage_found(count: usize, is_complete: bool) -> String {
    let places = command_kit::counted(count, "place");
    match is_complete {
        true => format!("damaged in {places}; all other groups can be played"),
        false => format!("damaged in {places}, and without an end: the groups found can be played"),
    }
}

impl Failure for KpzError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Damaged { .. } => 1,
            _ => 2,
        }
    }
}

/// Opens a replay.
///
/// # Errors
/// Returns [`ReplayError`] if the file cannot be opened as a replay. A pipe or a device is refused,
/// because a reader cannot go back in it.
pub fn open_replay(path: &Path) -> Result<ReplayReader, ReplayError> {
    if is_read_once(path) {
        return Err(io::Error::new(ErrorKind::Unsupported, READ_ONCE).into());
    }
    let replay = ReplayReader::open(path)?;
    let decode = own_file_limits(replay.schema());
    Ok(replay.with_limits(ReplayLimits { decode, ..ReplayLimits::default() }))
}

fn open(path: &Path) -> Result<ReplayReader, KpzError> {
    open_replay(path).map_err(|error| read_error(path, error))
}

/// Converts an error of reading a file.
fn read_error(path: &Path, error: ReplayError) -> KpzError {
    KpzError::Replay { path: path.to_owned(), error }
}

/// Converts an error of writing a replay.
fn replay_error(path: &Path, error: ReplayError) -> KpzError {
    match error {
        ReplayError::Io(error) => write_error(path, error),
        error => read_error(path, error),
    }
}

/// Converts an error of writing a file.
fn write_error(path: &Path, error: io::Error) -> KpzError {
    OutputError::File { path: path.to_owned(), problem: Problem::System(error) }.into()
}
