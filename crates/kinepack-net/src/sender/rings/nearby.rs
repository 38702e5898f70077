//! The rings of the entities near a cell, kept up from tick to tick.
//!
//! An entity can change its ring only if it comes to the edge of one. So each entity has a *limit*:
//! how far any entity may move before its ring must be computed again. A tick adds the longest move
//! of its entities to a sum, and looks only at entities whose limit the sum has reached. The cell is
//! searched again once entities from outside may have come near.
//!
//! Lengths are in units of the largest ring here. Cost of a tick: a pass over the limits.

use kinepack::EntityId;

use super::places::Places;
use super::samples::Past;
use super::{ROUNDING, Rings, SLACK};

/// In place of the ring of an entity that has no position, or whose ring is not known yet.
const NO_RING: u8 = u8::MAX;
/// In place of the index of an entity that is gone.
const GONE: u32 = u32::MAX;
/// A limit is at most this far from the sum of moves, because small numbers are more exact.
const LONGEST_LIMIT: f64 = 4.0;
/// After moves of this length, all limits are computed again for the same reason.
const LONGEST_MOVES: f64 = 64.0;
/// A longer move in one tick does not count in the sum: the entity is looked at from each cell.
const LONG_MOVE: f64 = SLACK / 16.0;
/// If more than one in this many entities must be looked at from each cell, the cells are searched.
const MANY: usize = 16;

/// How the entities of a world moved since the last one.
#[derive(Debug, Default)]
pub(super) struct Motion {
    /// The sum of the longest moves of all ticks.
    moved: f64,
    /// The indices of entities that are new or moved too far, increasing.
    unsettled: Vec<u32>,
    /// For each entity of the last world, its index in this one, or [`GONE`]. `None` if both worlds
    /// have the same entities.
    now_of: Option<Vec<u32>>,
    /// The number of times that all cells had to be searched again.
    searches: u64,
}

/// What the rings of a tick depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) rings: &'a Rings,
    pub(super) motion: &'a Motion,
    pub(super) pasts: &'a [Past],
    pub(super) ids: &'a [EntityId],
    /// The largest number of a position.
    pub(super) extent: f64,
    /// The corners of the cell.
    pub(super) corners: ([f64; 3], [f64; 3]),
    pub(super) tick: u64,
}

/// The entities near a cell, by increasing index.
#[derive(Debug, Default)]
pub(super) struct Nearby {
    indices: Vec<u32>,
    /// The ring of each entity, which may be hidden, or [`NO_RING`].
    rings: Vec<u8>,
    /// The limit of each entity, from the moves at the time of the search.
    limits: Vec<f32>,
    /// The sum of moves and the number of searches of [`Motion`] at the time of the search.
    searched: Option<(f64, u64)>,
}

impl Motion {
    /// Compares the places of entities with those in the last world, which had `count` entities.
    /// `is_anew` says that all cells must be searched for another reason.
    pub(super) fn update(
        &mut self,
        places: &Places,
        pasts: &[Past],
        same_entities: bool,
        count: usize,
        is_anew: bool,
    ) {
        let mut longest = 0.0_f64;
        self.unsettled.clear();
        for (index, past) in (0..).zip(pasts) {
            let moved = past.index.and_then(|then| places.moved(index as usize, then as usize));
            match moved.filter(|squared| *squared <= LONG_MOVE * LONG_MOVE) {
                Some(squared) => longest = longest.max(squared),
                None => self.unsettled.push(index),
            }
        }
        self.moved += longest.sqrt() * (1.0 + ROUNDING);
        self.now_of = (!same_entities).then(|| {
            let mut now_of = vec![GONE; count];
            let kept = (0..).zip(pasts).filter_map(|(index, past)| Some((past.index?, index)));
            kept.for_each(|(then, index)| now_of[then as usize] = index);
            now_of
        });
        if is_anew || self.unsettled.len() > pasts.len() / MANY {
            self.search_all();
        }
    }

    /// Makes all cells search again.
    pub(super) fn search_all(&mut self) {
        self.searches += 1;
    }
}

impl Around<'_> {
    /// The ring of the entity at `index` and its limit after moves of the length `since`. `before`
    /// is its ring in the last tick.
    fn ring(&self, index: u32, squared: Option<f64>, before: Option<u8>, since: f64) -> (u8, f32) {
        let Some(squared) = squared else { return (NO_RING, f32::INFINITY) };
        let id = self.ids[index as usize];
        let ring = self.rings.ring(squared, before, id, self.tick);
        let margin = self.rings.margin(squared, self.extent);
        // An entity that waits for its turn to change its ring may change it in any tick.
        let is_steady = self.rings.natural(squared, self.seen(ring)) == usize::from(ring);
        let limit = if is_steady { since + margin.min(LONGEST_LIMIT) } else { f64::NEG_INFINITY };
        (ring, (limit as f32).next_down())
    }

    /// A ring in which an entity is seen.
    fn seen(&self, ring: u8) -> Option<u8> {
        Some(ring).filter(|ring| *ring != NO_RING && !self.rings.is_hidden(*ring))
    }
}

