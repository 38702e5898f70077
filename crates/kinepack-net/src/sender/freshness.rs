//! When each entity was last sent to one receiver. The entity's score grows from then on.

use std::collections::HashMap;

use kinepack::{EntityId, Snapshot, Tick};

/// The ticks at which entities were last sent.
#[derive(Debug, Default)]
pub(super) struct Freshness {
    /// Entities sent in partial snapshots.
    sent: HashMap<EntityId, u32>,
    /// The last tick in which everything was sent.
    whole: u32,
}

impl Freshness {
    /// Ticks since the entity was last sent.
    pub(super) fn age_ticks(&self, id: EntityId, now: Tick) -> u32 {
        let sent = self.sent.get(&id).copied().unwrap_or(0).max(self.whole);
        now.0.saturating_sub(sent)
    }

    /// Notes that everything was sent.
    pub(super) fn note_complete(&mut self, tick: Tick) {
        self.whole = self.whole.max(tick.0);
        self.sent.clear();
    }

    /// Notes that a complete snapshot was lost. The last complete state to arrive was that of
    /// `tick`.
    pub(super) fn lose_complete(&mut self, tick: Tick) {
        self.whole = self.whole.min(tick.0);
    }

    /// Notes that these entities were sent. Returns the tick at which each was previously sent.
    pub(super) fn note(&mut self, rows: &Snapshot) -> Vec<(EntityId, u32)> {
        let tick = rows.tick.0;
        rows.ids()
            .iter()
            .map(|id| (*id, self.sent.insert(*id, tick).unwrap_or(self.whole)))
            .collect()
    }

    /// Notes that a snapshot of `tick` was lost. Restores each entity's earlier tick from `before`,
    /// unless the entity has been sent again since then.
    pub(super) fn lose(&mut self, tick: Tick, before: &[(EntityId, u32)]) {
        for (id, sent) in before {
            if let Some(latest) = self.sent.get_mut(id).filter(|latest| **latest == tick.0) {
                *latest = *sent;
            }
        }
    }

    /// Forgets removed entities, once there are too many of them.
    pub(super) fn tidy(&mut self, visible: &Snapshot) {
        if self.sent.len() > 2 * visible.len() + 64 {
            self.sent.retain(|id, _| visible.position(*id).is_some());
        }
    }
}
