//! Finds a sorted list of entities in a snapshot, in one pass.

use alloc::vec::Vec;

use super::ids::{EntityId, first_at_least};
use super::store::Snapshot;

impl Snapshot {
    /// Replaces `positions` with the indices of the entities in `ids` that the snapshot has, in
    /// increasing order. `ids` must be sorted.
    ///
    /// In each kind, the time to find an id grows with the logarithm of the number of entities
    /// between that id and the previous one. The time is constant if the snapshot has every id
    /// between the two.
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

    /// Appends to `positions` the indices of the entities of this kind.
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
        // The first 100 ids are without gaps.
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