impl Nearby {
    /// Brings the rings to a tick. `before` are the indices in the last world and the rings of the
    /// entities that were seen in the last tick. They count if the cell is searched. Returns whether
    /// the world's entities or a ring changed.
    ///
    /// `stagger` is from 0 to 1. It differs from cell to cell, so that cells are not all searched in
    /// the same tick.
    pub(super) fn update(
        &mut self,
        around: Around<'_>,
        places: &mut Places,
        before: &[(u32, u8)],
        stagger: f64,
    ) -> bool {
        let Motion { moved, searches, .. } = *around.motion;
        let longest = match around.rings.beyond {
            Some(_) => LONGEST_MOVES,
            None => SLACK * (1.0 - ROUNDING) * (1.0 - stagger / 2.0),
        };
        let since = self.searched.filter(|(_, last)| *last == searches).map(|(at, _)| moved - at);
        match since.filter(|since| *since <= longest) {
            Some(since) => self.follow(around, places, since),
            None => {
                self.search(around, places, before);
                true
            }
        }
    }

    /// The index of each entity, and its ring if it has a position. Some rings may be hidden.
    pub(super) fn entities(&self) -> impl Iterator<Item = (u32, Option<u8>)> {
        let rings = self.rings.iter().map(|ring| Some(*ring).filter(|ring| *ring != NO_RING));
        self.indices.iter().copied().zip(rings)
    }

    fn search(&mut self, around: Around<'_>, places: &mut Places, before: &[(u32, u8)]) {
        let Self { indices, rings, limits, searched } = self;
        *searched = Some((around.motion.moved, around.motion.searches));
        indices.clear();
        rings.clear();
        limits.clear();
        let mut before = before.iter().peekable();
        let add = |index: usize, squared: Option<f64>| {
            let ring_before = around.pasts[index].index.and_then(|then| {
                // The indices in both worlds are in the same order.
                while before.next_if(|(index, _)| *index < then).is_some() {}
                before.next_if(|(index, _)| *index == then).map(|(_, ring)| *ring)
            });
            let (ring, limit) = around.ring(index as u32, squared, ring_before, 0.0);
            indices.push(index as u32);
            rings.push(ring);
            limits.push(limit);
        };
        match around.rings.beyond {
            Some(_) => places.all(around.corners, add),
            None => places.near(around.corners, add),
        }
    }

    /// Computes the rings of the entities whose limit is reached, or that are unsettled.
    fn follow(&mut self, around: Around<'_>, places: &Places, since: f64) -> bool {
        let mut is_changed = false;
        if let Some(now_of) = &around.motion.now_of {
            self.rename(now_of);
            is_changed = true;
        }
        for index in &around.motion.unsettled {
            match self.indices.binary_search(index) {
                Ok(at) => self.limits[at] = f32::NEG_INFINITY,
                Err(at) => {
                    let squared = places.squared_distance(*index as usize, around.corners);
                    let is_near = squared.is_none_or(|squared| places.is_near(squared));
                    if is_near || around.rings.beyond.is_some() {
                        self.indices.insert(at, *index);
                        self.rings.insert(at, NO_RING);
                        self.limits.insert(at, f32::NEG_INFINITY);
                        is_changed = true;
                    }
                }
            }
        }
        let reached = (since as f32).next_up();
        let Self { indices, rings, limits, .. } = self;
        for (first, limits) in (0..).step_by(16).zip(limits.chunks_mut(16)) {
            // This loop has no early exit, so that the compiler can vectorize it.
            if !limits.iter().fold(false, |any, limit| any | (*limit <= reached)) {
                continue;
            }
            for (at, limit) in (first..).zip(limits).filter(|(_, limit)| **limit <= reached) {
                let squared = places.squared_distance(indices[at] as usize, around.corners);
                let before = around.seen(rings[at]);
                let (ring, new) = around.ring(indices[at], squared, before, since);
                is_changed |= ring != rings[at];
                (rings[at], *limit) = (ring, new);
            }
        }
        is_changed
    }

    /// Gives all entities their indices in this world.
    fn rename(&mut self, now_of: &[u32]) {
        let Self { indices, rings, limits, .. } = self;
        let mut kept = 0;
        for at in 0..indices.len() {
            let now = now_of[indices[at] as usize];
            if now != GONE {
                (indices[kept], rings[kept], limits[kept]) = (now, rings[at], limits[at]);
                kept += 1;
            }
        }
        indices.truncate(kept);
        rings.truncate(kept);
        limits.truncate(kept);
    }
}
