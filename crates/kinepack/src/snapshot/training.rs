//! Trains a whole profile on captured runs: word lengths for the levels that pack bits, and the
//! adaptive level's model.

use alloc::vec::Vec;

use super::adaptive::{Bodies, FeatureGroup, Learned, Model, ModelTrainer, Pass, PooledTrainer};
use super::baselines::Baselines;
use super::codec::Codec;
use super::encode::Encoder;
use super::level::Level;
use super::profile::Profile;
use super::store::Snapshot;
use super::train::Trainer;
use crate::{EncodeError, Schema, SetupError, Tick};

/// The settings of a training: the structure to train, and the amount of training.
///
/// ```
/// use kinepack::quantize::{IntegerLimits};
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::training::{Training};
/// use kinepack::{Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
///
/// let height = FieldKind::Integer(IntegerLimits::new(0, 999, 1)?);
/// let schema = Schema::new(vec![Field::new("height", height)]);
/// let mut run = Vec::new();
/// for tick in 0..60 {
///     let mut snapshot = Snapshot::new(&schema, Tick(tick));
///     snapshot.push_lanes(EntityId(0), &[tick * tick / 4])?;
///     run.push(snapshot);
/// }
/// let structure = Profile::magnitudes(&schema);
/// let training =
///     Training { max_lags_ticks: vec![2, 6], passes: 2, ..Training::new(structure, None) };
/// let profile = training.run(&schema, &[run], |_| ())?;
/// assert!(profile.model.is_some());
/// let codec = Codec::new(schema, Level::ADAPTIVE, profile)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// The classes and contexts for the levels that pack bits. Training changes only the lengths of
    /// their words.
    pub structure: Profile,
    /// The fields and parameters of the rigid bodies, if there are any.
    pub bodies: Option<Bodies>,
    /// The lag in ticks for which the word lengths are trained.
    pub packed_lag_ticks: u32,
    /// The upper ends of the ranges of lags, in ticks, increasing. The model has separate weights
    /// for each range.
    pub max_lags_ticks: Vec<u32>,
    /// The number of passes that improve the weights. With the default, each of the last few passes
    /// gains less than 1 %.
    pub passes: u32,
    /// The number of snapshots that a pass uses for each range of lags. If the runs have more
    /// snapshots, a pass uses an even spread of them.
    pub snapshots_per_pass: usize,
    /// The groups of features that get no weights, to measure how many bits these groups save.
    /// Normally this list is empty.
    pub without: Vec<FeatureGroup>,
}

/// Runs of one schema for [`Training::pooled`].
#[derive(Clone, Copy, Debug)]
pub struct Pooled<'a, R> {
    /// The schema of the runs.
    pub schema: &'a Schema,
    /// For each field of the schema, the index of the field of the prototype that it trains, if it
    /// trains any.
    pub sources: &'a [Option<usize>],
    /// The runs, as for [`Training::run`].
    pub runs: &'a [R],
}

/// The number of passes of [`Training::learn`]. Further passes would gain less than 0.1 %.
const LEARNING_PASSES: usize = 2;

/// The reason why training failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TrainError {
    /// The structure or the bodies do not fit the schema.
    Setup(SetupError),
    /// A snapshot does not fit the schema.
    Snapshot(EncodeError),
    /// The runs are too short for the shortest lag.
    TooShort,
}

impl core::fmt::Display for TrainError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(f),
            Self::Snapshot(error) => error.fmt(f),
            Self::TooShort => write!(f, "the captures are too short to train on"),
        }
    }
}

impl core::error::Error for TrainError {}

impl From<SetupError> for TrainError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<EncodeError> for TrainError {
    fn from(error: EncodeError) -> Self {
        Self::Snapshot(error)
    }
}

impl Training {
    /// Makes a training with the settings that the built-in profiles were trained with, for lags of
    /// 1 to 20 ticks.
    pub fn new(structure: Profile, bodies: Option<Bodies>) -> Self {
        Self {
            structure,
            bodies,
            packed_lag_ticks: 6,
            max_lags_ticks: [1, 2, 4, 7, 12, 20].to_vec(),
            passes: 12,
            snapshots_per_pass: 1500,
            without: Vec::new(),
        }
    }

