//! Builds snapshots from parts of other snapshots: rows copied, replaced and removed. A network
//! layer needs such snapshots as baselines that were never sent as a whole.

use alloc::vec::Vec;

use super::entities::Entities;
use super::ids::EntityId;
use super::store::Snapshot;
use crate::EncodeError;
use crate::hash::Fnv1a;
use crate::schema::OptionalPart;

impl Snapshot {
    /// Makes this snapshot a copy of `other`. The memory is reused if the schemas are equal.
    pub fn copy_from(&mut self, other: &Self) {
        if self.schema_hash() != other.schema_hash() {
            *self = other.clone();
            return;
        }
        self.tick = other.tick;
        self.entities.clone_from(&other.entities);
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            column.clear();
            make_room(column, other.len());
            column.extend_from_slice(other);
        }
    }

    /// Returns true if `other` has the same schema, entities and lanes. The ticks of the two may
    /// differ.
    pub fn holds_same(&self, other: &Self) -> bool {
        self.schema_hash() == other.schema_hash()
            && self.entities == other.entities
            && self.columns == other.columns
    }

    /// A hash over the schema, entities and lanes, but not the tick: equal states have equal
    /// hashes. See `spec/CODEC.md`, section 11.
    pub fn state_hash(&self) -> u64 {
        let mut hasher = Fnv1a::new();
        hasher.add(&self.schema_hash().to_le_bytes());
        hasher.add(&(self.len() as u32).to_le_bytes());
        if self.entities.kinds() > 1 {
            let counts = self.entities.ranges().map(|range| range.len() as u32);
            counts.for_each(|count| hasher.add(&count.to_le_bytes()));
        }
        self.ids().iter().for_each(|id| hasher.add(&id.0.to_le_bytes()));
        self.columns.iter().flatten().for_each(|lane| hasher.add(&lane.to_le_bytes()));
        hasher.finish()
    }

    /// Appends the entity at `index` of `from`, like [`push_lanes`](Self::push_lanes).
    ///
    /// # Errors
    /// [`EncodeError`] if `from` has another schema, `index` is out of range, or the id is not
    /// above the last one.
    pub fn push_row(&mut self, from: &Self, index: usize) -> Result<(), EncodeError> {
        self.check_schema(from)?;
        let entities = from.len();
        let id = *from.ids().get(index).ok_or(EncodeError::IndexOutOfRange { index, entities })?;
        let (kind, row) = from.entities.place(index);
        let lanes = self.kinds.list[kind].lanes();
        self.check(kind, id, lanes.len())?;
        self.entities.push(kind, id);
        for (column, from) in self.columns[lanes.clone()].iter_mut().zip(&from.columns[lanes]) {
            column.push(from[row]);
        }
        Ok(())
    }

    /// Sets an `Option` to `None` in all entities of its kind, except those for which `keeps` is
    /// true.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] if `part` is from another schema.
    pub fn clear_part(
        &mut self,
        part: &OptionalPart,
        keeps: impl Fn(EntityId) -> bool,
    ) -> Result<(), EncodeError> {
        let expected_hash = self.schema_hash();
        if part.schema_hash != expected_hash {
            return Err(EncodeError::SchemaMismatch { expected_hash, hash: part.schema_hash });
        }
        for (row, id) in self.entities.of_kind(part.kind).iter().enumerate() {
            if !keeps(*id) {
                self.columns[part.lanes.clone()].iter_mut().for_each(|column| column[row] = 0);
            }
        }
        Ok(())
    }

    /// Replaces the content with the tick of `from` and its entities at `indices`, which must
    /// increase. The memory is reused.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] if `from` has another schema, and
    /// [`EncodeError::BadIndices`]. After an error the snapshot is unchanged.
    pub fn gather(&mut self, from: &Self, indices: &[u32]) -> Result<(), EncodeError> {
        self.check_schema(from)?;
        from.check_indices(indices)?;
        self.clear(from.tick);
        let mut rest = indices;
        for (index, kind) in self.kinds.list.iter().enumerate() {
            let range = from.entities.range(index);
            let (indices, after) =
                rest.split_at(rest.partition_point(|index| (*index as usize) < range.end));
            rest = after;
            let rows = || indices.iter().map(|index| *index as usize - range.start);
            let ids = from.entities.of_kind(index);
            self.entities.ids_mut().extend(rows().map(|row| ids[row]));
            self.entities.finish_kind(index);
            let columns = self.columns[kind.lanes()].iter_mut();
            for (column, from) in columns.zip(&from.columns[kind.lanes()]) {
                make_room(column, rows().len());
                column.extend(rows().map(|row| from[row]));
            }
        }
        Ok(())
    }

    /// Replaces the content with the tick of the first of `sources` and the entities at `rows`. Each
    /// row is an index, which must increase, and the number of the source that the entity's values
    /// come from. All sources must have the same entities. Without sources, the tick stays. The
    /// memory is reused.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] if a source has another schema, and
    /// [`EncodeError::BadIndices`] for an index that does not increase, that a source does not
    /// have, or whose source is missing. After an error the snapshot is unchanged.
    pub fn gather_from(
        &mut self,
        sources: &[&Self],
        rows: &[(u32, u8)],
    ) -> Result<(), EncodeError> {
        sources.iter().try_for_each(|source| self.check_schema(source))?;
        let Some(first) = sources.first() else {
            check_rows(rows, 0, 0)?;
            self.clear(self.tick);
            return Ok(());
        };
        let is_alike = |source: &&Self| source.entities.ranges().eq(first.entities.ranges());
        let alike = sources.iter().take_while(|source| is_alike(source)).count();
        check_rows(rows, first.len(), alike)?;
        self.clear(first.tick);
        let (mut rest, mut of_sources) = (rows, Vec::with_capacity(alike));
        for (kind, rules) in self.kinds.list.iter().enumerate() {
            let range = first.entities.range(kind);
            let count = rest.partition_point(|(index, _)| (*index as usize) < range.end);
            let (rows, after) = rest.split_at(count);
            rest = after;
            let ids = first.entities.of_kind(kind);
            let row = |index: u32| index as usize - range.start;
            self.entities.ids_mut().extend(rows.iter().map(|(index, _)| ids[row(*index)]));
            self.entities.finish_kind(kind);
            for lane in rules.lanes() {
                of_sources.clear();
                of_sources.extend(sources[..alike].iter().map(|source| &source.columns[lane][..]));
                let value =
                    |(index, source): &(u32, u8)| of_sources[usize::from(*source)][row(*index)];
                make_room(&mut self.columns[lane], rows.len());
                self.columns[lane].extend(rows.iter().map(value));
            }
        }
        Ok(())
    }

    /// Checks that `indices` increase, and that each of them is the index of an entity.
    pub(super) fn check_indices(&self, indices: &[u32]) -> Result<(), EncodeError> {
        let falls = indices.windows(2).find(|pair| pair[0] >= pair[1]).map(|pair| pair[1]);
        let beyond = || indices.last().copied().filter(|last| *last as usize >= self.len());
        falls.or_else(beyond).map_or(Ok(()), |index| Err(EncodeError::BadIndices { index }))
    }

    /// Keeps only the entities whose ids are in `ids`, which must be sorted.
    pub fn retain(&mut self, ids: &[EntityId]) {
        let mut places = Vec::new();
        self.positions(ids, &mut places);
        if places.len() == self.len() {
            return;
        }
        let none = Entities::new(self.entities.kinds());
        let old = core::mem::replace(&mut self.entities, none);
        let mut rest = &places[..];
        for (index, kind) in self.kinds.list.iter().enumerate() {
            let range = old.range(index);
            let count = rest.partition_point(|index| (*index as usize) < range.end);
            let (kept, after) = rest.split_at(count);
            rest = after;
            self.entities.ids_mut().extend(kept.iter().map(|index| old.ids()[*index as usize]));
            self.entities.finish_kind(index);
            for column in &mut self.columns[kind.lanes()] {
                for (row, index) in kept.iter().enumerate() {
                    column[row] = column[*index as usize - range.start];
                }
                column.truncate(kept.len());
            }
        }
    }

    /// Removes the entities `removed`, which must be sorted, then inserts the entities of `rows`.
    /// Rows of `rows` replace entities with the same id, even of another kind. Removed ids that
    /// this snapshot does not have are ignored.
    ///
    /// If the set of ids stays the same, the cost is that of [`positions`](Self::positions) and a
    /// write for each lane of `rows`. Otherwise it is a copy of the whole snapshot.
    ///
    /// # Errors
    /// [`EncodeError::SchemaMismatch`] if `rows` has another schema.
    pub fn patch(&mut self, removed: &[EntityId], rows: &Self) -> Result<(), EncodeError> {
        self.check_schema(rows)?;
        let mut places = Vec::new();
        self.positions(removed, &mut places);
        let removes_none = places.is_empty();
        places.clear();
        for kind in 0..self.entities.kinds() {
            self.positions_in(kind, rows.entities.of_kind(kind), &mut places);
        }
        if removes_none && places.len() == rows.len() {
            let mut rest = &places[..];
            for (index, kind) in self.kinds.list.iter().enumerate() {
                let (places, after) = rest.split_at(rows.entities.range(index).len());
                rest = after;
                let first = self.entities.range(index).start;
                let columns = self.columns[kind.lanes()].iter_mut();
                for (column, new) in columns.zip(&rows.columns[kind.lanes()]) {
                    let values = places.iter().zip(new);
                    values.for_each(|(place, value)| column[*place as usize - first] = *value);
                }
            }
        } else if self.entities.kinds() == 1 {
            self.merge(removed, rows);
        } else {
            // An entity may change from one kind to another, so its id is removed from all kinds
            // first.
            let mut gone = [removed, rows.ids()].concat();
            gone.sort_unstable();
            self.merge(&gone, rows);
        }
        Ok(())
    }

    /// Does the work of [`patch`](Self::patch) if the set of ids changes.
    fn merge(&mut self, removed: &[EntityId], rows: &Self) {
        let mut entities = Entities::new(self.entities.kinds());
        // The source of the lanes of each entity of a kind: true for `rows` or false for `self`,
        // and the entity's row in that snapshot.
        let mut sources: Vec<(bool, usize)> = Vec::with_capacity(self.len() + rows.len());
        for (index, kind) in self.kinds.list.iter().enumerate() {
            sources.clear();
            let ids = entities.ids_mut();
            let mut new = rows.entities.of_kind(index).iter().enumerate().peekable();
            let mut removed = removed.iter().peekable();
            for (row, id) in self.entities.of_kind(index).iter().enumerate() {
                while let Some((place, new_id)) = new.next_if(|(_, new_id)| *new_id < id) {
                    sources.push((true, place));
                    ids.push(*new_id);
                }
                while removed.next_if(|removed| *removed < id).is_some() {}
                let source = match new.next_if(|(_, new_id)| *new_id == id) {
                    Some((place, _)) => (true, place),
                    None if removed.peek() == Some(&id) => continue,
                    None => (false, row),
                };
                sources.push(source);
                ids.push(*id);
            }
            for (place, id) in new {
                sources.push((true, place));
                ids.push(*id);
            }
            entities.finish_kind(index);
            let columns = self.columns[kind.lanes()].iter_mut();
            for (column, new) in columns.zip(&rows.columns[kind.lanes()]) {
                *column = sources
                    .iter()
                    .map(|(is_new, at)| if *is_new { new[*at] } else { column[*at] })
                    .collect();
            }
        }
        self.entities = entities;
    }
}

