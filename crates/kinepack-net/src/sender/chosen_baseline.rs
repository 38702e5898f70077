//! The baseline of a receiver's next snapshot.

use std::sync::Arc;

use super::view::{LearnedModels, SentView};
use crate::Sequence;

/// A view, and the sequence with which it was sent.
pub(super) type OlderView = (Sequence, Arc<SentView>);

/// A baseline for the next snapshot.
#[derive(Clone, Debug)]
pub(super) struct ChosenBaseline {
    /// The sequence with which the view was sent; `None` for a reference state.
    pub(super) sequence: Option<Sequence>,
    /// The view. If all parts of a complete state arrived, this is the complete state.
    pub(super) view: Arc<SentView>,
    /// The views to merge into `view`, newest first.
    pub(super) merged: Vec<Arc<SentView>>,
    /// The merge field; `None` if the rule for merge 0 names the same views.
    pub(super) field: Option<u32>,
    /// The number of sequences from the oldest merged view to `view`.
    pub(super) depth: usize,
    /// The older views, newest first. The sender chooses them once it knows the tick.
    pub(super) older: Vec<OlderView>,
    /// The learned models to continue from.
    pub(super) models: Option<LearnedModels>,
}

impl ChosenBaseline {
    /// The ids of the views that make up the baseline.
    pub(super) fn view_ids(&self) -> impl Iterator<Item = u64> {
        std::iter::once(&self.view).chain(&self.merged).map(|view| view.id)
    }

    /// The ids of the older views and of the learned models.
    pub(super) fn history_ids(&self) -> impl Iterator<Item = u64> {
        let models = self.models.iter().map(|models| models.id);
        self.older.iter().map(|(_, view)| view.id).chain(models)
    }

    /// A baseline that is one view, without merged views, older views or learned models.
    pub(super) fn new(sequence: Option<Sequence>, view: &Arc<SentView>) -> Self {
        let view = Arc::clone(view);
        Self {
            sequence,
            view,
            merged: Vec::new(),
            field: None,
            depth: 0,
            older: Vec::new(),
            models: None,
        }
    }
}
