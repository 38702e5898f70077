//! Reads several captures for training. The frames of all captures must have the same schema. All
//! files are opened before the first frame is read, so that a missing or unfit file is refused at
//! once. They are then closed again, because an open packed capture holds up to 128 MB.

use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};

use command_kit::interrupt::Interrupt;
use command_kit::{Failure, counted, progress, say};
use kinepack::Snapshot;
use kinepack_capture::CaptureLimits;
use kinepack_capture::analysis::shown_rate;

use crate::captured::{Captured, CapturedError, Ending, Snapshots, Stream, StreamArguments};
use crate::steps::MaxError;

/// The options with which all captures are opened.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub(crate) stream: &'a StreamArguments,
    pub(crate) max_error: &'a [MaxError],
    pub(crate) limits: CaptureLimits,
}

/// The first capture and its stream, with which the others are compared.
#[derive(Clone, Copy)]
pub(crate) struct First<'a> {
    pub(crate) path: &'a Path,
    pub(crate) stream: &'a Stream,
}

/// A further capture, and the stream that is read from it.
pub(crate) struct Further {
    pub(crate) path: PathBuf,
    pub(crate) stream: String,
    pub(crate) rate_hz: f64,
    /// The hash of the stream's schema. The first capture's stream has the same hash.
    schema_hash: u64,
    /// The path of the first capture.
    first: PathBuf,
}

/// The reason why a capture cannot be used for training.
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
        "{}: it has no stream {wanted}, which is the one of {}, and {} of the same schema; \
         {}there are {}",
        path.display(),
        first.display(),
        if *has_several { "several others" } else { "no other" },
        if *has_several { "--stream takes one name for all files; " } else { "train them apart; " },
        there.join(", ")
    )]
    WhichStream {
        path: PathBuf,
        wanted: String,
        first: PathBuf,
        has_several: bool,
        there: Vec<String>,
    },
    #[error("{}: it has no frame{}", path.display(), between(range))]
    NoFrame { path: PathBuf, range: Range<u32> },
}

/// Describes a range of frames in a sentence.
fn between(range: &Range<u32>) -> String {
    match (range.start, range.end) {
        (0, u32::MAX) => String::new(),
        (start, u32::MAX) => format!(" from frame {start} on"),
        (start, end) => format!(" from frame {start} on and before frame {end}"),
    }
}

impl Failure for RunError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            _ => 2,
        }
    }
}

impl Opening<'_> {
    /// Opens the first capture.
    pub(crate) fn first(&self, path: &Path) -> Result<Snapshots, CapturedError> {
        let captured = Captured::open(path, self.limits)?;
        Snapshots::new(captured, self.stream, self.max_error, &[])
    }

    /// Opens further captures, checks them, and closes them again. Prints which stream is read if
    /// it has a different name from that of the first capture.
    pub(crate) fn check(
        &self,
        first: First<'_>,
        paths: &[PathBuf],
    ) -> Result<Vec<Further>, RunError> {
        let check = |path: &PathBuf| -> Result<Further, RunError> {
            let captured = Captured::open(path, self.limits)?;
            let stream = &captured.streams()[self.choose(first, &captured)?];
            let (schema_hash, rate_hz) = (stream.schema.hash(), stream.rate_hz);
            let stream = stream.name.clone();
            if self.stream.stream.is_none() && stream != first.stream.name {
                say(format_args!(
                    "{}: this is about stream {stream}, the only one with the schema of {} of {}",
                    path.display(),
                    first.stream.name,
                    first.path.display()
                ));
            }
            let (path, first) = (path.clone(), first.path.to_owned());
            Ok(Further { path, stream, rate_hz, schema_hash, first })
        };
        paths.iter().map(check).collect()
    }

    /// Returns the index of the stream to read from a further capture. This is the requested
    /// stream, or else the stream with the same name as the first capture's stream. If no stream
    /// has that name, it is the only stream with the same schema.
    fn choose(&self, first: First<'_>, captured: &Captured) -> Result<usize, RunError> {
        let streams = captured.streams();
        let fits = |stream: &Stream| stream.schema.hash() == first.stream.schema.hash();
        let wanted = &first.stream.name;
        let named = match &self.stream.stream {
            Some(name) => Some(captured.named(name)?),
            None => streams.iter().position(|stream| stream.name == *wanted),
        };
        let fitting: Vec<usize> = (0..streams.len()).filter(|at| fits(&streams[*at])).collect();
        let index = match (named, &fitting[..]) {
            (Some(index), _) => index,
            (None, [only]) => *only,
            (None, []) if streams.len() == 1 => 0,
            (None, _) => {
                return Err(RunError::WhichStream {
                    path: captured.path().to_owned(),
                    wanted: wanted.clone(),
                    first: first.path.to_owned(),
                    has_several: !fitting.is_empty(),
                    there: captured.names(),
                });
            }
        };
        if !fits(&streams[index]) {
            return Err(RunError::OtherSchema {
                path: captured.path().to_owned(),
                stream: streams[index].name.clone(),
                first: first.path.to_owned(),
            });
        }
        Ok(index)
    }

    /// Reopens a capture that [`check`](Self::check) accepted. Refuses the capture if its schema is
    /// different now, because the file may have changed since.
    fn again(&self, further: &Further) -> Result<Snapshots, RunError> {
        let stream = StreamArguments { stream: Some(further.stream.clone()) };
        let Self { max_error, limits, .. } = *self;
        let snapshots = Opening { stream: &stream, max_error, limits }.first(&further.path)?;
        if snapshots.stream().schema.hash() != further.schema_hash {
            return Err(RunError::OtherSchema {
                path: further.path.clone(),
                stream: further.stream.clone(),
                first: further.first.clone(),
            });
        }
        Ok(snapshots)
    }
}

