//! Holds the entities of a packet that newcomers may be coded relative to, and scratch memory.

use alloc::vec::Vec;

use crate::entropy::Counter;
use crate::snapshot::status::ADDED;

/// The entities of a packet that newcomers may be coded relative to.
#[derive(Debug, Default)]
pub(in crate::snapshot::adaptive) struct Newcomers {
    /// The indices of the entities that were not added, increasing.
    pub(super) kept: Vec<u32>,
    /// For each kind, the row of the newcomer that was coded last.
    pub(super) last: Vec<Option<usize>>,
    /// Scratch memory for a copy of a field's counters.
    pub(super) counters: Vec<Counter>,
    /// Scratch memory for a field's lanes in an origin.
    pub(super) origin: Vec<u32>,
    /// Scratch memory for the distances of entities from a newcomer.
    pub(super) away: Vec<u32>,
    /// For each kind, the distance of the entity nearest to a newcomer, and that entity's number
    /// among the kept ones.
    pub(super) nearest: Vec<(u32, u32)>,
    /// The number of newcomers until now, in training that *explores*. Every second newcomer then
    /// has an origin and is coded relative to it, regardless of cost. An origin is expensive until
    /// its counters have learned, and counters learn only if they are used.
    pub(super) explored: Option<u32>,
}

impl Newcomers {
    /// Starts or stops exploring.
    #[cfg(feature = "training")]
    pub(in crate::snapshot::adaptive) fn explore(&mut self, is_wanted: bool) {
        self.explored = is_wanted.then_some(0);
    }

    /// Begins a packet of `kinds` kinds in which entities have these
    /// [statuses](crate::snapshot::status).
    pub(in crate::snapshot::adaptive) fn begin(&mut self, statuses: &[u8], kinds: usize) {
        self.last.clear();
        self.last.resize(kinds, None);
        self.kept.clear();
        let is_kept = |(_, status): &(u32, &u8)| **status & ADDED == 0;
        self.kept.extend((0..).zip(statuses).filter(is_kept).map(|(entity, _)| entity));
    }
}
