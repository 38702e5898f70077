//! Analyzes which parts of a stream take the bits, and how to save bits. The analysis covers
//! values, differences, entropy, precision, the cost of each level, and proposed changes.
//!
//! An [`Analyzer`] takes the frames in order. It keeps only the last few frames, samples of at most
//! 150 frames, and counts, so its memory does not grow with the capture. The analyzer does not use
//! a clock; benchmarks measure the time of coding.

mod advice;
mod carried;
mod costs;
mod error;
mod fields;
mod histogram;
mod kinds;
mod options;
mod past;
mod samples;
mod together;

use std::sync::Arc;

use kinepack::{
    Codec, EncodeError, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};
use serde::Serialize;

pub use advice::{Advice, shown_rate};
pub use costs::{EntityCost, LagCost, LevelCost};
pub use error::AnalysisError;
pub use fields::{ComponentAnalysis, FieldAnalysis};
pub use histogram::Bins;
pub use kinds::KindAnalysis;
pub use kinepack::schema::any_element;
pub use options::AnalysisOptions;
pub use past::Past;
pub use together::Together;

use costs::{Costs, Sweep};
use fields::FieldStatistics;
use kinds::KindStatistics;
use kinepack::schema::EntityKind;
use samples::{RawFrame, Samples};
use together::Masks;

use crate::Columns;
use crate::kinds::are_named;

/// The analysis of a stream. All numbers of bits and bytes are without packet headers.
///
/// ```
/// use kinepack::{EntityId, Pack, Profile, Schema, Tick};
/// use kinepack_capture::Columns;
/// use kinepack_capture::analysis::{AnalysisOptions, Analyzer};
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
///     #[pack(max = 255)]
///     glow: u8,
/// }
///
/// # let schema = Schema::of::<Lamp>();
/// # let options = AnalysisOptions::new(Profile::untrained(&schema), 120);
/// # let mut analyzer = Analyzer::new(&schema, 60.0, options)?;
/// # for tick in 0..120 {
/// #     let columns = [vec![u64::from(tick > 60)], vec![u64::from(tick * 7 % 20)]];
/// #     analyzer.add(Tick(tick), &[EntityId(1)], Columns::Lanes(&columns))?;
/// # }
/// let analysis = analyzer.finish()?; // A lamp is lit once, and its glow flickers.
/// let packed = analysis.levels.iter().position(|level| level.level == "packed").ok_or("none")?;
/// let bits = |index: usize| analysis.fields[index].level_bits_per_frame[packed];
/// assert_eq!((&*analysis.fields[0].name, &*analysis.fields[1].name), ("lit", "glow"));
/// assert!(bits(0) < bits(1), "the glow takes most bits");
/// assert!(analysis.fields[0].unchanged_share > analysis.fields[1].unchanged_share);
///
/// assert!(analysis.advice.is_sorted_by(|a, b| a.saves_kbps >= b.saves_kbps));
/// for advice in &analysis.advice {
///     println!("{}: saves {:.2} kbit/s, {}", advice.change, advice.saves_kbps, advice.because);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The number of analyzed frames.
    pub frames: u64,
    /// The number of analyzed frames that have a baseline.
    pub compared: u64,
    /// The number of ticks per second.
    pub rate_hz: f64,
    /// The number of frames per second, which is below `rate_hz` if frames are missing. All
    /// kilobits per second are computed with this number.
    pub frames_per_s: f64,
    /// The minimum age of the baseline, in ticks.
    pub lag: u32,
    /// The mean and the maximum number of entities per frame.
    pub entities: [f64; 2],
    /// The mean number of entities of a frame that differ from the baseline.
    pub changed_per_frame: f64,
    /// The number of bits of an entity in full. If there are several kinds, this is the number of
    /// the largest one.
    pub bits_per_entity: u32,
    /// The cost of each level.
    pub levels: Vec<LevelCost>,
    /// The cost of two levels for several ages of the baseline.
    pub lags: Vec<LagCost>,
    /// The analysis of each kind of entities; empty if the schema has one kind without a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindAnalysis>,
    /// The analysis of each field, kind by kind.
    pub fields: Vec<FieldAnalysis>,
    /// The pairs of fields that change together, the most frequent pairs first.
    pub together: Vec<Together>,
    /// The entities that take the most bits.
    pub entities_by_cost: Vec<EntityCost>,
    /// The proposed changes, the largest savings first.
    pub advice: Vec<Advice>,
}

