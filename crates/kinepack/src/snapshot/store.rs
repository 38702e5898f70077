//! The state of a set of entities at one tick, as integer lanes.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::schema::{LaneRules, TypeCheck};
use crate::{Between, EncodeError, Pack, Schema};

/// Identifies an entity for as long as it lives; the same on both sides.
///
/// ```
/// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
/// }
///
/// let schema = Schema::of::<Lamp>();
/// let mut world = Snapshot::new(&schema, Tick(60)); // a second after the start, at 60 Hz
/// // A game's own numbers, in the increasing order that snapshots need.
/// let mut lamps = [(30, false), (7, true), (12, true)];
/// lamps.sort_by_key(|(number, _)| *number);
/// for (number, lit) in lamps {
///     world.push(EntityId(number), &Lamp { lit })?;
/// }
/// assert_eq!(world.ids(), [EntityId(7), EntityId(12), EntityId(30)]);
/// assert!(world.get::<Lamp>(EntityId(7))?.is_some_and(|lamp| lamp.lit));
/// assert!(world.get::<Lamp>(EntityId(8))?.is_none());
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId(pub u32);

/// The number of a simulation step.
///
/// ```
/// use kinepack::{Schema, Snapshot, Tick};
///
/// let schema = Schema::new(Vec::new());
/// let (mut world, hz) = (Snapshot::new(&schema, Tick(0)), 60);
/// for _ in 0..90 {
///     world.clear(Tick(world.tick.0 + 1)); // the next step of the simulation
/// }
/// assert_eq!(world.tick, Tick(90));
/// assert_eq!(f64::from(world.tick.0) / f64::from(hz), 1.5, "seconds");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u32);

/// A tick, a sorted set of entity ids, and their lanes, stored lane by lane.
///
/// Because lanes are stored as columns, two snapshots are compared by a pass over plain arrays. A
/// snapshot that is cleared and refilled keeps its memory.
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};
///
/// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let mut snapshot = Snapshot::new(&schema, Tick(60));
/// snapshot.push_lanes(EntityId(3), &[1])?;
/// snapshot.push_lanes(EntityId(8), &[0])?;
/// assert_eq!(snapshot.position(EntityId(8)), Some(1));
/// assert_eq!(snapshot.lane(0), [1, 0]);
/// let refused = snapshot.push_lanes(EntityId(5), &[0]);
/// assert_eq!(refused, Err(EncodeError::IdsNotIncreasing { id: 5 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Snapshot {
    /// The tick of this state.
    pub tick: Tick,
    /// Invariant: strictly increasing.
    pub(super) ids: Vec<EntityId>,
    /// Invariant: one column per lane of the schema, each as long as `ids`, with values that
    /// `rules` allow.
    pub(super) columns: Vec<Vec<u32>>,
    /// The schema's hash, and the types that have this schema.
    types: TypeCheck,
    /// Which values the lanes may have.
    rules: Arc<LaneRules>,
    /// Scratch: the lanes of the entity being pushed.
    row: Vec<u32>,
}

/// Snapshots are equal if they have the same schema, tick, entities and lanes.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.types == other.types
            && self.tick == other.tick
            && self.ids == other.ids
            && self.columns == other.columns
    }
}

impl Eq for Snapshot {}

/// Prints only the size, because the lanes of thousands of entities would be unreadable.
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
        let rules = Arc::clone(schema.rules());
        Self {
            types: schema.types().clone(),
            tick,
            ids: Vec::new(),
            columns: vec![Vec::new(); rules.len()],
            row: vec![0; rules.len()],
            rules,
        }
    }

    /// Checks that `other` has the same schema.
    pub(super) fn check_schema(&self, other: &Self) -> Result<(), EncodeError> {
        let [expected_hash, hash] = [self.schema_hash(), other.schema_hash()];
        if hash == expected_hash {
            Ok(())
        } else {
            Err(EncodeError::SchemaMismatch { expected_hash, hash })
        }
    }

    /// A snapshot without entities that has the schema and tick of `other`.
    pub fn new_like(other: &Self) -> Self {
        Self {
            tick: other.tick,
            ids: Vec::new(),
            columns: vec![Vec::new(); other.columns.len()],
            types: other.types.clone(),
            rules: Arc::clone(&other.rules),
            row: other.row.clone(),
        }
    }

    /// Removes all entities and sets the tick. Keeps the memory.
    pub fn clear(&mut self, tick: Tick) {
        self.tick = tick;
        self.ids.clear();
        self.columns.iter_mut().for_each(Vec::clear);
    }

    /// Quantizes `state` and appends it as entity `id`, which must be above all ids pushed before.
    ///
    /// Compares the type's schema with the snapshot's. This costs next to nothing for a type that
    /// passed before, or that the schema was [made from](Schema::of). For any other type it costs a
    /// [`Schema::of`].
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if the type has another schema,
    /// [`EncodeError::IdsNotIncreasing`] if the id is not above the last one, and the errors of
    /// [`Pack::quantize`] for values that are out of range or not numbers.
    /// [`EncodeError::LaneCount`] and [`EncodeError::LaneOutOfRange`] mean that a hand-written
    /// `Pack` contradicts its own schema. After an error the snapshot is unchanged.
    pub fn push<T: Pack>(&mut self, id: EntityId, state: &T) -> Result<(), EncodeError> {
        self.check_type::<T>(|| Some(id))?;
        self.check(id, T::LANES)?;
        state.quantize(&mut self.row).map_err(|error| error.in_entity(id.0))?;
        self.append_row(id)
    }

    /// Appends an entity whose lanes are already quantized.
    ///
    /// # Errors
    /// [`EncodeError::LaneCount`] if the schema has another number of lanes,
    /// [`EncodeError::IdsNotIncreasing`] if the id is not above the last one, and
    /// [`EncodeError::LaneOutOfRange`] if a lane is above its maximum, or not 0 although its field
    /// is absent. After an error the snapshot is unchanged.
    pub fn push_lanes(&mut self, id: EntityId, lanes: &[u32]) -> Result<(), EncodeError> {
        self.check(id, lanes.len())?;
        self.row.copy_from_slice(lanes);
        self.append_row(id)
    }

    /// Checks that `T` has the snapshot's schema. `id` gives the entity to name in the error.
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

    /// Appends an entity whose lanes are in `row`.
    fn append_row(&mut self, id: EntityId) -> Result<(), EncodeError> {
        if let Some((lane, value)) = self.rules.first_wrong(&self.row) {
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

    /// True if there are no entities.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The entities' ids, increasing.
    pub fn ids(&self) -> &[EntityId] {
        &self.ids
    }

    /// The index of entity `id`, if the snapshot has it. Cost: a binary search.
    pub fn position(&self, id: EntityId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// [`Schema::hash`] of the snapshot's schema.
    pub fn schema_hash(&self) -> u64 {
        self.types.schema_hash()
    }

    /// Number of lanes per entity.
    pub fn lane_count(&self) -> usize {
        self.columns.len()
    }

    /// Bytes on the heap.
    pub fn memory_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Vec::capacity).sum();
        (columns + self.row.capacity()) * size_of::<u32>()
            + self.ids.capacity() * size_of::<EntityId>()
            + self.columns.capacity() * size_of::<Vec<u32>>()
    }

    /// One lane of all entities, in the order of [`ids`](Self::ids).
    ///
    /// # Panics
    /// If the schema has no such lane.
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
