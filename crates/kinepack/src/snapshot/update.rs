//! Writes the states of changed entities over those of the previous tick.

use super::ids::EntityId;
use super::store::{Snapshot, check_lanes};
use crate::{EncodeError, Pack};

impl Snapshot {
    /// Quantizes `state` and writes it over the state of entity `id`. Returns false if the snapshot
    /// does not have the entity, or has it as another kind than that of `T`.
    ///
    /// In a world in which few entities change, keep the snapshot from one tick to the next. Set
    /// [`tick`](Self::tick), and call `set` for each entity that changed, for example those that an
    /// ECS marks as changed. All other entities then cost nothing. [`patch`](Self::patch) adds and
    /// removes entities.
    ///
    /// ```
    /// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
    ///
    /// #[derive(Pack, Debug, PartialEq)]
    /// struct Door {
    ///     open: bool,
    /// }
    ///
    /// let mut world = Snapshot::new(&Schema::of::<Door>(), Tick(1));
    /// (0..900).try_for_each(|id| world.push(EntityId(id), &Door { open: false }))?;
    /// // In the next tick, a door has been opened.
    /// world.tick = Tick(2);
    /// assert!(world.set(EntityId(7), &Door { open: true })?);
    /// assert_eq!(world.get(EntityId(7))?, Some(Door { open: true }));
    /// # Ok::<(), kinepack::EncodeError>(())
    /// ```
    ///
    /// The cost is a binary search, and the quantization.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push), except for those about ids. After an error the snapshot
    /// is unchanged.
    pub fn set<T: Pack>(&mut self, id: EntityId, state: &T) -> Result<bool, EncodeError> {
        let kind = self.kind_of::<T>(|| Some(id))?;
        self.check_lane_count(kind, T::LANES)?;
        let Some(index) = self.position_of(kind, id) else { return Ok(false) };
        let at = index - self.of_kind(kind).start;
        let row = &mut self.row[..T::LANES];
        state.quantize(row).map_err(|error| error.in_entity(id.0))?;
        let of_kind = &self.kinds.list[kind];
        check_lanes(of_kind, id, row)?;
        let columns = self.columns[of_kind.lanes()].iter_mut();
        columns.zip(row).for_each(|(column, value)| column[at] = *value);
        Ok(true)
    }
}