/// Analyzes a stream frame by frame.
///
/// The analyzer encodes each frame at all levels. One frame in `sweep_stride` is also encoded at
/// all lags. About ten numbers per entity are counted.
///
/// ```
/// use kinepack::{EntityId, Pack, Profile, Schema, Tick};
/// use kinepack_capture::Columns;
/// use kinepack_capture::analysis::{AnalysisOptions, Analyzer};
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
/// }
///
/// let schema = Schema::of::<Lamp>();
/// let options = AnalysisOptions::new(Profile::untrained(&schema), 60);
/// let mut analyzer = Analyzer::new(&schema, 60.0, options)?;
/// for tick in 0..60 {
///     let lit = [vec![u64::from(tick % 20 == 0)]];
///     analyzer.add(Tick(tick), &[EntityId(1)], Columns::Lanes(&lit))?;
/// }
/// let analysis = analyzer.finish()?;
/// assert_eq!(analysis.frames, 60);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Analyzer {
    schema: Schema,
    /// For each kind, a schema of that kind alone.
    kind_schemas: Vec<Schema>,
    rate_hz: f64,
    options: AnalysisOptions,
    /// The last frames, without loss.
    past: Past,
    /// The views of the same frames at a receiver that acknowledges each frame after the analysis's
    /// lag.
    received: Past,
    /// Makes the views in `received` from frames.
    encoder: Encoder,
    has_precision: bool,
    fields: Vec<FieldStatistics>,
    kinds: Vec<KindStatistics>,
    masks: Masks,
    costs: Costs,
    sweep: Sweep,
    samples: Samples,
    /// The first and the newest tick.
    ticks: Option<(Tick, Tick)>,
    frames: u64,
    compared: u64,
    entities: u64,
    /// The number of values: entities times lanes.
    values: u64,
    most_entities: usize,
    changed: u64,
    difference: kinepack::codec::Difference,
    packet: Vec<u8>,
    newest: RawFrame,
    raw: Vec<u64>,
    lanes: Vec<u32>,
}

impl Analyzer {
    /// Makes an analyzer for a stream of this schema.
    ///
    /// # Errors
    /// [`AnalysisError::Setup`] if the profile is for another schema.
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
            fields: FieldStatistics::for_schema(schema),
            kinds: KindStatistics::for_schema(schema),
            kind_schemas: crate::kinds::schemas(schema),
            masks: Masks::new(schema),
            costs: Costs::new(schema, &options.profile, options.lag)?,
            sweep: Sweep::new(schema, &options.profile, &options.lags)?,
            samples: Samples::new(options.lag),
            ticks: None,
            frames: 0,
            compared: 0,
            entities: 0,
            values: 0,
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

    /// Adds a frame of a stream of one kind. The ticks of the frames must increase.
    ///
    /// # Errors
    /// [`AnalysisError::Frame`] if the frame does not fit the schema; the counts then include a
    /// part of the frame. [`AnalysisError::TooLarge`] if the frame is too large to be kept; in that
    /// case it is not counted.
    ///
    /// # Panics
    /// If a column is shorter than `ids`.
    pub fn add(
        &mut self,
        tick: Tick,
        ids: &[EntityId],
        columns: Columns<'_>,
    ) -> Result<(), AnalysisError> {
        self.add_kinds(tick, &[ids], columns)
    }

