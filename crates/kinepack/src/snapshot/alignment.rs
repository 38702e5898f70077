//! Finds and codes the set of entities: those added and those removed since the baseline. Also
//! lines up the baseline's lanes with the snapshot's entities. An added entity has zero in every
//! lane of the lined-up baseline. See `spec/CODEC.md`, section 6.

use alloc::vec::Vec;

use super::entities::Entities;
use super::ids::{EntityId, first_at_least};
use super::sets::{GapTable, SetCoding, read_set, write_set};
use super::store::Snapshot;
use crate::DecodeError;
use crate::bits::{BitReader, BitSink};
use crate::limits::MAX_KINDS;

/// Stored in place of a row in the baseline if the baseline does not have the entity.
const ADDED: u32 = u32::MAX;

/// The row in the baseline of each entity of a snapshot. An alignment keeps its memory from
/// snapshot to snapshot.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    kinds: Vec<OfKind>,
    scratch: Vec<u32>,
    runs: Vec<Run>,
}

/// Successive entities of a snapshot that are successive in the baseline, or all added.
#[derive(Debug)]
struct Run {
    /// The row of the first entity in the baseline, or [`ADDED`].
    source: u32,
    len: usize,
}

/// The rows of the entities of one kind.
#[derive(Debug, Default)]
struct OfKind {
    /// For each entity, its row in the baseline, or [`ADDED`].
    sources: Vec<u32>,
    /// The rows in the baseline of the removed entities.
    removed: Vec<u32>,
    added: Vec<EntityId>,
}

impl Alignment {
    /// Makes an alignment with room for `kinds` kinds. A packet with at most that many kinds then
    /// takes no more memory before it is checked.
    pub(super) fn with_capacity(kinds: usize) -> Self {
        let mut made = Self::default();
        made.kinds.resize_with(kinds, OfKind::default);
        made
    }

    /// Writes the difference between the snapshot's set of entities and the baseline's.
    /// [`compare`](Self::compare) must be called first.
    pub(super) fn write(&self, sink: &mut impl BitSink, baseline: &Entities, gaps: &GapTable) {
        let changing = self.changing_kinds();
        if self.kinds.len() > 1 {
            write_kinds(sink, changing, present_kinds(baseline), self.kinds.len());
        }
        for (kind, of_kind) in self.kinds.iter().enumerate() {
            if has_kind(changing, kind) || self.kinds.len() == 1 {
                of_kind.write(sink, baseline.of_kind(kind).len(), gaps);
            }
        }
    }

    /// Returns the kinds whose set of entities differs from the baseline's.
    fn changing_kinds(&self) -> u64 {
        let changes = |of_kind: &OfKind| !of_kind.removed.is_empty() || !of_kind.added.is_empty();
        kinds_where(self.kinds.iter().map(changes))
    }

    /// Compares the entities of a baseline with those of a snapshot in one pass. `columns` are the
    /// snapshot's, because an entity with other values in its spawn fields counts as another
    /// entity.
    pub(super) fn compare(
        &mut self,
        baseline: &Snapshot,
        entities: &Entities,
        columns: &[Vec<u32>],
    ) {
        self.kinds.resize_with(entities.kinds(), OfKind::default);
        let kinds = self.kinds.iter_mut().zip(&baseline.kinds.list);
        for (index, (of_kind, kind)) in kinds.enumerate() {
            let spawn = kind.spawn_lanes();
            let is_same = |base: usize, row: usize| {
                spawn.iter().all(|lane| baseline.columns[*lane][base] == columns[*lane][row])
            };
            let is_same = (!spawn.is_empty()).then_some(is_same);
            let base = baseline.entities.of_kind(index);
            of_kind.compare(base, entities.of_kind(index), is_same);
        }
    }

    /// Returns the rows in the baseline of the removed entities of each kind.
    pub(super) fn removed(&self) -> impl Iterator<Item = &[u32]> {
        self.kinds.iter().map(|of_kind| &of_kind.removed[..])
    }

    /// Returns whether the entity at a row of a kind is not in the baseline.
    #[inline]
    pub(super) fn is_added(&self, kind: usize, row: usize) -> bool {
        self.kinds[kind].sources[row] == ADDED
    }

    /// Returns, for each of the snapshot's entities, whether it is not in the baseline.
    pub(super) fn are_added(&self) -> impl Iterator<Item = bool> {
        self.kinds.iter().flat_map(|of_kind| of_kind.sources.iter().map(|source| *source == ADDED))
    }

    /// Replaces `added` with the indices of the entities that are not in the baseline. `entities`
    /// are those of the snapshot.
    pub(super) fn find_added(&self, entities: &Entities, added: &mut Vec<u32>) {
        added.clear();
        for (of_kind, range) in self.kinds.iter().zip(entities.ranges()) {
            let mut rows = 0;
            for id in &of_kind.added {
                let ids = &entities.ids()[range.start + rows..range.end];
                rows += first_at_least(ids, *id) + 1;
                added.push((range.start + rows - 1) as u32);
            }
        }
    }

