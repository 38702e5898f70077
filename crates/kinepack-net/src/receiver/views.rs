//! The views that the receiver holds, as baselines of later snapshots. See `spec/NET.md`, sections
//! 4.1, 4.2 and 5.

use std::collections::VecDeque;

use kinepack::{Codec, EntityId, Snapshot, Tick, View};

use super::shown::PartSaid;
use crate::baseline::{BaselineViews, Held, MergeKey, Merger, merged, parts_before};
use crate::packet::{Baseline, SnapshotHeader, Time};
use crate::seen::{Row, Said};
use crate::{Refused, Sequence};

/// Views at most this many sequences before the newest baseline may still be merged into a baseline
/// or become one.
const KEPT_BEFORE_BASELINE: i32 = 64;
/// A baseline is at most this many sequences before the snapshot.
const WINDOW: i32 = 255;

/// A received view.
#[derive(Debug)]
pub(super) struct HeldView {
    pub(super) sequence: Sequence,
    pub(super) view: View,
    pub(super) own_back: u8,
    /// The entities that the view's snapshot sent; `None` for a complete view.
    pub(super) sent: Option<Snapshot>,
    /// The entities of the baseline that a partial view lacks, by id.
    pub(super) removed: Box<[EntityId]>,
    /// Whether the view's entities take turns (section 4.7).
    pub(super) takes_turns: bool,
}

impl HeldView {
    /// What the view's snapshot says about an entity.
    pub(super) fn said(&self, id: EntityId) -> Said<'_> {
        let Some(sent) = &self.sent else {
            return self.held(id).map_or(Said::Absent, Said::Row);
        };
        match sent.position(id) {
            Some(at) => Said::Row((sent, at)),
            None if self.removed.binary_search(&id).is_ok() => Said::Absent,
            None => Said::Nothing,
        }
    }

    /// An entity in the view.
    pub(super) fn held(&self, id: EntityId) -> Option<Row<'_>> {
        Some((&**self.view.snapshot(), self.view.position(id)?))
    }

    /// The number of this view in a [`MergeKey`].
    fn key(&self) -> u64 {
        u64::from(self.sequence.0)
    }

    /// What the view's snapshot says; `None` if it is complete.
    pub(super) fn part_said(&self) -> Option<PartSaid<'_>> {
        let sent = self.sent.as_ref()?;
        Some(PartSaid { removed: &self.removed, sent })
    }

    fn memory_bytes(&self) -> usize {
        self.view.memory_bytes() + self.sent.as_ref().map_or(0, Snapshot::memory_bytes)
    }
}

/// The views and the tick that a snapshot's header refers to.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) known: BaselineViews,
    /// The snapshot's tick.
    pub(super) tick: Tick,
    pub(super) interval_ticks: u8,
}

/// The views and reference states that the receiver holds.
#[derive(Debug)]
pub(super) struct Views {
    /// Sorted by sequence, oldest first.
    held: VecDeque<HeldView>,
    /// The number of heap bytes of the held views.
    held_bytes: usize,
    /// The newest dropped view. The receiver no longer knows whether older views arrived.
    dropped: Option<Sequence>,
    /// The reference states with their numbers, number 0 first. The reference state before the
    /// newest stays until a snapshot arrives that is coded against the newest.
    references: Vec<(u8, View)>,
    newest_baseline: Option<Sequence>,
    merger: Merger,
    max_entities: usize,
}

impl Views {
    pub(super) fn new(initial: View, codec: &Codec, max_entities: u32) -> Self {
        Self {
            held: VecDeque::new(),
            held_bytes: 0,
            dropped: None,
            references: vec![(0, initial)],
            newest_baseline: None,
            merger: Merger::new(codec.schema()),
            max_entities: max_entities as usize,
        }
    }

