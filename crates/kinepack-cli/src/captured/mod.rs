//! Reads the streams of captures, replays and challenge files as frames of entities, with raw words
//! or lanes.

mod cubes;
mod ending;
mod pace;
mod replayed;
mod snapshots;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::{Failure, READ_ONCE, is_read_once, say};
use cube_data::cube::{self, Quantized};
use cube_data::{Challenge, ChallengeError, is_capture};
use cubes::Cubes;
pub use ending::Ending;
use kinepack::{EncodeError, EntityId, Profile, Schema, Tick};
use kinepack_capture::{Capture, CaptureError, CaptureLimits, Columns, Damage, ZstdReader, kinds};
use kinepack_replay::{ReplayError, ReplayReader};
pub(crate) use pace::Pace;
use replayed::Replayed;
pub use snapshots::Snapshots;

use crate::ladder::{Parameters, ProfileError};
use crate::steps::{MaxError, Steps, StepsError};

/// The extension of a capture that is packed as a whole.
const PACKED_CAPTURE: &str = ".mcap.zst";
/// The largest zstd window that a packed capture may need.
const MOST_WINDOW_BYTES: u64 = 128 << 20;

/// The stream of a file, for commands that take one.
#[derive(Args, Clone, Debug)]
pub struct StreamArguments {
    /// The stream of the capture, by name. Without it, the first one that fits the other options,
    /// such as a profile. If there are several streams, a message on standard error names the
    /// chosen one.
    #[arg(long, value_name = "NAME")]
    pub stream: Option<String>,
}

/// The limit of a capture's size.
#[derive(Args, Clone, Copy, Debug)]
pub struct CaptureArguments {
    /// Read captures of up to this many values. Raise the limit only for files that you trust. The
    /// default is 16,777,216 and 512 more for each byte of the file. A frame of E entities counts
    /// (E + 1) · (lanes + 1) + 256 values.
    #[arg(long, value_name = "VALUES")]
    max_values: Option<u64>,
}

impl CaptureArguments {
    pub fn limits(self) -> CaptureLimits {
        let given = |min_values| CaptureLimits { min_values, values_per_byte: 0 };
        self.max_values.map_or_else(CaptureLimits::default, given)
    }
}

/// The reason why a captured stream cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CapturedError {
    #[error("{error}{}", advice(matches!(error, CaptureError::TooManyValues { .. })))]
    Capture {
        #[from]
        error: CaptureError,
    },
    #[error("{error}{}", advice(matches!(error, ChallengeError::TooManyValues { .. })))]
    Challenge {
        #[from]
        error: ChallengeError,
    },
    #[error("{}: {error}", path.display())]
    Replay { path: PathBuf, error: ReplayError },
    #[error("{}: {READ_ONCE}", path.display())]
    Once { path: PathBuf },
    #[error("{}: it has no stream that kinepack recorded", path.display())]
    NoStreams { path: PathBuf },
    #[error("{}: --stream {name}: no such stream; there are {}", path.display(), there.join(", "))]
    UnknownStream { path: PathBuf, name: String, there: Vec<String> },
    #[error("{}: stream {stream}: {error}", path.display())]
    Steps { path: PathBuf, stream: String, error: StepsError },
    /// No frame of the file can be read, because the file is damaged or of a later version.
    #[error("{}: no frame can be read: {reason}", path.display())]
    NothingRead { path: PathBuf, reason: String },
    /// Some frames cannot be read. The others were read.
    #[error("{}: {}", path.display(), ending::lost(*lost))]
    Incomplete { path: PathBuf, lost: Option<u64> },
}

impl Failure for CapturedError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Incomplete { .. } => 1,
            _ => 2,
        }
    }
}

/// Advice for a file above its limits.
fn advice(is_too_large: bool) -> &'static str {
    if is_too_large {
        "; if you trust it, allow more with --max-values VALUES, or unpack it if it is a .zst"
    } else {
        ""
    }
}

