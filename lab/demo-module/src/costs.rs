//! Tracks how many bits each entity took in received snapshots.

use kinepack::{EntityId, Tick};
use kinepack_net::Cost;

/// The weight of the newest tick in an entity's recent bits.
const SHARE: f32 = 1.0 / 8.0;
/// The largest id that is counted, so that no server can make the list long.
const MAX_ID: u32 = 1 << 16;

/// The costs of the snapshots that arrived.
#[derive(Default)]
pub(crate) struct Costs {
    /// For each id, the mean number of bits in recent ticks.
    pub(crate) heat: Vec<f32>,
    /// The newest tick.
    pub(crate) tick: Tick,
    /// The costs of the newest tick, which may have arrived in several datagrams.
    newest: Vec<Cost>,
}

impl Costs {
    /// Adds a snapshot of a tick.
    pub(crate) fn add(&mut self, tick: Tick, cost: &Cost) {
        if tick != self.tick {
            self.tick = tick;
            self.newest.clear();
            self.heat.iter_mut().for_each(|heat| *heat *= 1.0 - SHARE);
        }
        for (id, bits) in cost.entities.iter().filter(|(id, _)| id.0 <= MAX_ID) {
            let index = id.0 as usize;
            if index >= self.heat.len() {
                self.heat.resize(index + 1, 0.0);
            }
            self.heat[index] += *bits as f32 * SHARE;
        }
        self.newest.push(cost.clone());
    }

    /// Returns the bits of an entity in the newest tick, and the cost of the snapshot that contains
    /// them.
    pub(crate) fn of(&self, id: EntityId) -> Option<(u32, &Cost)> {
        self.newest.iter().find_map(|cost| {
            let place = cost.entities.binary_search_by_key(&id, |(id, _)| *id).ok()?;
            Some((cost.entities[place].1, cost))
        })
    }

    /// Returns the bits of all snapshots of the newest tick.
    pub(crate) fn bits(&self) -> usize {
        8 * self.newest.iter().map(|cost| cost.bytes).sum::<usize>()
    }

    /// Returns the number of ticks from the newest baseline to the newest state. The result is NaN
    /// before the first state.
    pub(crate) fn baseline_ticks(&self) -> f64 {
        let age = |cost: &Cost| self.tick.0.saturating_sub(cost.baseline_tick.0);
        self.newest.last().map_or(f64::NAN, |cost| f64::from(age(cost)))
    }
}