impl Further {
    /// Returns a note for a capture whose rate differs from the rate of the first capture. Lags
    /// count ticks, so a profile may be trained on captures of both rates.
    pub(crate) fn rate_note(&self, first: First<'_>) -> Option<String> {
        let [own, other] = [self.rate_hz, first.stream.rate_hz].map(shown_rate);
        (own != other).then(|| {
            format!(
                "{} has {own} ticks a second and {} has {other}: the same lag in ticks is another \
                 time",
                self.path.display(),
                first.path.display()
            )
        })
    }
}

/// Reads frames of captures into memory.
pub(crate) struct FrameReader<'a> {
    /// The range of frames to read from each capture.
    pub(crate) range: Range<u32>,
    /// The maximum number of frames that are kept from each capture.
    pub(crate) most_frames: usize,
    /// The memory that remains for frames, in bytes.
    pub(crate) room_bytes: usize,
    pub(crate) interrupt: &'a Interrupt,
}

impl<'a> FrameReader<'a> {
    /// Returns a reader of all frames in `range`.
    pub(crate) fn of_range(range: Range<u32>, interrupt: &'a Interrupt) -> Self {
        Self { range, most_frames: usize::MAX, room_bytes: usize::MAX, interrupt }
    }

    /// Reads the frames of a capture. A signal stops the reading, and the frames read until then
    /// are returned. Also returns whether other frames were lost. Prints a message if frames are
    /// omitted because there are too many.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        snapshots: &mut Snapshots,
    ) -> Result<(Vec<Snapshot>, Ending), CapturedError> {
        let Range { start, end } = self.range;
        let lanes = snapshots.schema().lanes().len();
        let frames = snapshots.stream().frames.map(|frames| frames.min(u64::from(end)));
        let bar = progress(frames);
        let mut run = Vec::new();
        for frame in 0..end {
            if self.interrupt.is_raised() {
                break;
            }
            let Some(snapshot) = snapshots.next_snapshot()? else { break };
            bar.inc(1);
            if frame < start {
                continue;
            }
            if run.len() == self.most_frames || self.room_bytes == 0 {
                let kept = counted(run.len(), "frame");
                say(format_args!("{}: only its first {kept} are used", path.display()));
                break;
            }
            let bytes = size_of::<u32>() * snapshot.len() * (lanes + 1);
            self.room_bytes = self.room_bytes.saturating_sub(bytes);
            run.push(snapshot);
        }
        bar.finish_and_clear();
        Ok((run, snapshots.end()?))
    }

    /// Reads the frames of further captures. Also returns whether all were read completely. Prints
    /// which captures have no frames.
    ///
    /// # Errors
    /// Fails as [`Runs::finish`] does.
    pub(crate) fn read_further(
        &mut self,
        opening: Opening<'_>,
        further: &[Further],
    ) -> Result<(Vec<Vec<Snapshot>>, Ending), RunError> {
        let mut runs = Runs::default();
        self.add_further(&mut runs, opening, further)?;
        runs.finish()
    }

    /// Adds the frames of further captures. Prints which captures are left out because the memory
    /// for frames is full.
    pub(crate) fn add_further(
        &mut self,
        runs: &mut Runs,
        opening: Opening<'_>,
        further: &[Further],
    ) -> Result<(), RunError> {
        for capture in further {
            if self.room_bytes == 0 {
                say(format_args!(
                    "{}: it is left out: the captures before it fill the memory for frames",
                    capture.path.display()
                ));
                runs.runs.push(Vec::new());
                continue;
            }
            self.add(runs, &capture.path, &mut opening.again(capture)?)?;
        }
        Ok(())
    }

    /// Adds the frames of a capture.
    pub(crate) fn add(
        &mut self,
        runs: &mut Runs,
        path: &Path,
        snapshots: &mut Snapshots,
    ) -> Result<(), RunError> {
        let (run, ending) = self.read(path, snapshots)?;
        if run.is_empty() && !self.interrupt.is_raised() {
            let (path, range) = (path.to_owned(), self.range.clone());
            runs.empty.push(RunError::NoFrame { path, range });
        }
        runs.runs.push(run);
        runs.ending = mem::take(&mut runs.ending).and(ending);
        Ok(())
    }
}

/// The frames of several captures, and how the reading of each ended.
#[derive(Default)]
pub(crate) struct Runs {
    runs: Vec<Vec<Snapshot>>,
    /// The errors of captures without a frame in the range.
    empty: Vec<RunError>,
    ending: Ending,
}

impl Runs {
    /// Returns the frames of each capture, and whether all were read completely. Prints which
    /// captures have no frames.
    ///
    /// # Errors
    /// Returns [`RunError::NoFrame`] if no capture has a frame.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_that_no_memory_is_left_for_is_not_opened() {
        let interrupt = Interrupt::unheard();
        let all = FrameReader::of_range(0..u32::MAX, &interrupt);
        let mut reader = FrameReader { room_bytes: 0, ..all };
        let stream = StreamArguments { stream: None };
        let opening = Opening { stream: &stream, max_error: &[], limits: CaptureLimits::default() };
        let [path, first] = ["missing.mcap", "first.mcap"].map(PathBuf::from);
        let stream = "drones".to_owned();
        let further = Further { path, stream, rate_hz: 60.0, schema_hash: 0, first };
        let (runs, _) = reader.read_further(opening, &[further]).unwrap();
        assert!(runs.len() == 1 && runs[0].is_empty());
    }
}