/// Makes room for `count` elements in an empty column. A column that is filled again and again with
/// about as many elements soon has room for all.
pub(super) fn make_room(column: &mut Vec<u32>, count: usize) {
    if column.capacity() < count {
        column.reserve_exact(count + count / 8);
    }
}

/// Checks that the indices of `rows` increase, and that each row has an index below `count` and a
/// source below `sources`.
pub(super) fn check_rows(
    rows: &[(u32, u8)],
    count: usize,
    sources: usize,
) -> Result<(), EncodeError> {
    // The loop has no early exit, because nearly always all rows are right.
    let (mut next, mut is_right) = (0, true);
    for (index, source) in rows {
        is_right &= u64::from(*index) >= next && usize::from(*source) < sources;
        next = u64::from(*index) + 1;
    }
    if is_right && next <= count as u64 {
        return Ok(());
    }
    let falls = rows.windows(2).find(|pair| pair[0].0 >= pair[1].0).map(|pair| pair[1]);
    let is_wrong =
        |(index, source): &&(u32, u8)| usize::from(*source) >= sources || *index as usize >= count;
    let wrong = falls.or_else(|| rows.iter().find(is_wrong).copied());
    wrong.map_or(Ok(()), |(index, _)| Err(EncodeError::BadIndices { index }))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::schema::{Field, FieldKind};
    use crate::{Schema, Tick};

    fn snapshot(rows: &[(u32, u32)]) -> Snapshot {
        let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
        let mut snapshot = Snapshot::new(&schema, Tick(0));
        rows.iter().for_each(|(id, value)| snapshot.push_lanes(EntityId(*id), &[*value]).unwrap());
        snapshot
    }

    fn patched(base: &[(u32, u32)], removed: &[u32], rows: &[(u32, u32)]) -> Snapshot {
        let mut out = snapshot(base);
        let removed: Vec<EntityId> = removed.iter().copied().map(EntityId).collect();
        out.patch(&removed, &snapshot(rows)).unwrap();
        out
    }

    #[test]
    fn patching_replaces_adds_and_removes_rows() {
        let base = [(1, 10), (3, 30), (5, 50)];
        assert_eq!(patched(&base, &[], &[]), snapshot(&base));
        assert_eq!(patched(&base, &[], &[(3, 31)]), snapshot(&[(1, 10), (3, 31), (5, 50)]));
        assert_eq!(patched(&base, &[2, 3], &[]), snapshot(&[(1, 10), (5, 50)]));
        assert_eq!(
            patched(&base, &[1, 5, 9], &[(0, 1), (4, 2), (5, 3), (7, 4)]),
            snapshot(&[(0, 1), (3, 30), (4, 2), (5, 3), (7, 4)]),
            "an entity both removed and inserted stays"
        );
        assert_eq!(patched(&[], &[1], &[(2, 2)]), snapshot(&[(2, 2)]));
    }

    #[test]
    fn retain_keeps_only_the_given_ids() {
        let mut out = snapshot(&[(1, 10), (3, 30), (5, 50)]);
        out.retain(&[0, 3, 4, 5, 6].map(EntityId));
        assert_eq!(out, snapshot(&[(3, 30), (5, 50)]));
        out.retain(&[]);
        assert!(out.is_empty());
    }

    #[test]
    fn another_schema_is_refused() {
        let schema = Schema::new(vec![Field::new("other", FieldKind::Raw { lanes: 1 })]);
        let other = Snapshot::new(&schema, Tick(0));
        assert!(snapshot(&[]).patch(&[], &other).is_err());
        let mut out = snapshot(&[(4, 1)]);
        assert!(out.push_row(&snapshot(&[(4, 2)]), 0).is_err());
        assert!(out.push_row(&snapshot(&[(5, 2)]), 0).is_ok());
        assert_eq!(out, snapshot(&[(4, 1), (5, 2)]));
        assert!(out.gather(&other, &[]).is_err());
    }

    #[test]
    fn gather_from_takes_each_row_from_its_source() {
        let sources =
            [[(1, 10), (3, 30), (5, 50)], [(1, 11), (3, 31), (5, 51)]].map(|rows| snapshot(&rows));
        let sources = sources.each_ref();
        let mut out = snapshot(&[(9, 9)]);
        out.gather_from(&sources, &[(0, 1), (2, 0)]).unwrap();
        assert_eq!(out, snapshot(&[(1, 11), (5, 50)]));
        for bad in [[(0, 0), (3, 0)], [(0, 0), (0, 1)], [(0, 0), (1, 2)]] {
            let refused = out.gather_from(&sources, &bad);
            assert!(matches!(refused, Err(EncodeError::BadIndices { .. })), "{bad:?}");
        }
        assert_eq!(out, snapshot(&[(1, 11), (5, 50)]));
    }

    #[test]
    fn gather_takes_the_rows_at_the_indices() {
        let mut out = snapshot(&[(9, 9)]);
        out.gather(&snapshot(&[(1, 10), (3, 30), (5, 50)]), &[0, 2]).unwrap();
        assert_eq!(out, snapshot(&[(1, 10), (5, 50)]));
    }
}