    /// The reference state with this number.
    pub(super) fn reference(&self, number: u8) -> Result<&View, Refused> {
        let found = self.references.iter().find(|(other, _)| *other == number);
        found.map(|(_, state)| state).ok_or(Refused::NoBaseline)
    }

    /// Adds a reference state from a full state coded against reference state `base`. The sender
    /// keeps `base` until it learns that the full state arrived. If the sender gave up a full
    /// state, it never uses that state as a reference state, even if the state became complete
    /// here.
    pub(super) fn add_reference(&mut self, number: u8, base: u8, state: View) {
        self.references.retain(|(other, _)| *other == base || *other == 0);
        self.references.push((number, state));
    }

    /// Finds the views that a snapshot is coded against, and the snapshot's tick.
    pub(super) fn resolve(&mut self, header: &SnapshotHeader) -> Result<Resolved, Refused> {
        let tick_of = |base: Tick, back: u8| match header.time {
            Time::Stride(stride) => {
                let stride = stride.ticks();
                base.0.checked_add(u32::from(back) * u32::from(stride)).map(|t| (Tick(t), stride))
            }
            Time::Explicit { tick, interval_ticks } => Some((tick, interval_ticks)),
        };
        let back = match header.baseline {
            Baseline::Reference(number) => {
                let baseline = self.reference(number)?.clone();
                let (tick, interval_ticks) =
                    tick_of(baseline.tick, 0).ok_or(Refused::NoBaseline)?;
                return Ok(Resolved {
                    known: BaselineViews::alone(baseline),
                    tick,
                    interval_ticks,
                });
            }
            Baseline::Back(back) => back,
        };
        let sequence = header.sequence.before(u16::from(back));
        let at = index(&self.held, sequence).ok_or(Refused::NoBaseline)?;
        let (tick, interval_ticks) =
            tick_of(self.held[at].view.tick, back).ok_or(Refused::NoBaseline)?;
        let mut known = BaselineViews::alone(self.baseline(at, header.merge)?);
        if header.older.count() > 0 && known.baseline.tick >= tick {
            return Err(Refused::BadOlder);
        }
        for sequence in header.older.sequences(sequence) {
            let at = index(&self.held, sequence).ok_or(Refused::NoBaseline)?;
            let newer = known.older.last().unwrap_or(&known.baseline);
            if self.held[at].view.tick >= newer.tick {
                return Err(Refused::BadOlder);
            }
            known.older.push(self.older(at)?);
        }
        Ok(Resolved { known, tick, interval_ticks })
    }

    /// The view at index `at` as a baseline. If the view is partial, it is merged with the views
    /// that the merge field `field` selects. Without a field, the rule for merge 0 selects them.
    fn baseline(&mut self, at: usize, field: Option<u32>) -> Result<View, Refused> {
        let base = &self.held[at];
        if base.sent.is_none() {
            return if field.is_none() { Ok(base.view.clone()) } else { Err(Refused::BadMerge) };
        }
        let before = merged(field, base.own_back, |distance| self.before(at, distance))?;
        let learned = base.view.learned().cloned();
        Ok(self.merge(at, &before)?.with_learned(learned))
    }

    /// The view at index `at` as an older view, merged with the other parts of its tick, or with
    /// the views since its baseline if entities take turns.
    fn older(&mut self, at: usize) -> Result<View, Refused> {
        let HeldView { view, sent, own_back, takes_turns, .. } = &self.held[at];
        if sent.is_none() {
            return Ok(view.clone());
        }
        if *takes_turns {
            let before = merged(None, *own_back, |distance| self.before(at, distance))?;
            return self.merge(at, &before);
        }
        let before = parts_before(view.tick, |distance| match self.before(at, distance) {
            Held::Part(part) => Held::Part((self.held[part].view.tick, part)),
            Held::Whole => Held::Whole,
            Held::Dropped => Held::Dropped,
            Held::Nothing => Held::Nothing,
        })?;
        self.merge(at, &before)
    }