    /// Reads the set of entities, which has at most `max_entities`, into `entities`.
    pub(super) fn read(
        &mut self,
        reader: &mut BitReader<'_>,
        baseline: &Snapshot,
        entities: &mut Entities,
        gaps: &GapTable,
        max_entities: u32,
    ) -> Result<(), DecodeError> {
        let limit = max_entities;
        let (baseline, kinds) = (&baseline.entities, &baseline.kinds.list);
        self.kinds.resize_with(baseline.kinds(), OfKind::default);
        let changing = match baseline.kinds() {
            1 => 1,
            kinds => read_kinds(reader, present_kinds(baseline), kinds)?,
        };
        entities.clear();
        for (kind, of_kind) in self.kinds.iter_mut().enumerate() {
            let begin = entities.len();
            let base = baseline.of_kind(kind);
            of_kind.removed.clear();
            of_kind.added.clear();
            let mut added = 0;
            if has_kind(changing, kind) {
                let coding = SetCoding::BitsOrGaps(gaps);
                read_set(reader, base.len(), coding, &mut of_kind.removed, &mut self.scratch)?;
                added = reader.read_gamma()? - 1;
            }
            let count = (begin + base.len() - of_kind.removed.len()) as u64 + added;
            if count > u64::from(limit) {
                return Err(DecodeError::TooManyEntities { count, limit });
            }
            of_kind.read_added(reader, added)?;
            let may_return = !kinds[kind].spawn_lanes().is_empty();
            if !of_kind.merge(base, entities.ids_mut(), may_return) {
                return Err(DecodeError::BadEntitySet { at_bit: reader.position_bits() });
            }
            entities.finish_kind(kind);
        }
        match entities.shared_id() {
            Some(_) => Err(DecodeError::BadEntitySet { at_bit: reader.position_bits() }),
            None => Ok(()),
        }
    }

    /// Fills `columns` with the baseline's columns in the order of the snapshot's entities.
    pub(super) fn line_up(&mut self, baseline: &Snapshot, columns: &mut [Vec<u32>]) {
        let Self { kinds, runs, .. } = self;
        for (of_kind, kind) in kinds.iter().zip(&baseline.kinds.list) {
            of_kind.find_runs(runs);
            let columns = columns[kind.lanes()].iter_mut();
            for (column, base) in columns.zip(&baseline.columns[kind.lanes()]) {
                column.clear();
                column.reserve(of_kind.sources.len());
                for Run { source, len } in &*runs {
                    match base.get(*source as usize..) {
                        Some(values) => column.extend_from_slice(&values[..*len]),
                        None => column.resize(column.len() + len, 0),
                    }
                }
            }
        }
    }
}

/// Returns the set of the kinds whose item in `are_in` is true. A set of kinds has one bit per
/// kind, the first kind lowest.
fn kinds_where(are_in: impl Iterator<Item = bool>) -> u64 {
    const { assert!(MAX_KINDS <= 64) };
    are_in.enumerate().fold(0, |kinds, (kind, is_in)| kinds | u64::from(is_in) << kind)
}

fn has_kind(kinds: u64, kind: usize) -> bool {
    kinds >> kind & 1 != 0
}

/// Returns the kinds that have entities.
fn present_kinds(entities: &Entities) -> u64 {
    kinds_where(entities.ranges().map(|range| !range.is_empty()))
}

/// Writes the set of kinds that change, which has at least one kind. The short form has bits only
/// for the kinds that are `present` in the baseline. If these bits are all 0, the full form
/// follows.
fn write_kinds(sink: &mut impl BitSink, changing: u64, present: u64, kinds: usize) {
    let is_short = changing & !present == 0;
    for kind in (0..kinds).filter(|kind| has_kind(present, *kind)) {
        sink.write_bool(is_short && has_kind(changing, kind));
    }
    if !is_short {
        sink.write(changing, kinds as u32);
    }
}

/// Reads the set that [`write_kinds`] wrote.
fn read_kinds(reader: &mut BitReader<'_>, present: u64, kinds: usize) -> Result<u64, DecodeError> {
    let mut changing = 0;
    for kind in (0..kinds).filter(|kind| has_kind(present, *kind)) {
        changing |= u64::from(reader.read_bool()?) << kind;
    }
    if changing == 0 { reader.read(kinds as u32) } else { Ok(changing) }
}

impl OfKind {
    fn write(&self, sink: &mut impl BitSink, baseline_len: usize, gaps: &GapTable) {
        write_set(sink, baseline_len, &self.removed, SetCoding::BitsOrGaps(gaps));
        sink.write_gamma(self.added.len() as u64 + 1);
        let mut next = 0;
        for id in &self.added {
            sink.write_gamma(u64::from(id.0) - next + 1);
            next = u64::from(id.0) + 1;
        }
    }

