//! Computes what is seen from each cell that has a viewpoint in it.
//!
//! Cost of a tick: a distance for each entity and each cell with viewpoints.

use std::collections::HashMap;
use std::sync::Arc;

use kinepack::Snapshot;

use super::eye::{Cell, Eye, bounds};
use super::{Places, Rings};
use crate::sender::worlds::Worlds;

/// Instead of a tier: the entity is not seen.
pub(in crate::sender) const HIDDEN: u8 = u8::MAX;

/// What is seen from a cell in a tick.
#[derive(Debug)]
pub(in crate::sender) struct Sight {
    /// Sights with the same id in the same tick are equal. In later ticks, the id belongs to the
    /// same cell.
    pub(in crate::sender) id: u64,
    /// For each entity, by index in the world, its tier or [`HIDDEN`].
    pub(in crate::sender) tiers: Arc<[u8]>,
}

/// A cell with a viewpoint in it.
#[derive(Debug)]
struct Seen {
    id: u64,
    /// The ring of each entity, by index in the world.
    rings: Vec<u8>,
    /// The same for the last tick and its world.
    before: Vec<u8>,
    /// `None` if everything is seen in tier 0.
    sight: Option<Arc<Sight>>,
    is_current: bool,
}

/// What is seen from each cell.
#[derive(Debug)]
pub(in crate::sender) struct Sights {
    rings: Rings,
    places: Places,
    cells: HashMap<Cell, Seen>,
    /// The sights of this tick, by their tiers.
    by_tiers: HashMap<Arc<[u8]>, Arc<Sight>>,
    /// For each entity, by index in the world, its index in the last world.
    before: Vec<Option<u32>>,
    /// The tier of the coarsest world of the tick.
    coarsest: u8,
    last_id: u64,
}

impl Sights {
    pub(in crate::sender) fn new(rings: Rings, places: Places) -> Self {
        Self {
            rings,
            places,
            cells: HashMap::new(),
            by_tiers: HashMap::new(),
            before: Vec::new(),
            coarsest: 0,
            last_id: 0,
        }
    }

    /// Begins a tick. `before` is the world of the last tick.
    pub(in crate::sender) fn begin(&mut self, worlds: Worlds<'_>, before: Option<&Snapshot>) {
        let world = worlds.finest();
        self.places.read(world);
        self.coarsest = worlds.coarsest();
        self.by_tiers.clear();
        for cell in self.cells.values_mut() {
            cell.is_current = false;
            std::mem::swap(&mut cell.rings, &mut cell.before);
        }
        self.before.clear();
        self.before.extend(world.entities().map(|_| None));
        let Some(before) = before else { return };
        let mut last = before.entities().enumerate().peekable();
        for (index, now) in world.entities().enumerate() {
            // Both worlds are in the order of kinds and ids.
            while last.next_if(|(_, then)| *then < now).is_some() {}
            if let Some((then, _)) = last.next_if(|(_, then)| *then == now) {
                self.before[index] = Some(then as u32);
            }
        }
    }

    /// Finds what is seen from a viewpoint.
    pub(in crate::sender) fn look(&mut self, eye: &mut Eye) {
        let cell = eye.find_cell(self.rings.cell, self.places.axes);
        let sight = cell.and_then(|(cell, last)| self.seen_from(cell, last));
        eye.look(sight);
    }

    /// Ends a tick: forgets the cells that had no viewpoint in it.
    pub(in crate::sender) fn end(&mut self) {
        self.cells.retain(|_, cell| cell.is_current);
    }

    /// Finds what is seen from a cell, for a viewpoint that was in the cell `last` before. A cell
    /// without an own past continues that of `last`, so that entities do not leave their rings
    /// because a viewpoint changed its cell.
    fn seen_from(&mut self, cell: Cell, last: Option<Cell>) -> Option<Arc<Sight>> {
        if !self.cells.contains_key(&cell) {
            let last = last.and_then(|last| self.cells.get(&last));
            let before = last.map(|last| last.before.clone()).unwrap_or_default();
            self.last_id += 1;
            let (id, rings) = (self.last_id, Vec::new());
            let seen = Seen { id, rings, before, sight: None, is_current: false };
            self.cells.insert(cell, seen);
        }
        let seen = self.cells.get_mut(&cell)?;
        if seen.is_current {
            return seen.sight.clone();
        }
        let distances = self.places.squared_distances(bounds(cell, self.rings.cell));
        let mut rings = Vec::with_capacity(self.before.len());
        let tiers: Arc<[u8]> = distances
            .zip(&self.before)
            .map(|(squared, before)| {
                let before = before.and_then(|before| seen.before.get(before as usize).copied());
                let ring = squared.map(|squared| self.rings.ring(squared, before));
                rings.push(ring.unwrap_or(0));
                match ring.map_or(0, |ring| self.rings.tier(ring)) {
                    HIDDEN => HIDDEN,
                    tier => tier.min(self.coarsest),
                }
            })
            .collect();
        seen.rings = rings;
        seen.is_current = true;
        seen.sight = tiers.iter().any(|tier| *tier != 0).then(|| {
            let id = seen.id;
            let same = self.by_tiers.entry(tiers);
            let new = |tiers: &Arc<[u8]>| Arc::new(Sight { id, tiers: Arc::clone(tiers) });
            Arc::clone(same.or_insert_with_key(new))
        });
        seen.sight.clone()
    }
}
