//! Computes what is seen from each cell that has a viewpoint in it.
//!
//! Cost of a tick: a pass over the entities, and for each cell with viewpoints a look at what is
//! near it. If entities beyond all rings are seen too, it is a look at all entities.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kinepack::Snapshot;

use super::eye::{Cell, Eye, bounds};
use super::samples::{Past, Samples};
use super::{Places, Rings};
use crate::sender::sharing::mixed;
use crate::sender::worlds::Worlds;

/// The source of an entity in its finest and newest form: the first world of the tick.
const FINEST: u8 = 0;

/// What is seen from a cell in a tick.
#[derive(Debug)]
pub(in crate::sender) struct Sight {
    /// Sights with the same id in the same tick are equal. In the next tick, the id belongs to the
    /// sight of one of the cells that had it.
    pub(in crate::sender) id: u64,
    /// The index of each entity that is seen, increasing, and the source of its values: the index
    /// of one of [`Sights::sources`].
    pub(in crate::sender) seen: Arc<[(u32, u8)]>,
    /// In how many ticks each entity that is seen has a turn at least once.
    pub(in crate::sender) turns: u8,
    /// The source and the turns of entities that are farther than the last ring, but seen for
    /// another reason.
    pub(in crate::sender) farthest: (u8, u8),
    /// For each source, whether its values are not those of each tick.
    pub(in crate::sender) slow: Arc<[bool]>,
}

impl Sight {
    pub(super) fn sees(&self, index: usize) -> bool {
        self.seen.binary_search_by_key(&(index as u32), |(index, _)| *index).is_ok()
    }
}

/// A cell with a viewpoint in it.
#[derive(Debug)]
struct Seen {
    /// The id of the cell's sight in the last tick.
    last_id: Option<u64>,
    /// The index and the ring of each entity that is in a ring or seen.
    rings: Vec<(u32, u8)>,
    /// The same for the last tick and its world.
    before: Vec<(u32, u8)>,
    /// `None` if everything is seen as it is in the finest world.
    sight: Option<Arc<Sight>>,
    is_current: bool,
}

/// What is seen from each cell.
#[derive(Debug)]
pub(in crate::sender) struct Sights {
    rings: Rings,
    places: Places,
    /// The lanes of the fields whose changes are urgent, each with its kind.
    urgent: Vec<(usize, usize)>,
    cells: HashMap<Cell, Seen>,
    /// The sights of this tick, by a hash of what they contain.
    by_hash: HashMap<u64, Arc<Sight>>,
    /// The ids of the sights of this tick.
    taken: HashSet<u64>,
    /// For each entity, by index in the world, how it was in the last world.
    pasts: Vec<Past>,
    /// For each ring, the samples of its entities, if it has its own.
    samples: Vec<Option<Samples>>,
    /// For each ring, and for what is beyond, the source of its values.
    of_ring: Vec<u8>,
    /// For each source, whether its values are not those of each tick.
    slow: Arc<[bool]>,
    /// The tier of the coarsest world of the tick.
    coarsest: u8,
    /// The number of ticks.
    ticks: u64,
    newest_id: u64,
    /// Scratch memory: the entities of a sight, with the source of each.
    found: Vec<(u32, u8)>,
}

impl Sights {
    pub(in crate::sender) fn new(
        rings: Rings,
        places: Places,
        urgent: Vec<(usize, usize)>,
    ) -> Self {
        let samples = rings.rings.iter().map(|_| None).collect();
        let of_rings = rings.rings.iter().map(|ring| ring.every > 1);
        let slow = [false].into_iter().chain(of_rings).chain([false]).collect();
        Self {
            rings,
            places,
            urgent,
            cells: HashMap::new(),
            by_hash: HashMap::new(),
            taken: HashSet::new(),
            pasts: Vec::new(),
            samples,
            of_ring: Vec::new(),
            slow,
            coarsest: 0,
            ticks: 0,
            newest_id: 0,
            found: Vec::new(),
        }
    }