    /// Trains on `runs`. Each run is a list of snapshots of one world, whose ticks increase. A run
    /// may omit ticks, because a lag counts ticks, not snapshots. The training calls `progress`
    /// with the share that is done, up to 1.
    ///
    /// If the schema has a time precision, the baselines are as coarse as a receiver at
    /// `packed_lag_ticks` would hold them. Each snapshot is made as coarse as an encoder would send
    /// it.
    ///
    /// The cost is about twice that of encoding `max_lags_ticks.len() × (passes + 2) ×
    /// snapshots_per_pass` snapshots.
    ///
    /// # Errors
    /// [`TrainError`] if the schema, the structure, the bodies and the runs do not fit together, or
    /// if the runs are too short.
    pub fn run<R: AsRef<[Snapshot]>>(
        &self,
        schema: &Schema,
        runs: &[R],
        progress: impl FnMut(f64),
    ) -> Result<Profile, TrainError> {
        let model = Some(self.model(schema, runs, progress)?);
        Ok(Profile { model, ..self.lengths(schema, runs)? })
    }

    /// Trains for snapshots that are coded against an empty one, such as lists of events. The
    /// snapshots' ticks do not matter. [`packed_lag_ticks`](Self::packed_lag_ticks) and
    /// [`max_lags_ticks`](Self::max_lags_ticks) are ignored.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn run_alone(
        &self,
        schema: &Schema,
        snapshots: &[Snapshot],
        progress: impl FnMut(f64),
    ) -> Result<Profile, TrainError> {
        // Puts an empty snapshot before each snapshot of the run.
        let mut run = Vec::with_capacity(2 * snapshots.len());
        for (snapshot, tick) in snapshots.iter().zip((0..).step_by(2)) {
            run.push(Snapshot::new(schema, Tick(tick)));
            let mut alone = snapshot.clone();
            alone.tick = Tick(tick + 1);
            run.push(alone);
        }
        let alone = Self { packed_lag_ticks: 1, max_lags_ticks: [1].to_vec(), ..self.clone() };
        alone.run(schema, &[run], progress)
    }

    /// Trains only the word lengths on `runs`, and returns a profile without a model.
    ///
    /// The cost is that of encoding each snapshot once.
    ///
    /// # Errors
    /// [`TrainError`] if the schema, the structure and the runs do not fit together.
    pub fn lengths<R: AsRef<[Snapshot]>>(
        &self,
        schema: &Schema,
        runs: &[R],
    ) -> Result<Profile, TrainError> {
        let mut trainer =
            Trainer::new(schema.clone(), Profile { model: None, ..self.structure.clone() })?;
        let coarse = as_received(schema, runs, self.packed_lag_ticks)?;
        for (run, held) in runs.iter().zip(held(runs, coarse.as_deref())) {
            for (frame, snapshot) in run.as_ref().iter().enumerate() {
                if let Some(sample) = Sample::at_lag(run.as_ref(), frame, self.packed_lag_ticks) {
                    sample.with(held, |baselines| trainer.count(baselines, snapshot))?;
                }
            }
        }
        Ok(trainer.finish())
    }

    /// Trains only the adaptive level's model. See [`run`](Self::run).
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn model<R: AsRef<[Snapshot]>>(
        &self,
        schema: &Schema,
        runs: &[R],
        mut progress: impl FnMut(f64),
    ) -> Result<Model, TrainError> {
        let coarse = as_received(schema, runs, self.packed_lag_ticks)?;
        let held = held(runs, coarse.as_deref());
        let mut trainer =
            ModelTrainer::new(schema, self.bodies.clone(), &self.max_lags_ticks, &self.without)?;
        let mut is_empty = true;
        let passes = core::iter::repeat_n(Pass::Weights, self.passes as usize)
            .chain([Pass::Exploration, Pass::Counters]);
        for (pass, trained) in passes.enumerate() {
            trainer.begin(trained);
            let report = |share| progress((pass as f64 + share) / f64::from(self.passes + 2));
            is_empty &= !self.observe(&mut trainer, runs, &held, pass, report);
            trainer.end();
        }
        if is_empty {
            return Err(TrainError::TooShort);
        }
        Ok(trainer.finish())
    }

    /// Trains a profile for `prototype`, a schema of one kind that has a few typical fields, on
    /// runs of other schemas. All fields with the same source train its parameters together.
    /// [`Profile::carried_by_field`] makes a profile for any schema of it. The word lengths for the
    /// levels that pack bits stay untrained, and the training ignores
    /// [`structure`](Self::structure), [`bodies`](Self::bodies) and [`without`](Self::without).
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), among them [`SetupError::ProfileMismatch`] if `prototype`
    /// has several kinds or lacks a source.
    pub fn pooled<R: AsRef<[Snapshot]>>(
        &self,
        prototype: &Schema,
        data: &[Pooled<'_, R>],
        mut progress: impl FnMut(f64),
    ) -> Result<Profile, TrainError> {
        let mut trainer = PooledTrainer::new(prototype, &self.max_lags_ticks)?;
        let passes = core::iter::repeat_n(Pass::Weights, self.passes as usize);
        let mut is_empty = true;
        for (pass, trained) in passes.chain([Pass::Tallies]).enumerate() {
            trainer.begin(trained);
            for (nth, Pooled { schema, sources, runs }) in data.iter().enumerate() {
                let coarse = as_received(schema, runs, self.packed_lag_ticks)?;
                let held = held(runs, coarse.as_deref());
                trainer.add(schema, sources, |trainer| {
                    is_empty &= !self.observe(trainer, runs, &held, pass, |_| ());
                })?;
                let done = pass as f64 + (nth + 1) as f64 / data.len() as f64;
                progress(done / f64::from(self.passes + 1));
            }
            trainer.end();
        }
        if is_empty {
            return Err(TrainError::TooShort);
        }
        Ok(Profile { model: Some(trainer.finish()), ..Profile::untrained(prototype) })
    }

    /// Shows the snapshots of a pass to a trainer, each with baselines of each range of lags.
    /// Returns whether there were any.
    fn observe<R: AsRef<[Snapshot]>>(
        &self,
        trainer: &mut ModelTrainer,
        runs: &[R],
        held: &[&[Snapshot]],
        pass: usize,
        mut progress: impl FnMut(f64),
    ) -> bool {
        let frames: usize = runs.iter().map(|run| run.as_ref().len()).sum();
        let stride = frames.div_ceil(self.snapshots_per_pass.max(1)).max(1);
        let mut is_any = false;
        for (nth, run) in runs.iter().enumerate() {
            let run = run.as_ref();
            for frame in (pass % stride..run.len()).step_by(stride) {
                let mut first = 1;
                for &last in &self.max_lags_ticks {
                    for is_near in [false, true] {
                        let salt = pass + nth;
                        let sample = Sample::choose(run, frame, [first, last], is_near, salt);
                        if let Some(sample) = sample {
                            sample.with(held[nth], |baselines| {
                                trainer.observe(baselines, &run[frame]);
                            });
                            is_any = true;
                        }
                    }
                    first = last + 1;
                }
            }
            progress((nth + 1) as f64 / runs.len() as f64);
        }
        is_any
    }

    /// Lets a profile learn from `runs` in two passes, as [`Level::LEARNING`] would in sessions
    /// with a lag of [`packed_lag_ticks`](Self::packed_lag_ticks). The profile is then better at
    /// this lag, at all adaptive levels, and may be worse at other lags. The training calls
    /// `progress` with the share that is done, up to 1.
    ///
    /// The training takes one snapshot of each run in turn, because the snapshots learned last have
    /// the most influence.
    ///
    /// The cost is that of encoding each snapshot twice.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn learn<R: AsRef<[Snapshot]>>(
        &self,
        schema: &Schema,
        profile: &Profile,
        runs: &[R],
        mut progress: impl FnMut(f64),
    ) -> Result<Profile, TrainError> {
        let codec = Codec::new(schema.clone(), Level::LEARNING, profile.clone())?;
        let coarse = as_received(schema, runs, self.packed_lag_ticks)?;
        let held = held(runs, coarse.as_deref());
        let longest = runs.iter().map(|run| run.as_ref().len()).max().unwrap_or(0);
        let mut encoder = Encoder::new(&codec);
        let mut learned: Option<Learned> = None;
        let mut packet = Vec::new();
        for (done, frame) in (0..LEARNING_PASSES).flat_map(|_| 0..longest).enumerate() {
            for (run, held) in runs.iter().zip(&held) {
                let Some(snapshot) = run.as_ref().get(frame) else { continue };
                let lag_ticks = self.packed_lag_ticks;
                let Some(sample) = Sample::in_session(run.as_ref(), frame, lag_ticks) else {
                    continue;
                };
                packet.clear();
                let view = sample.with(held, |baselines| {
                    let mut known = baselines;
                    known.learned = learned.as_ref();
                    encoder.encode(known, snapshot, &mut packet)
                })?;
                learned = view.learned().cloned();
                encoder.recycle(view.with_learned(None));
            }
            progress((done + 1) as f64 / (LEARNING_PASSES * longest) as f64);
        }
        let learned = learned.ok_or(TrainError::TooShort)?;
        Ok(profile.with_learned(schema, &learned)?)
    }
}

