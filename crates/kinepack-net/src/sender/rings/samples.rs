//! The values of entities whose ring is not sent in every tick. An entity is *sampled* when its
//! turn comes, and keeps these values until the next turn.

use std::mem;

use kinepack::{EncodeError, EntityId, Snapshot};

/// A world in which each entity has the values of its last sample.
#[derive(Debug)]
pub(super) struct Samples {
    pub(super) world: Snapshot,
    rows: Snapshot,
    indices: Vec<u32>,
    /// A bit for each entity that was sampled in this tick.
    sampled: Vec<u64>,
    /// Whether the other entities have the values of the last tick.
    others_rest: bool,
}

/// How an entity of a world was in the last world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    /// The entity's index in the last world, if it was there.
    pub(super) index: Option<u32>,
    /// Whether it is sampled at once, because it changed in a way that must not wait.
    pub(super) is_urgent: bool,
}

/// Returns how many ticks ago an entity was last sampled, if each `every`-th tick is its turn.
/// `tick` counts the hub's ticks.
pub(super) fn age(id: EntityId, every: u32, tick: u64) -> u64 {
    // The product spreads the turns of neighbouring ids evenly over the ticks.
    let spread = u64::from(id.0.wrapping_mul(0x9E37_79B9));
    let turn = (spread * u64::from(every)) >> 32;
    (tick + turn) % u64::from(every)
}

impl Samples {
    /// Samples all entities.
    pub(super) fn new(world: &Snapshot) -> Self {
        let rows = Snapshot::new_like(world);
        let (indices, sampled) = (Vec::new(), Vec::new());
        Self { world: world.clone(), rows, indices, sampled, others_rest: false }
    }

    /// Samples the entities whose turn it is, and those that are new or urgent. `pasts` has an
    /// entry for each entity of `world`.
    ///
    /// # Errors
    /// Returns [`EncodeError::BadIndices`] if `pasts` does not lead from the last world to this
    /// one.
    pub(super) fn update(
        &mut self,
        world: &Snapshot,
        pasts: &[Past],
        every: u32,
        tick: u64,
    ) -> Result<(), EncodeError> {
        let is_due =
            |index: usize| pasts[index].is_urgent || age(world.ids()[index], every, tick) == 0;
        self.indices.clear();
        self.others_rest = self.world.has_same_entities(world);
        if self.others_rest {
            self.indices
                .extend((0..world.len()).filter(|index| is_due(*index)).map(|at| at as u32));
            self.sampled.clear();
            self.sampled.resize(world.len().div_ceil(64), 0);
            for index in &self.indices {
                self.sampled[*index as usize / 64] |= 1 << (index % 64);
            }
            self.rows.gather(world, &self.indices)?;
        } else {
            let kept = (0..world.len()).filter(|index| !is_due(*index));
            self.indices.extend(kept.filter_map(|index| pasts[index].index));
            let before = mem::replace(&mut self.world, Snapshot::new_like(world));
            self.rows.gather(&before, &self.indices)?;
            self.world.copy_from(world);
        }
        self.world.patch(&[], &self.rows)?;
        self.world.tick = world.tick;
        Ok(())
    }

    /// A bit for each entity that may have other values than in the last tick. `None` if all may.
    pub(super) fn fresh(&self) -> Option<&[u64]> {
        self.others_rest.then_some(&self.sampled[..])
    }
}