    /// Begins a tick. `before` is the world of the last tick.
    pub(in crate::sender) fn begin(&mut self, worlds: Worlds<'_>, before: Option<&Snapshot>) {
        let world = worlds.finest();
        self.ticks += 1;
        self.places.read(world);
        self.coarsest = worlds.coarsest();
        self.by_hash.clear();
        self.taken.clear();
        for cell in self.cells.values_mut() {
            cell.is_current = false;
            std::mem::swap(&mut cell.rings, &mut cell.before);
        }
        self.find_sources();
        self.find_pasts(world, before);
        self.sample(worlds);
    }

    /// Finds the source of each ring's values. Rings with the same values have the same source.
    fn find_sources(&mut self) {
        let count = self.rings.rings.len();
        let values = |ring: usize| {
            let tier = self.rings.tier(ring).min(self.coarsest);
            (self.rings.every(ring), tier)
        };
        let source = |ring: usize| match values(ring) {
            (1, 0) => FINEST,
            of_ring => {
                let same = (0..ring).find(|nearer| values(*nearer) == of_ring);
                same.unwrap_or(ring) as u8 + 1
            }
        };
        self.of_ring = (0..=count).map(source).collect();
    }

    /// Finds out how each entity was in the last world.
    fn find_pasts(&mut self, world: &Snapshot, before: Option<&Snapshot>) {
        let none = Past { index: None, is_urgent: false };
        self.pasts.clear();
        self.pasts.resize(world.len(), none);
        let Some(before) = before else { return };
        if world.has_same_entities(before) {
            (0..).zip(&mut self.pasts).for_each(|(index, past)| past.index = Some(index));
        } else {
            let mut last = before.entities().enumerate().peekable();
            for (index, now) in world.entities().enumerate() {
                // Both worlds are in the order of kinds and ids.
                while last.next_if(|(_, then)| *then < now).is_some() {}
                let same = last.next_if(|(_, then)| *then == now).map(|(then, _)| then);
                let same = same.filter(|then| world.spawn_hash(index) == before.spawn_hash(*then));
                self.pasts[index].index = same.map(|then| then as u32);
            }
        }
        if self.rings.rings.iter().all(|ring| ring.every == 1) {
            return;
        }
        let far = self.rings.cell;
        for (index, past) in self.pasts.iter_mut().enumerate() {
            let jumped = |then: u32| self.places.has_jumped(index, then as usize, far);
            past.is_urgent = past.index.is_some_and(jumped);
        }
        for (kind, lane) in &self.urgent {
            let (now, then) = (world.lane(*lane), before.lane(*lane));
            let first = before.of_kind(*kind).start;
            let pasts = &mut self.pasts[world.of_kind(*kind)];
            for (past, now) in pasts.iter_mut().zip(now) {
                past.is_urgent |=
                    past.index.is_some_and(|index| then[index as usize - first] != *now);
            }
        }
    }

    /// Samples the entities of each ring whose turn it is.
    fn sample(&mut self, worlds: Worlds<'_>) {
        for (ring, samples) in self.samples.iter_mut().enumerate() {
            let every = self.rings.every(ring);
            if every == 1 || usize::from(self.of_ring[ring]) != ring + 1 {
                *samples = None;
                continue;
            }
            let world = worlds.of_tier(self.rings.tier(ring).min(self.coarsest));
            // The newest values of all entities are right too.
            let updated = samples.as_mut().is_some_and(|samples| {
                samples.update(world, &self.pasts, every, self.ticks).is_ok()
            });
            if !updated {
                *samples = Some(Samples::new(world));
            }
        }
    }

    /// The worlds that the values of entities come from.
    pub(in crate::sender) fn sources<'a>(&'a self, worlds: Worlds<'a>) -> Vec<&'a Snapshot> {
        let mut sources = vec![worlds.finest()];
        for ring in 0..self.of_ring.len() {
            let samples = self.samples.get(ring).and_then(Option::as_ref);
            let of_tier = || worlds.of_tier(self.rings.tier(ring).min(self.coarsest));
            sources.push(samples.map_or_else(of_tier, |samples| &samples.world));
        }
        sources
    }

