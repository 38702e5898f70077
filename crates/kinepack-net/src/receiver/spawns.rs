//! Lists the entities that were added and removed between two playback calls.
//!
//! [`Spawns`] compares the ids that are shown now with the ids of the previous call. Memory: three
//! lists of at most one state's ids, reused in each call.

use kinepack::{EntityId, Snapshot};

/// An entity: its kind, its id, and the hash of its spawn fields.
type Shown = (usize, EntityId, u64);

fn entities(state: &Snapshot) -> impl Iterator<Item = Shown> {
    let numbered = state.entities().enumerate();
    numbered.map(|(index, (kind, id))| (kind, id, state.spawn_hash(index)))
}

/// The entities of the last playback call, and how they differ from the previous call.
#[derive(Debug, Default)]
pub(super) struct Spawns {
    /// The shown entities, sorted.
    shown: Vec<Shown>,
    added: Vec<EntityId>,
    removed: Vec<EntityId>,
}

impl Spawns {
    /// Notes that the entities of `state` are shown now.
    ///
    /// Cost: a comparison of the entities, and a copy if they differ.
    pub(super) fn update(&mut self, state: &Snapshot) {
        self.added.clear();
        self.removed.clear();
        if self.shown.iter().copied().eq(entities(state)) {
            return;
        }
        let mut before = self.shown.iter().copied().peekable();
        for entity in entities(state) {
            while let Some((_, removed, _)) = before.next_if(|other| *other < entity) {
                self.removed.push(removed);
            }
            if before.next_if_eq(&entity).is_none() {
                self.added.push(entity.1);
            }
        }
        self.removed.extend(before.map(|(_, id, _)| id));
        self.shown.clear();
        self.shown.extend(entities(state));
    }

    pub(super) fn added(&self) -> &[EntityId] {
        &self.added
    }

    pub(super) fn removed(&self) -> &[EntityId] {
        &self.removed
    }
}

#[cfg(test)]
mod tests {
    use kinepack::schema::{Field, FieldKind};
    use kinepack::{Schema, Tick};

    use super::*;

    #[test]
    fn lists_hold_the_difference_of_two_calls() {
        let mut spawns = Spawns::default();
        let ids = |ids: &[u32]| ids.iter().copied().map(EntityId).collect::<Vec<_>>();
        let fields = || vec![Field::new("lit", FieldKind::Bool)];
        let schema = Schema::builder()
            .kind_of_fields("lamp", fields())
            .kind_of_fields("candle", fields())
            .build()
            .unwrap();
        for ([lamps, candles], added, removed) in [
            ([&[2, 4, 6][..], &[]], &[2, 4, 6][..], &[][..]),
            ([&[2, 4, 6], &[]], &[], &[]),
            ([&[1, 4, 7, 8], &[]], &[1, 7, 8], &[2, 6]),
            ([&[1, 4], &[7, 8]], &[7, 8], &[7, 8]),
            ([&[], &[]], &[], &[1, 4, 7, 8]),
            ([&[9], &[3]], &[9, 3], &[]),
        ] {
            let mut state = Snapshot::new(&schema, Tick(0));
            for (kind, shown) in [lamps, candles].into_iter().enumerate() {
                shown.iter().for_each(|id| state.push_lanes_of(kind, EntityId(*id), &[1]).unwrap());
            }
            spawns.update(&state);
            assert_eq!(spawns.added(), ids(added));
            assert_eq!(spawns.removed(), ids(removed));
        }
    }
}
