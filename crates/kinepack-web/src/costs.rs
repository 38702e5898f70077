//! Where the bits of received snapshots went, for the pages of the demo.

use kinepack::{EntityId, Snapshot, Tick};
use kinepack_net::{Cost, Receiver};
use wasm_bindgen::prelude::*;

use crate::receiver::WorldReceiver;

/// The weight of a tick in an entity's recent bits.
const SHARE: f32 = 1.0 / 8.0;
/// Entities with larger ids are not counted, so that no server makes the list long.
const MAX_ID: u32 = 1 << 16;

/// What snapshots cost.
#[derive(Default)]
pub(crate) struct Costs {
    /// For each id, the recent bits of a tick.
    heat: Vec<f32>,
    /// Those of the newest tick, which may have come in several datagrams.
    newest: Vec<Cost>,
    tick: Tick,
}

impl Costs {
    /// Adds the snapshot of a tick that the receiver took last.
    pub(crate) fn add(&mut self, tick: Tick, receiver: &Receiver) {
        let Some(cost) = receiver.cost() else { return };
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
}

/// The lanes of an entity in a state.
fn lanes(state: &Snapshot, id: EntityId) -> Option<Vec<f64>> {
    Some(state.lanes_at(state.position(id)?).map(f64::from).collect())
}

#[wasm_bindgen]
impl WorldReceiver {
    /// The recent bits of a tick for each id from 0 on: the length of the list, and its address.
    pub fn heat(&self) -> Vec<u32> {
        let heat = &self.costs.heat;
        vec![heat.len() as u32, heat.as_ptr() as usize as u32]
    }

    /// One entity in the newest tick: its bits, those of all snapshots of the tick, the tick, the
    /// tick of the baseline, that of the newest news about the entity, and the number of its lanes;
    /// then its lanes, and those of the baseline. What does not exist is not a number.
    pub fn look(&self, id: u32) -> Vec<f64> {
        let id = EntityId(id);
        let costs = &self.costs;
        let entry = costs.newest.iter().find_map(|cost| {
            let place = cost.entities.binary_search_by_key(&id, |(id, _)| *id).ok()?;
            Some((cost, cost.entities[place].1))
        });
        let newest = self.receiver.newest();
        let known = newest.and_then(|state| lanes(state, id));
        let base = entry.and_then(|(cost, _)| lanes(&cost.baseline, id));
        let fresh = newest.and_then(|state| state.position(id)).map(|at| self.receiver.fresh(at).0);
        let count = known.as_ref().or(base.as_ref()).map_or(0, Vec::len);
        let bytes: usize = costs.newest.iter().map(|cost| cost.bytes).sum();
        let mut told = vec![
            entry.map_or(0.0, |(_, bits)| f64::from(bits)),
            8.0 * bytes as f64,
            f64::from(costs.tick.0),
            entry.map_or(f64::NAN, |(cost, _)| f64::from(cost.baseline_tick.0)),
            fresh.map_or(f64::NAN, f64::from),
            count as f64,
        ];
        for lanes in [known, base] {
            told.extend(lanes.unwrap_or_else(|| vec![f64::NAN; count]));
        }
        told
    }

    /// The number of ticks from the newest baseline to the newest state; not a number before the
    /// first state.
    pub fn baseline_age_ticks(&self) -> f64 {
        let Costs { newest, tick, .. } = &self.costs;
        let age = |cost: &Cost| tick.0.saturating_sub(cost.baseline_tick.0);
        newest.last().map_or(f64::NAN, |cost| f64::from(age(cost)))
    }
}