    /// Like [`add`](Self::add), for a stream of any number of kinds, given the ids of each kind's
    /// entities.
    ///
    /// ```
    /// use kinepack::schema::{Field, FieldKind};
    /// use kinepack::{EntityId, Profile, Schema, Tick};
    /// use kinepack_capture::Columns;
    /// use kinepack_capture::analysis::{AnalysisOptions, Analyzer};
    ///
    /// let lit = || vec![Field::new("lit", FieldKind::Bool)];
    /// let builder = Schema::builder().kind_of_fields("lamp", lit());
    /// let schema = builder.kind_of_fields("fire", lit()).build()?;
    /// let options = AnalysisOptions::new(Profile::untrained(&schema), 60);
    /// let mut analyzer = Analyzer::new(&schema, 60.0, options)?;
    /// for tick in 0..60 {
    ///     // The frame has two lamps and a fire.
    ///     let ids = [&[1, 4].map(EntityId)[..], &[EntityId(2)]];
    ///     let columns = [vec![0, u64::from(tick % 20 == 0)], vec![1]];
    ///     analyzer.add_kinds(Tick(tick), &ids, Columns::Lanes(&columns))?;
    /// }
    /// let analysis = analyzer.finish()?;
    /// assert_eq!((&*analysis.kinds[0].name, analysis.kinds[0].entities), ("lamp", [2.0, 2.0]));
    /// assert_eq!(analysis.fields[1].name, "fire.lit");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`add`](Self::add), and [`EncodeError::NoSuchKind`] if the number of kinds is
    /// not the schema's.
    ///
    /// # Panics
    /// If a column is shorter than the list of ids of its kind.
    pub fn add_kinds(
        &mut self,
        tick: Tick,
        ids: &[&[EntityId]],
        columns: Columns<'_>,
    ) -> Result<(), AnalysisError> {
        let failed = |error| AnalysisError::Frame { tick: tick.0, error };
        let kinds = self.kind_schemas.len();
        if ids.len() != kinds {
            return Err(failed(EncodeError::NoSuchKind { kind: ids.len(), kinds }));
        }
        self.check_size(tick, ids)?;
        let newest = Arc::new(self.quantize(tick, ids, columns).map_err(failed)?);
        let lag = self.options.lag;
        if let Some(baseline) = self.past.before(tick, lag) {
            self.compared += 1;
            let older = self.past.before(baseline.tick, lag).map(|view| &**view);
            self.fields.iter_mut().for_each(|field| field.compare(&newest, baseline, older));
            self.masks.compare(&newest, baseline);
            self.difference.find(baseline, &newest);
            self.changed += self.difference.sent.len() as u64;
            for kind in &mut self.kinds {
                kind.compare(&newest, baseline, &self.difference.sent);
            }
        }
        if self.frames.is_multiple_of(self.options.sweep_stride.max(1)) {
            self.sweep.add(&newest, &self.received, &mut self.packet).map_err(failed)?;
        }
        let received = match self.received.baselines(tick, lag) {
            Some(known) => self.encoder.coarse(known, &newest).map_err(failed)?,
            None => Arc::clone(&newest),
        };
        self.costs.add([&newest, &received], &mut self.packet).map_err(failed)?;
        self.past.push(View::from(newest));
        self.received.push(View::from(received));
        let is_wanted = self.frames.is_multiple_of(self.options.sample_stride.max(1));
        self.samples.add(std::mem::take(&mut self.newest), is_wanted);
        self.frames += 1;
        self.ticks = Some((self.ticks.map_or(tick, |(first, _)| first), tick));
        let entities = ids.iter().map(|ids| ids.len()).sum();
        self.entities += entities as u64;
        self.most_entities = self.most_entities.max(entities);
        for ((kind, schema), ids) in self.kinds.iter_mut().zip(&self.kind_schemas).zip(ids) {
            kind.count(ids.len());
            self.values += (ids.len() * schema.lanes().len()) as u64;
        }
        Ok(())
    }

    /// Checks that the kept frames would fit into the limit if all of them had this size.
    fn check_size(&self, tick: Tick, ids: &[&[EntityId]]) -> Result<(), AnalysisError> {
        let rings = 1 + u64::from(self.has_precision);
        let quantized =
            (3 * self.options.longest_lag() as u64 + 1) * rings * size_of::<u32>() as u64;
        let raw = (2 * u64::from(self.options.lag) + 3) * size_of::<u64>() as u64;
        let words = |(ids, schema): (&&[EntityId], &Schema)| {
            ids.len() as u64 * (schema.lanes().len() as u64 + 1)
        };
        let words: u64 = ids.iter().zip(&self.kind_schemas).map(words).sum();
        let needed_bytes = words * (quantized + raw);
        let limit_bytes = self.options.max_bytes as u64;
        if needed_bytes > limit_bytes {
            return Err(AnalysisError::TooLarge { tick: tick.0, needed_bytes, limit_bytes });
        }
        Ok(())
    }

