//! Decides how often a hub sends each kind of entity, and how much a kind matters.
//!
//! A kind that is not due in a tick *rests*: the hub skips its changed entities, as it skips
//! entities that a budget has no room for. The snapshot is then partial, and spends no bits on
//! these entities. Added and removed entities are always due.
//!
//! At least every eighth tick all kinds are due, so that complete views stay frequent. Complete
//! views are the preferred baselines, and older views must be complete. So the rates are powers of
//! two.

use std::sync::Arc;

use kinepack::Schema;

use super::history::WHOLE_PREFERRED;
use super::kind_options::KindOptions;
use crate::NetError;

/// The largest [`KindOptions::every`]. A complete view must be recent enough to be preferred as the
/// baseline.
const MAX_EVERY: u32 = WHOLE_PREFERRED as u32;

/// The options of all kinds, and which kinds are due.
#[derive(Debug)]
pub(super) struct Rates {
    kinds: Arc<[KindOptions]>,
    /// The number of the hub's ticks, including the current one.
    ticks: u64,
}

impl Rates {
    pub(super) fn new(schema: &Schema) -> Self {
        let kinds = schema.kinds().iter().map(|_| KindOptions::default()).collect();
        Self { kinds, ticks: 0 }
    }

    pub(super) fn begin(&mut self) {
        self.ticks += 1;
    }

    pub(super) fn is_due(&self, kind: usize) -> bool {
        (self.ticks - 1).is_multiple_of(u64::from(self.kinds[kind].every))
    }

    /// Whether all kinds are due.
    pub(super) fn are_all_due(&self) -> bool {
        (0..self.kinds.len()).all(|kind| self.is_due(kind))
    }

    /// Changes the options of a kind.
    ///
    /// # Errors
    /// Returns [`NetError::KindOptions`] if a number is out of its range.
    pub(super) fn set(&mut self, kind: usize, options: KindOptions) -> Result<(), NetError> {
        let is_rate = options.every.is_power_of_two() && options.every <= MAX_EVERY;
        if !is_rate || !(0.0..=f32::MAX).contains(&options.priority) {
            return Err(NetError::KindOptions { options });
        }
        Arc::make_mut(&mut self.kinds)[kind] = options;
        Ok(())
    }

    /// The options of all kinds.
    pub(super) fn options(&self) -> &Arc<[KindOptions]> {
        &self.kinds
    }
}
