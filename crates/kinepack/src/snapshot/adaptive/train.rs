//! Trains a model: weights by least squares, counters by counting. Training is not part of the
//! format, because a packet decodes with whichever model encoded it.

use alloc::vec;
use alloc::vec::Vec;

use super::bodies::Bodies;
use super::codec::{Adaptive, State};
use super::counters::MAX_TRAINED_COUNT;
use super::feature_groups::{FeatureGroup, remaining};
use super::learn::MISS_SQUARED;
use super::model::Model;
use super::numbers::{FEATURES, Row, dot, steps};
use super::past::Packet;
use super::plan::Plan;
use super::pooled::Tally;
use super::predictor::Predictor;
use super::sums::{Sums, fit};
use super::values::Columns;
use crate::entropy::{Cost, Counter};
use crate::snapshot::baselines::Baselines;
use crate::snapshot::changed::find_changed;
use crate::snapshot::level::Level;
use crate::snapshot::lineup::Lineup;
use crate::snapshot::precision::Precision;
use crate::snapshot::store::Snapshot;
use crate::{Schema, SetupError};

/// Trains a model on snapshots and their baselines, in several passes over the same data.
#[derive(Debug)]
pub(crate) struct ModelTrainer {
    adaptive: Adaptive,
    state: State,
    sums: Vec<Vec<Sums>>,
    /// For each row of a set, 1 for each feature that the row may use, and 0 for all other
    /// features.
    remaining: Vec<Row>,
    /// The lists of [`Plan::alike_rows`].
    alike: Vec<Vec<usize>>,
    columns: Vec<Vec<u32>>,
    changed: Vec<u32>,
    lineup: Lineup,
    precision: Option<Precision>,
    /// In a pass that counts decisions, the counts.
    tallies: Vec<Tally>,
    pass: Pass,
}

/// The part of the model that a pass trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Trains the weights.
    Weights,
    /// Trains the counters while *exploring*. Newcomers get origins regardless of cost, because the
    /// counters of origins learn only if origins are used. The next pass starts from these counters
    /// of newcomers.
    Exploration,
    /// Trains the counters without exploring.
    Counters,
    /// Counts the decisions, for counters that are pooled.
    Tallies,
}

/// A predictor with fixed weights that adds to the normal equations of a set.
struct Collector<'a> {
    rows: &'a [Row],
    remaining: &'a [Row],
    sums: &'a mut [Sums],
}

impl Collector<'_> {
    /// Returns the features of a row, with 0 for those that the row may not use. A feature that is
    /// always 0 gets no weight.
    fn used(&self, row: usize, features: &Row) -> Row {
        let mut used = *features;
        used.iter_mut()
            .zip(&self.remaining[row])
            .for_each(|(feature, remains)| *feature *= remains);
        used
    }
}

impl Predictor for Collector<'_> {
    type Decision = Counter;

    fn sum(&self, row: usize, features: &Row) -> f32 {
        dot(&self.rows[row], features)
    }

    fn observe_mean(&mut self, row: usize, features: &Row, target: i64, scale_log2: i32) {
        let error = steps(target - self.predict_mean(row, features));
        let scale = libm::exp2(f64::from(scale_log2) / 256.0);
        // Large errors weigh less, so that chaotic motion does not dominate the fit.
        let weight = 1.0 / (1.0 + scale * scale + f64::from(MISS_SQUARED) * error * error);
        let used = self.used(row, features);
        self.sums[row].add_mean(&used, target, weight);
    }

    fn observe_scale(&mut self, row: usize, features: &Row, _expected: i32, target: i32) {
        let used = self.used(row, features);
        self.sums[row].add_scale(&used, target);
    }
}

impl ModelTrainer {
    /// Makes a trainer for `schema`. The model has weights for each range of lags up to these
    /// limits, in ticks, increasing. The model has no weights for the features of the groups in
    /// `without`.
    ///
    /// # Errors
    /// [`SetupError`] if `bodies` do not fit the schema.
    pub(crate) fn new(
        schema: &Schema,
        bodies: Option<Bodies>,
        max_lags_ticks: &[u32],
        without: &[FeatureGroup],
    ) -> Result<Self, SetupError> {
        let classes = bodies.as_ref().map_or(0, Bodies::classes);
        let plan = Plan::new(schema, bodies.as_ref(), true)?;
        let mut model = Model::new(bodies, &plan, max_lags_ticks);
        let model_sets = model.sets.len();
        let remaining = remaining(plan.rows, classes, without);
        for rows in &mut model.sets {
            let weights = rows.iter_mut().flatten().zip(remaining.iter().flatten());
            weights.for_each(|(weight, remains)| *weight *= remains);
        }
        model.energies = vec![vec![[0; FEATURES]; plan.rows]; model_sets];
        Self::with_model(schema, model, remaining)
    }

