//! The state of a set of entities at one tick, as integer lanes.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::schema::{TypeCheck, first_beyond};
use crate::{Between, EncodeError, Pack, Schema};

/// Names an entity for as long as it lives; the same on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId(pub u32);

/// Number of a simulation step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u32);

/// A tick, a sorted set of entity ids, and their lanes, stored lane by lane.
///
/// Lane-by-lane storage makes a comparison of two snapshots a run over plain arrays. A snapshot
/// that is cleared and filled again keeps its memory.
#[derive(Clone)]
pub struct Snapshot {
    /// When this was the state.
    pub tick: Tick,
    /// Invariant: strictly increasing.
    pub(super) ids: Vec<EntityId>,
    /// Invariant: one column a lane of the schema, each as long as `ids`, no value above its lane's
    /// maximum.
    pub(super) columns: Vec<Vec<u32>>,
    /// The schema's hash, and the types that have this schema.
    types: TypeCheck,
    /// The largest value of each lane.
    maxima: Vec<u32>,
    /// Scratch: the lanes of the entity being pushed.
    row: Vec<u32>,
}

/// Equal are snapshots of the same schema and tick, the same entities and the same lanes.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.types == other.types
            && self.tick == other.tick
            && self.ids == other.ids
            && self.columns == other.columns
    }
}

impl Eq for Snapshot {}

/// Says how large it is; the lanes of thousands of entities would help nobody.
impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Snapshot(tick {}, {} entities of {} lanes)",
            self.tick.0,
            self.len(),
            self.lane_count()
        )
    }
}

impl Snapshot {
    /// A snapshot without entities.
    pub fn new(schema: &Schema, tick: Tick) -> Self {
        let maxima: Vec<u32> = schema.lanes().iter().map(|lane| lane.max).collect();
        Self {
            types: schema.types().clone(),
            tick,
            ids: Vec::new(),
            columns: vec![Vec::new(); maxima.len()],
            row: vec![0; maxima.len()],
            maxima,
        }
    }

    /// That `other` is of the same schema.
    pub(super) fn check_schema(&self, other: &Self) -> Result<(), EncodeError> {
        let [expected_hash, hash] = [self.schema_hash(), other.schema_hash()];
        if hash == expected_hash {
            Ok(())
        } else {
            Err(EncodeError::SchemaMismatch { expected_hash, hash })
        }
    }

    /// A snapshot without entities, of the schema and tick of `other`.
    pub fn new_like(other: &Self) -> Self {
        Self {
            tick: other.tick,
            ids: Vec::new(),
            columns: vec![Vec::new(); other.columns.len()],
            types: other.types.clone(),
            maxima: other.maxima.clone(),
            row: other.row.clone(),
        }
    }

    /// Removes all entities and sets the tick; the memory stays.
    pub fn clear(&mut self, tick: Tick) {
        self.tick = tick;
        self.ids.clear();
        self.columns.iter_mut().for_each(Vec::clear);
    }

    /// Quantizes `state` and appends it as entity `id`, which must be above those pushed before.
    ///
    /// The type's schema is compared with the snapshot's. That costs nothing worth mentioning for a
    /// type that passed before, or that the schema was [made from](Schema::of); for any other type
    /// it costs a [`Schema::of`].
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if the type has another schema,
    /// [`EncodeError::IdsNotIncreasing`] if the id is not above the last one, and what
    /// [`Pack::quantize`] says of values that are not numbers or out of range.
    /// [`EncodeError::LaneCount`] and [`EncodeError::LaneOutOfRange`] mean that the type's `Pack`,
    /// written by hand, contradicts its own schema. The snapshot is then as before.
    pub fn push<T: Pack>(&mut self, id: EntityId, state: &T) -> Result<(), EncodeError> {
        self.check_type::<T>(|| Some(id))?;
        self.check(id, T::LANES)?;
        state.quantize(&mut self.row)?;
        self.append_row(id)
    }

