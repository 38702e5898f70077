//! The reasons why a file or the report cannot be written.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use kinepack_capture::RecordError;

use crate::Failure;

/// The reason why a command cannot write.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file cannot be written.
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: Problem },
    /// Signals cannot be handled, so an unfinished file could stay behind.
    #[error("cannot listen for Ctrl-C: {0}")]
    Signals(#[from] ctrlc::Error),
    /// The report cannot be written to standard output.
    #[error("cannot write the report: {}", in_words(.0))]
    Stdout(io::Error),
}

impl OutputError {
    /// Converts the error of a recorder that cannot write. The recorder's text says that earlier
    /// frames can be read, but a command deletes its file, or reports its path. All other errors
    /// are returned as `Err`.
    pub fn of_recorder(error: RecordError) -> Result<Self, RecordError> {
        match error {
            RecordError::Write { path, source } => {
                Ok(Self::File { path, problem: Problem::System(source) })
            }
            other => Err(other),
        }
    }
}

impl Failure for OutputError {
    fn exit_code(&self) -> u8 {
        if matches!(self, Self::Stdout(_)) { 1 } else { 2 }
    }
}

/// The reason why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("this file exists: choose another name, or replace it with --force")]
    Exists,
    #[error("this is a directory: give the name of a file")]
    IsDirectory,
    #[error("its directory does not exist: make it first, or choose another one")]
    NoDirectory,
    #[error("two options name this file: give each its own name")]
    Twice,
    #[error(
        "this is the input {}, which even --force does not replace: choose another name",
        input.display()
    )]
    IsInput { input: PathBuf },
    #[error(
        "this is a pipe or a device, and the header of a .f32 file gets its number of frames at \
         the end: give the name of a file"
    )]
    NotSeekable,
    /// An error of the operating system.
    #[error("{}", in_words(.0))]
    System(io::Error),
}

/// Returns the system's text for an error. For the most common error, a plainer sentence comes
/// first.
fn in_words(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull => format!("the disk is full: {error}"),
        _ => error.to_string(),
    }
}

pub(super) fn failure(path: &Path, problem: Problem) -> OutputError {
    OutputError::File { path: path.to_owned(), problem }
}