    /// Makes a trainer that begins with a model of the schema. `remaining` has 1 for each feature
    /// that a row may use, and 0 for all other features.
    pub(super) fn with_model(
        schema: &Schema,
        model: Model,
        remaining: Vec<Row>,
    ) -> Result<Self, SetupError> {
        let adaptive = Adaptive::new(schema, model, false)?;
        let plan = &adaptive.plan;
        Ok(Self {
            sums: vec![vec![Sums::default(); plan.rows]; adaptive.model.sets.len()],
            remaining,
            alike: plan.alike_rows(),
            columns: Vec::new(),
            changed: Vec::new(),
            lineup: Lineup::default(),
            precision: Precision::new(schema, &Level::ADAPTIVE)?,
            state: adaptive.state(),
            tallies: Vec::new(),
            pass: Pass::Weights,
            adaptive,
        })
    }

    /// Begins a pass over the data.
    pub(crate) fn begin(&mut self, pass: Pass) {
        self.pass = pass;
        self.sums.iter_mut().flatten().for_each(|sums| *sums = Sums::default());
        let (model, plan) = (&mut self.adaptive.model, &self.adaptive.plan);
        // Unlike the other counters, those of newcomers keep what they learned in the exploring
        // pass.
        let anew = match pass {
            Pass::Weights | Pass::Tallies => 0,
            Pass::Exploration => model.counters.len(),
            Pass::Counters => model.newcomers,
        };
        model.counters[..anew].copy_from_slice(&plan.counters()[..anew]);
        self.state.explore(pass == Pass::Exploration);
    }

    /// Trains on a snapshot of the schema. If the schema has a time precision, the snapshot is
    /// first made as coarse as an encoder would send it.
    pub(crate) fn observe(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot) {
        self.lineup.line_up(baselines.baseline, snapshot);
        let (precision, entities) = (self.precision.as_ref(), &snapshot.entities);
        self.lineup.find_motion(precision, &baselines, entities, snapshot.tick.0);
        self.columns.clone_from(&snapshot.columns);
        if let Some(precision) = &self.precision {
            self.lineup.coarsen(precision, baselines.baseline, &mut self.columns);
        }
        let base = self.lineup.base(baselines.baseline);
        find_changed(&snapshot.kinds, &snapshot.entities, base, &self.columns, &mut self.changed);
        let packet = Packet {
            baselines,
            entities: &snapshot.entities,
            lineup: &self.lineup,
            learned: None,
            max_bits: u64::MAX,
        };
        let mut cost = Cost::default();
        let (state, changed) = (&mut self.state, &self.changed);
        let columns = Columns::Given(&self.columns);
        if self.pass == Pass::Tallies {
            self.tallies.resize_with(self.adaptive.model.newcomers, Tally::default);
            self.adaptive.tally(state, &mut self.tallies, &packet, changed, columns);
        } else if self.pass == Pass::Weights {
            let set = self.adaptive.begin(state, &packet);
            let mut collector = Collector {
                rows: &self.adaptive.model.sets[set],
                remaining: &self.remaining,
                sums: &mut self.sums[set],
            };
            self.adaptive.code_with(state, &mut cost, &mut collector, &packet, changed, columns);
        } else {
            self.adaptive.code(state, &mut cost, &packet, changed, columns);
            // The next packet continues with these counters.
            core::mem::swap(&mut self.adaptive.model.counters, &mut state.learned.counters);
        }
    }

    /// Ends a pass. The next pass starts from the result of this pass.
    pub(crate) fn end(&mut self) {
        match self.pass {
            Pass::Weights => {
                let model = &mut self.adaptive.model;
                let sets = model.sets.iter_mut().zip(&mut model.energies);
                for ((rows, energies), sums) in sets.zip(&self.sums) {
                    fit(sums, &self.alike, rows, energies);
                }
            }
            Pass::Tallies => {}
            Pass::Exploration | Pass::Counters => {
                for counter in &mut self.adaptive.model.counters {
                    *counter =
                        Counter::new(counter.probability(), counter.count().min(MAX_TRAINED_COUNT));
                }
            }
        }
    }

    /// Returns the sums of each set and row since the pass began.
    pub(super) fn sums(&self) -> &[Vec<Sums>] {
        &self.sums
    }

    /// Returns the counted decisions. The list is empty if no pass counted.
    pub(super) fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// Returns the trained model.
    pub(crate) fn finish(self) -> Model {
        self.adaptive.model
    }
}
