//! Where the bits of a stream go, and what they could be: values, differences, entropy, precision,
//! what each level takes, and what to change.
//!
//! An [`Analyzer`] takes frame after frame and keeps no more than the last few, a sample of some
//! dozens, and counts: memory does not grow with the capture. It uses no clock; how long coding
//! takes is for benchmarks.

mod advice;
mod carried;
mod costs;
mod fields;
mod histogram;
mod past;
mod samples;
mod together;

use std::sync::Arc;

use kinepack::training::TrainError;
use kinepack::{
    Codec, EncodeError, Encoder, EntityId, Level, Profile, Schema, SetupError, Snapshot, Tick, View,
};
use serde::Serialize;

pub use advice::Advice;
pub use costs::{EntityCost, LagCost, LevelCost};
pub use fields::{ComponentAnalysis, FieldAnalysis, any_element};
pub use histogram::Bins;
pub use past::Past;
pub use together::Together;

use costs::{Costs, Sweep};
use fields::FieldStatistics;
use samples::{RawFrame, Samples};
use together::Masks;

/// How to analyze a stream.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// How many frames back the baseline is, from 1 to 60.
    pub lag: u32,
    /// The lags that are compared, rising, from 1 to at most 60.
    pub lags: Vec<u32>,
    /// The lags are compared in every so many frames.
    pub sweep_stride: u64,
    /// What to change is tried on a sample: every so many frames, at most
    /// [`AnalysisOptions::SAMPLES`] of them.
    pub sample_stride: u64,
    /// The parameters of the levels that have any.
    pub profile: Profile,
    /// The most bytes that frames may take that are kept to be compared with: those of three times
    /// the longest lag. Samples and counts take up to 400 MB more. The default is 512 MiB: frames
    /// of 65,536 entities with 20 lanes.
    pub max_bytes: usize,
}

impl AnalysisOptions {
    /// Frames that changes are tried on, at most.
    pub const SAMPLES: usize = 150;

    /// The article's lag of 100 ms at 60 Hz; samples spread over so many frames as the capture has.
    pub fn new(profile: Profile, frames: u64) -> Self {
        Self {
            lag: 6,
            lags: vec![1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20],
            sweep_stride: (frames / 400).max(1),
            sample_stride: (frames / Self::SAMPLES as u64).max(1),
            profile,
            max_bytes: 512 << 20,
        }
    }

    /// The longest lag, at most 60.
    fn longest_lag(&self) -> usize {
        self.lags.iter().copied().chain([self.lag]).max().unwrap_or(1).min(60) as usize
    }
}

/// What was found out about a stream. Numbers of bits and bytes are without packet headers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// Frames that were read.
    pub frames: u64,
    /// Frames a second.
    pub rate_hz: f64,
    /// How many frames back the baseline is.
    pub lag: u32,
    /// Entities of a frame, on average and at most.
    pub entities: [f64; 2],
    /// Entities of a frame that differ from the baseline, on average.
    pub changed_per_frame: f64,
    /// Bits of an entity in full.
    pub bits_per_entity: u32,
    /// What each level takes.
    pub levels: Vec<LevelCost>,
    /// What two levels take by how old the baseline is.
    pub lags: Vec<LagCost>,
    /// Field by field.
    pub fields: Vec<FieldAnalysis>,
    /// Fields that change together, those first that do most often.
    pub together: Vec<Together>,
    /// The entities that take most.
    pub entities_by_cost: Vec<EntityCost>,
    /// What to change, what saves most first.
    pub advice: Vec<Advice>,
}

/// Why a stream cannot be analyzed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The profile does not fit the schema.
    Setup(SetupError),
    /// A frame that does not fit the schema, or whose ids do not increase.
    Frame {
        /// Its tick.
        tick: u32,
        /// What is wrong with it.
        error: EncodeError,
    },
    /// A frame so large that those that are kept would take more than
    /// [`AnalysisOptions::max_bytes`].
    TooLarge {
        /// Its tick.
        tick: u32,
        /// What they would take.
        needed_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
}

impl std::fmt::Display for AnalysisError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(f),
            Self::Frame { tick, error } => write!(f, "the frame of tick {tick}: {error}"),
            Self::TooLarge { tick, needed_bytes, limit_bytes } => write!(
                f,
                "frames as large as that of tick {tick} would take {needed_bytes} bytes while they are compared, and {limit_bytes} are allowed"
            ),
        }
    }
}

impl std::error::Error for AnalysisError {}

impl From<TrainError> for AnalysisError {
    /// Of a change that was tried.
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Setup(error) => Self::Setup(error),
            TrainError::Snapshot(error) => Self::Frame { tick: 0, error },
            _ => Self::Setup(SetupError::ProfileMismatch),
        }
    }
}

