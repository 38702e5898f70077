//! The ladder: one stream of frames through several levels at once. Each frame is encoded against
//! the newest one that is `lag` ticks older, decoded, and compared lane for lane. Rows with the same
//! schema share their snapshots.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use clap::ValueEnum;
use command_kit::cube_precision::{Errors, Precision};
use command_kit::parts::{PartOfField, Parts};
use command_kit::{Failure, counted};
use cube_data::cube::{self, Measured, Quantized};
use kinepack::{
    Baselines, Codec, DecodeLimits, Decoder, EncodeError, Encoder, EntityId, Level, Profile,
    Schema, SetupError, Snapshot, Tick, View,
};
use kinepack_capture::analysis::Past;

use crate::captured::{Pace, is_cubes, profile};
use crate::stages::{Stages, StagesNs};

/// The measurements of a level.
#[derive(Clone, Debug)]
pub(crate) struct Measurement {
    pub(crate) level: Level,
    /// Payload bytes of each frame.
    pub(crate) frames_bytes: Vec<u32>,
    pub(crate) parts_bits: Parts<u64>,
    pub(crate) encode_ns: u64,
    pub(crate) decode_ns: u64,
    /// The times of filling and of reading, if they are measured.
    stages: Option<StagesNs>,
    pub(crate) changed_entities: u64,
    /// The errors of values, if the codec has a time precision.
    pub(crate) errors: Option<Errors>,
}

/// The kinds of entities that cubes are measured as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CubeKinds {
    /// Two: the player's cube and the others.
    Player,
}

/// Several levels that code the same frames.
pub(crate) struct Ladder {
    history: History,
    frame: u32,
    /// The first tick and the newest one.
    ticks: Option<(Tick, Tick)>,
    /// The frames that are measured, and the ticks that passed from frame to frame until each.
    measured: u32,
    passed_ticks: u64,
    groups: Vec<Group>,
}

/// The distances to the frames that a frame is coded against, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct History {
    /// From the frame back to its baseline.
    pub(crate) lag: u32,
    /// From the baseline back to the first older view. The second one is a lag before the first.
    pub(crate) spacing: u32,
    /// The first frame that is measured.
    pub(crate) from: u32,
}

impl History {
    /// From the frame back to the baseline, and from there to each older view.
    fn lags(&self) -> [u32; 3] {
        [self.lag, self.spacing, self.lag]
    }

    /// The most views that are needed.
    fn most_views(&self) -> usize {
        self.lags().iter().map(|lag| *lag as usize).sum()
    }
}

/// Levels with the same schema.
struct Group {
    quantized: Quantized,
    /// The schema of the frames that it takes.
    schema: Schema,
    /// The schema of two kinds, if they are split before coding.
    split: Option<Schema>,
    runs: Vec<Run>,
    part_of_field: PartOfField,
    /// Only for cubes: the program does not know the types of other schemas.
    stages: Option<Stages>,
}

struct Run {
    encoder: Encoder,
    decoder: Decoder,
    packet: Vec<u8>,
    /// The last views, which both sides hold.
    past: Past,
    /// False with a time precision, which makes values coarser.
    is_exact: bool,
    measurement: Measurement,
}

impl Ladder {
    /// The cubes at the rows of `levels`. `parameters` gives the profile for levels that need one.
    pub(crate) fn new(
        levels: &[Level],
        history: History,
        parameters: &Parameters,
        precision: Precision,
        kinds: Option<CubeKinds>,
    ) -> Result<Self, LadderError> {
        let mut ladder = Self::empty(history);
        for &level in levels {
            let quantized = Quantized::at(level);
            let schema = cube::schema(quantized);
            let mut profile = match parameters {
                _ if quantized != Quantized::Everything => Profile::untrained(&schema),
                Parameters::BuiltIn => precision.profile(),
                parameters => profile(parameters, &schema)?,
            };
            let split = match kinds {
                Some(CubeKinds::Player) => Some(cube::with_player(&schema)?),
                None => None,
            };
            let mut coded = &schema;
            if let Some(split) = &split {
                profile = profile.carried(&schema, split)?;
                coded = split;
            }
            let codec = Codec::new(precision.apply_to(coded.clone()), level, profile)?;
            ladder.add_run(quantized, &schema, split, &codec);
        }
        Ok(ladder)
    }