/// Returns the snapshots of each run as a receiver holds them: the coarse snapshots, if there are
/// any.
fn held<'a, R: AsRef<[Snapshot]>>(
    runs: &'a [R],
    coarse: Option<&'a [Vec<Snapshot>]>,
) -> Vec<&'a [Snapshot]> {
    match coarse {
        Some(coarse) => coarse.iter().map(AsRef::as_ref).collect(),
        None => runs.iter().map(AsRef::as_ref).collect(),
    }
}

/// Returns the runs as held by a receiver that acknowledges each snapshot `lag_ticks` later.
/// Returns `None` without a time precision, because the receiver then holds the runs unchanged.
pub(super) fn as_received<R: AsRef<[Snapshot]>>(
    schema: &Schema,
    runs: &[R],
    lag_ticks: u32,
) -> Result<Option<Vec<Vec<Snapshot>>>, TrainError> {
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(schema))?;
    if !codec.has_precision() {
        return Ok(None);
    }
    let mut encoder = Encoder::new(&codec);
    let mut receive = |run: &R| {
        let mut held: Vec<Snapshot> = Vec::new();
        for (frame, snapshot) in run.as_ref().iter().enumerate() {
            let mut coarse = snapshot.clone();
            let sample = Sample::at_lag(run.as_ref(), frame, lag_ticks);
            if let Some(sample) = sample.filter(|sample| sample.baseline < frame) {
                sample.with(&held, |baselines| encoder.coarsen(&baselines, &mut coarse))?;
            }
            held.push(coarse);
        }
        Ok(held)
    };
    runs.iter().map(&mut receive).collect::<Result<_, _>>().map(Some)
}

