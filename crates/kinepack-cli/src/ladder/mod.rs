//! The ladder, which sends one stream of frames through several levels at once. Each frame is
//! encoded against the newest frame that is at least `lag` ticks older. It is then decoded, and
//! compared lane for lane. Rows with the same schema share their snapshots.

mod error;
mod parameters;

use std::sync::Arc;
use std::time::Instant;

use clap::ValueEnum;
use command_kit::cube_precision::{Errors, Precision};
use command_kit::parts::{PartOfField, Parts};
use cube_data::cube::{self, Measured, Quantized};
use kinepack::{
    Baselines, Codec, DecodeLimits, Decoder, EncodeError, Encoder, EntityId, Level, Profile,
    Schema, Snapshot, Tick, View,
};
use kinepack_capture::analysis::Past;

use crate::captured::{Pace, is_cubes, profile};
use crate::stages::{Stages, StagesNs};

pub(crate) use error::{BadFrame, LadderError, Shortage, TooShort};
pub use parameters::{Parameters, ProfileError, ProfileFile};

/// The measurements of a level.
#[derive(Clone, Debug)]
pub(crate) struct Measurement {
    pub(crate) level: Level,
    /// The payload bytes of each frame.
    pub(crate) frames_bytes: Vec<u32>,
    pub(crate) parts_bits: Parts<u64>,
    pub(crate) encode_ns: u64,
    pub(crate) decode_ns: u64,
    /// The times of filling and reading snapshots. The value is `None` if they are not measured.
    stages: Option<StagesNs>,
    pub(crate) changed_entities: u64,
    /// The errors of values. The value is `None` if the codec has no time precision.
    pub(crate) errors: Option<Errors>,
}

/// The kinds of entities into which cubes are divided for a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CubeKinds {
    /// Two kinds: the player's cube, and all others.
    Player,
}

/// Several levels that encode the same frames.
pub(crate) struct Ladder {
    history: History,
    frame: u32,
    /// The first and the newest measured tick.
    ticks: Option<(Tick, Tick)>,
    /// The number of measured frames, and the sum of the ticks from each measured frame's
    /// predecessor to that frame.
    measured: u32,
    passed_ticks: u64,
    groups: Vec<Group>,
}

/// The distances from a frame to the frames that it is coded against, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct History {
    /// The distance from the frame back to its baseline.
    pub(crate) lag: u32,
    /// The distance from the baseline back to the first older view. The second older view is `lag`
    /// ticks before the first.
    pub(crate) spacing: u32,
    /// The first frame that is measured.
    pub(crate) from: u32,
}

impl History {
    /// Returns the lags from the frame back to the baseline, and from there to each older view.
    fn lags(&self) -> [u32; 3] {
        [self.lag, self.spacing, self.lag]
    }

    /// Returns the maximum number of views that are needed.
    fn most_views(&self) -> usize {
        self.lags().iter().map(|lag| *lag as usize).sum()
    }
}

/// The levels that share a schema.
struct Group {
    quantized: Quantized,
    /// The schema of the frames that the group takes.
    schema: Schema,
    /// The schema of two kinds. The value is `None` unless frames are split into kinds before
    /// coding.
    split: Option<Schema>,
    runs: Vec<Run>,
    part_of_field: PartOfField,
    /// The measured stages. They exist only for cubes, because the program does not know the types
    /// of other schemas.
    stages: Option<Stages>,
}

struct Run {
    encoder: Encoder,
    decoder: Decoder,
    packet: Vec<u8>,
    /// The most recent views, which both sides hold.
    past: Past,
    /// Whether received values are exact. They are coarser if the codec has a time precision.
    is_exact: bool,
    measurement: Measurement,
}

impl Ladder {
    /// Returns a ladder for cubes, with the rows `levels`. `parameters` selects the profile for
    /// levels that need one.
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

    /// Returns a ladder for any stream, with the rows of `levels` that quantize everything.
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

    /// Adds a level. `schema` is the schema of the frames. `split` is the schema in which the
    /// frames are coded, if it differs from `schema`.
    fn add_run(
        &mut self,
        quantized: Quantized,
        schema: &Schema,
        split: Option<Schema>,
        codec: &Codec,
    ) {
        let run = Run {
            encoder: Encoder::new(codec),
            // The decoder needs no limit, because it only decodes packets that this program
            // encoded.
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

    /// Takes the frame of the next tick, counted from 0, as floats.
    pub(crate) fn add(&mut self, states: &[Measured]) -> Result<(), BadFrame> {
        let is_bad = |(entity, state)| Some((entity, not_finite(state)?));
        if let Some((entity, error)) = (0..).zip(states).find_map(is_bad) {
            return Err(BadFrame::Value { entity, reason: error.to_string() });
        }
        self.add_to_groups(Tick(self.frame), |quantized, mut snapshot| {
            for (entity, state) in (0..).zip(states) {
                let pushed = cube::push(&mut snapshot, quantized, EntityId(entity), *state);
                // `BadFrame` names the entity, so the field's error is converted to an error
                // without an entity.
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

    /// Takes the frame that `of` makes for the schema of each group.
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

    /// Returns the number of frames taken.
    pub(crate) fn frames(&self) -> u32 {
        self.frame
    }

    /// Returns the number of frames that were measured.
    pub(crate) fn measured(&self) -> u32 {
        self.measured
    }

    /// Returns the pace of the measured frames, given the ticks per second.
    pub(crate) fn pace(&self, rate_hz: f64) -> Pace {
        let is_even = u64::from(self.measured) == self.passed_ticks;
        let ratio = f64::from(self.measured) / self.passed_ticks.max(1) as f64;
        Pace { rate_hz, frames_per_s: if is_even { rate_hz } else { rate_hz * ratio } }
    }

    /// Returns the measurements, one for each level.
    pub(crate) fn measurements(&self) -> impl Iterator<Item = &Measurement> {
        self.groups.iter().flat_map(|group| &group.runs).map(|run| &run.measurement)
    }
}

/// Returns the error for a state with a number that is not finite. The check is needed because some
/// levels send floats unchanged, and others do not use the velocity.
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

impl Run {
    /// Encodes a frame against the frames that both sides hold, and compares the decoded result.
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

    /// Returns the frame size that a share of `ratio` of all frames does not exceed (nearest rank).
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

    /// Returns the mean time to fill a snapshot from structs, in microseconds.
    pub(crate) fn fill_us(&self) -> Option<f64> {
        self.stages.map(|stages| self.per_frame(stages.fill) / 1e3)
    }

    /// Returns the mean time to read structs from a snapshot, in microseconds.
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
