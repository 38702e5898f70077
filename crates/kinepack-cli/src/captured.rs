//! Reads the streams of captures and challenge files as frames of entities, with raw words or
//! lanes.

use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::{Failure, counted, say};
use cube_data::cube::{self, Cube, Quantized};
use cube_data::{Challenge, ChallengeError, Frame, is_capture};
use kinepack::{EncodeError, EntityId, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_capture::{Capture, CaptureError, CaptureLimits, Columns, kinds};

use crate::ladder::{Parameters, ProfileError, read_profile};
use crate::steps::{MaxError, Steps, StepsError};

/// The stream of a file, for commands that take one.
#[derive(Args, Clone, Debug)]
pub(crate) struct StreamArguments {
    /// The stream of the capture, by name. Without it, the first one that fits the other options,
    /// such as a profile. If there are several streams, standard error says which one it is.
    #[arg(long, value_name = "NAME", requires = "file")]
    pub(crate) stream: Option<String>,
}

/// The limit of a capture's size.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct CaptureArguments {
    /// Read larger captures than usual, if you trust them: up to this many values. The default is
    /// 16,777,216 and 512 more for each byte of the file. A frame of E entities counts
    /// (E + 1) · (lanes + 1) + 256 values.
    #[arg(long, value_name = "VALUES")]
    max_values: Option<u64>,
}

impl CaptureArguments {
    pub(crate) fn limits(self) -> CaptureLimits {
        let given = |min_values| CaptureLimits { min_values, values_per_byte: 0 };
        self.max_values.map_or_else(CaptureLimits::default, given)
    }
}

/// Why a captured stream cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CapturedError {
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
    #[error("{}: it has no stream that kinepack recorded", path.display())]
    NoStreams { path: PathBuf },
    #[error("--stream {name}: no such stream; there are {}", there.join(", "))]
    UnknownStream { name: String, there: Vec<String> },
    #[error(transparent)]
    Steps(#[from] StepsError),
    /// The schema does not hold a frame.
    #[error("{}: the frame of tick {tick}: {reason}", path.display())]
    BadFrame { path: PathBuf, tick: u32, reason: String },
}

impl Failure for CapturedError {}

/// What to do about a file above its limits.
fn advice(is_too_large: bool) -> &'static str {
    if is_too_large {
        "; if you trust it, allow more with --max-values VALUES, or unpack it if it is a .zst"
    } else {
        ""
    }
}

/// One stream of a file.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) name: String,
    pub(crate) schema: Schema,
    /// The schema of each kind of entities alone.
    pub(crate) of_kinds: Vec<Schema>,
    pub(crate) rate_hz: f64,
    /// The number of frames, if it is known.
    pub(crate) frames: Option<u64>,
}

/// A file, read frame by frame.
pub(crate) struct Captured {
    path: PathBuf,
    source: Source,
    streams: Vec<Stream>,
}

enum Source {
    Challenge(Box<Cubes>),
    Capture(Box<Capture>),
}

/// A challenge file.
struct Cubes {
    challenge: Challenge,
    schema: Schema,
    next_tick: u32,
    ids: Vec<EntityId>,
    columns: Vec<Vec<u64>>,
}

/// A frame of one stream.
pub(crate) struct CapturedFrame<'a> {
    /// The stream's index.
    pub(crate) stream: usize,
    pub(crate) tick: Tick,
    /// The ids of each kind's entities.
    pub(crate) ids: Vec<&'a [EntityId]>,
    pub(crate) columns: Columns<'a>,
}

impl Captured {
    /// Opens a file. Its first bytes tell the format; for a `.bin` file the name does.
    pub(crate) fn open(path: &Path, limits: CaptureLimits) -> Result<Self, CapturedError> {
        if is_capture(path) {
            return Self::open_capture(path, limits);
        }
        let challenge = Challenge::open(path)?.with_limits(limits);
        let schema = cube::schema(Quantized::Everything);
        let stream = Stream {
            name: "cubes".to_owned(),
            of_kinds: kinds::schemas(&schema),
            schema: schema.clone(),
            rate_hz: f64::from(challenge.rate_hz()),
            frames: challenge.frames().map(u64::from),
        };
        let cubes = Cubes {
            challenge,
            schema,
            next_tick: 0,
            ids: Vec::new(),
            columns: vec![Vec::new(); Cube::LANES],
        };
        Ok(Self {
            path: path.to_owned(),
            source: Source::Challenge(Box::new(cubes)),
            streams: vec![stream],
        })
    }

