//! Finds the difference between two snapshots: the entities that were removed, added and changed.
//! An encoder makes the same comparison.

use alloc::vec::Vec;
use core::iter;

use super::alignment::Alignment;
use super::changed::find_changed;
use super::ids::EntityId;
use super::patch::check_rows;
use super::store::Snapshot;
use crate::EncodeError;

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
    /// The indices in the snapshot of the added entities, increasing. All of them are in
    /// [`sent`](Self::sent).
    pub added: Vec<u32>,
    changed: Vec<u32>,
    alignment: Alignment,
    aligned: Vec<Vec<u32>>,
    fresh: Vec<Fresh>,
}

/// An entity whose values may be others in a newer state.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    row: u32,
    /// The entity's row in the source.
    source_row: u32,
    source: u8,
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
        self.added.clear();
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
        self.alignment.find_added(entities, &mut self.added);
        let mut added = self.added.iter().copied().peekable();
        self.sent.clear();
        for index in &self.changed {
            self.sent.extend(iter::from_fn(|| added.next_if(|added| added < index)));
            added.next_if_eq(index);
            self.sent.push(*index);
        }
        self.sent.extend(added);
    }

    /// Overwrites `out` with what a receiver of `baseline` holds once it gets only the entities of
    /// `snapshot` at `indices`, and no longer has the removed ones. The two snapshots must be those
    /// of the last comparison. An added entity that is not among `indices` has zero in every lane.
    /// The memory is reused. The cost is a copy of a snapshot.
    ///
    /// # Errors
    /// [`EncodeError::EntitiesDiffer`] if the last comparison was of other entities, and
    /// [`EncodeError::BadIndices`]. After an error, `out` is unchanged.
    pub fn write_part(
        &self,
        baseline: &Snapshot,
        snapshot: &Snapshot,
        indices: &[u32],
        out: &mut Snapshot,
    ) -> Result<(), EncodeError> {
        snapshot.check_indices(indices)?;
        out.check_schema(snapshot)?;
        let base = match baseline.has_same_entities(snapshot) {
            true => &baseline.columns,
            false => &self.aligned,
        };
        let has_length = |(base, new): (&Vec<u32>, &Vec<u32>)| base.len() == new.len();
        if base.len() != snapshot.lane_count()
            || !base.iter().zip(&snapshot.columns).all(has_length)
        {
            return Err(EncodeError::EntitiesDiffer);
        }
        out.tick = snapshot.tick;
        out.entities.clone_from(&snapshot.entities);
        let mut rest = indices;
        for (nth, kind) in snapshot.kinds.list.iter().enumerate() {
            let range = snapshot.entities.range(nth);
            let count = rest.partition_point(|index| (*index as usize) < range.end);
            let (sent, after) = rest.split_at(count);
            rest = after;
            let columns = out.columns[kind.lanes()].iter_mut().zip(&base[kind.lanes()]);
            for ((column, base), new) in columns.zip(&snapshot.columns[kind.lanes()]) {
                column.clone_from(base);
                for row in sent.iter().map(|index| *index as usize - range.start) {
                    column[row] = new[row];
                }
            }
        }
        Ok(())
    }

    /// Brings a snapshot that [`Snapshot::gather_from`] made up to date, and finds what changed in
    /// it. The snapshot takes the tick of the first source and the values of the same `rows` from
    /// newer states of the sources, in which no entity was added or removed. If `may_differ` is
    /// false for a row, the snapshot must have the row's values already.
    ///
    /// Costs a call of `may_differ` for each row, and a comparison if the row may differ.
    ///
    /// # Errors
    /// The errors of [`Snapshot::gather_from`], and [`EncodeError::EntitiesDiffer`] if the number of
    /// rows of a kind is not that of its entities. After an error nothing has changed.
    pub fn update(
        &mut self,
        snapshot: &mut Snapshot,
        sources: &[&Snapshot],
        rows: &[(u32, u8)],
        may_differ: impl Fn(u32, u8) -> bool,
    ) -> Result<(), EncodeError> {
        sources.iter().try_for_each(|source| snapshot.check_schema(source))?;
        let Some(first) = sources.first() else { return Err(EncodeError::EntitiesDiffer) };
        let is_alike = |source: &&Snapshot| source.entities.ranges().eq(first.entities.ranges());
        let alike = sources.iter().take_while(|source| is_alike(source)).count();
        check_rows(rows, first.len(), alike)?;
        let Snapshot { entities, columns, kinds, .. } = snapshot;
        let count = |kind: usize| {
            let end = first.entities.range(kind).end;
            rows.partition_point(|(index, _)| (*index as usize) < end)
        };
        let has_count = |kind: usize| entities.range(kind).end == count(kind);
        if rows.len() != entities.len() || !(0..entities.kinds()).all(has_count) {
            return Err(EncodeError::EntitiesDiffer);
        }
        snapshot.tick = first.tick;
        let Self { removed, sent, added, changed: differs, fresh, .. } = self;
        removed.clear();
        sent.clear();
        added.clear();
        let mut of_sources = Vec::with_capacity(alike);
        for (kind, rules) in kinds.list.iter().enumerate() {
            let (own, of_kind) = (entities.range(kind), first.entities.range(kind));
            fresh.clear();
            for (row, (index, source)) in (0..).zip(&rows[own.clone()]) {
                if may_differ(*index, *source) {
                    let source_row = index - of_kind.start as u32;
                    fresh.push(Fresh { row, source_row, source: *source });
                }
            }
            differs.clear();
            differs.resize(fresh.len(), 0);
            for lane in rules.lanes() {
                of_sources.clear();
                of_sources.extend(sources[..alike].iter().map(|source| &source.columns[lane][..]));
                let column = &mut columns[lane][..];
                for (differs, fresh) in differs.iter_mut().zip(&*fresh) {
                    let value = of_sources[usize::from(fresh.source)][fresh.source_row as usize];
                    let old = &mut column[fresh.row as usize];
                    *differs |= *old ^ value;
                    *old = value;
                }
            }
            let is_changed = |(_, differs): &(_, &u32)| **differs != 0;
            let indices = fresh.iter().map(|fresh| own.start as u32 + fresh.row);
            sent.extend(indices.zip(&*differs).filter(is_changed).map(|(index, _)| index));
        }
        Ok(())
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

    /// A state of entities with these ids and values.
    fn snapshot(tick: u32, rows: &[(u32, u32)]) -> Snapshot {
        let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        rows.iter().for_each(|(id, value)| snapshot.push_lanes(EntityId(*id), &[*value]).unwrap());
        snapshot
    }

    #[test]
    fn removed_added_and_changed_entities_are_found() {
        let snapshot = |rows: &[(u32, u32)]| snapshot(0, rows);
        let mut difference = Difference::default();
        let before = snapshot(&[(1, 0), (2, 5), (4, 7), (6, 6)]);
        difference.find(&before, &snapshot(&[(2, 5), (3, 0), (4, 8), (9, 9)]));
        assert_eq!(difference.removed, [EntityId(1), EntityId(6)]);
        assert_eq!((&difference.sent, &difference.added), (&vec![1, 2, 3], &vec![1, 3]));
        difference.find(&before, &before);
        assert!(difference.is_empty() && difference.added.is_empty());
        difference.find(&before, &snapshot(&[(1, 0), (2, 6), (4, 7), (6, 6)]));
        assert!(difference.removed.is_empty());
        assert_eq!(difference.sent, [1]);
    }

    #[test]
    fn a_part_has_the_baselines_values_except_those_that_were_sent() {
        let before = snapshot(1, &[(1, 10), (2, 20), (4, 40), (6, 60)]);
        let mut difference = Difference::default();
        let mut out = snapshot(0, &[(9, 9)]);
        let after = snapshot(2, &[(2, 21), (3, 31), (4, 41), (9, 91)]);
        difference.find(&before, &after);
        difference.write_part(&before, &after, &[1, 2, 3], &mut out).unwrap();
        assert_eq!(out, snapshot(2, &[(2, 20), (3, 31), (4, 41), (9, 91)]));
        difference.write_part(&before, &after, &[], &mut out).unwrap();
        assert_eq!(out, snapshot(2, &[(2, 20), (3, 0), (4, 40), (9, 0)]));
        let same = snapshot(3, &[(1, 11), (2, 21), (4, 41), (6, 61)]);
        difference.find(&before, &same);
        difference.write_part(&before, &same, &[3], &mut out).unwrap();
        assert_eq!(out, snapshot(3, &[(1, 10), (2, 20), (4, 40), (6, 61)]));

        let refused = difference.write_part(&before, &same, &[1, 4], &mut out);
        assert_eq!(refused, Err(EncodeError::BadIndices { index: 4 }));
        let refused = difference.write_part(&before, &snapshot(4, &[(5, 0)]), &[], &mut out);
        assert_eq!(refused, Err(EncodeError::EntitiesDiffer));
        assert_eq!(out, snapshot(3, &[(1, 10), (2, 20), (4, 40), (6, 61)]));
    }

    #[test]
    fn an_update_takes_what_may_differ_and_lists_what_does() {
        let snapshot = |rows: &[(u32, u32)]| snapshot(0, rows);
        let sources =
            [[(1, 10), (3, 30), (5, 50)], [(1, 11), (3, 31), (5, 51)]].map(|rows| snapshot(&rows));
        let rows = [(0, 1), (1, 0), (2, 0)];
        let (mut out, mut difference) = (snapshot(&[]), Difference::default());
        out.gather_from(&sources.each_ref(), &rows).unwrap();
        let newer =
            [[(1, 10), (3, 30), (5, 55)], [(1, 12), (3, 32), (5, 52)]].map(|rows| snapshot(&rows));
        let newer = newer.each_ref();
        let may_differ = |index, source| (index, source) != (2, 0);
        difference.update(&mut out, &newer, &rows, may_differ).unwrap();
        assert_eq!((&out, &difference.sent), (&snapshot(&[(1, 12), (3, 30), (5, 50)]), &vec![0]));
        difference.update(&mut out, &newer, &rows, |_, _| true).unwrap();
        let last = snapshot(&[(1, 12), (3, 30), (5, 55)]);
        assert_eq!((&out, &difference.sent), (&last, &vec![2]));

        for (sources, rows, error) in [
            (&newer[..], &rows[1..], EncodeError::EntitiesDiffer),
            (&newer[..1], &rows[..], EncodeError::BadIndices { index: 0 }),
            (&[], &rows[..], EncodeError::EntitiesDiffer),
        ] {
            let refused = difference.update(&mut out, sources, rows, |_, _| true);
            assert_eq!(refused, Err(error));
        }
        assert_eq!((&out, &difference.sent), (&last, &vec![2]));
    }
}
