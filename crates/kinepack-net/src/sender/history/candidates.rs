//! Finds the views that can be the baseline of the next snapshot. See `spec/NET.md`, sections 4.1
//! and 4.2.

use std::sync::Arc;

use kinepack::Tick;

use super::{Content, History, REACH, Sent, State, WHOLE_PREFERRED, WINDOW};
use crate::Sequence;
use crate::baseline::{Before, Merge, choose_merge, field_of_all};
use crate::sender::ages::Ages;
use crate::sender::chosen_baseline::ChosenBaseline;
use crate::sender::view::{PartSet, SentView};

impl History {
    /// The baseline for the next snapshot: the newest acknowledged view, or a slightly older
    /// complete one. The next datagram can always reach this view and the views merged into it.
    /// Otherwise the sender could send nothing, and would never get an acknowledgement again.
    pub(in crate::sender) fn base(&self) -> Option<ChosenBaseline> {
        let newest = self.index(self.newest_view?)?;
        let used = self.newest_used.and_then(|used| self.index(used)).unwrap_or(0);
        let oldest = newest.saturating_sub(WHOLE_PREFERRED).max(used);
        let whole = (oldest..=newest).rev().find_map(|index| self.whole_base(index));
        whole.filter(|base| self.reaches(base, 1)).or_else(|| self.merged_base(newest))
    }