/// One stream of a file.
#[derive(Clone, Debug)]
pub struct Stream {
    pub name: String,
    pub schema: Schema,
    /// The schemas of the kinds, each of one kind of entities alone.
    pub of_kinds: Vec<Schema>,
    pub rate_hz: f64,
    /// The number of frames. The value is `None` if it is not known.
    pub frames: Option<u64>,
}

/// A file that is read frame by frame.
pub struct Captured {
    path: PathBuf,
    source: Source,
    streams: Vec<Stream>,
}

enum Source {
    Challenge(Box<Cubes>),
    Capture(Box<Capture>),
    Replay(Box<Replayed>),
}

/// A frame of one stream.
#[derive(Clone)]
pub(crate) struct CapturedFrame<'a> {
    /// The index of the stream.
    pub(crate) stream: usize,
    pub(crate) tick: Tick,
    /// The ids of the entities, for each kind.
    pub(crate) ids: Vec<&'a [EntityId]>,
    pub(crate) columns: Columns<'a>,
}

impl CapturedFrame<'_> {
    /// Returns the error for an entity of a kind that the schema cannot hold. `raw` contains its
    /// raw words.
    pub(crate) fn refused(
        &self,
        path: &Path,
        stream: &Stream,
        (kind, id): (usize, EntityId),
        raw: &[u64],
        error: &EncodeError,
    ) -> CapturedError {
        let reason = kinds::refusal(&stream.schema, kind, raw, error);
        let (path, stream, tick) = (path.to_owned(), stream.name.clone(), self.tick.0);
        CaptureError::BadState { path, stream, tick, entity: id.0, reason }.into()
    }

    /// Refuses values that the stream's schema cannot hold. All commands that quantize values
    /// refuse them too.
    pub(crate) fn check(&self, path: &Path, stream: &Stream) -> Result<(), CapturedError> {
        if let Columns::Lanes(_) = self.columns {
            return Ok(());
        }
        for (kind, (ids, schema)) in self.ids.iter().zip(&stream.of_kinds).enumerate() {
            let columns = self.columns.of_lanes(stream.schema.kinds()[kind].lanes());
            let (mut raw, mut lanes) = (vec![0; columns.count()], vec![0; columns.count()]);
            for (row, id) in ids.iter().enumerate() {
                columns
                    .entity(row, schema, &mut raw, &mut lanes)
                    .map_err(|error| self.refused(path, stream, (kind, *id), &raw, &error))?;
            }
        }
        Ok(())
    }
}

impl Captured {
    /// Opens a file. Its first bytes determine the format. For a `.bin` file, the name determines
    /// it.
    pub fn open(path: &Path, limits: CaptureLimits) -> Result<Self, CapturedError> {
        refuse_once(path)?;
        if kinepack_replay::is_replay(path) {
            let unread = |error| CapturedError::Replay { path: path.to_owned(), error };
            let (replayed, stream) = Replayed::open(path).map_err(unread)?;
            return Ok(Self {
                path: path.to_owned(),
                source: Source::Replay(Box::new(replayed)),
                streams: vec![stream],
            });
        }
        if is_capture(path) {
            return Self::open_capture(path, limits);
        }
        if path.to_string_lossy().ends_with(PACKED_CAPTURE) {
            return Self::open_packed_capture(path, limits);
        }
        let challenge = Challenge::open(path)?.with_limits(limits);
        let (cubes, stream) = Cubes::new(challenge);
        Ok(Self {
            path: path.to_owned(),
            source: Source::Challenge(Box::new(cubes)),
            streams: vec![stream],
        })
    }

    /// Opens a capture. A file without a summary is read twice, because its streams are only known
    /// at its end.
    fn open_capture(path: &Path, limits: CaptureLimits) -> Result<Self, CapturedError> {
        let open = || Ok::<_, CaptureError>(Capture::open(path)?.with_limits(limits));
        let mut capture = open()?;
        if capture.streams().is_empty() {
            while capture.next_frame()?.is_some() {}
        }
        Self::with_capture(path, &capture, open()?)
    }

