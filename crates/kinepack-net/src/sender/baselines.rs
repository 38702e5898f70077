//! Builds the baselines that snapshots are coded against, merging partial views.

use kinepack::{EncodeError, Schema, Snapshot, View};

use super::chosen_baseline::ChosenBaseline;
use super::view::{Rows, Skipped};
use crate::baseline::{BaselineViews, MergeKey, Merger};

/// Builds the views that snapshots are coded against.
#[derive(Debug)]
pub(super) struct BaselineCache {
    merger: Merger,
}

impl BaselineCache {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { merger: Merger::new(schema) }
    }

    /// All views that a snapshot is coded against: the baseline and the older views.
    pub(super) fn known(&mut self, base: &ChosenBaseline) -> Result<BaselineViews, EncodeError> {
        let learned = base.models.as_ref().map(|models| models.learned.clone());
        let baseline = self.baseline(base)?.with_learned(learned);
        // Older views are complete, so they need no merging.
        Ok(BaselineViews {
            baseline,
            older: base.older.iter().map(|(_, view)| view.whole.clone()).collect(),
        })
    }

    /// The baseline: an earlier visible state, or a merged view.
    pub(super) fn baseline(&mut self, base: &ChosenBaseline) -> Result<View, EncodeError> {
        let view = &base.view;
        let Some(Skipped { sent, .. }) = &view.skipped else { return Ok(view.whole.clone()) };
        let key: MergeKey = base.view_ids().collect();
        if let Some(made) = self.merger.made(&key) {
            return Ok(made);
        }
        let others = base.merged.iter().filter_map(|view| view.skipped.as_ref());
        let sent = std::iter::once(sent).chain(others.map(|skipped| &skipped.sent));
        let sent: Vec<Snapshot> = sent.map(Rows::gathered).collect::<Result<_, _>>()?;
        let sent: Vec<&Snapshot> = sent.iter().collect();
        let takes_turns = view.turn().is_some();
        self.merger.merge(key, takes_turns, |out| view.write_to(out), &sent)
    }
}
