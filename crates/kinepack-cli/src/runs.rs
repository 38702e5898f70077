//! Several captures to train on: the frames of each, in the same schema.

use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};

use command_kit::interrupt::Interrupt;
use command_kit::{Failure, progress, say};
use kinepack::{Schema, Snapshot};

use crate::captured::{CapturedError, Ending, Snapshots};

/// The frames of captures whose streams have the same schema.
pub(crate) struct Runs {
    /// The capture that the others are compared with, and the schema of its stream as it was
    /// captured.
    first: PathBuf,
    stream: Schema,
    /// The frames of each capture to read.
    range: Range<u32>,
    runs: Vec<Vec<Snapshot>>,
    /// The errors of captures without a frame in the range.
    empty: Vec<RunError>,
    ending: Ending,
}

/// Why a capture cannot be trained on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(
        "{}: its stream {stream} has another schema than that of {}; train them apart",
        path.display(),
        first.display()
    )]
    OtherSchema { path: PathBuf, stream: String, first: PathBuf },
    #[error(
        "{}: it has no frame from {} on{}",
        path.display(),
        range.start,
        if range.end == u32::MAX { String::new() } else { format!(" and before {}", range.end) }
    )]
    NoFrame { path: PathBuf, range: Range<u32> },
}

impl Failure for RunError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            _ => 2,
        }
    }
}

impl Runs {
    /// No runs yet, for captures like this one. Of each, the frames in `range` will be read.
    pub(crate) fn like(first: &Path, snapshots: &Snapshots, range: Range<u32>) -> Self {
        Self {
            first: first.to_owned(),
            stream: snapshots.stream().schema.clone(),
            range,
            runs: Vec::new(),
            empty: Vec::new(),
            ending: Ending::default(),
        }
    }

    /// Reads a capture, or its frames before a signal.
    pub(crate) fn add(
        &mut self,
        path: &Path,
        mut snapshots: Snapshots,
        interrupt: &Interrupt,
    ) -> Result<(), RunError> {
        let stream = snapshots.stream();
        if stream.schema.hash() != self.stream.hash() {
            return Err(RunError::OtherSchema {
                path: path.to_owned(),
                stream: stream.name.clone(),
                first: self.first.clone(),
            });
        }
        let Range { start, end } = self.range;
        let bar = progress(stream.frames.map(|frames| frames.min(u64::from(end))));
        let mut run = Vec::new();
        for frame in 0..end {
            if interrupt.is_raised() {
                break;
            }
            let Some(snapshot) = snapshots.next_snapshot()? else { break };
            bar.inc(1);
            if frame >= start {
                run.push(snapshot);
            }
        }
        bar.finish_and_clear();
        if run.is_empty() && !interrupt.is_raised() {
            let (path, range) = (path.to_owned(), self.range.clone());
            self.empty.push(RunError::NoFrame { path, range });
        }
        self.runs.push(run);
        self.ending = mem::take(&mut self.ending).and(snapshots.end()?);
        Ok(())
    }

    /// The frames of each capture, and whether all were read completely. Says which captures have
    /// none.
    ///
    /// # Errors
    /// [`RunError::NoFrame`] if no capture has any.
    pub(crate) fn finish(self) -> Result<(Vec<Vec<Snapshot>>, Ending), RunError> {
        let are_all_empty = self.empty.len() == self.runs.len();
        for error in self.empty {
            if are_all_empty {
                return Err(error);
            }
            say(format_args!("{error}; it is left out"));
        }
        Ok((self.runs, self.ending))
    }
}
