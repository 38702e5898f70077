//! Finds the views of a receiver that got all datagrams since a baseline. See `spec/NET.md`, section
//! 4.7.

use std::sync::Arc;

use super::{Content, History, Sent, State};
use crate::baseline::MERGED;
use crate::sender::chosen_baseline::ChosenBaseline;
use crate::sender::view::{PartSet, SentView};

impl History {
    /// The complete views of the last two datagrams, if the receiver has or will have everything
    /// that was sent since `base`, as far as is known.
    pub(in crate::sender) fn last_turns<'b>(
        &'b self,
        base: &'b ChosenBaseline,
    ) -> Option<[&'b Arc<SentView>; 2]> {
        let first = self.index(base.sequence?)?;
        let newest = self.entries.len().checked_sub(1)?;
        for index in (first + 1..=newest).rev() {
            let Sent { state, content, .. } = &self.entries[index];
            let Content::Snapshot { view, .. } = content else { return None };
            if *state == State::Lost || whole_view(view).is_none() {
                return None;
            }
            // From here on, the receiver gets everything.
            let begins = |split: &PartSet| split.parts.first() == Some(&view.id);
            if view.is_complete() || view.split().is_some_and(|split| begins(split)) {
                break;
            }
        }
        let view = |index: usize| match &self.entries[index].content {
            Content::Snapshot { view, .. } if index > first => whole_view(view),
            _ => Some(&base.view),
        };
        Some([view(newest)?, view(newest.saturating_sub(1)).unwrap_or(&base.view)])
    }

    /// How many datagrams before the one at `index` complete its view, which skips what they sent.
    /// `None` unless all of them were acknowledged.
    pub(super) fn turns_before(&self, index: usize, own_back: u8) -> Option<usize> {
        let count = usize::from(own_back).checked_sub(1).filter(|count| *count <= MERGED)?;
        let first = index.checked_sub(count)?;
        let is_turn = |index: usize| {
            self.acknowledged_view(index).is_some_and(|(view, _)| view.turn().is_some())
        };
        (first..index).all(is_turn).then_some(count)
    }
}

/// The complete view that a datagram with this view leads to, or several in one tick.
fn whole_view(view: &Arc<SentView>) -> Option<&Arc<SentView>> {
    if view.is_complete() {
        return Some(view);
    }
    view.turn().or(view.split().map(|split| &split.whole))
}