    /// Looks up the view that is held `distance` sequences before the view at index `at`. Returns a
    /// partial view as its index.
    fn before(&self, at: usize, distance: u16) -> Held<usize> {
        let sequence = self.held[at].sequence.before(distance);
        match index(&self.held, sequence) {
            Some(at) if self.held[at].sent.is_some() => Held::Part(at),
            Some(_) => Held::Whole,
            None if self.dropped.is_some_and(|dropped| dropped.since(sequence) >= 0) => {
                Held::Dropped
            }
            None => Held::Nothing,
        }
    }

    /// The view at index `at`, merged with the entities that the views at the indices `before`
    /// sent. `before` is sorted from new to old.
    fn merge(&mut self, at: usize, before: &[usize]) -> Result<View, Refused> {
        let Self { held, merger, max_entities, .. } = self;
        let parts = || std::iter::once(&at).chain(before).map(|at| &held[*at]);
        let key: MergeKey = parts().map(HeldView::key).collect();
        if let Some(made) = merger.made(&key) {
            return Ok(made);
        }
        let sent: Vec<&Snapshot> = parts().filter_map(|part| part.sent.as_ref()).collect();
        let write = |out: &mut Snapshot| {
            out.copy_from(&held[at].view);
            Ok(())
        };
        // Cannot fail: views and rows have the same schema and are sorted.
        let merged =
            merger.merge(key, held[at].takes_turns, write, &sent).map_err(|_| Refused::BadMerge)?;
        if merged.len() > *max_entities { Err(Refused::BadMerge) } else { Ok(merged) }
    }

    /// Keeps a view, and drops views that can no longer be used. Returns the last dropped view.
    pub(super) fn add(
        &mut self,
        taken: HeldView,
        baseline: Baseline,
        newest: Sequence,
    ) -> Option<View> {
        match baseline {
            Baseline::Back(back) => {
                let base = taken.sequence.before(u16::from(back));
                if self.newest_baseline.is_none_or(|newest| base.since(newest) > 0) {
                    self.newest_baseline = Some(base);
                }
            }
            Baseline::Reference(number) => {
                if self.references.last().is_some_and(|(newest, _)| *newest == number) {
                    self.references.retain(|(other, _)| *other == number || *other == 0);
                }
            }
        }
        // A sequence that has left the window will be reused for another view.
        self.newest_baseline =
            self.newest_baseline.filter(|base| (0..=WINDOW).contains(&newest.since(*base)));
        let newest_baseline = self.newest_baseline;
        let needless = |held: &HeldView| {
            // After a jump of the sequence, a view far behind may seem to be ahead.
            !(0..=WINDOW).contains(&newest.since(held.sequence))
                || newest_baseline
                    .is_some_and(|base| base.since(held.sequence) > KEPT_BEFORE_BASELINE)
        };
        let mut dropped = None;
        while self.held.front().is_some_and(needless) {
            dropped = self.drop_oldest();
        }
        self.dropped =
            self.dropped.filter(|dropped| (0..=2 * WINDOW).contains(&newest.since(*dropped)));
        let at = self.held.partition_point(|other| taken.sequence.since(other.sequence) > 0);
        self.held_bytes += taken.memory_bytes();
        self.held.insert(at, taken);
        dropped
    }

    /// Drops everything except the initial state.
    pub(super) fn begin_anew(&mut self) {
        while self.drop_oldest().is_some() {}
        self.newest_baseline = None;
        self.references.truncate(1);
    }

    fn drop_oldest(&mut self) -> Option<View> {
        let taken = self.held.pop_front()?;
        self.held_bytes -= taken.memory_bytes();
        // A late view may be dropped at once, although newer ones were dropped before.
        let is_newer = |dropped: &Sequence| dropped.since(taken.sequence) >= 0;
        self.dropped = self.dropped.filter(is_newer).or(Some(taken.sequence));
        // The sequence of the removed view will be reused for another view.
        self.merger.forget(taken.key());
        Some(taken.view)
    }

