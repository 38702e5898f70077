//! The views that the receiver holds: baselines of what is to come. `spec/NET.md`, sections 4.1, 4.2 and 5.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::{Baselines, Learned, Snapshot, Tick};

use crate::merge::Merger;
use crate::packet::{Baseline, SnapshotHeader, Time};
use crate::{Refused, Sequence};

/// Views so far before the newest baseline may still be merged or built on.
const KEPT_BEFORE_BASELINE: i32 = 64;
/// No baseline is farther back.
const WINDOW: i32 = 255;

/// One view.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) sequence: Sequence,
    pub(super) view: Arc<Snapshot>,
    pub(super) own_back: u8,
    /// The entities that were sent, where something was left out.
    pub(super) sent: Option<Snapshot>,
    /// What the codec had learned, where it learns.
    pub(super) learned: Option<Learned>,
}

impl Held {
    fn memory_bytes(&self) -> usize {
        self.view.memory_bytes()
            + self.sent.as_ref().map_or(0, Snapshot::memory_bytes)
            + self.learned.as_ref().map_or(0, Learned::memory_bytes)
    }
}

/// What a snapshot is coded against.
#[derive(Debug)]
pub(super) struct Resolved<'a> {
    /// With what is merged into it.
    pub(super) baseline: &'a Snapshot,
    older: Vec<&'a Snapshot>,
    learned: Option<&'a Learned>,
    /// That of the snapshot.
    pub(super) tick: Tick,
    pub(super) interval_ticks: u8,
}

impl Resolved<'_> {
    /// The baseline and the older views.
    pub(super) fn baselines(&self) -> Baselines<'_> {
        Baselines::new(self.baseline, &self.older).with_learned(self.learned)
    }
}

/// The views and reference states that are held.
#[derive(Debug)]
pub(super) struct Views {
    /// By sequence, oldest first.
    held: VecDeque<Held>,
    /// Bytes on the heap of those held.
    held_bytes: usize,
    /// The newest that was dropped: of those up to it, nothing is known any more.
    dropped: Option<Sequence>,
    /// The newest last; the one before it until a snapshot was relative to the newest.
    references: Vec<(u8, Arc<Snapshot>)>,
    newest_baseline: Option<Sequence>,
    merger: Merger,
    scratch: Snapshot,
    max_entities: usize,
}

impl Views {
    pub(super) fn new(initial: Arc<Snapshot>, empty: Snapshot, max_entities: u32) -> Self {
        Self {
            held: VecDeque::new(),
            held_bytes: 0,
            dropped: None,
            references: vec![(0, initial)],
            newest_baseline: None,
            merger: Merger::new(empty.clone()),
            scratch: empty,
            max_entities: max_entities as usize,
        }
    }

    /// A reference state.
    pub(super) fn reference(&self, number: u8) -> Result<&Arc<Snapshot>, Refused> {
        let found = self.references.iter().find(|(other, _)| *other == number);
        found.map(|(_, state)| state).ok_or(Refused::NoBaseline)
    }

    /// A block relative to the reference state `base` became one. The sender has `base` until it hears of that: blocks that it gave
    /// up, though they became whole, are no reference states of its.
    pub(super) fn add_reference(&mut self, number: u8, base: u8, state: Arc<Snapshot>) {
        self.references.retain(|(other, _)| *other == base);
        self.references.push((number, state));
    }