impl From<SetupError> for AnalysisError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

/// The values of a frame, lane by lane.
#[derive(Clone, Copy, Debug)]
pub enum Columns<'a> {
    /// State before quantization, as [`Pack::store_raw`](kinepack::Pack::store_raw) has it.
    Raw(&'a [Vec<u64>]),
    /// Lanes.
    Lanes(&'a [Vec<u64>]),
}

impl Columns<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        let (Self::Raw(columns) | Self::Lanes(columns)) = self;
        columns.len()
    }

    /// Fills in the raw words and the lanes of one entity; what is out of range takes the nearest
    /// end.
    ///
    /// # Errors
    /// [`EncodeError`] for what the schema cannot hold.
    ///
    /// # Panics
    /// Where a column is shorter.
    pub fn entity(
        &self,
        index: usize,
        schema: &Schema,
        raw: &mut [u64],
        lanes: &mut [u32],
    ) -> Result<(), EncodeError> {
        match self {
            Self::Raw(columns) => {
                raw.iter_mut().zip(*columns).for_each(|(word, column)| *word = column[index]);
                schema.quantize_raw(raw, lanes).map(|_| ())
            }
            Self::Lanes(columns) => {
                lanes
                    .iter_mut()
                    .zip(*columns)
                    .for_each(|(lane, column)| *lane = column[index] as u32);
                schema.reconstruct_raw(lanes, raw)
            }
        }
    }
}

/// Takes a stream frame by frame.
///
/// Cost: that of encoding each frame at all levels, one in `sweep_stride` at all lags, and some ten
/// numbers an entity.
pub struct Analyzer {
    schema: Schema,
    rate_hz: f64,
    options: AnalysisOptions,
    /// The last frames as they are.
    past: Past,
    /// The same as receivers have them who acknowledge each at the lag of the analysis.
    received: Past,
    /// Says what these have of a frame.
    encoder: Encoder,
    has_precision: bool,
    fields: Vec<FieldStatistics>,
    masks: Masks,
    costs: Costs,
    sweep: Sweep,
    samples: Samples,
    frames: u64,
    entities: u64,
    most_entities: usize,
    changed: u64,
    difference: kinepack::codec::Difference,
    packet: Vec<u8>,
    newest: RawFrame,
    raw: Vec<u64>,
    lanes: Vec<u32>,
}

impl Analyzer {
    /// One for a stream of this schema.
    ///
    /// # Errors
    /// [`AnalysisError::Setup`] for a profile of another schema.
    pub fn new(
        schema: &Schema,
        rate_hz: f64,
        options: AnalysisOptions,
    ) -> Result<Self, AnalysisError> {
        let most = options.longest_lag();
        let codec = Codec::new(schema.clone(), Level::PACKED, options.profile.clone())?;
        Ok(Self {
            past: Past::new(2 * options.lag as usize),
            received: Past::new(3 * most),
            encoder: Encoder::new(&codec),
            has_precision: codec.has_precision(),
            fields: FieldStatistics::of(schema),
            masks: Masks::new(schema),
            costs: Costs::new(schema, &options.profile, options.lag as usize)?,
            sweep: Sweep::new(schema, &options.profile, &options.lags)?,
            samples: Samples::new(options.lag as usize),
            frames: 0,
            entities: 0,
            most_entities: 0,
            changed: 0,
            difference: kinepack::codec::Difference::default(),
            packet: Vec::new(),
            newest: RawFrame::default(),
            raw: vec![0; schema.lanes().len()],
            lanes: vec![0; schema.lanes().len()],
            schema: schema.clone(),
            rate_hz,
            options,
        })
    }

    /// Takes in a frame; ticks increase.
    ///
    /// # Errors
    /// [`AnalysisError::Frame`]; what was counted then includes a part of it.
    /// [`AnalysisError::TooLarge`] for a frame that is too large to be kept; nothing of it was
    /// counted.
    ///
    /// # Panics
    /// Where a column is shorter than the ids.
    pub fn add(
        &mut self,
        tick: Tick,
        ids: &[EntityId],
        columns: Columns<'_>,
    ) -> Result<(), AnalysisError> {
        let failed = |error| AnalysisError::Frame { tick: tick.0, error };
        self.check_size(tick, ids.len())?;
        let newest = Arc::new(self.quantize(tick, ids, columns).map_err(failed)?);
        let lag = self.options.lag as usize;
        if let Some(baseline) = self.past.back(lag) {
            let older = self.past.back(2 * lag).map(|view| &**view);
            self.fields.iter_mut().for_each(|field| field.compare(&newest, baseline, older));
            self.masks.compare(&newest, baseline);
            self.difference.find(baseline, &newest);
            self.changed += self.difference.sent.len() as u64;
        }
        if self.frames.is_multiple_of(self.options.sweep_stride.max(1)) {
            self.sweep.add(&newest, &self.received, &mut self.packet).map_err(failed)?;
        }
        let received = match self.received.baselines(lag) {
            Some(known) => self.encoder.coarse(known, &newest).map_err(failed)?,
            None => Arc::clone(&newest),
        };
        self.costs.add([&newest, &received], &mut self.packet).map_err(failed)?;
        self.past.push(View::from(newest));
        self.received.push(View::from(received));
        let is_wanted = self.frames.is_multiple_of(self.options.sample_stride.max(1));
        self.samples.add(std::mem::take(&mut self.newest), is_wanted);
        self.frames += 1;
        self.entities += ids.len() as u64;
        self.most_entities = self.most_entities.max(ids.len());
        Ok(())
    }

