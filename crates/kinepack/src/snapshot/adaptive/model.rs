//! What the adaptive level knows before a packet: parameters of the bodies, weights, and the
//! counters that each packet starts from.

use alloc::vec;
use alloc::vec::Vec;

use super::bodies::Bodies;
use super::fixed::{Energies, Row};
use super::plan::Plan;
use crate::entropy::Counter;
use crate::snapshot::level::MAX_TICKS;
use crate::{Schema, SetupError};

/// What a profile holds for the adaptive level.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Which fields are a rigid body, where there are any.
    pub(crate) bodies: Option<Bodies>,
    /// The largest lag of each range, in ticks, rising.
    pub(crate) max_lags_ticks: Vec<u32>,
    /// For each range of lags two sets of one row a predictor: for older states about a lag apart,
    /// and for nearer ones.
    pub(crate) sets: Vec<Vec<Row>>,
    /// For each set and row what its features are worth, by which learning is paced; empty where
    /// that is unknown, and the weights stay.
    pub(crate) energies: Vec<Vec<Energies>>,
    /// What the counters start from.
    pub(crate) counters: Vec<Counter>,
}

impl Model {
    /// A model of fields that nobody trained: things go on as they did.
    pub(crate) fn untrained(schema: &Schema) -> Result<Self, SetupError> {
        let plan = Plan::new(schema, None)?;
        Ok(Self::new(None, &plan, &[MAX_TICKS]))
    }

    /// A model for lags up to these limits that knows nothing of the data.
    pub(super) fn new(bodies: Option<Bodies>, plan: &Plan, max_lags_ticks: &[u32]) -> Self {
        let rows = plan.first_rows(bodies.as_ref());
        Self {
            bodies,
            max_lags_ticks: max_lags_ticks.to_vec(),
            sets: vec![rows; 2 * max_lags_ticks.len()],
            energies: Vec::new(),
            counters: plan.counters(),
        }
    }

    /// Which set of rows serves a lag.
    pub(super) fn set(&self, lag_ticks: u32, is_near: bool) -> usize {
        let range = self.max_lags_ticks.iter().position(|max| lag_ticks <= *max);
        2 * range.unwrap_or(self.max_lags_ticks.len() - 1) + usize::from(is_near)
    }

    /// What the features of a set's rows are worth; none where that is unknown.
    pub(super) fn energies(&self, set: usize) -> &[Energies] {
        self.energies.get(set).map_or(&[], Vec::as_slice)
    }

    /// Which fields are a rigid body, and what is known of their world.
    pub fn bodies(&self) -> Option<&Bodies> {
        self.bodies.as_ref()
    }

    /// Says anew which ids are of which kind, as [`Bodies::kind_of_ids`] does: a world may have
    /// more players than the one it was trained on. Nothing that is trained depends on ids. Without
    /// bodies nothing happens.
    ///
    /// [`Codec::new`](crate::Codec::new) refuses what is not sorted or names a kind that is not
    /// there. Both sides have to say the same: it is a part of the codec's hash.
    pub fn set_kind_of_ids(&mut self, kind_of_ids: Vec<(u32, u8)>) {
        if let Some(bodies) = &mut self.bodies {
            bodies.kind_of_ids = kind_of_ids;
        }
    }

    /// Checks what coding takes for granted.
    pub(super) fn validate(&self, plan: &Plan) -> Result<(), SetupError> {
        let well_formed = !self.max_lags_ticks.is_empty()
            && self.max_lags_ticks.is_sorted_by(|a, b| a < b)
            && self.sets.len() == 2 * self.max_lags_ticks.len()
            && self.sets.iter().all(|rows| rows.len() == plan.rows)
            && (self.energies.is_empty() || self.energies.len() == self.sets.len())
            && self.energies.iter().all(|energies| energies.len() == plan.rows)
            && self.counters.len() == plan.at.len;
        if well_formed { Ok(()) } else { Err(SetupError::BadModel) }
    }
}