    /// Any stream, at rows of `levels` that quantize everything.
    pub(crate) fn of_stream(
        levels: &[Level],
        history: History,
        parameters: &Parameters,
        precision: Precision,
        kinds: Option<CubeKinds>,
        schema: &Schema,
    ) -> Result<Self, LadderError> {
        if is_cubes(schema) {
            return Self::new(levels, history, parameters, precision, kinds);
        }
        if !precision.is_exact() {
            return Err(LadderError::PrecisionOfCubes);
        }
        if kinds.is_some() {
            return Err(LadderError::KindsOfCubes);
        }
        let profile = profile(parameters, schema)?;
        let mut ladder = Self::empty(history);
        for &level in levels {
            let codec = Codec::new(schema.clone(), level, profile.clone())?;
            ladder.add_run(Quantized::Everything, schema, None, &codec);
        }
        Ok(ladder)
    }

    fn empty(history: History) -> Self {
        let groups = Vec::new();
        Self { history, frame: 0, ticks: None, measured: 0, passed_ticks: 0, groups }
    }

    /// Adds a level. `schema` is that of the frames, and `split` the one that they are coded in,
    /// if that is another.
    fn add_run(
        &mut self,
        quantized: Quantized,
        schema: &Schema,
        split: Option<Schema>,
        codec: &Codec,
    ) {
        let run = Run {
            encoder: Encoder::new(codec),
            // It reads what this side has encoded.
            decoder: Decoder::with_limits(codec, DecodeLimits { max_entities: u32::MAX }),
            packet: Vec::new(),
            past: Past::new(self.history.most_views()),
            is_exact: !codec.has_precision(),
            measurement: Measurement::new(codec, is_cubes(schema)),
        };
        if let Some(group) = self.groups.iter_mut().find(|group| group.quantized == quantized) {
            group.runs.push(run);
        } else {
            self.groups.push(Group {
                quantized,
                part_of_field: PartOfField::new(split.as_ref().unwrap_or(schema)),
                runs: vec![run],
                schema: schema.clone(),
                stages: (is_cubes(schema) && split.is_none()).then(|| Stages::new(schema)),
                split,
            });
        }
    }

    /// Takes the frame of the next tick, from 0, as floats.
    pub(crate) fn add(&mut self, states: &[Measured]) -> Result<(), BadFrame> {
        let is_bad = |(entity, state)| Some((entity, not_finite(state)?));
        if let Some((entity, error)) = (0..).zip(states).find_map(is_bad) {
            return Err(BadFrame::Value { entity, reason: error.to_string() });
        }
        self.add_to_groups(Tick(self.frame), |quantized, mut snapshot| {
            for (entity, state) in (0..).zip(states) {
                let pushed = cube::push(&mut snapshot, quantized, EntityId(entity), *state);
                // The frame's error names the entity.
                let pushed = pushed.map_err(|error| match error {
                    EncodeError::NotANumber { field, .. } => {
                        EncodeError::NotANumber { id: None, field }
                    }
                    EncodeError::OutOfRange { field, value, .. } => {
                        EncodeError::OutOfRange { id: None, field, value }
                    }
                    other => other,
                });
                pushed.map_err(|error| BadFrame::Value { entity, reason: error.to_string() })?;
            }
            Ok(Arc::new(snapshot))
        })
    }

    /// Takes a frame of a stream.
    pub(crate) fn add_snapshot(&mut self, snapshot: Snapshot) -> Result<(), BadFrame> {
        let exact = Arc::new(snapshot);
        self.add_to_groups(exact.tick, |_, _| Ok(Arc::clone(&exact)))
    }

