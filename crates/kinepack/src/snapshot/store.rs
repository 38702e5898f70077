//! Stores the state of a set of entities at one tick, as integer lanes.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::entities::Entities;
use super::ids::{EntityId, Tick};
use crate::hash::Fnv1a;
use crate::schema::{EntityKind, Kinds, Placement};
use crate::{EncodeError, Pack, Schema};

/// A tick, a set of entity ids, and the entities' lanes, stored kind by kind and lane by lane.
///
/// Within each kind of entities the ids increase. The *index* of an entity counts all entities
/// before it, including those of earlier kinds. An id must not be in two kinds: an encoder refuses
/// such a snapshot.
///
/// Lanes are stored as columns, so comparing two snapshots is a pass over plain arrays. A snapshot
/// that is cleared and refilled keeps its memory.
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
    /// Invariant: `entities` has as many kinds as `kinds`.
    pub(super) entities: Entities,
    /// Invariant: there is one column per lane of the schema. The length of a column is the number
    /// of entities of the lane's kind, and its values obey the kind's rules.
    pub(super) columns: Vec<Vec<u32>>,
    /// The schema's hash, and the rules of each kind.
    pub(super) kinds: Arc<Kinds>,
    /// Scratch memory for the lanes of the entity being pushed.
    pub(super) row: Vec<u32>,
}

