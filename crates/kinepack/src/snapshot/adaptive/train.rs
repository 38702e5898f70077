//! Training: weights by least squares, counters by counting. What training does is no part of the format: any model decodes what it
//! encoded.

use alloc::vec;
use alloc::vec::Vec;

use super::coding::Observer;
use super::file::STORED_SHIFT;
use super::fixed::{FEATURES, Row, WEIGHT_BITS};
use super::model::{Band, Bodies, FIELD_CLASSES, Model, body_row, row};
use super::plan::{FieldCoding, Plan};
use super::{Adaptive, Packet, State};
use crate::entropy::{Cost, Counter};
use crate::snapshot::Baselines;
use crate::snapshot::encode::find_changed;
use crate::snapshot::store::Snapshot;
use crate::{EncodeError, Schema, SetupError};

/// The most a counter is sure of what it was trained on.
const MOST_SURE: u8 = 15;

/// Makes a model from snapshots and their baselines, in several passes over the same data.
#[derive(Debug)]
pub struct ModelTrainer {
    schema: Schema,
    adaptive: Adaptive,
    state: State,
    sums: Vec<Vec<Sums>>,
    columns: Vec<Vec<u32>>,
    changed: Vec<u32>,
    bits: f64,
    pass: Pass,
}

/// What a pass finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The weights.
    Weights,
    /// The counters.
    Counters,
}

/// The normal equations of one predictor.
#[derive(Clone, Debug)]
struct Sums {
    products: [[f64; FEATURES]; FEATURES],
    targets: [f64; FEATURES],
    samples: f64,
}

impl Default for Sums {
    fn default() -> Self {
        Self { products: [[0.0; FEATURES]; FEATURES], targets: [0.0; FEATURES], samples: 0.0 }
    }
}

impl Sums {
    fn add(&mut self, features: &Row, target: f64, weight: f64) {
        for (index, &feature) in features.iter().enumerate() {
            if feature != 0 {
                let weighted = f64::from(feature) * weight;
                for (product, &other) in self.products[index].iter_mut().zip(&features[..=index]) {
                    *product += weighted * f64::from(other);
                }
                self.targets[index] += weighted * target;
            }
        }
        self.samples += 1.0;
    }

    /// The weights of the least squares, drawn a little towards `prior`.
    fn solve(&self, prior: &Row, strength: f64) -> Row {
        let mut lower = [[0.0; FEATURES]; FEATURES];
        let mut diagonal = [0.0f64; FEATURES];
        let mut solution = [0.0; FEATURES];
        for i in 0..FEATURES {
            let ridge = self.products[i][i] * 1e-4 + strength;
            solution[i] = self.targets[i] + ridge * f64::from(prior[i]) / f64::from(1 << WEIGHT_BITS);
            for j in 0..=i {
                let mut sum = self.products[i][j] + if i == j { ridge } else { 0.0 };
                for k in 0..j {
                    sum -= lower[i][k] * lower[j][k] * diagonal[k];
                }
                if i == j {
                    diagonal[i] = sum.max(1e-6);
                } else {
                    lower[i][j] = sum / diagonal[j];
                }
            }
        }
        for i in 0..FEATURES {
            for k in 0..i {
                solution[i] -= lower[i][k] * solution[k];
            }
        }
        for i in 0..FEATURES {
            solution[i] /= diagonal[i];
        }
        for i in (0..FEATURES).rev() {
            for k in i + 1..FEATURES {
                solution[i] -= lower[k][i] * solution[k];
            }
        }
        // As a file keeps them.
        let stored = f64::from(1 << (WEIGHT_BITS - STORED_SHIFT));
        solution.map(|weight| ((weight.clamp(-32.0, 32.0) * stored) as i32) << STORED_SHIFT)
    }
}

/// Fills the normal equations of a band.
struct Collector<'a> {
    sums: &'a mut [Sums],
}

impl Observer for Collector<'_> {
    fn mean(&mut self, row: usize, weights: &mut Row, features: &Row, target: i64, scale_log2: i32) {
        let expected = super::fixed::dot(weights, features);
        let error = (target - expected) as f64 / 16.0;
        let scale = exp2(f64::from(scale_log2) / 256.0);
        // So that chaos does not rule the fit.
        let weight = 1.0 / (1.0 + scale * scale + 0.3 * error * error);
        self.sums[row].add(features, target as f64, weight);
    }

    fn scale(&mut self, row: usize, _weights: &mut Row, features: &Row, target: i32) {
        self.sums[row].add(features, f64::from(target), 1.0);
    }
}

fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

impl ModelTrainer {
    /// A trainer for `schema`, with weights for each range of lags up to these limits, rising, in ticks.
    ///
    /// # Errors
    /// [`SetupError`] where the bodies' fields are not such.
    pub fn new(schema: Schema, bodies: Option<Bodies>, max_lags_ticks: &[u32]) -> Result<Self, SetupError> {
        let plan = Plan::new(&schema, bodies.as_ref())?;
        let rows = first_rows(&plan, bodies.as_ref());
        let bands = max_lags_ticks.iter().map(|&max_lag_ticks| Band { max_lag_ticks, rows: rows.clone() });
        let model = Model { bodies, bands: bands.collect(), counters: plan.counters() };
        let adaptive = Adaptive::new(&schema, model)?;
        Ok(Self {
            sums: vec![vec![Sums::default(); plan.rows]; max_lags_ticks.len()],
            columns: Vec::new(),
            changed: Vec::new(),
            state: adaptive.state(),
            bits: 0.0,
            pass: Pass::Weights,
            adaptive,
            schema,
        })
    }

