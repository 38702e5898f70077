//! Computes what is seen from each cell that has a viewpoint in it.
//!
//! Cost of a tick: a pass over the entities, and for each cell with viewpoints a pass over the
//! numbers of [`nearby`](super::nearby), one for each entity near it. If entities beyond all rings
//! are seen too, all entities are near.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kinepack::Snapshot;

use super::coarse::CoarseWorlds;
use super::eye::{Cell, Eye, bounds};
use super::nearby::{Around, Motion, Nearby};
use super::samples::{Past, Samples};
use super::{Places, Riders, RingValues, Rings, Sources};
use crate::sender::sharing::mixed;
use crate::sender::visibility::FieldGroup;
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
    /// A hash of `seen`.
    hash: u64,
}

impl Sight {
    pub(super) fn sees(&self, index: usize) -> bool {
        self.seen.binary_search_by_key(&(index as u32), |(index, _)| *index).is_ok()
    }
}

/// A cell with a viewpoint in it.
#[derive(Debug, Default)]
struct Seen {
    /// The id of the cell's sight in the last tick.
    last_id: Option<u64>,
    /// The index and the ring of each entity that is in a ring or seen.
    rings: Vec<(u32, u8)>,
    /// The same for the last tick and its world.
    before: Vec<(u32, u8)>,
    nearby: Nearby,
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
    /// How the entities moved since the last world.
    motion: Motion,
    /// The entities that are relative to others.
    riders: Riders,
    /// The same for the last world.
    riders_before: Riders,
    /// Whether an entity of the world has another frame than the one with its index in the last.
    other_frames: bool,
    /// Whether the world has the entities of the last one, and rings have the same sources.
    is_steady: bool,
    /// For each ring, the samples of its entities, if it has its own.
    samples: Vec<Option<Samples>>,
    /// For each ring, and for what is beyond, the source of its values.
    of_ring: Vec<u8>,
    /// For each source, whether its values are not those of each tick.
    slow: Arc<[bool]>,
    coarse: CoarseWorlds,
    /// For each ring, and for what is beyond, what decides about its values in this tick.
    values: Vec<RingValues>,
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
        coarse: CoarseWorlds,
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
            motion: Motion::default(),
            riders: Riders::default(),
            riders_before: Riders::default(),
            other_frames: false,
            is_steady: false,
            samples,
            of_ring: Vec::new(),
            slow,
            coarse,
            values: Vec::new(),
            ticks: 0,
            newest_id: 0,
            found: Vec::new(),
        }
    }

    /// Begins a tick. `before` is the world of the last tick.
    /// `groups` are fields that some receivers may not see.
    pub(in crate::sender) fn begin(
        &mut self,
        worlds: Worlds<'_>,
        before: Option<&Snapshot>,
        groups: &[FieldGroup],
    ) {
        let world = worlds.finest();
        self.ticks += 1;
        std::mem::swap(&mut self.riders, &mut self.riders_before);
        self.riders.find(world);
        self.other_frames = self.riders != self.riders_before;
        self.places.read(world, &self.riders);
        self.values.clear();
        self.values.extend(self.rings.values(worlds.coarsest()));
        self.by_hash.clear();
        self.taken.clear();
        for cell in self.cells.values_mut() {
            cell.is_current = false;
            std::mem::swap(&mut cell.rings, &mut cell.before);
        }
        let is_other = self.find_sources();
        let same_entities = self.find_pasts(world, before);
        let count = before.map_or(0, Snapshot::len);
        self.is_steady = same_entities && !is_other;
        self.coarse.update(&self.rings, worlds, (before, &self.pasts), groups);
        self.motion.update(&self.places, &self.pasts, same_entities, count, is_other);
        self.sample(worlds);
    }

    /// Finds the source of each ring's values. Rings with the same values have the same source.
    /// Returns whether one is another than in the last tick.
    fn find_sources(&mut self) -> bool {
        let source = |(ring, values): (usize, &RingValues)| match values {
            RingValues { every: 1, tier: 0, coarser: 0 } => FINEST,
            _ => {
                let same = self.values[..ring].iter().position(|nearer| nearer == values);
                same.unwrap_or(ring) as u8 + 1
            }
        };
        let of_ring: Vec<u8> = self.values.iter().enumerate().map(source).collect();
        let is_other = self.of_ring != of_ring;
        self.of_ring = of_ring;
        is_other
    }

    /// Finds out how each entity was in the last world. Returns whether that world had the same
    /// entities.
    fn find_pasts(&mut self, world: &Snapshot, before: Option<&Snapshot>) -> bool {
        let none = Past { index: None, is_urgent: false };
        self.pasts.clear();
        self.pasts.resize(world.len(), none);
        let Some(before) = before else { return false };
        let is_same = world.has_same_entities(before);
        if is_same {
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
            return is_same;
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
        is_same
    }

    /// Samples the entities of each ring whose turn it is.
    fn sample(&mut self, worlds: Worlds<'_>) {
        for (ring, samples) in self.samples.iter_mut().enumerate() {
            let RingValues { every, tier, coarser } = self.values[ring];
            if every == 1 || usize::from(self.of_ring[ring]) != ring + 1 {
                *samples = None;
                continue;
            }
            let world = self.coarse.get(worlds, tier, coarser);
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
    pub(in crate::sender) fn sources<'a>(&'a self, worlds: Worlds<'a>) -> Sources<'a> {
        let mut sources =
            Sources { worlds: vec![worlds.finest()], fresh: vec![None], is_steady: self.is_steady };
        for (ring, values) in self.values.iter().enumerate() {
            let samples = self.samples.get(ring).and_then(Option::as_ref);
            let of_tier = || self.coarse.get(worlds, values.tier, values.coarser);
            sources.worlds.push(samples.map_or_else(of_tier, |samples| &samples.world));
            sources.fresh.push(samples.and_then(Samples::fresh));
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
            self.cells.insert(cell, Seen { before, ..Seen::default() });
        }
        let seen = self.cells.get_mut(&cell)?;
        if seen.is_current {
            return seen.sight.clone();
        }
        seen.is_current = true;
        let Self { rings, places, pasts, motion, ticks, other_frames, .. } = self;
        let (extent, corners) = (places.extent, bounds(cell, rings.cell));
        let (ids, tick) = (world.ids(), *ticks);
        let around = Around { rings, motion, pasts, ids, extent, corners, tick };
        let is_changed = seen.nearby.update(around, places, &seen.before, stagger(cell));
        let is_changed = is_changed || *other_frames;
        let last_id = seen.last_id;
        let sight = if is_changed {
            self.see(world, cell)
        } else {
            seen.rings.clone_from(&seen.before);
            let last = seen.sight.take();
            last.map(|last| self.share(last_id, &last.seen, last.hash, last.turns, last.farthest))
        };
        let seen = self.cells.get_mut(&cell)?;
        seen.last_id = sight.as_ref().map(|sight| sight.id);
        seen.sight.clone_from(&sight);
        sight
    }

    /// Makes the sight of a cell from the rings of the entities near it.
    fn see(&mut self, world: &Snapshot, cell: Cell) -> Option<Arc<Sight>> {
        let Self { cells, rings, riders, of_ring, found, .. } = self;
        let seen = cells.get_mut(&cell)?;
        seen.rings.clear();
        found.clear();
        let mut turns = 1;
        for (index, ring) in seen.nearby.entities() {
            let source = match ring {
                None => FINEST,
                Some(ring) if rings.is_hidden(ring) => continue,
                Some(ring) => {
                    seen.rings.push((index, ring));
                    turns = turns.max(rings.every(usize::from(ring)));
                    of_ring[usize::from(ring)]
                }
            };
            found.push((index, source));
        }
        riders.add_frames(found);
        let is_all =
            found.len() == world.len() && found.iter().all(|(_, source)| *source == FINEST);
        if is_all {
            return None;
        }
        let farthest = rings.farthest();
        let farthest = (of_ring[farthest], rings.every(farthest) as u8);
        let hash = found.iter().fold(found.len() as u64, |hash, (index, source)| {
            mixed(hash, u64::from(*index) << 8 | u64::from(*source))
        });
        let (last_id, found) = (seen.last_id, Arc::from(&found[..]));
        Some(self.share(last_id, &found, hash, turns as u8, farthest))
    }

    /// Returns the sight of this tick that sees the same, or makes one. It gets the id of the
    /// cell's sight in the last tick, if no other sight has it.
    fn share(
        &mut self,
        last_id: Option<u64>,
        seen: &Arc<[(u32, u8)]>,
        hash: u64,
        turns: u8,
        farthest: (u8, u8),
    ) -> Arc<Sight> {
        let is_same = |sight: &&Arc<Sight>| sight.seen == *seen && sight.turns == turns;
        if let Some(same) = self.by_hash.get(&hash).filter(is_same) {
            return Arc::clone(same);
        }
        let id = last_id.filter(|id| !self.taken.contains(id)).unwrap_or_else(|| {
            self.newest_id += 1;
            self.newest_id
        });
        self.taken.insert(id);
        let (seen, slow) = (Arc::clone(seen), Arc::clone(&self.slow));
        let sight = Arc::new(Sight { id, seen, turns, farthest, slow, hash });
        self.by_hash.insert(hash, Arc::clone(&sight));
        sight
    }
}

/// A number from 0 to 1 that differs from cell to cell.
fn stagger(cell: Cell) -> f64 {
    let hash = cell.iter().fold(0, |hash, index| mixed(hash, *index as u64));
    f64::from((hash >> 32) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use kinepack::{EntityId, Pack, Schema, Tick};

    use super::*;
    use crate::{NetError, Ring};

    #[derive(Pack, Clone, Copy)]
    struct Walker {
        #[pack(range = -200.0..200.0, precision = 0.01)]
        position: Option<[f32; 2]>,
    }

    /// Numbers from 0 to 1, always the same.
    fn numbers() -> impl FnMut() -> f32 {
        let mut state = 1u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / (1 << 24) as f32
        }
    }

    /// Moves walkers. Some of them jump, appear, disappear, and lose or get their position.
    fn step(tick: u32, walkers: &mut [(bool, Walker)], number: &mut impl FnMut() -> f32) {
        for (is_there, walker) in walkers {
            *is_there ^= tick.is_multiple_of(8) && number() < 0.01;
            let mut place = || [number(), number()].map(|number| number * 400.0 - 200.0);
            let (jump, moved) = (place(), place());
            let is_lost = number() < 0.002;
            walker.position = match walker.position {
                Some(_) if is_lost => None,
                Some(_) if number() < 0.002 => Some(jump),
                Some([x, y]) => Some([x + moved[0] / 1e3, y + moved[1] / 1e3]),
                None if number() < 0.1 => Some(jump),
                None => None,
            };
            walker.position = walker.position.map(|place| place.map(|at| at.clamp(-199.0, 199.0)));
        }
    }

    #[test]
    fn sights_that_are_kept_up_equal_those_that_are_searched_anew() -> Result<(), NetError> {
        let schema = Schema::of::<Walker>();
        let ring = |within, leave, every| Ring { within, leave, every, tier: 0, coarser: 0 };
        for beyond in [None, Some(0)] {
            let rings = Rings {
                positions: vec!["position".into()],
                urgent: Vec::new(),
                rings: vec![ring(8.0, 9.0, 1), ring(30.0, 33.0, 2), ring(80.0, 80.0, 8)],
                beyond,
                cell: 10.0,
                exact_after: None,
            };
            let (mut kept, mut anew) = (rings.sights(&schema)?, rings.sights(&schema)?);
            let mut number = numbers();
            let mut walkers = vec![(true, Walker { position: None }); 300];
            let mut eyes: [[Eye; 4]; 2] = Default::default();
            let (mut before, mut changes) = (None, 0);
            for tick in 1..1_000 {
                step(tick, &mut walkers, &mut number);
                let mut world = Snapshot::new(&schema, Tick(tick));
                let there = (0..).zip(&walkers).filter(|(_, (is_there, _))| *is_there);
                let there = there.map(|(id, (_, walker))| (EntityId(id), *walker));
                world.extend(there).unwrap();
                kept.begin(Worlds::from(&world), before.as_ref(), &[]);
                anew.begin(Worlds::from(&world), before.as_ref(), &[]);
                anew.motion.search_all();
                let [of_kept, of_anew] = &mut eyes;
                for (nth, (a, b)) in of_kept.iter_mut().zip(of_anew).enumerate() {
                    let along = f64::from(tick) * 0.05 * nth as f64;
                    let viewpoint = Some([along, 10.0 - along, 0.0]);
                    a.set(viewpoint);
                    b.set(viewpoint);
                    let last = a.sight.clone();
                    kept.look(&world, a);
                    anew.look(&world, b);
                    let seen = |eye: &Eye| {
                        eye.sight.as_ref().map(|sight| (sight.id, sight.seen.to_vec(), sight.turns))
                    };
                    assert_eq!(seen(a), seen(b), "tick {tick}");
                    let is_kept = last
                        .zip(a.sight.clone())
                        .is_some_and(|(last, now)| Arc::ptr_eq(&last.seen, &now.seen));
                    changes += u32::from(!is_kept);
                }
                kept.end();
                anew.end();
                before = Some(world);
            }
            assert!(changes < 3_500, "{changes}");
        }
        Ok(())
    }
}
