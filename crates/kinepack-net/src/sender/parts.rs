//! Divides a state among several datagrams, its parts.
//!
//! The encoder of a level that predicts stops when a datagram is full, and the next part begins
//! with the entities that are left. So all parts together cost about as much as the whole state.

use std::sync::Arc;

use kinepack::{EncodeError, Snapshot};

use super::plan::{Coded, Plan, Planner, Room};
use super::rates::Rates;
use super::view::Skipped;
use crate::baseline::BaselineViews;

/// The datagrams of one state, for all receivers with the same baseline and codec.
pub(super) type Parts = Arc<[Arc<Plan>]>;

/// With fewer entities, an attempt to code everything costs little, and tells how to fill the parts
/// evenly.
pub(super) const MANY: usize = 48;

/// Returns the size of all parts.
pub(super) fn bytes_of(parts: &[Arc<Plan>]) -> usize {
    parts.iter().map(|plan| plan.coded.bytes.len()).sum()
}

/// The limits of a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// The maximum size of a part.
    pub(super) limit_bytes: usize,
    /// The maximum number of parts.
    pub(super) most: usize,
}

/// One of the datagrams of a state.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) skipped: Skipped,
    pub(super) coded: Coded,
    /// The number of entities in the part.
    pub(super) items: usize,
    /// How many times the encoder ran.
    pub(super) runs: u64,
}

impl Planner {
    /// Encodes everything in parts. Call [`compare`](Self::compare) first. All kinds must be due.
    /// Returns `None` if there would be too many parts.
    pub(super) fn divide(
        &mut self,
        known: &BaselineViews,
        visible: &Arc<Snapshot>,
        rates: &Rates,
        Division { limit_bytes, most }: Division,
    ) -> Result<Option<Vec<Part>>, EncodeError> {
        // The numbers depend on this division alone, so the parts are the same on all threads.
        let mut first = (visible.len() >= MANY).then_some(usize::MAX);
        let mut parts: Vec<Part> = Vec::new();
        let mut waiting = usize::MAX;
        // For each visible entity, whether a part sends it.
        let mut are_sent = vec![false; visible.len()];
        while waiting > 0 && parts.len() < most {
            let mut score = |_: usize, index: u32| match are_sent[index as usize] {
                true => 0.0,
                false => 1.0,
            };
            let (before, room) = (self.runs(), Room { limit_bytes, first });
            let skipped = self.part(known, visible, rates, room, &mut score)?;
            waiting = skipped.waiting;
            skipped.sent.indices().iter().for_each(|index| are_sent[*index as usize] = true);
            // The learned models get their id when a receiver takes the part.
            let coded = self.coded(0);
            let (items, runs) = (self.items_coded(), self.runs() - before);
            // An encoder that stops may get some more entities than fit.
            let next = if self.has_stopped() { items + items / 2 + 8 } else { items };
            first = first.map(|_| next);
            parts.push(Part { skipped, coded, items, runs });
        }
        Ok((waiting == 0).then_some(parts))
    }
}
