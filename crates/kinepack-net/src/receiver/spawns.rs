//! Lists the entities that were added, were removed or jumped between two playback calls.
//!
//! [`Spawns`] compares the ids that are shown now with the ids of the previous call, and the shown
//! lanes of cut fields with those of the previous call. Memory, reused in each call: four lists of
//! at most one state's ids, and two lists of the cut lanes.

use kinepack::{EntityId, Snapshot};

use super::playout_point::PlayoutPoint;

/// An entity: its kind, its id, and the hash of its spawn fields.
type Shown = (usize, EntityId, u64);

fn entities(state: &Snapshot) -> impl Iterator<Item = Shown> {
    let numbered = state.entities().enumerate();
    numbered.map(|(index, (kind, id))| (kind, id, state.spawn_hash(index)))
}

/// The lanes of the cut fields as they are shown at a moment, each with its entity, sorted by
/// entity. Kinds without such fields cost nothing here.
fn cut_lanes(point: &PlayoutPoint<'_>) -> impl Iterator<Item = (Shown, u32)> {
    let kinds = point.state().kinds().iter().enumerate();
    kinds.filter(|(_, fields)| !fields.cut_lanes().is_empty()).flat_map(|(kind, fields)| {
        point.samples_of_kind(kind).flat_map(move |sample| {
            // The later state is not shown before its time, not even in part.
            let is_after = sample.between.ratio >= 1.0;
            let (state, index) = if is_after { sample.to } else { sample.from };
            let entity = (kind, sample.id, state.spawn_hash(index));
            let row = index - state.of_kind(kind).start;
            fields.cut_lanes().iter().map(move |lane| (entity, state.lane(*lane)[row]))
        })
    })
}

/// The entities of the last playback call, and how they differ from the previous call.
#[derive(Debug, Default)]
pub(super) struct Spawns {
    /// The shown entities, sorted.
    shown: Vec<Shown>,
    added: Vec<EntityId>,
    removed: Vec<EntityId>,
    /// The shown [`cut_lanes`].
    cut_lanes: Vec<(Shown, u32)>,
    /// Scratch memory: the cut lanes of the previous call.
    cut_lanes_before: Vec<(Shown, u32)>,
    cut: Vec<EntityId>,
}

impl Spawns {
    /// Notes that the moment `point` is shown now.
    ///
    /// Cost: a comparison of the entities, and a copy if they differ. In kinds with cut fields also
    /// a sample of each entity, and a copy of these fields' lanes.
    pub(super) fn update(&mut self, point: &PlayoutPoint<'_>) {
        self.update_entities(point.state());
        std::mem::swap(&mut self.cut_lanes, &mut self.cut_lanes_before);
        self.cut_lanes.clear();
        self.cut_lanes.extend(cut_lanes(point));
        self.find_cuts();
    }

    /// Lists the entities that both calls show with different cut lanes.
    fn find_cuts(&mut self) {
        self.cut.clear();
        if self.cut_lanes == self.cut_lanes_before {
            return;
        }
        let mut before = self.cut_lanes_before.iter().peekable();
        for (entity, lane) in &self.cut_lanes {
            while before.next_if(|(other, _)| other < entity).is_some() {}
            let before = before.next_if(|(other, _)| other == entity);
            let (_, id, _) = entity;
            // An entity may have several cut lanes.
            if before.is_some_and(|(_, before)| before != lane) && self.cut.last() != Some(id) {
                self.cut.push(*id);
            }
        }
    }

    fn update_entities(&mut self, state: &Snapshot) {
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

    pub(super) fn cut(&self) -> &[EntityId] {
        &self.cut
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
            spawns.update_entities(&state);
            assert_eq!(spawns.added(), ids(added));
            assert_eq!(spawns.removed(), ids(removed));
        }
    }
}
