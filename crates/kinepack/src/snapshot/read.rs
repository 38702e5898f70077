//! Reads the states of entities, at one tick or between two.

use alloc::vec;

use super::ids::EntityId;
use super::store::Snapshot;
use crate::schema::with_row;
use crate::{Between, EncodeError, Pack};

/// The number of rows that [`Snapshot::iter`] gathers at a time. With a single row, each read would
/// wait for the writes just before it, because a processor cannot forward stores to loads of a
/// different size.
const ITER_BLOCK: usize = 16;

impl Snapshot {
    /// Reconstructs the state of entity `id`. Returns `None` if the snapshot does not have the
    /// entity, or has it as another kind than that of `T`. The entity is found by binary search.
    /// Memory is allocated only if the schema has more than 64 lanes.
    ///
    /// # Errors
    /// [`EncodeError::TypeMismatch`] if `T` has another schema; [`push`](Self::push) documents the
    /// cost of this check. [`EncodeError::LaneCount`] if a hand-written `Pack` contradicts its own
    /// schema.
    pub fn get<T: Pack>(&self, id: EntityId) -> Result<Option<T>, EncodeError> {
        let kind = self.kind_of::<T>(|| Some(id))?;
        let index = self.entities.position_in(kind, id);
        index.map(|index| self.with_row(kind, T::LANES, index, T::reconstruct)).transpose()
    }

    /// Iterates over all entities of the kind of `T` with their states, by increasing id. This
    /// checks `T` once, before the first entity, and allocates once.
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
    /// The errors of [`get`](Self::get).
    pub fn iter<T: Pack>(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = (EntityId, T)>, EncodeError> {
        let kind = self.kind_of::<T>(|| self.ids().first().copied())?;
        self.check_lane_count(kind, T::LANES)?;
        let columns = &self.columns[self.kinds.list[kind].lanes()];
        let mut rows = vec![0; ITER_BLOCK * T::LANES];
        Ok(self.entities.of_kind(kind).iter().enumerate().map(move |(index, id)| {
            let nth = index % ITER_BLOCK;
            if nth == 0 {
                for (lane, column) in columns.iter().enumerate() {
                    let block = column[index..].iter().take(ITER_BLOCK);
                    let rows = rows.chunks_exact_mut(T::LANES);
                    { rows }.zip(block).for_each(|(row, value)| row[lane] = *value);
                }
            }
            (*id, T::reconstruct(&rows[nth * T::LANES..][..T::LANES]))
        }))
    }

    /// Like [`get`](Self::get), for the entity at `index` of [`ids`](Self::ids), without a search.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get), [`EncodeError::IndexOutOfRange`], and
    /// [`EncodeError::AnotherKind`].
    #[inline]
    pub fn get_at_index<T: Pack>(&self, index: usize) -> Result<T, EncodeError> {
        let kind = self.kind_of::<T>(|| self.ids().get(index).copied())?;
        self.with_row(kind, T::LANES, index, T::reconstruct)
    }

    /// Interpolates the state of entity `id` between this snapshot and `to`, by
    /// [`Pack::interpolate`]. Returns `None` if one of the two does not have the entity. The caller
    /// must know that the id was not reused for another entity between the two snapshots. Memory is
    /// allocated only if the schema has more than 64 lanes.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get), and [`EncodeError::SchemaMismatch`] if the snapshots have
    /// different schemas.
    pub fn interpolate<T: Pack>(
        &self,
        id: EntityId,
        to: &Self,
        at: Between,
    ) -> Result<Option<T>, EncodeError> {
        self.check_schema(to)?;
        let kind = self.kind_of::<T>(|| Some(id))?;
        let [index, to_index] = [self, to].map(|state| state.entities.position_in(kind, id));
        let Some((index, to_index)) = index.zip(to_index) else { return Ok(None) };
        self.interpolate_at_index(index, to, to_index, at).map(Some)
    }

    /// Like [`interpolate`](Self::interpolate), between the entity at `index` of [`ids`](Self::ids)
    /// here and the entity at `to_index` in `to`, without a search. The caller must know that the
    /// two are the same entity.
    ///
    /// # Errors
    /// The errors of [`interpolate`](Self::interpolate), [`EncodeError::IndexOutOfRange`], and
    /// [`EncodeError::AnotherKind`].
    pub fn interpolate_at_index<T: Pack>(
        &self,
        index: usize,
        to: &Self,
        to_index: usize,
        at: Between,
    ) -> Result<T, EncodeError> {
        self.check_schema(to)?;
        let kind = self.kind_of::<T>(|| self.ids().get(index).copied())?;
        self.with_row(kind, T::LANES, index, |from| {
            to.with_row(kind, T::LANES, to_index, |to| T::interpolate(from, to, at))
        })?
    }

    /// Gathers the lanes of the entity at `index` from their columns, calls `read` with them, and
    /// returns its result. The entity must be of the given kind.
    #[inline]
    fn with_row<R>(
        &self,
        kind: usize,
        lanes: usize,
        index: usize,
        read: impl FnOnce(&[u32]) -> R,
    ) -> Result<R, EncodeError> {
        self.check_lane_count(kind, lanes)?;
        if index >= self.len() {
            return Err(EncodeError::IndexOutOfRange { index, entities: self.len() });
        }
        let range = self.entities.range(kind);
        let Some(index) = index.checked_sub(range.start).filter(|row| *row < range.len()) else {
            return Err(EncodeError::AnotherKind { id: self.ids()[index].0 });
        };
        let columns = &self.columns[self.kinds.list[kind].lanes()];
        Ok(with_row(lanes, |row| {
            row.iter_mut().zip(columns).for_each(|(lane, column)| *lane = column[index]);
            read(row)
        }))
    }
}