    /// Takes the frame that `of` makes for each schema.
    fn add_to_groups(
        &mut self,
        tick: Tick,
        mut of: impl FnMut(Quantized, Snapshot) -> Result<Arc<Snapshot>, BadFrame>,
    ) -> Result<(), BadFrame> {
        let (first, last) = self.ticks.unwrap_or((tick, tick));
        let is_measured = self.frame >= self.history.from
            && tick.0.checked_sub(self.history.lag).is_some_and(|newest| newest >= first.0);
        if is_measured {
            self.measured += 1;
            self.passed_ticks += u64::from(tick.0 - last.0);
        }
        self.ticks = Some((first, tick));
        for group in &mut self.groups {
            let mut exact = of(group.quantized, Snapshot::new(&group.schema, tick))?;
            let level = group.runs[0].measurement.level;
            let failed = |error: EncodeError| BadFrame::NotVerified {
                level,
                tick: tick.0,
                reason: error.to_string(),
            };
            let stages = group.stages.as_mut().filter(|_| is_measured);
            let times = stages.map(|stages| stages.time(&exact)).transpose().map_err(failed)?;
            if let Some(schema) = &group.split {
                exact = Arc::new(cube::split(&exact, schema).map_err(failed)?);
            }
            for run in &mut group.runs {
                if is_measured {
                    run.frame(self.history, &exact, &group.part_of_field)?;
                    run.measurement.add_stages(times);
                } else {
                    run.past.push(View::from(Arc::clone(&exact)));
                }
            }
        }
        self.frame += 1;
        Ok(())
    }

    /// The number of frames taken.
    pub(crate) fn frames(&self) -> u32 {
        self.frame
    }

    /// The number of frames that were measured.
    pub(crate) fn measured(&self) -> u32 {
        self.measured
    }

    /// The pace of the measured frames, given the ticks a second.
    pub(crate) fn pace(&self, rate_hz: f64) -> Pace {
        let is_even = u64::from(self.measured) == self.passed_ticks;
        let ratio = f64::from(self.measured) / self.passed_ticks.max(1) as f64;
        Pace { rate_hz, frames_per_s: if is_even { rate_hz } else { rate_hz * ratio } }
    }

    /// The measurements, one for each level.
    pub(crate) fn measurements(&self) -> impl Iterator<Item = &Measurement> {
        self.groups.iter().flat_map(|group| &group.runs).map(|run| &run.measurement)
    }
}

/// The error of a state with a number that is not finite. Levels that send a field's floats as they
/// are would take it, and others do not look at the velocity.
fn not_finite(state: &Measured) -> Option<EncodeError> {
    let Measured { position, orientation, velocity, .. } = state;
    let fields = [
        ("position", &position[..]),
        ("orientation", &orientation[..]),
        ("velocity", &velocity[..]),
    ];
    let (field, value) = fields.into_iter().find_map(|(field, numbers)| {
        let bad = numbers.iter().find(|number| !number.is_finite())?;
        Some((field, *bad))
    })?;
    Some(if value.is_nan() {
        EncodeError::NotANumber { id: None, field }
    } else {
        EncodeError::OutOfRange { id: None, field, value: value.into() }
    })
}

/// The parameters of the levels that have any.
#[derive(Clone, Debug)]
pub enum Parameters {
    /// The profile trained for cubes.
    BuiltIn,
    /// The article's widths: positions small 5 and large 9, orientations small 5 and large 8.
    Article,
    /// A profile without training.
    Untrained,
    /// A trained profile.
    File(ProfileFile),
}

impl Parameters {
    /// The file that they are read from, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        if let Self::File(file) = self { Some(&file.path) } else { None }
    }
}

/// A profile's file, which is read once: it may be a pipe.
#[derive(Clone, Debug)]
pub struct ProfileFile {
    path: PathBuf,
    bytes: Arc<OnceLock<Vec<u8>>>,
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.pad("built-in"),
            Self::Article => f.pad("article"),
            Self::Untrained => f.pad("untrained"),
            Self::File(file) => file.path.display().fmt(f),
        }
    }
}

impl FromStr for Parameters {
    type Err = std::convert::Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(match name {
            "built-in" => Self::BuiltIn,
            "article" => Self::Article,
            "untrained" => Self::Untrained,
            path => Self::File(ProfileFile { path: path.into(), bytes: Arc::default() }),
        })
    }
}

/// Why levels cannot be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LadderError {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(
        "--time-precision-ms is for cubes; a schema of your own states it for each field: \
         #[pack(time_precision_ms = 2)]"
    )]
    PrecisionOfCubes,
    #[error("--kinds is for cubes; a schema of your own has the kinds that it was built of")]
    KindsOfCubes,
}

impl Failure for LadderError {}

/// A profile that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct ProfileError {
    path: PathBuf,
    reason: String,
    is_of_other_schema: bool,
}

impl Failure for ProfileError {}