    /// Finds what is seen from a viewpoint.
    pub(in crate::sender) fn look(&mut self, world: &Snapshot, eye: &mut Eye) {
        let cell = eye.find_cell(self.rings.cell, self.places.axes);
        let sight = cell.and_then(|(cell, last)| self.seen_from(world, cell, last));
        eye.look(sight);
    }

    /// Ends a tick: forgets the cells that had no viewpoint in it.
    pub(in crate::sender) fn end(&mut self) {
        self.cells.retain(|_, cell| cell.is_current);
    }

    /// Finds what is seen from a cell, for a viewpoint that was in the cell `last` before. A cell
    /// without an own past continues that of `last`, so that entities do not leave their rings
    /// because a viewpoint changed its cell.
    fn seen_from(
        &mut self,
        world: &Snapshot,
        cell: Cell,
        last: Option<Cell>,
    ) -> Option<Arc<Sight>> {
        if !self.cells.contains_key(&cell) {
            let last = last.and_then(|last| self.cells.get(&last));
            let before = last.map(|last| last.before.clone()).unwrap_or_default();
            let seen =
                Seen { last_id: None, rings: Vec::new(), before, sight: None, is_current: false };
            self.cells.insert(cell, seen);
        }
        let seen = self.cells.get_mut(&cell)?;
        if seen.is_current {
            return seen.sight.clone();
        }
        seen.is_current = true;
        seen.rings.clear();
        let Self { rings, places, pasts, of_ring, ticks, found, .. } = self;
        let mut before = seen.before.iter().peekable();
        found.clear();
        let mut turns = 1;
        let mut add = |index: usize, squared: Option<f64>| {
            let ring_before = pasts[index].index.and_then(|then| {
                // The indices in both worlds are in the same order.
                while before.next_if(|(index, _)| *index < then).is_some() {}
                before.next_if(|(index, _)| *index == then).map(|(_, ring)| *ring)
            });
            let id = world.ids()[index];
            let source = match squared.map(|squared| rings.ring(squared, ring_before, id, *ticks)) {
                None => FINEST,
                Some(ring) if rings.is_hidden(ring) => return,
                Some(ring) => {
                    seen.rings.push((index as u32, ring));
                    turns = turns.max(rings.every(usize::from(ring)));
                    of_ring[usize::from(ring)]
                }
            };
            found.push((index as u32, source));
        };
        let corners = bounds(cell, rings.cell);
        match rings.beyond {
            Some(_) => places.all(corners, &mut add),
            None => places.near(corners, &mut add),
        }
        let is_all =
            found.len() == world.len() && found.iter().all(|(_, source)| *source == FINEST);
        let farthest = rings.farthest();
        let (last_id, farthest) = (seen.last_id, (of_ring[farthest], rings.every(farthest) as u8));
        let found = std::mem::take(found);
        let sight = (!is_all).then(|| self.share(last_id, &found, turns as u8, farthest));
        self.found = found;
        if let Some(seen) = self.cells.get_mut(&cell) {
            seen.last_id = sight.as_ref().map(|sight| sight.id);
            seen.sight.clone_from(&sight);
        }
        sight
    }

    /// Returns the sight of this tick that sees the same, or makes one. It gets the id of the
    /// cell's sight in the last tick, if no other sight has it.
    fn share(
        &mut self,
        last_id: Option<u64>,
        seen: &[(u32, u8)],
        turns: u8,
        farthest: (u8, u8),
    ) -> Arc<Sight> {
        let hash = seen.iter().fold(seen.len() as u64, |hash, (index, source)| {
            mixed(hash, u64::from(*index) << 8 | u64::from(*source))
        });
        let is_same = |sight: &&Arc<Sight>| sight.seen[..] == *seen && sight.turns == turns;
        if let Some(same) = self.by_hash.get(&hash).filter(is_same) {
            return Arc::clone(same);
        }
        let id = last_id.filter(|id| !self.taken.contains(id)).unwrap_or_else(|| {
            self.newest_id += 1;
            self.newest_id
        });
        self.taken.insert(id);
        let slow = Arc::clone(&self.slow);
        let sight = Arc::new(Sight { id, seen: seen.into(), turns, farthest, slow });
        self.by_hash.insert(hash, Arc::clone(&sight));
        sight
    }
}
