//! When each entity was last sent to one receiver: what grows into its priority.

use std::collections::HashMap;

use kinepack::{EntityId, Snapshot, Tick};

/// Ticks at which entities were last sent.
#[derive(Debug, Default)]
pub(super) struct Freshness {
    /// Entities that were sent in snapshots with something left out.
    sent: HashMap<EntityId, u32>,
    /// Everything was sent then.
    whole: u32,
}

impl Freshness {
    /// Ticks since the entity was last sent.
    pub(super) fn age_ticks(&self, id: EntityId, now: Tick) -> u32 {
        let sent = self.sent.get(&id).copied().unwrap_or(0).max(self.whole);
        now.0.saturating_sub(sent)
    }

    /// Everything was sent.
    pub(super) fn note_whole(&mut self, tick: Tick) {
        self.whole = self.whole.max(tick.0);
        self.sent.clear();
    }

    /// What was sent as a whole did not arrive; before, everything had arrived at `tick`.
    pub(super) fn lose_whole(&mut self, tick: Tick) {
        self.whole = self.whole.min(tick.0);
    }

    /// These entities were sent. Returns when they were before.
    pub(super) fn note(&mut self, rows: &Snapshot) -> Vec<(EntityId, u32)> {
        let tick = rows.tick.0;
        rows.ids()
            .iter()
            .map(|id| (*id, self.sent.insert(*id, tick).unwrap_or(self.whole)))
            .collect()
    }

    /// What was sent at `tick` did not arrive: the entities count as sent when they were before,
    /// unless they were again since.
    pub(super) fn lose(&mut self, tick: Tick, before: &[(EntityId, u32)]) {
        for (id, sent) in before {
            if let Some(latest) = self.sent.get_mut(id).filter(|latest| **latest == tick.0) {
                *latest = *sent;
            }
        }
    }

    /// Forgets who is not there any more, when there are too many of those.
    pub(super) fn tidy(&mut self, subject: &Snapshot) {
        if self.sent.len() > 2 * subject.len() + 64 {
            self.sent.retain(|id, _| subject.position(*id).is_some());
        }
    }
}