    /// Appends an entity whose lanes are already quantized.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] if the schema has another number of lanes,
    /// [`EncodeError::IdsNotIncreasing`] if the id is not above the last one, and
    /// [`EncodeError::LaneOutOfRange`]. The snapshot is then as before.
    pub fn push_lanes(&mut self, id: EntityId, lanes: &[u32]) -> Result<(), EncodeError> {
        self.check(id, lanes.len())?;
        self.row.copy_from_slice(lanes);
        self.append_row(id)
    }

    /// That `T` has the schema; `id` gives the entity at hand.
    #[inline]
    fn check_type<T: Pack>(
        &self,
        id: impl FnOnce() -> Option<EntityId>,
    ) -> Result<(), EncodeError> {
        self.types.check::<T>().map_err(|hash| {
            let expected_hash = self.schema_hash();
            EncodeError::TypeMismatch { id: id().map(|id| id.0), expected_hash, hash }
        })
    }

    fn check(&self, id: EntityId, lanes: usize) -> Result<(), EncodeError> {
        self.check_lane_count(lanes)?;
        if self.ids.last().is_some_and(|last| *last >= id) {
            return Err(EncodeError::IdsNotIncreasing { id: id.0 });
        }
        Ok(())
    }

    /// Appends the entity whose lanes are in `row`.
    fn append_row(&mut self, id: EntityId) -> Result<(), EncodeError> {
        if let Some((lane, value)) = first_beyond(&self.row, &self.maxima) {
            return Err(EncodeError::LaneOutOfRange { id: Some(id.0), lane, value });
        }
        self.ids.push(id);
        for (column, value) in self.columns.iter_mut().zip(&self.row) {
            column.push(*value);
        }
        Ok(())
    }

    /// Number of entities.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True without entities.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The entities' ids, increasing.
    pub fn ids(&self) -> &[EntityId] {
        &self.ids
    }

