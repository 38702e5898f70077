//! Worlds in which the fields that may be coarser are coarser, for rings that ask for it.

use kinepack::{Schema, Snapshot};

use super::Rings;
use super::samples::Past;
use crate::sender::visibility::FieldGroup;
use crate::sender::worlds::Worlds;

/// The coarser worlds of a tick.
#[derive(Debug)]
pub(in crate::sender) struct CoarseWorlds {
    worlds: Vec<CoarseWorld>,
    /// The lanes of the fields that may be coarser, each with its kind.
    lanes: Vec<(usize, usize)>,
    /// For each entity, by index in the world, for how many ticks none of these lanes has changed.
    still: Vec<u32>,
    /// The same for the last world.
    still_before: Vec<u32>,
}

/// The world of a tier, in which moving entities are coarser.
#[derive(Debug)]
struct CoarseWorld {
    tier: u8,
    bits: u8,
    world: Snapshot,
}

impl CoarseWorlds {
    /// Makes no worlds yet, of a schema.
    pub(super) fn new(schema: &Schema) -> Self {
        let mut lanes = Vec::new();
        for (kind, of) in schema.kinds().iter().enumerate() {
            let fields = of.fields().map(|index| &schema.fields()[index]);
            let coarse = fields.filter(|field| field.coarser.is_some());
            lanes.extend(coarse.flat_map(|field| field.lanes().map(move |lane| (kind, lane))));
        }
        Self { worlds: Vec::new(), lanes, still: Vec::new(), still_before: Vec::new() }
    }

    /// Makes the coarser worlds of a tick. `before` is the finest world of the last tick, and
    /// `pasts` has an entry for each entity. Fields of `groups` do not count as motion, because
    /// receivers that may not see them would notice it.
    pub(super) fn update(
        &mut self,
        rings: &Rings,
        worlds: Worlds<'_>,
        (before, pasts): (Option<&Snapshot>, &[Past]),
        groups: &[FieldGroup],
    ) {
        let wanted = rings.values(worlds.coarsest()).filter(|values| values.coarser > 0);
        let wanted: Vec<(u8, u8)> = wanted.map(|values| (values.tier, values.coarser)).collect();
        self.worlds.retain(|of| wanted.contains(&(of.tier, of.bits)));
        if wanted.is_empty() {
            return;
        }
        self.find_still(worlds.finest(), before, pasts, groups);
        for (tier, bits) in wanted {
            if self.worlds.iter().all(|of| (of.tier, of.bits) != (tier, bits)) {
                let world = Snapshot::new_like(worlds.finest());
                self.worlds.push(CoarseWorld { tier, bits, world });
            }
        }
        let Self { worlds: made, still, .. } = self;
        let moves = |index: usize| rings.exact_after.is_none_or(|ticks| still[index] < ticks);
        for CoarseWorld { tier, bits, world } in made {
            world.copy_from(worlds.of_tier(*tier));
            world.coarsen(*bits, moves);
        }
    }

    /// Finds out for how many ticks each entity has been still.
    fn find_still(
        &mut self,
        world: &Snapshot,
        before: Option<&Snapshot>,
        pasts: &[Past],
        groups: &[FieldGroup],
    ) {
        std::mem::swap(&mut self.still, &mut self.still_before);
        let Self { lanes, still, still_before, .. } = self;
        still.clear();
        // An entity that is new, and so one that never moves, is exact from the beginning.
        let ticks =
            |then: u32| still_before.get(then as usize).map_or(u32::MAX, |t| t.saturating_add(1));
        still.extend(pasts.iter().map(|past| past.index.map_or(u32::MAX, ticks)));
        let Some(before) = before else { return };
        let is_in_group = |lane: usize| {
            let mut parts = groups.iter().flat_map(|group| &group.parts);
            parts.any(|part| part.lanes().contains(&lane))
        };
        for &(kind, lane) in lanes.iter().filter(|(_, lane)| !is_in_group(*lane)) {
            let (now, then) = (world.lane(lane), before.lane(lane));
            let first = before.of_kind(kind).start;
            let entities = world.of_kind(kind);
            let rows = pasts[entities.clone()].iter().zip(now);
            for (still, (past, now)) in still[entities].iter_mut().zip(rows) {
                if past.index.is_some_and(|index| then[index as usize - first] != *now) {
                    *still = 0;
                }
            }
        }
    }

    /// The world of a tier with this many bits less.
    pub(super) fn get<'a>(&'a self, worlds: Worlds<'a>, tier: u8, bits: u8) -> &'a Snapshot {
        let made = self.worlds.iter().find(|of| bits > 0 && (of.tier, of.bits) == (tier, bits));
        made.map_or_else(|| worlds.of_tier(tier), |of| &of.world)
    }
}