    fn open_capture(path: &Path, limits: CaptureLimits) -> Result<Self, CapturedError> {
        let streams: Vec<Stream> = Capture::streams_with_limits(path, limits)?
            .into_iter()
            .map(|stream| Stream {
                name: stream.name().to_owned(),
                of_kinds: kinds::schemas(stream.schema()),
                schema: stream.schema().clone(),
                rate_hz: stream.rate_hz(),
                frames: stream.frames(),
            })
            .collect();
        if streams.is_empty() {
            return Err(CapturedError::NoStreams { path: path.to_owned() });
        }
        let capture = Capture::open(path)?.with_limits(limits);
        Ok(Self { path: path.to_owned(), source: Source::Capture(Box::new(capture)), streams })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The challenge file before quantization, whose frames also have velocities. `None` for all
    /// other files.
    pub(crate) fn floats(&mut self) -> Option<&mut Challenge> {
        match &mut self.source {
            Source::Challenge(cubes) if !cubes.challenge.is_quantized() => {
                Some(&mut cubes.challenge)
            }
            _ => None,
        }
    }

    /// The streams of the file.
    pub(crate) fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// The index of the stream with the name that was given, or else of the first that fits the
    /// options. Prints which one it takes of several.
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

    fn names(&self) -> Vec<String> {
        self.streams.iter().map(|stream| stream.name.clone()).collect()
    }

    /// The index of the stream with this name.
    pub(crate) fn named(&self, name: &str) -> Result<usize, CapturedError> {
        let found = self.streams.iter().position(|stream| stream.name == name);
        found.ok_or_else(|| CapturedError::UnknownStream {
            name: name.to_owned(),
            there: self.names(),
        })
    }

    /// The number of frames of all streams, if it is known.
    pub(crate) fn frames(&self) -> Option<u64> {
        self.streams.iter().map(|stream| stream.frames).sum()
    }

    /// The next frame of any stream. `None` at the end, or at the place where the file is damaged:
    /// see [`Self::warn_of_damage`].
    pub(crate) fn next_frame(&mut self) -> Result<Option<CapturedFrame<'_>>, CapturedError> {
        let capture = match &mut self.source {
            Source::Challenge(cubes) => return cubes.next_frame(),
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

    /// Warns on standard error if the file is damaged.
    pub(crate) fn warn_of_damage(&self) {
        if let Source::Capture(capture) = &self.source
            && let Some(damage) = capture.damage()
        {
            say(format_args!("{}: {damage}; the frames before it were read", self.path.display()));
        }
    }
}

impl Cubes {
    fn next_frame(&mut self) -> Result<Option<CapturedFrame<'_>>, CapturedError> {
        let is_exact = !self.challenge.is_quantized();
        let Some(frame) = self.challenge.next_frame()? else { return Ok(None) };
        let tick = Tick(self.next_tick);
        self.next_tick += 1;
        self.ids.clear();
        self.columns.iter_mut().for_each(Vec::clear);
        let mut bad = None;
        match frame {
            Frame::Quantized(frame) => {
                let mut snapshot = Snapshot::new(&self.schema, tick);
                frame.push_into(&mut snapshot)?;
                self.ids.extend_from_slice(snapshot.ids());
                for (lane, column) in self.columns.iter_mut().enumerate() {
                    column.extend(snapshot.lane(lane).iter().map(|value| u64::from(*value)));
                }
            }
            Frame::Floats(frame) => {
                for (object, state) in (0..).zip(frame.states()) {
                    let mut raw = [0; Cube::LANES];
                    let stored = Cube::from(state).store_raw(&mut raw);
                    if let Err(error) = stored {
                        bad = Some((object, error));
                        break;
                    }
                    self.ids.push(EntityId(object));
                    self.columns.iter_mut().zip(raw).for_each(|(column, word)| column.push(word));
                }
            }
        }
        if let Some((object, error)) = bad {
            return Err(self.challenge.bad_value(object, error.to_string()).into());
        }
        let columns =
            if is_exact { Columns::Raw(&self.columns) } else { Columns::Lanes(&self.columns) };
        Ok(Some(CapturedFrame { stream: 0, tick, ids: vec![&self.ids], columns }))
    }
}

/// The lag of baselines in frames: the one asked for, or 100 ms, as in the article.
pub(crate) fn lag_of(asked: Option<u32>, rate_hz: f64) -> u32 {
    asked.unwrap_or_else(|| ((0.1 * rate_hz).round() as u32).clamp(1, 60))
}

/// The name of a stream's parameters in reports.
pub(crate) fn profile_name(parameters: &Parameters, schema: &Schema) -> String {
    match parameters {
        Parameters::BuiltIn if built_in(schema).is_none() => Parameters::Untrained.to_string(),
        parameters => parameters.to_string(),
    }
}

/// The parameters of a stream.
pub(crate) fn profile(parameters: &Parameters, schema: &Schema) -> Result<Profile, ProfileError> {
    Ok(match parameters {
        Parameters::BuiltIn => built_in(schema).unwrap_or_else(|| Profile::untrained(schema)),
        Parameters::Untrained => Profile::untrained(schema),
        Parameters::Article => Profile::article(schema),
        Parameters::File(path) => read_profile(path, schema)?,
    })
}

/// The built-in profile for cubes, or for players and cubes.
fn built_in(schema: &Schema) -> Option<Profile> {
    if is_cubes(schema) {
        return Some(cube::profile());
    }
    let kinds = cube::players_and_cubes().ok().filter(|kinds| kinds.hash() == schema.hash())?;
    cube::profile().carried(&cube::schema(Quantized::Everything), &kinds).ok()
}

/// True if a stream's entities are the cubes, which have built-in profiles.
pub(crate) fn is_cubes(schema: &Schema) -> bool {
    cube::profile().schema_hash == schema.hash()
}

/// One stream of a file as snapshots, in the capture's steps or in others.
pub(crate) struct Snapshots {
    captured: Captured,
    index: usize,
    stream: Stream,
    steps: Steps,
    read: u32,
    /// Entities with a value out of its range.
    clamped: u64,
    raw: Vec<u64>,
    lanes: Vec<u32>,
    to: Vec<u32>,
}

impl Snapshots {
    pub(crate) fn new(
        captured: Captured,
        stream: &StreamArguments,
        max_error: &[MaxError],
        profiles: &[Parameters],
    ) -> Result<Self, CapturedError> {
        let index = captured.find(stream, max_error, profiles)?;
        let stream = captured.streams()[index].clone();
        let steps = Steps::new(&stream.schema, max_error)?;
        let count = stream.schema.lanes().len();
        Ok(Self {
            captured,
            index,
            read: 0,
            clamped: 0,
            raw: vec![0; count],
            lanes: vec![0; count],
            to: vec![0; steps.schema.lanes().len()],
            steps,
            stream,
        })
    }

