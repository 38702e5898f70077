//! Chooses what a turn sends: what changed since the last two datagrams. See `spec/NET.md`, section
//! 4.7.
//!
//! Cost: a comparison with the baseline, and an encoding of what is sent. What changed since the
//! last datagrams is known from the visible states, unless the receiver's sight is another one.

use std::sync::Arc;

use kinepack::EncodeError;
use kinepack::codec::Chosen;

use super::Planner;
use crate::baseline::BaselineViews;
use crate::sender::view::{Held, Rows, SentView, Skipped};

/// Scratch memory: sets of entities of a visible state.
#[derive(Debug, Default)]
pub(super) struct TurnSets {
    /// The entities that differ from the baseline.
    differing: RowSet,
    /// The entities that the turn sends.
    chosen: RowSet,
    /// The entities that changed in the last but one datagram.
    second: RowSet,
}

/// A set of entities by index, as one bit for each.
#[derive(Debug, Default)]
struct RowSet(Vec<u64>);

impl Planner {
    /// Encodes what changed since the last two datagrams, whose complete views are `last`. Skips
    /// what was sent since the baseline. What changed in the last datagram is encoded again if it is
    /// near. Entities that were added or removed since the baseline are always encoded. Call
    /// [`compare`](Self::compare) first.
    ///
    /// Returns `None` if nothing is skipped, or if the receiver cannot see from the encoding that
    /// something returned to its state in the baseline.
    pub(in crate::sender) fn turn(
        &mut self,
        known: &BaselineViews,
        visible: &SentView,
        last: [&SentView; 2],
    ) -> Result<Option<Skipped>, EncodeError> {
        if !self.choose_turn(visible, last) {
            return Ok(None);
        }
        let Self { encoder, bytes, chosen, target, .. } = self;
        let (baseline, snapshot) = (&known.baseline, visible.whole.snapshot());
        bytes.clear();
        self.runs += 1;
        let written = if self.same_entities {
            encoder.write(known.baselines()?, snapshot, Chosen::entities(chosen), bytes)?
        } else {
            self.difference.write_part(baseline, snapshot, chosen, target)?;
            encoder.write(known.baselines()?, target, Chosen::All, bytes)?
        };
        self.learned = written.learned().cloned();
        let encoded = if self.same_entities { snapshot } else { &self.target };
        self.cost = self.count(baseline, encoded)?;
        Ok(Some(Skipped {
            held: Held::Baseline(Arc::clone(baseline.snapshot())),
            sent: Rows::new(snapshot, &self.chosen),
            removed: self.difference.removed.as_slice().into(),
            waiting: 0,
            split: None,
            turn: None,
        }))
    }

    /// Chooses the entities that a turn sends. Returns false if the turn is not possible.
    fn choose_turn(&mut self, visible: &SentView, last: [&SentView; 2]) -> bool {
        let Self { difference, since, sets, chosen, .. } = self;
        let TurnSets { differing, chosen: sent, second } = sets;
        let [since_newest, since_before] = since;
        let whole = &visible.whole;
        let (new, removed) = match &visible.changes {
            Some(changes) if changes.since == last[0].id => {
                (&changes.sent[..], &changes.removed[..])
            }
            _ => {
                since_newest.find(&last[0].whole, whole);
                (&since_newest.sent[..], &since_newest.removed[..])
            }
        };
        differing.fill(whole.len(), &difference.sent);
        sent.fill(whole.len(), new);
        let is_removed = |id| difference.removed.binary_search(id).is_ok();
        if !sent.is_within(differing) || !removed.iter().all(is_removed) {
            return false;
        }
        match &last[0].changes {
            Some(changes) if changes.since == last[1].id => {
                let before = &last[0].whole;
                second.fill(before.len(), &changes.sent);
                let is_same = before.has_same_entities(whole);
                let place = |index: u32| {
                    let (kind, id) = (whole.kind_at(index as usize)?, whole.ids()[index as usize]);
                    before.position_of(kind, id).map(|index| index as u32)
                };
                let place = |index| if is_same { Some(index) } else { place(index) };
                let near = visible.near.iter().copied();
                let again = near.filter(|index| place(*index).is_some_and(|at| second.has(at)));
                again.for_each(|index| sent.insert(index));
            }
            _ => {
                since_before.find(&last[1].whole, whole);
                second.fill(whole.len(), &since_before.sent);
                let again = visible.near.iter().filter(|index| second.has(**index));
                again.for_each(|index| sent.insert(*index));
            }
        }
        difference.added.iter().for_each(|index| sent.insert(*index));
        sent.keep_within(differing);
        chosen.clear();
        sent.write_to(chosen);
        chosen.len() < difference.sent.len()
    }
}

impl RowSet {
    /// Replaces the set with `rows`, which are below `count`.
    fn fill(&mut self, count: usize, rows: &[u32]) {
        self.0.clear();
        self.0.resize(count.div_ceil(64), 0);
        rows.iter().for_each(|row| self.insert(*row));
    }

    fn insert(&mut self, row: u32) {
        self.0[row as usize / 64] |= 1 << (row % 64);
    }

    fn has(&self, row: u32) -> bool {
        self.0[row as usize / 64] >> (row % 64) & 1 == 1
    }

    /// Whether all rows are in `other`, which is for the same state.
    fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(rows, others)| rows & !others == 0)
    }

    /// Removes the rows that are not in `other`, which is for the same state.
    fn keep_within(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(rows, others)| *rows &= others);
    }

    /// Appends the rows to `out`, increasing.
    fn write_to(&self, out: &mut Vec<u32>) {
        for (first, word) in (0..).step_by(64).zip(&self.0) {
            let mut rest = *word;
            while rest != 0 {
                out.push(first + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }
}
