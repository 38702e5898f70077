//! The model of the adaptive level: parameters of the bodies, weights, and the counters from which
//! packets start.

use alloc::vec;
use alloc::vec::Vec;

use super::bodies::Bodies;
use super::numbers::{Energies, Row};
use super::plan::Plan;
use crate::entropy::Counter;
use crate::snapshot::level::MAX_TICKS;
use crate::{Schema, SetupError};

/// The maximum number of ranges of lags. Lags of more than 255 ticks count as 255, and each range
/// takes two sets of rows.
pub(super) const MAX_RANGES: usize = 16;

/// A trained model: what a profile holds for the adaptive level. `training::Training` makes a
/// model, as its example shows. A profile without a model works at every level, but its packets
/// take more bits.
///
/// ```
/// # #[cfg(feature = "training")]
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # use kinepack::schema::{Field, FieldKind};
/// # use kinepack::training::Training;
/// # use kinepack::{EntityId, Profile, Schema, Snapshot, Tick};
/// # let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// # let mut run = Vec::new();
/// # for tick in 0..30 {
/// #     let mut snapshot = Snapshot::new(&schema, Tick(tick));
/// #     snapshot.push_lanes(EntityId(0), &[tick / 10 % 2])?;
/// #     run.push(snapshot);
/// # }
/// # let structure = Profile::magnitudes(&schema);
/// # let training =
/// #     Training { max_lags_ticks: vec![6], passes: 1, ..Training::new(structure, None) };
/// // The profile comes from `training::Training`, or from a file.
/// let mut profile = training.run(&schema, &[run], |_| ())?;
/// let model = profile.model.as_mut().ok_or("not trained")?;
/// assert!(model.bodies().is_none(), "the schema marks none");
/// // Entities from 1000 on are of kind 0. This has no effect on a model without bodies.
/// model.set_kind_of_ids(vec![(1000, 0)]);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "training"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The bodies' fields and parameters, if there are any bodies.
    pub(crate) bodies: Option<Bodies>,
    /// The largest lag of each range, in ticks, increasing.
    pub(crate) max_lags_ticks: Vec<u32>,
    /// For each range of lags, two sets of rows, with one row per predictor. One set is for older
    /// states about a lag apart, and the other for nearer states.
    pub(crate) sets: Vec<Vec<Row>>,
    /// For each set and row, the energies of the row's features, which normalize the steps of
    /// learning. `energies` is empty if the energies are unknown; rows of means are then not
    /// learned.
    pub(crate) energies: Vec<Vec<Energies>>,
    /// The counters from which packets start.
    pub(crate) counters: Vec<Counter>,
    /// The index of the first counter of added entities.
    pub(crate) newcomers: usize,
    /// True if alike fields share their counters of residuals, and some fields are alike.
    pub(crate) is_shared: bool,
}

impl Model {
    /// Makes an untrained model without bodies, which predicts that motion continues.
    pub(crate) fn untrained(schema: &Schema) -> Result<Self, SetupError> {
        let plan = Plan::new(schema, None, true)?;
        Ok(Self::new(None, &plan, &[MAX_TICKS]))
    }

    /// Returns the model's size on the heap, in bytes.
    pub(in crate::snapshot) fn memory_bytes(&self) -> usize {
        let rows: usize = self.sets.iter().map(Vec::len).sum();
        let energies: usize = self.energies.iter().map(Vec::len).sum();
        size_of_val(&self.counters[..])
            + rows * size_of::<Row>()
            + energies * size_of::<Energies>()
            + self.bodies.as_ref().map_or(0, |bodies| size_of_val(&bodies.kind_of_ids[..]))
    }

    /// Returns the size of the inverses that a level that learns computes from the energies, in
    /// bytes.
    pub(in crate::snapshot) fn inverses_bytes(&self) -> usize {
        self.energies.iter().map(Vec::len).sum::<usize>() * size_of::<Row>()
    }

    /// Returns the heap size of an [`untrained`](Self::untrained) model, in bytes.
    pub(in crate::snapshot) fn untrained_bytes(schema: &Schema) -> Result<usize, SetupError> {
        let plan = Plan::new(schema, None, true)?;
        Ok(plan.layout.len * size_of::<Counter>() + 2 * plan.rows * size_of::<Row>())
    }

    /// Makes an untrained model for ranges of lags up to these limits.
    pub(super) fn new(bodies: Option<Bodies>, plan: &Plan, max_lags_ticks: &[u32]) -> Self {
        let rows = plan.untrained_rows(bodies.as_ref());
        Self {
            bodies,
            max_lags_ticks: max_lags_ticks.to_vec(),
            sets: vec![rows; 2 * max_lags_ticks.len()],
            energies: Vec::new(),
            counters: plan.counters(),
            newcomers: plan.layout.newcomers,
            is_shared: plan.is_shared,
        }
    }

    /// Returns the index of the set of rows for a lag.
    pub(super) fn set(&self, lag_ticks: u32, is_near: bool) -> usize {
        let range = self.max_lags_ticks.iter().position(|max| lag_ticks <= *max);
        2 * range.unwrap_or(self.max_lags_ticks.len() - 1) + usize::from(is_near)
    }

    /// Returns the fields and parameters of the rigid bodies, if the model has bodies.
    pub fn bodies(&self) -> Option<&Bodies> {
        self.bodies.as_ref()
    }

    /// Replaces [`Bodies::kind_of_ids`], because a world may have more players than the one that
    /// the model was trained on. No trained parameter depends on ids. The call has no effect on a
    /// model without bodies.
    ///
    /// [`Codec::new`](crate::Codec::new) refuses a list that is not sorted, names a kind that does
    /// not exist, or has more than 65,536 ranges. Both sides must use the same list, which is part
    /// of the codec's hash.
    pub fn set_kind_of_ids(&mut self, kind_of_ids: Vec<(u32, u8)>) {
        if let Some(bodies) = &mut self.bodies {
            bodies.kind_of_ids = kind_of_ids;
        }
    }

    /// Checks the lengths and the orders that coding relies on.
    pub(super) fn validate(&self, plan: &Plan) -> Result<(), SetupError> {
        let well_formed = (1..=MAX_RANGES).contains(&self.max_lags_ticks.len())
            && self.max_lags_ticks.is_sorted_by(|a, b| a < b)
            && self.sets.len() == 2 * self.max_lags_ticks.len()
            && self.sets.iter().all(|rows| rows.len() == plan.rows)
            && (self.energies.is_empty() || self.energies.len() == self.sets.len())
            && self.energies.iter().all(|energies| energies.len() == plan.rows)
            && self.counters.len() == plan.layout.len
            && self.newcomers == plan.layout.newcomers;
        if well_formed { Ok(()) } else { Err(SetupError::BadModel) }
    }
}