    /// The stream as it was captured.
    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The schema of the snapshots.
    pub(crate) fn schema(&self) -> &Schema {
        &self.steps.schema
    }

    pub(crate) fn steps(&self) -> &Steps {
        &self.steps
    }

    /// The next snapshot; ticks begin at 0. `None` at the end, or at the place where the file is
    /// damaged.
    pub(crate) fn next_snapshot(&mut self) -> Result<Option<Snapshot>, CapturedError> {
        let path = self.captured.path().to_owned();
        while let Some(frame) = self.captured.next_frame()? {
            if frame.stream != self.index {
                continue;
            }
            let failed = |error: EncodeError| CapturedError::BadFrame {
                path: path.clone(),
                tick: frame.tick.0,
                reason: error.to_string(),
            };
            let mut snapshot = Snapshot::new(&self.steps.schema, Tick(self.read));
            for (kind, (ids, schema)) in frame.ids.iter().zip(&self.stream.of_kinds).enumerate() {
                let columns = frame.columns.of_lanes(self.stream.schema.kinds()[kind].lanes());
                let lanes = schema.lanes().len();
                let (raw, lanes) = (&mut self.raw[..lanes], &mut self.lanes[..lanes]);
                let to = &mut self.to[..self.steps.of_kinds[kind].lanes().len()];
                for (row, id) in ids.iter().enumerate() {
                    if let Columns::Raw(columns) = columns {
                        raw.iter_mut().zip(columns).for_each(|(word, column)| *word = column[row]);
                        let is_within = schema.quantize_raw(raw, lanes).map_err(failed)?;
                        self.clamped += u64::from(!is_within);
                    } else {
                        columns.entity(row, schema, raw, lanes).map_err(failed)?;
                    }
                    self.steps.quantize((kind, schema), raw, lanes, to).map_err(failed)?;
                    snapshot.push_lanes_of(kind, *id, to).map_err(failed)?;
                }
            }
            self.read += 1;
            return Ok(Some(snapshot));
        }
        Ok(None)
    }

    /// Warns on standard error if the file is damaged or has values out of range.
    pub(crate) fn warn(&self) {
        self.captured.warn_of_damage();
        if self.clamped > 0 {
            say(format_args!(
                "{}: {} had a value out of its range, which took the nearest end",
                self.captured.path().display(),
                counted(self.clamped, "state")
            ));
        }
    }
}
