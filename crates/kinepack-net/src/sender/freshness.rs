//! Notes when each entity was last sent to one receiver. From then on, the entity's score grows.

use std::collections::HashMap;

use kinepack::{EntityId, Snapshot, Tick};

use super::view::Rows;

/// The ticks at which entities were last sent.
#[derive(Debug, Default)]
pub(super) struct Freshness {
    /// For each entity sent in a partial snapshot, the tick in which it was last sent.
    sent: HashMap<EntityId, u32>,
    /// The last tick in which all entities were sent.
    whole: u32,
}

impl Freshness {
    /// The number of ticks since the entity was last sent.
    pub(super) fn age_ticks(&self, id: EntityId, now: Tick) -> u32 {
        let sent = self.sent.get(&id).copied().unwrap_or(0).max(self.whole);
        now.0.saturating_sub(sent)
    }

    /// Notes that all entities were sent in `tick`.
    pub(super) fn note_complete(&mut self, tick: Tick) {
        self.whole = self.whole.max(tick.0);
        self.sent.clear();
    }

    /// Notes that a complete snapshot was lost. The last complete state that arrived is from
    /// `tick`.
    pub(super) fn lose_complete(&mut self, tick: Tick) {
        self.whole = self.whole.min(tick.0);
    }

    /// Notes that the entities in `rows` were sent. Returns the tick at which each was previously
    /// sent.
    pub(super) fn note(&mut self, rows: &Rows) -> Vec<(EntityId, u32)> {
        let tick = rows.tick().0;
        rows.ids().map(|id| (id, self.sent.insert(id, tick).unwrap_or(self.whole))).collect()
    }

    /// Notes that a snapshot of tick `tick` was lost. Restores each entity's earlier tick from
    /// `before`, unless the entity has been sent again.
    pub(super) fn lose(&mut self, tick: Tick, before: &[(EntityId, u32)]) {
        for (id, sent) in before {
            if let Some(latest) = self.sent.get_mut(id).filter(|latest| **latest == tick.0) {
                *latest = *sent;
            }
        }
    }

    /// Forgets removed entities once the map has too many of them.
    pub(super) fn tidy(&mut self, visible: &Snapshot) {
        if self.sent.len() > 2 * visible.len() + 64 {
            self.sent.retain(|id, _| visible.position(*id).is_some());
        }
    }
}