    /// Drops the oldest views until the remaining views fit into `limit_bytes`. Never drops the
    /// newest view. Returns the number of dropped views.
    pub(super) fn shed(&mut self, limit_bytes: usize) -> u64 {
        let mut dropped = 0;
        while self.held_bytes > limit_bytes && self.held.len() > 1 {
            self.drop_oldest();
            dropped += 1;
        }
        dropped
    }

    /// The held view with this sequence, if any.
    pub(super) fn find(&self, sequence: Sequence) -> Option<&HeldView> {
        index(&self.held, sequence).map(|at| &self.held[at])
    }

    /// The held views from that of `newest` to the oldest.
    pub(super) fn up_to(
        &self,
        newest: Sequence,
    ) -> impl DoubleEndedIterator<Item = &HeldView> + Clone {
        let end = self.held.partition_point(|held| newest.since(held.sequence) >= 0);
        self.held.range(..end).rev()
    }

    /// Changes a lane of an entity by one in a held view. Returns false if there is no such view,
    /// entity or lane, or the lane cannot change.
    pub(super) fn inject_fault(&mut self, sequence: Sequence, id: EntityId, lane: usize) -> bool {
        let Some(at) = index(&self.held, sequence) else { return false };
        self.merger.forget(self.held[at].key());
        let HeldView { view, sent, .. } = &mut self.held[at];
        let Some(faulty) = with_fault(view, id, lane) else { return false };
        *view = View::from(faulty).with_learned(view.learned().cloned());
        if let Some(faulty) = sent.as_ref().and_then(|sent| with_fault(sent, id, lane)) {
            *sent = Some(faulty);
        }
        true
    }

    /// The number of views held.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }
}

/// The state with one lane of an entity reduced by one, or raised by one if it is 0. `lane` counts
/// from the first lane of the entity's kind.
fn with_fault(state: &Snapshot, id: EntityId, lane: usize) -> Option<Snapshot> {
    let index = state.position(id)?;
    let kind = state.kind_at(index)?;
    let mut lanes: Vec<u32> = state.lanes_at(index).collect();
    let value = lanes.get_mut(lane)?;
    *value = value.checked_sub(1).unwrap_or(1);
    let mut fault = Snapshot::new_like(state);
    fault.push_lanes_of(kind, id, &lanes).ok()?;
    let mut faulty = state.clone();
    faulty.patch(&[], &fault).ok()?;
    Some(faulty)
}

/// The index of the view with this sequence.
fn index(held: &VecDeque<HeldView>, sequence: Sequence) -> Option<usize> {
    let at = held.partition_point(|taken| sequence.since(taken.sequence) > 0);
    held.get(at).filter(|taken| taken.sequence == sequence).map(|_| at)
}

#[cfg(test)]
mod tests {
    use kinepack::{Level, Profile, Schema};

    use super::*;

    /// A receiver that forgot which views it had dropped waited for ever for a state that it could
    /// decode.
    #[test]
    fn a_late_view_that_is_dropped_at_once_does_not_bring_back_newer_dropped_ones() {
        let schema = Schema::new(Vec::new());
        let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
        let view = || View::from(Snapshot::new(&schema, Tick(1)));
        let mut views = Views::new(view(), &codec, 9);
        for sequence in [4, 5, 6, 2].map(Sequence) {
            let (own_back, sent) = (0, Some(Snapshot::new(&schema, Tick(1))));
            let (view, removed) = (view(), Box::default());
            let taken = HeldView { sequence, view, own_back, sent, removed, takes_turns: false };
            let _ = views.add(taken, Baseline::Reference(0), Sequence(6));
            if sequence != Sequence(5) {
                views.shed(0);
            }
        }
        assert_eq!((views.len(), views.dropped), (1, Some(Sequence(5))));
        assert!(matches!(views.before(0, 1), Held::Dropped));
    }
}