    /// Where `id` stands among the entities.
    pub fn position(&self, id: EntityId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// [`Schema::hash`] of its schema.
    pub fn schema_hash(&self) -> u64 {
        self.types.schema_hash()
    }

    /// Number of lanes of an entity.
    pub fn lane_count(&self) -> usize {
        self.columns.len()
    }

    /// Bytes on the heap.
    pub fn memory_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Vec::capacity).sum();
        let lanes = self.maxima.capacity() + self.row.capacity();
        (columns + lanes) * size_of::<u32>()
            + self.ids.capacity() * size_of::<EntityId>()
            + self.columns.capacity() * size_of::<Vec<u32>>()
    }

    /// One lane of all entities, in the order of [`ids`](Self::ids).
    ///
    /// # Panics
    /// Where the schema has no such lane.
    pub fn lane(&self, lane: usize) -> &[u32] {
        &self.columns[lane]
    }

    /// The state of entity `id`, reconstructed; `None` if the snapshot does not have it. Finds the
    /// entity by binary search. Allocates only if the schema has more than 64 lanes.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if the type has another schema; see [`push`](Self::push) for
    /// what the check costs. [`EncodeError::LaneCount`] for a type whose hand-written `Pack`
    /// contradicts its own schema.
    pub fn get<T: Pack>(&self, id: EntityId) -> Result<Option<T>, EncodeError> {
        self.check_type::<T>(|| Some(id))?;
        let index = self.position(id);
        index.map(|index| self.with_row(T::LANES, index, T::reconstruct)).transpose()
    }

    /// All entities with their states, by increasing id. Checks the type once, before the first,
    /// and allocates once.
    ///
    /// ```
    /// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
    ///
    /// #[derive(Pack, Debug, PartialEq)]
    /// struct Door {
    ///     open: bool,
    /// }
    ///
    /// let mut doors = Snapshot::new(&Schema::of::<Door>(), Tick(0));
    /// doors.push(EntityId(3), &Door { open: false })?;
    /// doors.push(EntityId(8), &Door { open: true })?;
    /// let open: Vec<EntityId> =
    ///     doors.iter::<Door>()?.filter(|(_, door)| door.open).map(|(id, _)| id).collect();
    /// assert_eq!(open, [EntityId(8)]);
    /// # Ok::<(), kinepack::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn iter<T: Pack>(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = (EntityId, T)>, EncodeError> {
        self.check_type::<T>(|| self.ids.first().copied())?;
        self.check_lane_count(T::LANES)?;
        let mut row = vec![0; T::LANES];
        Ok(self.ids.iter().enumerate().map(move |(index, id)| {
            for (lane, column) in row.iter_mut().zip(&self.columns) {
                *lane = column[index];
            }
            (*id, T::reconstruct(&row))
        }))
    }

    /// As [`get`](Self::get), for the entity at `index` of [`ids`](Self::ids), without a search.
    ///
    /// # Errors
    /// As [`get`](Self::get), and [`EncodeError::IndexOutOfRange`].
    #[inline]
    pub fn get_at_index<T: Pack>(&self, index: usize) -> Result<T, EncodeError> {
        self.check_type::<T>(|| self.ids.get(index).copied())?;
        self.with_row(T::LANES, index, T::reconstruct)
    }

    /// The state of entity `id` between this snapshot and `to`, by [`Pack::interpolate`]; `None`
    /// if one of them does not have it. The caller must know that the id did not pass to another
    /// entity in between. Allocates only if the schema has more than 64 lanes.
    ///
    /// # Errors
    /// As [`get`](Self::get), and [`EncodeError::SchemaMismatch`] if the snapshots have different
    /// schemas.
    pub fn interpolate<T: Pack>(
        &self,
        id: EntityId,
        to: &Self,
        at: Between,
    ) -> Result<Option<T>, EncodeError> {
        self.check_schema(to)?;
        self.check_type::<T>(|| Some(id))?;
        let Some((index, to_index)) = self.position(id).zip(to.position(id)) else {
            return Ok(None);
        };
        self.interpolate_at_index(index, to, to_index, at).map(Some)
    }

    /// As [`interpolate`](Self::interpolate), between the entity at `index` of [`ids`](Self::ids)
    /// here and the one at `to_index` in `to`, without a search. The caller must know that both
    /// are the same entity.
    ///
    /// # Errors
    /// As [`interpolate`](Self::interpolate), and [`EncodeError::IndexOutOfRange`].
    pub fn interpolate_at_index<T: Pack>(
        &self,
        index: usize,
        to: &Self,
        to_index: usize,
        at: Between,
    ) -> Result<T, EncodeError> {
        self.check_schema(to)?;
        self.check_type::<T>(|| self.ids.get(index).copied())?;
        self.with_row(T::LANES, index, |from| {
            to.with_row(T::LANES, to_index, |to| T::interpolate(from, to, at))
        })?
    }

    fn check_lane_count(&self, lanes: usize) -> Result<(), EncodeError> {
        if lanes == self.columns.len() {
            Ok(())
        } else {
            Err(EncodeError::LaneCount { expected_lanes: self.columns.len(), lanes })
        }
    }

    /// What `read` makes of the lanes of the entity at `index`, gathered from their columns.
    #[inline]
    fn with_row<R>(
        &self,
        lanes: usize,
        index: usize,
        read: impl FnOnce(&[u32]) -> R,
    ) -> Result<R, EncodeError> {
        self.check_lane_count(lanes)?;
        if index >= self.len() {
            return Err(EncodeError::IndexOutOfRange { index, entities: self.len() });
        }
        let mut few = [0; 64];
        let mut many = Vec::new();
        let row = match few.get_mut(..lanes) {
            Some(row) => row,
            None => {
                many.resize(lanes, 0);
                &mut many[..]
            }
        };
        for (lane, column) in row.iter_mut().zip(&self.columns) {
            *lane = column[index];
        }
        Ok(read(row))
    }
}
