//! Trains a model of a few typical fields from runs of many schemas: the fields of a schema that
//! have the same source train its parameters together. Training is not part of the format.

use alloc::vec;
use alloc::vec::Vec;

use super::carried::{Sources, parts};
use super::counters::EVEN;
use super::model::Model;
use super::numbers::{FEATURES, Row, dot};
use super::plan::Plan;
use super::predictor::Predictor;
use super::sums::{Sums, fit};
use super::train::{ModelTrainer, Pass};
use crate::entropy::{Coder, Counter, Decision};
use crate::{Schema, SetupError};

/// A counter with fewer decisions in training stays untrained.
const MIN_DECISIONS: u32 = 24;

/// The count of a trained counter. It is small because the fields of a schema differ: their
/// counters soon follow their own decisions.
const COUNT: u8 = 4;

/// Weights are multiples of 1/128, which makes files a quarter smaller and packets no larger.
const WEIGHTS_PER_ONE: f32 = 128.0;

/// The number of decisions of one kind that were false and true.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally([u32; 2]);

impl Decision for Tally {
    type Rule = ();

    fn decide<C: Coder>(&mut self, coder: &mut C, bit: bool, (): &mut ()) -> bool {
        self.0[usize::from(bit)] += 1;
        coder.code(bit, 1 << 15)
    }
}

impl Tally {
    fn counter(self) -> Counter {
        let [zeros, ones] = self.0;
        if zeros + ones < MIN_DECISIONS {
            return EVEN;
        }
        let share = (f64::from(ones) + 0.5) / (f64::from(zeros + ones) + 1.0);
        // Multiples of 256 make files smaller.
        Counter::new(((share * 256.0) as u16) << 8, COUNT)
    }
}

/// Predicts with fixed weights, while decisions are counted.
pub(super) struct Tallied<'a>(pub(super) &'a [Row]);

impl Predictor for Tallied<'_> {
    type Decision = Tally;

    fn sum(&self, row: usize, features: &Row) -> f32 {
        dot(&self.0[row], features)
    }
}

/// Trains a model whose schema, `prototype`, has one kind of a few typical fields.
#[derive(Debug)]
pub(crate) struct PooledTrainer {
    prototype: Schema,
    plan: Plan,
    model: Model,
    sums: Vec<Vec<Sums>>,
    tallies: Vec<Tally>,
    pass: Pass,
}

impl PooledTrainer {
    /// Makes a trainer for ranges of lags up to these limits, in ticks, increasing.
    pub(crate) fn new(prototype: &Schema, max_lags_ticks: &[u32]) -> Result<Self, SetupError> {
        let plan = Plan::new(prototype, None, true)?;
        let mut model = Model::new(None, &plan, max_lags_ticks);
        model.energies = vec![vec![[0; FEATURES]; plan.rows]; model.sets.len()];
        Ok(Self {
            prototype: prototype.clone(),
            sums: Vec::new(),
            tallies: Vec::new(),
            pass: Pass::Weights,
            plan,
            model,
        })
    }

    /// Begins a pass over all data.
    pub(crate) fn begin(&mut self, pass: Pass) {
        self.pass = pass;
        self.sums = vec![vec![Sums::default(); self.plan.rows]; self.model.sets.len()];
        self.tallies = vec![Tally::default(); self.model.newcomers];
    }

    /// Adds the data of one schema in a pass. `sources` has the field of the prototype for each
    /// field of the schema. `observe` shows all snapshots to the trainer.
    pub(crate) fn add(
        &mut self,
        schema: &Schema,
        fields: &[Option<usize>],
        observe: impl FnOnce(&mut ModelTrainer),
    ) -> Result<(), SetupError> {
        let exist = |field: &usize| *field < self.prototype.fields().len();
        let fits = fields.len() == schema.fields().len() && self.prototype.kinds().len() == 1;
        if !fits || !fields.iter().flatten().all(exist) {
            return Err(SetupError::ProfileMismatch);
        }
        let kinds = vec![Some(0); schema.kinds().len()];
        let sources = Sources { from: &self.prototype, to: schema, kinds: &kinds, fields };
        let model = self.model.carried(&sources)?;
        let plan = Plan::new(schema, None, model.is_shared)?;
        let parts = parts(&sources, &self.plan, &plan, None);
        let mut trainer =
            ModelTrainer::with_model(schema, model, vec![[1.0; FEATURES]; plan.rows])?;
        trainer.begin(self.pass);
        observe(&mut trainer);
        for (prototype, rows) in parts.rows {
            for (sums, other) in self.sums.iter_mut().zip(trainer.sums()) {
                let others = &other[rows.clone()];
                sums[prototype.clone()].iter_mut().zip(others).for_each(|(a, b)| a.add_all(b));
            }
        }
        if trainer.tallies().is_empty() {
            return Ok(());
        }
        // Fields that share counters have the same ones.
        let mut ranges = parts.counters;
        ranges.retain(|(prototype, _)| prototype.end <= self.model.newcomers);
        ranges.sort_by_key(|(_, counters)| counters.start);
        ranges.dedup_by_key(|(_, counters)| counters.start);
        for (prototype, counters) in ranges {
            let tallies = &trainer.tallies()[counters];
            for (sum, tally) in self.tallies[prototype].iter_mut().zip(tallies) {
                (0..2).for_each(|bit| sum.0[bit] += tally.0[bit]);
            }
        }
        Ok(())
    }

    /// Ends a pass. The next pass starts from its result.
    pub(crate) fn end(&mut self) {
        let model = &mut self.model;
        if self.pass == Pass::Weights {
            let sets = model.sets.iter_mut().zip(&mut model.energies);
            for ((rows, energies), sums) in sets.zip(&self.sums) {
                fit(sums, &[], rows, energies);
                let round = |weight: &mut f32| {
                    *weight = libm::roundf(*weight * WEIGHTS_PER_ONE) / WEIGHTS_PER_ONE;
                };
                rows.iter_mut().flatten().for_each(round);
            }
        } else {
            let counters = model.counters.iter_mut().zip(&self.tallies);
            counters.for_each(|(counter, tally)| *counter = tally.counter());
        }
    }

    /// Returns the trained model of the prototype.
    pub(crate) fn finish(self) -> Model {
        self.model
    }
}