impl ProfileError {
    /// The error for one of several streams of a file.
    pub(crate) fn of_stream(self, stream: &str) -> Self {
        let Self { path, mut reason, is_of_other_schema } = self;
        if is_of_other_schema {
            reason.push_str(&format!(" than that of stream {stream}; --stream takes another"));
        }
        Self { path, reason, is_of_other_schema }
    }
}

/// A capture that is too short for what is asked.
#[derive(Debug, thiserror::Error)]
#[error("{capture}: {shortage}")]
pub(crate) struct TooShort {
    /// The file, and the stream if several are meant.
    capture: String,
    shortage: Shortage,
}

impl Failure for TooShort {}

/// What a capture has too little of.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Shortage {
    #[error("it has no frames")]
    Empty,
    #[error(
        "{} {} too few for a baseline {lag} ticks back{}",
        counted(frames, "frame"),
        if *frames == 1 { "is" } else { "are" },
        if *lag > 1 { "; give a shorter --lag" } else { "" }
    )]
    ForBaselines { frames: u32, lag: u32 },
    #[error(
        "--from {from}: there is no frame {from}; the capture has {}, and the first one is frame 0",
        counted(frames, "frame")
    )]
    BeforeFrom { frames: u32, from: u32 },
    #[error(
        "{} of {frames} remain to train on with --hold-out {hold_out}: too few, since the older \
         views that the adaptive level looks at are {} ticks back; give a shorter --lag{}",
        counted(training, "frame"),
        2 * lag,
        if *all_suffice { ", or hold out less" } else { "" }
    )]
    ForTraining { frames: u32, training: u32, hold_out: u32, lag: u32, all_suffice: bool },
    #[error("{hold_out} % of {} is none to measure on; hold out more", counted(frames, "frame"))]
    ToHoldOut { frames: u32, hold_out: u32 },
}

impl Shortage {
    /// The error for a capture: its file, and its stream if several are meant.
    pub(crate) fn of(self, capture: impl fmt::Display) -> TooShort {
        TooShort { capture: capture.to_string(), shortage: self }
    }

    /// The error for a run of so few frames that none has a baseline this many ticks back.
    pub(crate) fn for_baselines(frames: u32, lag: u32) -> Self {
        if frames == 0 { Self::Empty } else { Self::ForBaselines { frames, lag } }
    }
}

/// More than a profile ever has: that of a schema with the most fields and classes.
const MAX_PROFILE_BYTES: u64 = 64 << 20;

impl ProfileFile {
    pub(crate) fn profile(&self, schema: &Schema) -> Result<Profile, ProfileError> {
        let failed = |reason: String, is_of_other_schema| ProfileError {
            path: self.path.clone(),
            reason,
            is_of_other_schema,
        };
        let bytes = self.bytes().map_err(|error| {
            let reason = format!(
                "{error}; --profile takes a file that `kinepack tune` or `kinepack train` wrote, \
                 untrained, built-in (trained for the cubes of the challenge files), or article \
                 (the word lengths of the article \"Snapshot Compression\")"
            );
            failed(reason, false)
        })?;
        if bytes.len() as u64 > MAX_PROFILE_BYTES {
            let reason =
                format!("this is not a profile: it has more than {MAX_PROFILE_BYTES} bytes");
            return Err(failed(reason, false));
        }
        Profile::from_bytes(bytes, schema)
            .map_err(|error| failed(error.to_string(), error == SetupError::ProfileMismatch))
    }

    /// The file's bytes, and one more than the limit at most: a device would never end.
    fn bytes(&self) -> io::Result<&[u8]> {
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        File::open(&self.path)?.take(MAX_PROFILE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(self.bytes.get_or_init(|| bytes))
    }
}

/// Why a frame could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadFrame {
    /// The schema does not hold a state.
    #[error("entity {entity}: {reason}")]
    Value { entity: u32, reason: String },
    /// The decoder returned another frame, which is a defect of this program.
    #[error(
        "level {}: the frame of tick {tick} differs after decoding: {reason}",
        level.name()
    )]
    NotVerified { level: Level, tick: u32, reason: String },
}

impl Failure for BadFrame {
    fn exit_code(&self) -> u8 {
        1
    }
}

