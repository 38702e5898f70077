//! Finds the difference between two snapshots: the entities that were removed, added and changed.
//! An encoder makes the same comparison.

use alloc::vec::Vec;

use super::alignment::Alignment;
use super::changed::find_changed;
use super::ids::EntityId;
use super::store::Snapshot;

/// The difference between a baseline and a snapshot of the same schema. The difference keeps its
/// memory from one comparison to the next.
///
/// ```
/// use kinepack::codec::{Difference};
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};
///
/// let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
/// let state = |rows: &[(u32, u32)]| -> Result<Snapshot, EncodeError> {
///     let mut snapshot = Snapshot::new(&schema, Tick(0));
///     rows.iter().try_for_each(|(id, value)| snapshot.push_lanes(EntityId(*id), &[*value]))?;
///     Ok(snapshot)
/// };
/// let mut difference = Difference::default();
/// difference.find(&state(&[(1, 10), (2, 20), (3, 30)])?, &state(&[(2, 20), (3, 31), (4, 40)])?);
/// assert_eq!(difference.removed, [EntityId(1)]);
/// assert_eq!(difference.sent, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Difference {
    /// The ids of the removed entities, increasing: those that the snapshot does not have, or has
    /// as another kind or with other spawn fields.
    pub removed: Vec<EntityId>,
    /// The indices in the snapshot of the entities that a packet must send, increasing: those that
    /// were added, and those that differ in a lane.
    pub sent: Vec<u32>,
    changed: Vec<u32>,
    alignment: Alignment,
    aligned: Vec<Vec<u32>>,
}

impl Difference {
    /// Compares two snapshots and overwrites the previous result. The cost is one pass over both.
    ///
    /// # Panics
    /// If the schemas of the snapshots differ.
    pub fn find(&mut self, baseline: &Snapshot, snapshot: &Snapshot) {
        assert_eq!(
            baseline.schema_hash(),
            snapshot.schema_hash(),
            "snapshots of different schemas"
        );
        self.removed.clear();
        let (kinds, entities) = (&snapshot.kinds, &snapshot.entities);
        if baseline.has_same_entities(snapshot) {
            find_changed(kinds, entities, &baseline.columns, &snapshot.columns, &mut self.sent);
            return;
        }
        self.alignment.compare(baseline, entities, &snapshot.columns);
        for (kind, removed) in self.alignment.removed().enumerate() {
            let ids = baseline.entities.of_kind(kind);
            self.removed.extend(removed.iter().map(|row| ids[*row as usize]));
        }
        if entities.kinds() > 1 {
            self.removed.sort_unstable();
        }
        self.aligned.resize_with(snapshot.lane_count(), Vec::new);
        self.alignment.line_up(baseline, &mut self.aligned);
        find_changed(kinds, entities, &self.aligned, &snapshot.columns, &mut self.changed);
        // An entity added with zero in every lane is not among the changed ones, because its lanes
        // in the baseline count as zero.
        let mut changed = self.changed.iter().peekable();
        let is_sent =
            |(index, is_added): &(u32, bool)| changed.next_if_eq(&index).is_some() | is_added;
        self.sent.clear();
        let sent = (0..).zip(self.alignment.are_added()).filter(is_sent);
        self.sent.extend(sent.map(|(index, _)| index));
    }

    /// Returns true if the snapshots have the same entities with the same lanes.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.sent.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::schema::{Field, FieldKind};
    use crate::{Schema, Tick};

    #[test]
    fn removed_added_and_changed_entities_are_found() {
        let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
        let snapshot = |rows: &[(u32, u32)]| {
            let mut snapshot = Snapshot::new(&schema, Tick(0));
            rows.iter()
                .for_each(|(id, value)| snapshot.push_lanes(EntityId(*id), &[*value]).unwrap());
            snapshot
        };
        let mut difference = Difference::default();
        let before = snapshot(&[(1, 0), (2, 5), (4, 7), (6, 6)]);
        difference.find(&before, &snapshot(&[(2, 5), (3, 0), (4, 8), (9, 9)]));
        assert_eq!(difference.removed, [EntityId(1), EntityId(6)]);
        assert_eq!(difference.sent, [1, 2, 3]);
        difference.find(&before, &before);
        assert!(difference.is_empty());
        difference.find(&before, &snapshot(&[(1, 0), (2, 6), (4, 7), (6, 6)]));
        assert!(difference.removed.is_empty());
        assert_eq!(difference.sent, [1]);
    }
}
