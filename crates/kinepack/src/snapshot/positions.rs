//! Finding a sorted list of entities in a snapshot, in one pass.

use alloc::vec::Vec;

use super::store::{EntityId, Snapshot};

impl Snapshot {
    /// Replaces `positions` with the indices of those entities of `ids` that the snapshot has, in
    /// increasing order. `ids` is sorted.
    ///
    /// Cost: in each kind, each id takes the logarithm of its distance from the previous one, in
    /// entities. It takes constant time if no id between them is missing from the snapshot.
    ///
    /// ```
    /// use kinepack::schema::{Field, FieldKind};
    /// use kinepack::{EntityId, Schema, Snapshot, Tick};
    ///
    /// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
    /// let mut snapshot = Snapshot::new(&schema, Tick(60));
    /// for id in [3, 8, 9] {
    ///     snapshot.push_lanes(EntityId(id), &[1])?;
    /// }
    /// let mut positions = Vec::new();
    /// snapshot.positions(&[3, 5, 9].map(EntityId), &mut positions);
    /// assert_eq!(positions, [0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn positions(&self, ids: &[EntityId], positions: &mut Vec<u32>) {
        positions.clear();
        positions.reserve(ids.len().min(self.len()));
        for kind in 0..self.entities.kinds() {
            self.positions_in(kind, ids, positions);
        }
    }

    /// Appends the indices of the entities of this kind.
    pub(super) fn positions_in(&self, kind: usize, ids: &[EntityId], positions: &mut Vec<u32>) {
        let mut rest = self.entities.of_kind(kind);
        let end = self.entities.range(kind).end;
        for id in ids {
            rest = &rest[first_at_least(rest, *id)..];
            if rest.first() == Some(id) {
                positions.push((end - rest.len()) as u32);
            }
        }
    }
}

/// The index of the first id in `ids` that is at least `id`. `ids` increases strictly.
pub(super) fn first_at_least(ids: &[EntityId], id: EntityId) -> usize {
    let Some(gap) = ids.first().and_then(|first| id.0.checked_sub(first.0)) else { return 0 };
    // The ids are distinct integers, so the one at index `gap` is at least `id`. It is equal if no
    // id before it is missing.
    let end = ids.len().min(gap as usize);
    if ids.get(end) == Some(&id) {
        return end;
    }
    // A galloping search: steps double until they pass the id, then a binary search covers the last
    // step.
    let (mut from, mut step) = (0, 1);
    while ids[from..end].get(step - 1).is_some_and(|other| *other < id) {
        from += step;
        step *= 2;
    }
    let end = end.min(from + step);
    from + ids[from..end].partition_point(|other| *other < id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Field, FieldKind};
    use crate::{Schema, Tick};

    #[test]
    fn positions_are_found_at_any_gap() {
        let schema = Schema::new(alloc::vec![Field::new("lit", FieldKind::Bool)]);
        let mut snapshot = Snapshot::new(&schema, Tick(0));
        let mut positions = Vec::new();
        snapshot.positions(&[7, 8].map(EntityId), &mut positions);
        assert!(positions.is_empty());
        // The first 100 are without gaps.
        let ids = (5..105).chain((35..200).map(|index| 3 * index)).chain([u32::MAX]);
        for id in ids {
            snapshot.push_lanes(EntityId(id), &[0]).unwrap();
        }
        for gap in [1, 2, 3, 7, 60, 599, 1000] {
            for begin in 0..5 {
                let set: Vec<EntityId> =
                    (begin..800).step_by(gap).chain([u32::MAX]).map(EntityId).collect();
                snapshot.positions(&set, &mut positions);
                let naive = set.iter().filter_map(|id| snapshot.position(*id));
                assert!(
                    naive.eq(positions.iter().map(|at| *at as usize)),
                    "{begin} and each {gap}"
                );
            }
        }
        snapshot.positions(&[], &mut positions);
        assert!(positions.is_empty());
    }
}