    /// That all frames of this size that are kept have room.
    fn check_size(&self, tick: Tick, entities: usize) -> Result<(), AnalysisError> {
        let rings = 1 + u64::from(self.has_precision);
        let quantized =
            (3 * self.options.longest_lag() as u64 + 1) * rings * size_of::<u32>() as u64;
        let raw = (2 * u64::from(self.options.lag) + 3) * size_of::<u64>() as u64;
        let needed_bytes = entities as u64 * (self.lanes.len() as u64 + 1) * (quantized + raw);
        let limit_bytes = self.options.max_bytes as u64;
        if needed_bytes > limit_bytes {
            return Err(AnalysisError::TooLarge { tick: tick.0, needed_bytes, limit_bytes });
        }
        Ok(())
    }

    /// The frame as a snapshot; its values are in the statistics then.
    fn quantize(
        &mut self,
        tick: Tick,
        ids: &[EntityId],
        columns: Columns<'_>,
    ) -> Result<Snapshot, EncodeError> {
        let mut snapshot = Snapshot::new(&self.schema, tick);
        self.newest = RawFrame::new(tick, self.lanes.len(), ids.len());
        let (Columns::Raw(words) | Columns::Lanes(words)) = columns;
        if words.len() != self.lanes.len() {
            return Err(EncodeError::LaneCount {
                expected_lanes: self.lanes.len(),
                lanes: words.len(),
            });
        }
        let is_exact = matches!(columns, Columns::Raw(_));
        for (index, id) in ids.iter().enumerate() {
            self.raw.iter_mut().zip(words).for_each(|(word, column)| *word = column[index]);
            if !is_exact {
                self.lanes.iter_mut().zip(&self.raw).for_each(|(lane, word)| *lane = *word as u32);
                self.schema.reconstruct_raw(&self.lanes, &mut self.raw)?;
            }
            for (field, statistics) in self.schema.fields().iter().zip(&mut self.fields) {
                let (raw, lanes) = (&self.raw[field.lanes()], &mut self.lanes[field.lanes()]);
                statistics.see(raw, is_exact);
                if is_exact {
                    statistics.quantize(raw, lanes);
                }
                statistics.add_lanes(lanes);
            }
            snapshot.push_lanes(*id, &self.lanes)?;
            self.newest.push(*id, &self.raw);
        }
        Ok(snapshot)
    }

    /// What was found out.
    ///
    /// # Errors
    /// [`AnalysisError::Frame`] where a sample cannot be coded.
    pub fn finish(self) -> Result<Analysis, AnalysisError> {
        let Self { frames, rate_hz, costs, .. } = self;
        let compared = frames.saturating_sub(u64::from(self.options.lag)).max(1);
        let fields: Vec<FieldAnalysis> = self
            .fields
            .into_iter()
            .enumerate()
            .map(|(index, field)| {
                let lanes =
                    self.schema.fields()[index].lanes().map(|lane| costs.lane_bits_per_frame(lane));
                field.finish(compared, costs.field_bits_per_frame(index), lanes.collect())
            })
            .collect();
        let levels = costs.levels(rate_hz);
        let values = self.entities * self.lanes.len() as u64;
        let advice =
            advice::advise(&self.schema, rate_hz, (&fields, &levels), values, self.samples)?;
        Ok(Analysis {
            frames,
            rate_hz,
            lag: self.options.lag,
            entities: [self.entities as f64 / frames.max(1) as f64, self.most_entities as f64],
            changed_per_frame: self.changed as f64 / compared as f64,
            bits_per_entity: self.schema.bits_per_entity(),
            levels,
            lags: self.sweep.finish(rate_hz),
            fields,
            together: self.masks.finish(),
            entities_by_cost: costs.entities(rate_hz),
            advice,
        })
    }
}