    /// The newest of the `shared` baselines that this receiver also holds, so that the receiver can
    /// share the encoding.
    pub(in crate::sender) fn base_like<'b>(
        &self,
        shared: impl Iterator<Item = &'b ChosenBaseline> + Clone,
        datagrams: u32,
    ) -> Option<ChosenBaseline> {
        self.plain_indices(Tick(0)).find_map(|(view, index)| {
            let mut with_view = shared.clone().filter(|base| base.view.id == view.id);
            with_view.find_map(|base| self.same_base(index, base, datagrams))
        })
    }

    /// The ages of all views of tick `oldest` or later that can be baselines without merging.
    pub(in crate::sender) fn plain_ages(&self, now: Tick, oldest: Tick) -> Ages {
        let mut ages = Ages::default();
        self.plain_indices(oldest).for_each(|(view, _)| ages.insert(now, view.tick()));
        ages
    }

    /// The unmerged baseline from tick `tick`, whose age must be in
    /// [`plain_ages`](Self::plain_ages).
    pub(in crate::sender) fn plain_base(&self, tick: Tick) -> Option<ChosenBaseline> {
        let (_, index) = self.plain_indices(tick).find(|(view, _)| view.tick() == tick)?;
        self.whole_base(index).filter(|base| self.reaches(base, 1))
    }

    /// Acknowledged complete views with their indices, newest first. Leaves out views of ticks
    /// before `oldest`, and views before the newest view that was used as a baseline.
    fn plain_indices(&self, oldest: Tick) -> impl Iterator<Item = (&Arc<SentView>, usize)> {
        let newest = self.newest_view.and_then(|newest| self.index(newest));
        let used = self.newest_used.and_then(|used| self.index(used)).unwrap_or(0);
        let indices = newest.map_or(0..0, |newest| used..newest + 1);
        let views =
            indices.rev().filter_map(|index| Some((self.acknowledged_view(index)?.0, index)));
        let young = views.take_while(move |(view, _)| view.tick() >= oldest);
        young.filter_map(|(_, index)| Some((self.whole_view(index)?.0, index)))
    }

    /// The view at `index` as a baseline with the same older views and learned models as `other`.
    /// `None` if this receiver lacks one of those views or models.
    fn same_base(
        &self,
        index: usize,
        other: &ChosenBaseline,
        datagrams: u32,
    ) -> Option<ChosenBaseline> {
        let mut base = self.whole_base(index).filter(|base| self.reaches(base, 1))?;
        let sequence = base.sequence?;
        let mut falling = self.whole_before(sequence, REACH, datagrams as usize);
        for (_, older) in &other.older {
            let (sequence, view) = falling.find(|(_, view)| view.id == older.id)?;
            base.older.push((sequence, Arc::clone(view)));
        }
        if let Some(models) = &other.models {
            base.models = Some(self.models(sequence).filter(|own| own.id == models.id)?.clone());
        }
        Some(base)
    }

    /// Whether the next `datagrams` datagrams can all use `base`: the window of each must contain
    /// the view and all views merged into it.
    pub(in crate::sender) fn reaches(&self, base: &ChosenBaseline, datagrams: usize) -> bool {
        let back = |view| self.next.since(view) as usize + base.depth + datagrams - 1;
        base.sequence.is_none_or(|view| back(view) <= WINDOW)
    }

    /// The acknowledged view at `index`, with the *back* byte of its own header.
    pub(super) fn acknowledged_view(&self, index: usize) -> Option<(&Arc<SentView>, u8)> {
        match self.entries.get(index)? {
            Sent {
                state: State::Acknowledged,
                content: Content::Snapshot { view, own_back, .. },
                sequence,
                ..
            } if sequence.since(self.floor) >= 0 => Some((view, *own_back)),
            _ => None,
        }
    }

    /// The acknowledged complete states before the state of `sequence`, newest first, each with the
    /// sequence of its last part. All are at most `reach` sequences earlier, and in the window of
    /// each of the next `datagrams` datagrams.
    pub(in crate::sender) fn whole_before(
        &self,
        sequence: Sequence,
        reach: usize,
        datagrams: usize,
    ) -> impl Iterator<Item = (Sequence, &Arc<SentView>)> {
        let at = self.index(sequence).unwrap_or(0);
        let oldest = self.entries.len().saturating_add(datagrams).saturating_sub(WINDOW + 1);
        let oldest = oldest.max(at.saturating_sub(reach));
        (oldest..at).rev().filter_map(move |index| {
            let (whole, others) = self.whole_view(index)?;
            let first = index - others;
            let (view, _) = self.acknowledged_view(index)?;
            let is_known = match view.split() {
                None => first >= oldest,
                Some(_) => self.is_known_before(first, view.tick(), oldest),
            };
            is_known.then_some((self.entries[index].sequence, whole))
        })
    }

    /// Whether the receiver can find where a state in parts begins. `first` is the index of its
    /// first part. The receiver merges all adjacent parts of one tick, so it must know that the
    /// view before `first` is not one of them.
    fn is_known_before(&self, first: usize, tick: Tick, oldest: usize) -> bool {
        let Some(before) = first.checked_sub(1) else {
            // `first` is the first datagram that was ever sent.
            return self.entries.len() as u64 == self.sent_count;
        };
        let Sent { sequence, content, .. } = &self.entries[before];
        let is_other = match content {
            Content::Snapshot { view, .. } => view.is_complete() || view.tick() != tick,
            Content::Fragment { .. } | Content::Events => true,
        };
        before >= oldest && sequence.since(self.floor) >= 0 && is_other
    }

    /// The view at `index` as a baseline, if it is complete or all other parts of its state arrived
    /// too.
    fn whole_base(&self, index: usize) -> Option<ChosenBaseline> {
        let (view, own_back) = self.acknowledged_view(index)?;
        let sequence = Some(self.entries[index].sequence);
        let (whole, others) = self.whole_view(index)?;
        let field = if view.split().is_some() { field_of_all(own_back, others) } else { None };
        Some(ChosenBaseline { field, depth: others, ..ChosenBaseline::new(sequence, whole) })
    }

    /// The complete view that a receiver holds with the view at `index`, and the number of
    /// datagrams before it that complete it. `None` unless all of them were acknowledged.
    fn whole_view(&self, index: usize) -> Option<(&Arc<SentView>, usize)> {
        let (view, own_back) = self.acknowledged_view(index)?;
        match (view.split(), view.turn()) {
            (Some(split), _) => Some((&split.whole, self.parts_before(index, view, split)?)),
            (None, Some(whole)) => Some((whole, self.turns_before(index, own_back)?)),
            (None, None) => view.is_complete().then_some((view, 0)),
        }
    }

    /// The number of parts before the last part of a state, which is at `index`. `None` unless all
    /// parts were acknowledged.
    fn parts_before(&self, index: usize, view: &SentView, split: &PartSet) -> Option<usize> {
        // The parts were sent in a row.
        let (last, others) = split.parts.split_last()?;
        let is_there = |(part, distance): (&u64, usize)| {
            let before =
                index.checked_sub(distance).and_then(|index| self.acknowledged_view(index));
            before.is_some_and(|(before, _)| before.id == *part)
        };
        let all = *last == view.id && std::iter::zip(others.iter().rev(), 1..).all(is_there);
        all.then_some(others.len())
    }

    /// The view at index `newest` as a baseline, merged with the views that were sent since its own
    /// baseline. The merge reaches as far back as the next datagram can.
    fn merged_base(&self, newest: usize) -> Option<ChosenBaseline> {
        let (view, own_back) = self.acknowledged_view(newest)?;
        let sequence = self.entries[newest].sequence;
        let reach = WINDOW.checked_sub(self.next.since(sequence) as usize)?.min(newest);
        let Merge { views, field, depth } = choose_merge(own_back, reach, |distance| {
            match &self.entries[newest - distance].content {
                Content::Snapshot { view, .. } if !view.is_complete() => self
                    .acknowledged_view(newest - distance)
                    .map_or(Before::Unknown, |(view, _)| Before::Acknowledged(Arc::clone(view))),
                _ => Before::Nothing,
            }
        });
        Some(ChosenBaseline {
            merged: views,
            field,
            depth,
            ..ChosenBaseline::new(Some(sequence), view)
        })
    }
}