/// Snapshots are equal if they have the same schema, tick, entities and lanes.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.tick == other.tick && self.holds_same(other)
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
    /// Makes a snapshot without entities.
    pub fn new(schema: &Schema, tick: Tick) -> Self {
        Self::with_kinds(schema.kinds_arc(), tick)
    }

    fn with_kinds(kinds: &Arc<Kinds>, tick: Tick) -> Self {
        let lanes = kinds.list.last().map_or(0, |kind| kind.lanes().end);
        Self {
            tick,
            entities: Entities::new(kinds.list.len()),
            columns: vec![Vec::new(); lanes],
            row: vec![0; kinds.most_lanes()],
            kinds: Arc::clone(kinds),
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

    /// Makes a snapshot without entities that has the schema and tick of `other`.
    pub fn new_like(other: &Self) -> Self {
        Self::with_kinds(&other.kinds, other.tick)
    }

    /// Removes all entities and sets the tick. The snapshot keeps its memory.
    pub fn clear(&mut self, tick: Tick) {
        self.tick = tick;
        self.entities.clear();
        self.columns.iter_mut().for_each(Vec::clear);
    }

    /// Quantizes `state` and appends it as entity `id`, which must be above all earlier ids of the
    /// same kind. If the schema has several kinds, the type `T` selects the kind. For many
    /// entities, [`extend`](Self::extend) takes only half the time.
    ///
    /// Each call checks that the snapshot's schema has the type's fields. This check costs almost
    /// nothing for a type that passed before, or that the schema was made from. For any other type
    /// the check costs as much as [`Schema::of`]. Pushing is fastest kind by kind, in the schema's
    /// order, because a push to a kind moves the ids of the kinds after it.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if `T` does not have the schema of any kind.
    /// [`EncodeError::IdsNotIncreasing`] if `id` is not above the last id of the kind.
    /// [`EncodeError`] of [`Pack::quantize`] if a value is out of range or not a number.
    /// [`EncodeError::LaneCount`] or [`EncodeError::LaneOutOfRange`] if a hand-written `Pack`
    /// contradicts its own schema. After an error the snapshot is unchanged.
    pub fn push<T: Pack>(&mut self, id: EntityId, state: &T) -> Result<(), EncodeError> {
        let kind = self.kind_of::<T>(|| Some(id))?;
        self.check(kind, id, T::LANES)?;
        self.append_state(kind, id, state)?;
        self.entities.push(kind, id);
        Ok(())
    }

    /// Quantizes `state` and appends it to the columns of its kind. After an error the columns are
    /// unchanged.
    #[inline]
    pub(super) fn append_state<T: Pack>(
        &mut self,
        kind: usize,
        id: EntityId,
        state: &T,
    ) -> Result<(), EncodeError> {
        let row = &mut self.row[..T::LANES];
        state.quantize(row).map_err(|error| error.in_entity(id.0))?;
        append(&self.kinds.list[kind], &mut self.columns, id, row)
    }

    /// Appends an entity whose lanes are already quantized. The entity is of the first kind, which
    /// is the only kind of most schemas.
    ///
    /// # Errors
    /// The errors of [`push_lanes_of`](Self::push_lanes_of).
    pub fn push_lanes(&mut self, id: EntityId, lanes: &[u32]) -> Result<(), EncodeError> {
        self.push_lanes_of(0, id, lanes)
    }

    /// Appends an entity whose lanes are already quantized. `kind` is the index of its kind among
    /// [`Schema::kinds`].
    ///
    /// # Errors
    /// [`EncodeError::NoSuchKind`], [`EncodeError::LaneCount`] if the kind has a different number
    /// of lanes, and [`EncodeError::IdsNotIncreasing`] if `id` is not above the last id of the
    /// kind. [`EncodeError::LaneOutOfRange`] if a lane is above its maximum, or is not 0 although
    /// its field is absent. After an error the snapshot is unchanged.
    pub fn push_lanes_of(
        &mut self,
        kind: usize,
        id: EntityId,
        lanes: &[u32],
    ) -> Result<(), EncodeError> {
        let kinds = self.kinds.list.len();
        if kind >= kinds {
            return Err(EncodeError::NoSuchKind { kind, kinds });
        }
        self.check(kind, id, lanes.len())?;
        append(&self.kinds.list[kind], &mut self.columns, id, lanes)?;
        self.entities.push(kind, id);
        Ok(())
    }

    /// Returns the kind that `T` describes. `id` returns the entity that the error names.
    #[inline]
    pub(super) fn kind_of<T: Pack>(
        &self,
        id: impl FnOnce() -> Option<EntityId>,
    ) -> Result<usize, EncodeError> {
        self.kinds.of_type::<T>().map_err(|hash| {
            let expected_hash = self.schema_hash();
            EncodeError::TypeMismatch { id: id().map(|id| id.0), expected_hash, hash }
        })
    }

    /// Checks the number of lanes and the id of an entity before it is appended.
    #[inline]
    pub(super) fn check(&self, kind: usize, id: EntityId, lanes: usize) -> Result<(), EncodeError> {
        self.check_lane_count(kind, lanes)?;
        if self.entities.last_of_kind(kind).is_some_and(|last| last >= id) {
            return Err(EncodeError::IdsNotIncreasing { id: id.0 });
        }
        Ok(())
    }

    /// The number of entities.
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Returns true if there are no entities.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entities' ids by index. The ids increase if the schema has one kind; otherwise they are
    /// listed kind by kind, and increase within each kind.
    pub fn ids(&self) -> &[EntityId] {
        self.entities.ids()
    }

    /// The indices of the entities of a kind. The range is empty if there is no such kind.
    ///
    /// ```
    /// use kinepack::schema::{Field, FieldKind};
    /// use kinepack::{EntityId, Schema, Snapshot, Tick};
    ///
    /// let fields = || vec![Field::new("lit", FieldKind::Bool)];
    /// let lamps = Schema::builder().kind_of_fields("lamp", fields());
    /// let schema = lamps.kind_of_fields("candle", fields()).build()?;
    /// let mut world = Snapshot::new(&schema, Tick(0));
    /// world.push_lanes_of(0, EntityId(7), &[1])?;
    /// world.push_lanes_of(1, EntityId(2), &[0])?;
    /// world.push_lanes_of(1, EntityId(9), &[1])?;
    /// assert_eq!(world.ids(), [7, 2, 9].map(EntityId));
    /// assert_eq!(world.of_kind(1), 1..3);
    /// assert_eq!(world.kind_at(2), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_kind(&self, kind: usize) -> Range<usize> {
        if kind < self.entities.kinds() { self.entities.range(kind) } else { 0..0 }
    }

    /// The indices of the schema's lanes that entities of a kind have. The range is empty if there
    /// is no such kind.
    pub fn lanes_of(&self, kind: usize) -> Range<usize> {
        self.kinds.list.get(kind).map_or(0..0, EntityKind::lanes)
    }

    /// The kinds of entities of the snapshot's schema, as [`Schema::kinds`] returns them.
    pub fn kinds(&self) -> &[EntityKind] {
        &self.kinds.list
    }

    /// The kind of the entity at `index`; `None` beyond the last entity.
    #[inline]
    pub fn kind_at(&self, index: usize) -> Option<usize> {
        (index < self.len()).then(|| self.entities.kind_at(index))
    }

    /// The lanes of the entity at `index`, as many as its kind has. Beyond the last entity, the
    /// iterator is empty.
    ///
    /// ```
    /// use kinepack::schema::{Field, FieldKind};
    /// use kinepack::{EntityId, Schema, Snapshot, Tick};
    ///
    /// let schema = Schema::new(vec![Field::new("cell", FieldKind::Raw { lanes: 2 })]);
    /// let mut world = Snapshot::new(&schema, Tick(0));
    /// world.push_lanes(EntityId(7), &[4, 1])?;
    /// assert!(world.lanes_at(0).eq([4, 1]));
    /// assert_eq!(world.lanes_at(1).count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn lanes_at(&self, index: usize) -> impl ExactSizeIterator<Item = u32> {
        let place = (index < self.len()).then(|| self.entities.place(index));
        let (kind, row) = place.unwrap_or((usize::MAX, 0));
        self.columns[self.lanes_of(kind)].iter().map(move |column| column[row])
    }

    /// Where the entities of the kind of the entity at `index` are; `None` beyond the last entity.
    #[inline]
    fn placement_at(&self, index: usize) -> Option<&Placement> {
        Some(self.kinds.list[self.kind_at(index)?].placement())
    }

    /// Where the entities of the kind of the entity at `index` are, and the lanes of that entity
    /// here and of the one at `index_in` in another snapshot.
    ///
    /// # Errors
    /// If the snapshots have different schemas, there are no such entities, or their kinds differ.
    pub(crate) fn placement_of<'a>(
        &'a self,
        index: usize,
        other: &'a Self,
        index_in: usize,
    ) -> Result<(&'a Placement, [impl Fn(usize) -> u32; 2]), EncodeError> {
        self.check_schema(other)?;
        let (kind, lanes) = self.lanes_by_number(index)?;
        let (other_kind, other_lanes) = other.lanes_by_number(index_in)?;
        if kind != other_kind {
            return Err(EncodeError::AnotherKind { id: other.ids()[index_in].0 });
        }
        Ok((self.kinds.list[kind].placement(), [lanes, other_lanes]))
    }

    /// The kind of the entity at `index`, and its lanes by their number.
    fn lanes_by_number(&self, index: usize) -> Result<(usize, impl Fn(usize) -> u32), EncodeError> {
        if index >= self.len() {
            return Err(EncodeError::IndexOutOfRange { index, entities: self.len() });
        }
        let (kind, row) = self.entities.place(index);
        let columns = &self.columns[self.lanes_of(kind)];
        Ok((kind, move |lane: usize| columns[lane][row]))
    }

    /// Returns the [frame](crate::frame) of the entity at `index`, to which its fields are relative.
    /// `None` stands for the world, and for an index beyond the last entity.
    #[inline]
    pub fn frame_at(&self, index: usize) -> Option<EntityId> {
        let placement = self.placement_at(index).filter(|placement| placement.has_frame())?;
        let (kind, row) = self.entities.place(index);
        let columns = &self.columns[self.lanes_of(kind)];
        placement.frame(|lane| columns[lane][row])
    }

    /// Iterates over the entities that are relative to a [frame](crate::frame), by index, with the
    /// id of the frame. The cost is a pass over the entities of the kinds that have frames.
    pub fn frames(&self) -> impl Iterator<Item = (usize, EntityId)> {
        let kinds = (0..).zip(&self.kinds.list).filter(|(_, kind)| kind.has_frame());
        let entities = kinds.flat_map(|(kind, _)| self.entities.range(kind));
        entities.filter_map(|index| Some((index, self.frame_at(index)?)))
    }

    /// The index of entity `id`, if the snapshot has it. The cost is a binary search in each kind.
    pub fn position(&self, id: EntityId) -> Option<usize> {
        self.entities.position(id)
    }

    /// The index of entity `id`, if the snapshot has it as an entity of `kind`. The cost is a
    /// binary search.
    #[inline]
    pub fn position_of(&self, kind: usize, id: EntityId) -> Option<usize> {
        (kind < self.entities.kinds()).then(|| self.entities.position_in(kind, id))?
    }

    /// Iterates over the kind and the id of each entity, by index.
    #[inline]
    pub fn entities(&self) -> impl Iterator<Item = (usize, EntityId)> {
        let kinds = 0..self.entities.kinds();
        kinds.flat_map(|kind| self.entities.of_kind(kind).iter().map(move |id| (kind, *id)))
    }

    /// A hash of the spawn fields of the entity at `index`; 0 if the entity's kind has no spawn
    /// fields. Two entities of the same kind and id are different entities if their hashes differ.
    ///
    /// # Panics
    /// If there is no entity at `index`.
    #[inline]
    pub fn spawn_hash(&self, index: usize) -> u64 {
        assert!(index < self.len(), "no entity at index {index}");
        if self.kinds.have_spawn_lanes { self.hash_spawn_lanes(index) } else { 0 }
    }

    fn hash_spawn_lanes(&self, index: usize) -> u64 {
        let (kind, row) = self.entities.place(index);
        let lanes = self.kinds.list[kind].spawn_lanes();
        if lanes.is_empty() {
            return 0;
        }
        let mut hasher = Fnv1a::new();
        lanes.iter().for_each(|lane| hasher.add(&self.columns[*lane][row].to_le_bytes()));
        hasher.finish()
    }

    /// Returns the kind that `T` describes.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if `T` describes no kind, or if several kinds have its fields
    /// and the schema was not made from `T`.
    pub fn kind_of_type<T: Pack>(&self) -> Result<usize, EncodeError> {
        self.kind_of::<T>(|| None)
    }

    /// Returns whether `other` has the same entities, with equal ids, kinds and spawn fields.
    pub fn has_same_entities(&self, other: &Self) -> bool {
        self.has_entities(&other.entities, &other.columns)
    }

    /// Returns whether the snapshot has the entities `entities`, with the same spawn fields as in
    /// `columns`.
    pub(super) fn has_entities(&self, entities: &Entities, columns: &[Vec<u32>]) -> bool {
        let are_same = |lane: &usize| self.columns[*lane] == columns[*lane];
        self.entities.are_same(entities)
            && self.kinds.list.iter().all(|kind| kind.spawn_lanes().iter().all(are_same))
    }

    /// Returns whether the motion breaks between the state of the entity at `index` and its state at
    /// `index_before` of `before`, a snapshot of the same schema: because of a
    /// [cut](Self::is_cut_since), or because its [frame](crate::frame) changes. It does not if either
    /// index is out of range, or the schema or the entity's kind is another. Cost: constant.
    pub fn is_broken_since(&self, index: usize, before: &Self, index_before: usize) -> bool {
        self.differs_since(EntityKind::break_lanes, index, before, index_before)
    }

    /// Returns whether a [cut](crate::schema::Role::Cut) is between the state of the entity at
    /// `index` and its state at `index_before` of `before`, a snapshot of the same schema. There is
    /// none if either index is out of range, or the schema or the entity's kind is another.
    ///
    /// Cost: constant; nothing but a search for the kind if it has no cut fields.
    pub fn is_cut_since(&self, index: usize, before: &Self, index_before: usize) -> bool {
        self.differs_since(EntityKind::cut_lanes, index, before, index_before)
    }

    /// Returns whether the entity differs in one of these lanes of its kind.
    fn differs_since(
        &self,
        lanes: fn(&EntityKind) -> &[usize],
        index: usize,
        before: &Self,
        index_before: usize,
    ) -> bool {
        let Some(kind) = self.kind_at(index) else { return false };
        let lanes = lanes(&self.kinds.list[kind]);
        let is_same_kind = || before.kind_at(index_before) == Some(kind);
        if lanes.is_empty() || !is_same_kind() || self.check_schema(before).is_err() {
            return false;
        }
        let row = index - self.of_kind(kind).start;
        let row_before = index_before - before.of_kind(kind).start;
        lanes.iter().any(|lane| self.columns[*lane][row] != before.columns[*lane][row_before])
    }

    /// Finds an entity whose spawn fields changed since `before`, although its kind and id are the
    /// same. Returns the entity's id, and the index in the schema of the first lane that differs.
    ///
    /// For schemas without spawn fields the call costs nothing; otherwise it is a pass over the ids
    /// and the spawn fields' lanes.
    pub fn changed_spawn_lane(&self, before: &Self) -> Option<(EntityId, usize)> {
        self.kinds.list.iter().enumerate().find_map(|(index, kind)| {
            if kind.spawn_lanes().is_empty() {
                return None;
            }
            let mut old = before.entities.of_kind(index).iter().enumerate().peekable();
            self.entities.of_kind(index).iter().enumerate().find_map(|(row, id)| {
                while old.next_if(|(_, old)| *old < id).is_some() {}
                let (old, _) = old.next_if(|(_, old)| *old == id)?;
                let differs =
                    |lane: &&usize| self.columns[**lane][row] != before.columns[**lane][old];
                kind.spawn_lanes().iter().find(differs).map(|lane| (*id, *lane))
            })
        })
    }

    /// Finds an id that entities of two kinds have: a snapshot with such an id cannot be encoded.
    ///
    /// For two kinds whose ids overlap, the cost is a search for each id of the smaller kind.
    pub fn shared_id(&self) -> Option<EntityId> {
        self.entities.shared_id()
    }

    /// The [`Schema::hash`] of the snapshot's schema.
    pub fn schema_hash(&self) -> u64 {
        self.kinds.schema_hash
    }

    /// The number of lanes of all kinds.
    pub fn lane_count(&self) -> usize {
        self.columns.len()
    }

    /// The number of lanes of all entities together.
    pub fn value_count(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    /// The size of the snapshot on the heap, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Vec::capacity).sum();
        (columns + self.row.capacity()) * size_of::<u32>()
            + self.entities.memory_bytes()
            + self.columns.capacity() * size_of::<Vec<u32>>()
    }

    /// The values of one lane in all entities of its kind, in the order of [`ids`](Self::ids).
    ///
    /// # Panics
    /// If the schema has no lane with this index.
    pub fn lane(&self, lane: usize) -> &[u32] {
        &self.columns[lane]
    }

    #[inline]
    pub(super) fn check_lane_count(&self, kind: usize, lanes: usize) -> Result<(), EncodeError> {
        let expected_lanes = self.kinds.list[kind].lanes().len();
        if lanes == expected_lanes {
            Ok(())
        } else {
            Err(EncodeError::LaneCount { expected_lanes, lanes })
        }
    }
}

/// Appends the lanes of an entity of this kind to the columns.
#[inline]
fn append(
    kind: &EntityKind,
    columns: &mut [Vec<u32>],
    id: EntityId,
    row: &[u32],
) -> Result<(), EncodeError> {
    let (rules, columns) = (kind.rules(), &mut columns[kind.lanes()]);
    let mut is_above = false;
    for ((column, value), max) in columns.iter_mut().zip(row).zip(rules.maxima()) {
        is_above |= value > max;
        column.push(*value);
    }
    if is_above || rules.are_linked() {
        return check_lanes(kind, id, row).inspect_err(|_| {
            columns.iter_mut().for_each(|column| _ = column.pop());
        });
    }
    Ok(())
}

/// Checks the lanes of an entity of this kind.
pub(super) fn check_lanes(kind: &EntityKind, id: EntityId, row: &[u32]) -> Result<(), EncodeError> {
    let rules = kind.rules();
    let wrong = rules.first_wrong(row).or_else(|| rules.first_too_fine(row));
    let Some((lane, value)) = wrong else { return Ok(()) };
    Err(EncodeError::LaneOutOfRange { id: Some(id.0), lane: kind.lanes().start + lane, value })
}