    /// What a snapshot is coded against, and its tick.
    pub(super) fn resolve(&mut self, header: &SnapshotHeader) -> Result<Resolved<'_>, Refused> {
        let tick_of = |base: Tick, back: u8| match header.time {
            Time::Stride(stride) => base.0.checked_add(u32::from(back) * u32::from(stride)).map(|t| (Tick(t), stride)),
            Time::Explicit { tick, interval_ticks } => Some((tick, interval_ticks)),
        };
        let back = match header.baseline {
            Baseline::Reference(number) => {
                let baseline = self.reference(number)?;
                let (tick, interval_ticks) = tick_of(baseline.tick, 0).ok_or(Refused::NoBaseline)?;
                return Ok(Resolved { baseline, older: Vec::new(), learned: None, tick, interval_ticks });
            }
            Baseline::Back(back) => back,
        };
        let sequence = header.sequence.before(u16::from(back));
        let at = self.index(sequence).ok_or(Refused::NoBaseline)?;
        let (tick, interval_ticks) = tick_of(self.held[at].view.tick, back).ok_or(Refused::NoBaseline)?;
        if self.held[at].sent.is_some() {
            self.merge(at, header.merge)?;
        } else if header.merge.is_some() {
            return Err(Refused::BadMerge);
        }
        let base = &self.held[at];
        let baseline = if base.sent.is_some() { &self.scratch } else { &*base.view };
        let mut older: Vec<&Snapshot> = Vec::new();
        if header.older.count() > 0 && baseline.tick >= tick {
            return Err(Refused::BadOlder);
        }
        for sequence in header.older.sequences(sequence) {
            let held = self.find(sequence).ok_or(Refused::NoBaseline)?;
            let newer = older.last().unwrap_or(&baseline);
            if held.sent.is_some() || held.view.tick >= newer.tick {
                return Err(Refused::BadOlder);
            }
            older.push(&held.view);
        }
        Ok(Resolved { baseline, older, learned: base.learned.as_ref(), tick, interval_ticks })
    }

    /// Merges the views that `field`, or the rule for merge 0, names with the one at `at`, in which something was left out, into
    /// `scratch`.
    fn merge(&mut self, at: usize, field: Option<u32>) -> Result<(), Refused> {
        let base = &self.held[at];
        let mut sent: Vec<&Snapshot> = base.sent.iter().collect();
        match field {
            None => {
                for distance in 1..=i32::from(base.own_back).saturating_sub(1).min(32) {
                    let sequence = base.sequence.before(distance as u16);
                    match self.index(sequence).map(|at| &self.held[at]) {
                        Some(held) => sent.extend(held.sent.as_ref()),
                        // It may have been one to be merged: this snapshot comes too late.
                        None if self.was_dropped(sequence) => return Err(Refused::NoBaseline),
                        // A fragment, or one that did not come and is not meant.
                        None => {}
                    }
                }
            }
            Some(field) => {
                for bit in (0..32).filter(|bit| field >> bit & 1 == 1) {
                    let sequence = base.sequence.before(bit + 1);
                    let missing = || if self.was_dropped(sequence) { Refused::NoBaseline } else { Refused::BadMerge };
                    let at = self.index(sequence).ok_or_else(missing)?;
                    sent.push(self.held[at].sent.as_ref().ok_or(Refused::BadMerge)?);
                }
            }
        }
        self.scratch.copy_from(&base.view);
        // Views and rows are of one schema, and sorted.
        self.merger.merge(&mut self.scratch, &sent).map_err(|_| Refused::BadMerge)?;
        if self.scratch.len() > self.max_entities { Err(Refused::BadMerge) } else { Ok(()) }
    }

    /// Keeps a view, and drops those that no baseline needs any more.
    pub(super) fn add(&mut self, held: Held, baseline: Baseline, newest: Sequence) {
        match baseline {
            Baseline::Back(back) => {
                let base = held.sequence.before(u16::from(back));
                if self.newest_baseline.is_none_or(|newest| base.since(newest) > 0) {
                    self.newest_baseline = Some(base);
                }
            }
            Baseline::Reference(number) => {
                if self.references.last().is_some_and(|(newest, _)| *newest == number) && self.references.len() > 1 {
                    self.references.remove(0);
                }
            }
        }
        // A number that is out of sight will come again and mean something else.
        self.newest_baseline = self.newest_baseline.filter(|base| (0..=WINDOW).contains(&newest.since(*base)));
        let newest_baseline = self.newest_baseline;
        let needless = |held: &Held| {
            // After a leap, what is far behind may look as if it were ahead.
            !(0..=WINDOW).contains(&newest.since(held.sequence))
                || newest_baseline.is_some_and(|base| base.since(held.sequence) > KEPT_BEFORE_BASELINE)
        };
        while self.held.front().is_some_and(needless) {
            self.drop_oldest();
        }
        self.dropped = self.dropped.filter(|dropped| (0..=2 * WINDOW).contains(&newest.since(*dropped)));
        let at = self.held.partition_point(|other| held.sequence.since(other.sequence) > 0);
        self.held_bytes += held.memory_bytes();
        self.held.insert(at, held);
    }

    fn drop_oldest(&mut self) {
        if let Some(held) = self.held.pop_front() {
            self.held_bytes -= held.memory_bytes();
            self.dropped = Some(held.sequence);
        }
    }

    /// Drops the oldest views until the others fit into `limit_bytes`, but never the newest one.
    /// Returns how many it dropped.
    pub(super) fn shed(&mut self, limit_bytes: usize) -> u64 {
        let mut dropped = 0;
        while self.held_bytes > limit_bytes && self.held.len() > 1 {
            self.drop_oldest();
            dropped += 1;
        }
        dropped
    }

    /// A view that is held.
    pub(super) fn find(&self, sequence: Sequence) -> Option<&Held> {
        self.index(sequence).map(|at| &self.held[at])
    }

    /// Number of views held.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether a view, if it ever came, is too old to be held.
    fn was_dropped(&self, sequence: Sequence) -> bool {
        self.dropped.is_some_and(|dropped| dropped.since(sequence) >= 0)
    }

    fn index(&self, sequence: Sequence) -> Option<usize> {
        let at = self.held.partition_point(|held| sequence.since(held.sequence) > 0);
        self.held.get(at).filter(|held| held.sequence == sequence).map(|_| at)
    }
}
