//! Merging views in which something was left out into one baseline, alike on both sides. `spec/NET.md`, section 4.1.

use kinepack::{EncodeError, EntityId, Snapshot};

/// The memory of merging.
#[derive(Debug)]
pub(crate) struct Merger {
    /// The entities that views have sent: id, how many views back, and where.
    rows: Vec<(EntityId, usize, usize)>,
    patch: Snapshot,
}

impl Merger {
    pub(crate) fn new(empty: Snapshot) -> Self {
        Self { rows: Vec::new(), patch: empty }
    }

    /// Brings `out`, a copy of the baseline, up to date: `sent` are what it and the views before it have sent, its own first, then
    /// from the newest to the oldest. The newest row of an entity counts.
    ///
    /// Cost: a sort of all that was sent.
    pub(crate) fn merge(&mut self, out: &mut Snapshot, sent: &[&Snapshot]) -> Result<(), EncodeError> {
        self.rows.clear();
        for (age, sent) in sent.iter().enumerate() {
            self.rows.extend(sent.ids().iter().enumerate().map(|(index, id)| (*id, age, index)));
        }
        self.rows.sort_unstable();
        self.rows.dedup_by_key(|(id, ..)| *id);
        self.patch.clear(out.tick);
        for &(_, age, index) in &self.rows {
            // The baseline has its own already.
            if age > 0 {
                self.patch.push_row(sent[age], index)?;
            }
        }
        out.patch(&[], &self.patch)
    }
}