impl Run {
    /// Codes a frame against those that both sides hold, and compares the result.
    fn frame(
        &mut self,
        history: History,
        exact: &Arc<Snapshot>,
        part_of_field: &PartOfField,
    ) -> Result<(), BadFrame> {
        let Self { encoder, decoder, packet, past, is_exact, measurement } = self;
        let (level, tick) = (measurement.level, exact.tick);
        let failed = |reason: String| BadFrame::NotVerified { level, tick: tick.0, reason };
        let known = Baselines::new(past.chain(tick, history.lags()));
        let known = known.map_err(|error| failed(error.to_string()))?;
        packet.clear();
        let begin = Instant::now();
        let encoded = encoder.encode(known, exact, packet);
        let encode_ns = begin.elapsed().as_nanos() as u64;
        let sent = encoded.map_err(|error| failed(error.to_string()))?;
        let begin = Instant::now();
        let decoded = decoder.decode(known, packet, tick);
        let decode_ns = begin.elapsed().as_nanos() as u64;
        let decoded = decoded.map_err(|error| failed(error.to_string()))?;
        if decoded != sent || (*is_exact && *sent != **exact) {
            return Err(failed("lanes differ".to_owned()));
        }
        measurement.encode_ns += encode_ns;
        measurement.decode_ns += decode_ns;
        measurement.frames_bytes.push(packet.len() as u32);
        measurement.changed_entities += encoder.size().changed_entities as u64;
        measurement.parts_bits.add(encoder.size(), part_of_field);
        if let Some(errors) = &mut measurement.errors {
            errors.add(exact, &sent);
        }
        // All exact runs of a group share the memory of their views.
        let held = if *is_exact { Arc::clone(exact) } else { Arc::clone(sent.snapshot()) };
        let forgotten = past.push(View::from(held).with_learned(sent.learned().cloned()));
        decoder.recycle(decoded);
        [Some(sent), forgotten].into_iter().flatten().for_each(|view| encoder.recycle(view));
        Ok(())
    }
}

impl Measurement {
    fn new(codec: &Codec, is_cubes: bool) -> Self {
        Self {
            level: *codec.level(),
            errors: (codec.has_precision() && is_cubes).then(Errors::default),
            frames_bytes: Vec::new(),
            parts_bits: Parts::default(),
            encode_ns: 0,
            decode_ns: 0,
            stages: None,
            changed_entities: 0,
        }
    }

    fn add_stages(&mut self, times: Option<StagesNs>) {
        if let Some(times) = times {
            let total = self.stages.get_or_insert_default();
            total.fill += times.fill;
            total.read += times.read;
        }
    }

    fn per_frame(&self, total: u64) -> f64 {
        total as f64 / self.frames_bytes.len().max(1) as f64
    }

    pub(crate) fn mean_bytes(&self) -> f64 {
        self.per_frame(self.frames_bytes.iter().map(|bytes| u64::from(*bytes)).sum())
    }

    /// The size that the share `ratio` of all frames does not exceed (nearest rank).
    pub(crate) fn percentile_bytes(&self, ratio: f64) -> u32 {
        let mut sorted = self.frames_bytes.clone();
        sorted.sort_unstable();
        let rank = (ratio * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }

    pub(crate) fn mean_parts_bits(&self) -> Parts<f64> {
        let Parts { flags_and_indices, position, orientation, others } = self.parts_bits;
        Parts {
            flags_and_indices: self.per_frame(flags_and_indices),
            position: self.per_frame(position),
            orientation: self.per_frame(orientation),
            others: self.per_frame(others),
        }
    }

    /// From structs to a snapshot.
    pub(crate) fn fill_us(&self) -> Option<f64> {
        self.stages.map(|stages| self.per_frame(stages.fill) / 1e3)
    }

    /// From a snapshot to structs.
    pub(crate) fn read_us(&self) -> Option<f64> {
        self.stages.map(|stages| self.per_frame(stages.read) / 1e3)
    }

    pub(crate) fn encode_us(&self) -> f64 {
        self.per_frame(self.encode_ns) / 1e3
    }

    pub(crate) fn decode_us(&self) -> f64 {
        self.per_frame(self.decode_ns) / 1e3
    }

    pub(crate) fn mean_changed(&self) -> f64 {
        self.per_frame(self.changed_entities)
    }
}