/// The indices of the snapshots of a run that a snapshot is coded against.
pub(super) struct Sample {
    baseline: usize,
    older: [usize; 2],
    count: usize,
}

impl Sample {
    /// Takes a baseline `lag_ticks` before the snapshot, and an older snapshot as far before the
    /// baseline.
    pub(super) fn at_lag(run: &[Snapshot], frame: usize, lag_ticks: u32) -> Option<Self> {
        let baseline = back(run, frame, lag_ticks)?;
        Some(Self::new(baseline, [back(run, baseline, lag_ticks), None]))
    }

    /// Like [`at_lag`](Self::at_lag), with another older snapshot as far before the first one, as
    /// in a session.
    fn in_session(run: &[Snapshot], frame: usize, lag_ticks: u32) -> Option<Self> {
        let baseline = back(run, frame, lag_ticks)?;
        let older = back(run, baseline, lag_ticks);
        Some(Self::new(baseline, [older, older.and_then(|older| back(run, older, lag_ticks))]))
    }

    /// Takes a baseline and those older snapshots that exist, the newer one first.
    fn new(baseline: usize, older: [Option<usize>; 2]) -> Self {
        let count = older.iter().flatten().count();
        Self { baseline, older: older.map(Option::unwrap_or_default), count }
    }

    /// Chooses a baseline at a lag within `lags`, and older snapshots about one lag apart, or half
    /// a lag if `is_near`. The choice varies with `frame` and `salt`, and depends on the arguments
    /// alone.
    fn choose(
        run: &[Snapshot],
        frame: usize,
        [first, last]: [u32; 2],
        is_near: bool,
        salt: usize,
    ) -> Option<Self> {
        let turn = frame * 7 + salt * 3;
        // The range of lags may be empty.
        let lags = last.checked_sub(first)? as usize + 1;
        let lag = first + (turn % lags) as u32;
        let baseline = back(run, frame, lag)?;
        let spacing = if is_near { lag.div_ceil(2) } else { lag };
        if is_near && 4 * spacing >= 3 * lag {
            return None;
        }
        let older = back(run, baseline, spacing);
        let known = Self::new(baseline, [older, older.and_then(|older| back(run, older, lag))]);
        // One in 64 samples represents a receiver's first packet with a baseline, and another one
        // of the 64 represents the receiver's second packet. These packets have fewer older
        // snapshots.
        let most = if turn.is_multiple_of(32) { turn / 32 % 2 } else { 2 };
        Some(Self { count: known.count.min(most), ..known })
    }

    pub(super) fn baseline<'a>(&self, run: &'a [Snapshot]) -> &'a Snapshot {
        &run[self.baseline]
    }

    pub(super) fn with<R>(&self, run: &[Snapshot], then: impl FnOnce(Baselines<'_>) -> R) -> R {
        let older = self.older.map(|index| &run[index]);
        then(Baselines::from_run(&run[self.baseline], &older[..self.count]))
    }
}

/// Returns the index of the newest snapshot of a run that is at least `lag_ticks` older than the
/// one at `frame`. In a run without gaps, that snapshot is exactly `lag_ticks` older.
fn back(run: &[Snapshot], frame: usize, lag_ticks: u32) -> Option<usize> {
    let newest = run[frame].tick.0.checked_sub(lag_ticks)?;
    run[..=frame].partition_point(|snapshot| snapshot.tick.0 <= newest).checked_sub(1)
}