    /// Begins a pass over the data.
    pub fn begin(&mut self, pass: Pass) {
        self.pass = pass;
        self.bits = 0.0;
        self.sums.iter_mut().flatten().for_each(|sums| *sums = Sums::default());
        self.adaptive.model.counters = match pass {
            Pass::Weights => self.adaptive.model.counters.clone(),
            Pass::Counters => self.adaptive.plan.counters(),
        };
        self.state = self.adaptive.state();
    }

    /// Looks at a snapshot. Both have the same entities.
    ///
    /// # Errors
    /// [`EncodeError::EntitiesDiffer`].
    pub fn observe(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot) -> Result<(), EncodeError> {
        self.bits += self.code(baselines, snapshot, Some(self.pass))?;
        Ok(())
    }

    /// What a snapshot would cost with the model as it is now, in bits.
    ///
    /// # Errors
    /// [`EncodeError::EntitiesDiffer`].
    pub fn cost_bits(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot) -> Result<f64, EncodeError> {
        self.code(baselines, snapshot, None)
    }

    fn code(&mut self, baselines: Baselines<'_>, snapshot: &Snapshot, pass: Option<Pass>) -> Result<f64, EncodeError> {
        if baselines.baseline.ids != snapshot.ids {
            return Err(EncodeError::EntitiesDiffer);
        }
        let base = &baselines.baseline.columns;
        find_changed(base, &snapshot.columns, snapshot.len(), &mut self.changed);
        self.columns.clone_from(&snapshot.columns);
        let packet = Packet { baselines, ids: &snapshot.ids, base, tick: snapshot.tick.0 };
        let lag = snapshot.tick.0.wrapping_sub(baselines.baseline.tick.0);
        let bands = &self.adaptive.model.bands;
        let band = bands.iter().position(|band| lag <= band.max_lag_ticks).unwrap_or(bands.len() - 1);
        let mut cost = Cost::default();
        let (state, columns, changed) = (&mut self.state, &mut self.columns, &self.changed);
        if pass == Some(Pass::Weights) {
            let mut collector = Collector { sums: &mut self.sums[band] };
            self.adaptive.code(state, &mut cost, &mut collector, &packet, changed, columns);
        } else {
            self.adaptive.code(state, &mut cost, &mut (), &packet, changed, columns);
            if pass.is_some() {
                // The next packet goes on from here.
                core::mem::swap(&mut self.adaptive.model.counters, &mut state.counters);
            }
        }
        Ok(cost.bits())
    }

    /// Ends a pass: what it found is what the next one starts from. Returns the bits of all packets as they were coded.
    pub fn end(&mut self) -> f64 {
        match self.pass {
            Pass::Weights => {
                for (band, sums) in self.adaptive.model.bands.iter_mut().zip(&self.sums) {
                    for (row, sums) in band.rows.iter_mut().zip(sums) {
                        if sums.samples > 0.0 {
                            *row = sums.solve(row, 3.0 * 256.0);
                        }
                    }
                }
            }
            Pass::Counters => {
                for counter in &mut self.adaptive.model.counters {
                    *counter = Counter::new(counter.probability(), counter.count().min(MOST_SURE));
                }
            }
        }
        self.state = self.adaptive.state();
        self.bits
    }

    /// The model.
    pub fn finish(self) -> Model {
        self.adaptive.model
    }

    /// What each field took in the packet before, in bits; the rest is for who changed.
    pub fn fields_bits(&self) -> impl Iterator<Item = f64> {
        self.state.spent.iter().map(|spent| *spent as f64 / 256.0)
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

/// Weights to begin with: things go on as they did.
pub(super) fn first_rows(plan: &Plan, bodies: Option<&Bodies>) -> Vec<Row> {
    let mut rows = vec![row(&[]); plan.rows];
    let own = row(&[0.9]);
    let sizes = row(&[1.0, 0.4, 0.4]);
    if let Some(bodies) = bodies {
        for class in rows.chunks_mut(body_row::COUNT).take(bodies.classes()) {
            class[..body_row::POSITION_SCALE].fill(own);
            class[body_row::POSITION_SCALE..].fill(sizes);
        }
    }
    for field in &plan.fields {
        let first = match field.coding {
            FieldCoding::Numbers { row, .. } => row,
            FieldCoding::Rotation { row, .. } => row,
            FieldCoding::Choice { .. } => continue,
        };
        let is_rotation = matches!(field.coding, FieldCoding::Rotation { .. });
        for nth in 0..FIELD_CLASSES * 2 * field.lanes.len() {
            let is_mean = if is_rotation { nth % 8 < 3 } else { nth % 2 == 0 };
            rows[first + nth] = if is_mean { own } else { sizes };
        }
    }
    rows
}