    /// Converts the frame to a snapshot, and adds its values to the statistics.
    fn quantize(
        &mut self,
        tick: Tick,
        ids: &[&[EntityId]],
        columns: Columns<'_>,
    ) -> Result<Snapshot, EncodeError> {
        let mut snapshot = Snapshot::new(&self.schema, tick);
        self.newest = RawFrame::new(tick, self.lanes.len(), ids.iter().map(|ids| ids.len()).sum());
        let (Columns::Raw(words) | Columns::Lanes(words)) = columns;
        if words.len() != self.lanes.len() {
            return Err(EncodeError::LaneCount {
                expected_lanes: self.lanes.len(),
                lanes: words.len(),
            });
        }
        let is_exact = matches!(columns, Columns::Raw(_));
        for (index, (kind, ids)) in self.schema.kinds().iter().zip(ids).enumerate() {
            // A field's lanes are indices into the lanes of all kinds, not of this kind alone.
            let (of_fields, of_lanes) = (kind.fields(), kind.lanes());
            for (row, id) in ids.iter().enumerate() {
                let raw = &mut self.raw[of_lanes.clone()];
                raw.iter_mut()
                    .zip(&words[of_lanes.clone()])
                    .for_each(|(word, column)| *word = column[row]);
                if !is_exact {
                    let lanes = &mut self.lanes[of_lanes.clone()];
                    lanes.iter_mut().zip(&*raw).for_each(|(lane, word)| *lane = *word as u32);
                    self.kind_schemas[index].reconstruct_raw(lanes, raw)?;
                }
                let fields = &self.schema.fields()[of_fields.clone()];
                for (field, statistics) in fields.iter().zip(&mut self.fields[of_fields.clone()]) {
                    let is_present = field.is_present(&self.lanes);
                    let (raw, lanes) = (&self.raw[field.lanes()], &mut self.lanes[field.lanes()]);
                    if !is_present {
                        lanes.fill(0);
                        continue;
                    }
                    statistics.see(raw, is_exact);
                    if is_exact {
                        statistics.quantize(raw, lanes);
                    }
                    statistics.add_lanes(lanes);
                }
                snapshot.push_lanes_of(index, *id, &self.lanes[of_lanes.clone()])?;
                self.newest.push(*id, &self.raw[of_lanes.clone()]);
            }
            self.newest.finish_kind();
        }
        Ok(snapshot)
    }

    /// Returns the analysis of all frames.
    ///
    /// # Errors
    /// [`AnalysisError::Frame`] if a sample cannot be coded.
    pub fn finish(self) -> Result<Analysis, AnalysisError> {
        let Self { frames, rate_hz, costs, .. } = self;
        let compared = self.compared.max(1);
        let frames_per_s = frames_per_s(rate_hz, frames, self.ticks);
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
        let kinds = if are_named(&self.schema) {
            let of = |(kind, found): (&EntityKind, KindStatistics)| {
                let lanes = &self.schema.lanes()[kind.lanes()];
                found.finish([frames, compared], kind.name(), lanes, &fields[kind.fields()])
            };
            self.schema.kinds().iter().zip(self.kinds).map(of).collect()
        } else {
            Vec::new()
        };
        let levels = costs.levels(frames_per_s);
        let found = advice::Found {
            fields: &fields,
            levels: &levels,
            is_trained: self.options.profile != Profile::untrained(&self.schema),
        };
        let rates = [rate_hz, frames_per_s];
        let advice = advice::advise(&self.schema, rates, &found, self.values, self.samples)?;
        Ok(Analysis {
            frames,
            compared: self.compared,
            rate_hz,
            frames_per_s,
            lag: self.options.lag,
            entities: [self.entities as f64 / frames.max(1) as f64, self.most_entities as f64],
            changed_per_frame: self.changed as f64 / compared as f64,
            bits_per_entity: self.schema.bits_per_entity(),
            levels,
            lags: self.sweep.finish(frames_per_s),
            kinds,
            fields,
            together: self.masks.finish(),
            entities_by_cost: costs.entities(frames_per_s),
            advice,
        })
    }
}

/// Returns the frames per second of a run, given its ticks per second, the number of its frames,
/// and its first and last tick. For a run of one tick, this is the number of ticks per second.
///
/// ```
/// use kinepack::Tick;
/// use kinepack_capture::analysis::frames_per_s;
///
/// // The run has every third tick at 30 Hz, for three seconds.
/// assert_eq!(frames_per_s(30.0, 31, Some((Tick(100), Tick(190)))), 10.0);
/// assert_eq!(frames_per_s(30.0, 0, None), 30.0);
/// ```
pub fn frames_per_s(rate_hz: f64, frames: u64, ticks: Option<(Tick, Tick)>) -> f64 {
    let passed = ticks.map_or(0, |(first, last)| last.0.saturating_sub(first.0));
    let between = frames.saturating_sub(1);
    if passed == 0 || between == u64::from(passed) {
        return rate_hz;
    }
    rate_hz * between as f64 / f64::from(passed)
}