    /// Opens a packed capture. The file is read twice, because its streams are only known at its
    /// end.
    fn open_packed_capture(path: &Path, limits: CaptureLimits) -> Result<Self, CapturedError> {
        let open = || -> Result<Capture, CaptureError> {
            let file = File::open(path)
                .map_err(|source| CaptureError::Io { path: path.to_owned(), source })?;
            let unpacked = ZstdReader::new(BufReader::new(file), MOST_WINDOW_BYTES);
            Ok(Capture::from_reader(path, unpacked)?.with_limits(limits))
        };
        let mut capture = open()?;
        while capture.next_frame()?.is_some() {}
        Self::with_capture(path, &capture, open()?)
    }

    /// Makes a reader of `capture`. `known` is the same capture, opened so that its streams are
    /// known.
    fn with_capture(path: &Path, known: &Capture, capture: Capture) -> Result<Self, CapturedError> {
        let stream = |stream: &kinepack_capture::Stream| Stream {
            name: stream.name().to_owned(),
            of_kinds: kinds::schemas(stream.schema()),
            schema: stream.schema().clone(),
            rate_hz: stream.rate_hz(),
            frames: stream.frames(),
        };
        let path = path.to_owned();
        if known.streams().is_empty() {
            return Err(match known.damage().first() {
                Some(damage) => CapturedError::NothingRead { path, reason: damage.to_string() },
                None => CapturedError::NoStreams { path },
            });
        }
        Ok(Self {
            path,
            source: Source::Capture(Box::new(capture)),
            streams: known.streams().iter().map(stream).collect(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the challenge file before quantization, whose frames also have velocities, or `None`
    /// for all other files.
    pub(crate) fn floats(&mut self) -> Option<&mut Challenge> {
        match &mut self.source {
            Source::Challenge(cubes) if !cubes.challenge.is_quantized() => {
                Some(&mut cubes.challenge)
            }
            _ => None,
        }
    }

    /// Returns the streams of the file.
    pub(crate) fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Returns the index of the stream with the given name. Without a name, it is the first stream
    /// that fits the options. If there are several streams, the method prints the chosen one.
    pub(crate) fn find(
        &self,
        arguments: &StreamArguments,
        max_error: &[MaxError],
        profiles: &[Parameters],
    ) -> Result<usize, CapturedError> {
        if let Some(name) = &arguments.stream {
            return self.named(name);
        }
        let fits = |stream: &Stream| {
            let Ok(steps) = Steps::new(&stream.schema, max_error) else { return false };
            profiles.iter().all(|parameters| profile(parameters, &steps.schema).is_ok())
        };
        let index = self.streams.iter().position(fits).unwrap_or(0);
        // A converted challenge file has a second stream with the cubes' velocities.
        if self.streams.len() > 1 && !is_cubes(&self.streams[index].schema) {
            say(format_args!(
                "{}: this is about stream {}, of {}; --stream takes another",
                self.path.display(),
                self.streams[index].name,
                self.names().join(", ")
            ));
        }
        Ok(index)
    }

    /// Returns the names of the streams.
    pub(crate) fn names(&self) -> Vec<String> {
        self.streams.iter().map(|stream| stream.name.clone()).collect()
    }

    /// Returns the index of the stream whose name is `name`.
    pub(crate) fn named(&self, name: &str) -> Result<usize, CapturedError> {
        let found = self.streams.iter().position(|stream| stream.name == name);
        found.ok_or_else(|| match self.refused(name) {
            Some(reason) => CapturedError::NothingRead { path: self.path.clone(), reason },
            None => CapturedError::UnknownStream {
                path: self.path.clone(),
                name: name.to_owned(),
                there: self.names(),
            },
        })
    }

    /// Returns the quantization steps of a stream, or the steps that `--max-error` requires
    /// instead.
    pub(crate) fn steps(
        &self,
        index: usize,
        max_error: &[MaxError],
    ) -> Result<Steps, CapturedError> {
        let stream = &self.streams[index];
        Steps::new(&stream.schema, max_error).map_err(|error| CapturedError::Steps {
            path: self.path.clone(),
            stream: stream.name.clone(),
            error,
        })
    }

    /// Returns the reason why a stream of the capture cannot be read, or `None` if no damage of
    /// this stream is known.
    fn refused(&self, name: &str) -> Option<String> {
        let Source::Capture(capture) = &self.source else { return None };
        let of_stream = |damage: &&Damage| damage.stream.as_deref() == Some(name);
        capture.damage().iter().find(of_stream).map(ToString::to_string)
    }

    /// Returns the replay, or `None` if the file is not a replay.
    pub(crate) fn replay(&self) -> Option<&ReplayReader> {
        match &self.source {
            Source::Replay(replayed) => Some(replayed.replay()),
            _ => None,
        }
    }

    /// Returns the number of frames of all streams, or `None` if it is not known.
    pub(crate) fn frames(&self) -> Option<u64> {
        sum(self.streams.iter().map(|stream| stream.frames))
    }

    /// Returns the next frame of any stream, or `None` at the end. [`Self::end`] then reports
    /// whether frames are missing.
    pub(crate) fn next_frame(&mut self) -> Result<Option<CapturedFrame<'_>>, CapturedError> {
        let capture = match &mut self.source {
            Source::Challenge(cubes) => return cubes.next_frame(),
            Source::Replay(replayed) => {
                let path = self.path.clone();
                return replayed
                    .next_frame()
                    .map_err(|error| CapturedError::Replay { path, error });
            }
            Source::Capture(capture) => capture,
        };
        let known: &[Stream] = &self.streams;
        let Some((_, frame)) = capture.next_frame()? else {
            return Ok(None);
        };
        let name = frame.stream().name();
        let Some(stream) = known.iter().position(|stream| stream.name == name) else {
            return Err(CapturedError::NoStreams { path: self.path.clone() });
        };
        let kinds = 0..known[stream].of_kinds.len();
        Ok(Some(CapturedFrame {
            stream,
            tick: frame.tick(),
            ids: kinds.map(|kind| frame.ids_of(kind)).collect(),
            columns: frame.values(),
        }))
    }
}

/// Refuses a pipe or a device, because it can be read only once. Opening a named pipe would also
/// wait for a writer.
pub fn refuse_once(path: &Path) -> Result<(), CapturedError> {
    match is_read_once(path) {
        true => Err(CapturedError::Once { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// Returns the lag of baselines in ticks: `asked` if given, or 100 ms, as in the article.
pub(crate) fn lag_of(asked: Option<u32>, rate_hz: f64) -> u32 {
    asked.unwrap_or_else(|| ((0.1 * rate_hz).round() as u32).clamp(1, 60))
}

/// Returns the name that reports use for a stream's parameters.
pub(crate) fn profile_name(parameters: &Parameters, schema: &Schema) -> String {
    match parameters {
        Parameters::BuiltIn if built_in(schema).is_none() => Parameters::Untrained.to_string(),
        parameters => parameters.to_string(),
    }
}

/// Returns the profile that a stream's parameters select.
pub fn profile(parameters: &Parameters, schema: &Schema) -> Result<Profile, ProfileError> {
    Ok(match parameters {
        Parameters::BuiltIn => built_in(schema).unwrap_or_else(|| Profile::untrained(schema)),
        Parameters::Untrained => Profile::untrained(schema),
        Parameters::Article => Profile::article(schema),
        Parameters::File(file) => file.profile(schema)?,
    })
}

/// Returns the built-in profile for cubes, or for players and cubes.
fn built_in(schema: &Schema) -> Option<Profile> {
    if is_cubes(schema) {
        return Some(cube::profile());
    }
    let kinds = cube::players_and_cubes().ok().filter(|kinds| kinds.hash() == schema.hash())?;
    cube::profile().carried(&cube::schema(Quantized::Everything), &kinds).ok()
}

/// Returns whether a stream's entities are the cubes, which have built-in profiles.
pub(crate) fn is_cubes(schema: &Schema) -> bool {
    cube::profile().schema_hash == schema.hash()
}

/// Returns the sum of counts that a file states, or `None` if one of them is unknown. The sum
/// saturates, because a stated count may be as large as a `u64`.
fn sum(mut counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    counts.try_fold(0, |sum: u64, count| Some(sum.saturating_add(count?)))
}