    /// Compares the sorted lists of a kind's ids. If an id is in both lists, `is_same` compares the
    /// two rows to decide whether the entity is the same; without it, the entity is the same.
    ///
    /// Few entities are added or removed at once, so the lists are compared run by run.
    fn compare(
        &mut self,
        baseline: &[EntityId],
        ids: &[EntityId],
        is_same: Option<impl Fn(usize, usize) -> bool>,
    ) {
        self.sources.clear();
        self.removed.clear();
        self.added.clear();
        let (mut base, mut row) = (0, 0);
        while row < ids.len() {
            let known = common_len(&baseline[base..], &ids[row..]);
            let same = match &is_same {
                None => known,
                Some(is_same) => (0..known).take_while(|n| is_same(base + n, row + n)).count(),
            };
            self.sources.extend(base as u32..(base + same) as u32);
            (base, row) = (base + same, row + same);
            let Some(&id) = ids.get(row) else { break };
            while base < baseline.len() && baseline[base] < id {
                self.removed.push(base as u32);
                base += 1;
            }
            let is_known = base < baseline.len() && baseline[base] == id;
            if is_known && same == known {
                // Removed entities ended the run.
                continue;
            }
            if is_known {
                self.removed.push(base as u32);
                base += 1;
            }
            self.sources.push(ADDED);
            self.added.push(id);
            row += 1;
        }
        self.removed.extend(base as u32..baseline.len() as u32);
    }

    /// Replaces `runs` with those of the snapshot's entities.
    fn find_runs(&self, runs: &mut Vec<Run>) {
        runs.clear();
        let mut rest = &self.sources[..];
        while let Some(&source) = rest.first() {
            let len = match source {
                ADDED => rest.iter().take_while(|source| **source == ADDED).count(),
                first => rising_len(rest, first),
            };
            runs.push(Run { source, len });
            rest = &rest[len..];
        }
    }

    fn read_added(&mut self, reader: &mut BitReader<'_>, count: u64) -> Result<(), DecodeError> {
        let mut next = 0;
        for _ in 0..count {
            let id = next + reader.read_gamma()? - 1;
            let at_bit = reader.position_bits();
            self.added.push(EntityId(
                u32::try_from(id).map_err(|_| DecodeError::BadEntitySet { at_bit })?,
            ));
            next = id + 1;
        }
        Ok(())
    }

    /// Merges the baseline's entities that were not removed with the added ones into one sorted
    /// list, and appends that list to `ids`. Returns false if the baseline already has an added
    /// entity that the packet does not remove. If `may_return` is true, a removed entity may also
    /// be added again, with other values in its spawn fields.
    fn merge(&mut self, baseline: &[EntityId], ids: &mut Vec<EntityId>, may_return: bool) -> bool {
        let Self { sources, removed, added } = self;
        sources.clear();
        let mut removed = removed.iter().peekable();
        let mut added = added.iter().peekable();
        for (index, id) in baseline.iter().enumerate() {
            while let Some(new) = added.next_if(|new| *new < id) {
                ids.push(*new);
                sources.push(ADDED);
            }
            let is_removed = removed.next_if(|next| **next as usize == index).is_some();
            if added.next_if_eq(&id).is_some() {
                if !is_removed || !may_return {
                    return false;
                }
                ids.push(*id);
                sources.push(ADDED);
                continue;
            }
            if is_removed {
                continue;
            }
            ids.push(*id);
            sources.push(index as u32);
        }
        for new in added {
            ids.push(*new);
            sources.push(ADDED);
        }
        true
    }
}

/// The number of elements that are compared at once.
const BLOCK: usize = 16;

/// The number of ids at the beginning of two lists that are equal.
fn common_len(a: &[EntityId], b: &[EntityId]) -> usize {
    let differs = |any, (a, b): (&EntityId, &EntityId)| any | (a.0 ^ b.0);
    let (blocks_a, blocks_b) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
    let blocks = blocks_a.iter().zip(blocks_b);
    // Within a block, the loop has no early exit, so that the compiler can vectorize it.
    let equal = blocks.take_while(|(a, b)| a.iter().zip(*b).fold(0, differs) == 0).count();
    let rest = a.iter().zip(b).skip(equal * BLOCK);
    equal * BLOCK + rest.take_while(|(a, b)| a == b).count()
}

/// The number of elements at the beginning of a list that rise by one from `first`.
fn rising_len(list: &[u32], first: u32) -> usize {
    let blocks = list.as_chunks::<BLOCK>().0.iter().zip((first..).step_by(BLOCK));
    let is_rising = |(block, first): &(&[u32; BLOCK], u32)| {
        block.iter().zip(0..).fold(0, |any, (element, n)| any | (element ^ (first + n))) == 0
    };
    let rising = blocks.take_while(is_rising).count() * BLOCK;
    let rest = list.iter().zip(first..).skip(rising);
    rising + rest.take_while(|(element, expected)| *element == expected).count()
}
