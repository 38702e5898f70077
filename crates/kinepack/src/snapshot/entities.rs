//! The entities of a snapshot, kind by kind.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::ids::{EntityId, first_at_least};

/// The ids of a snapshot's entities, kind by kind, in increasing order within each kind. An
/// entity's *index* counts from the first entity of all, and its *row* from the first entity of its
/// kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entities {
    ids: Vec<EntityId>,
    /// For each kind, the index after its last entity.
    ends: Vec<u32>,
}

impl Clone for Entities {
    fn clone(&self) -> Self {
        Self { ids: self.ids.clone(), ends: self.ends.clone() }
    }

    /// This `clone_from` reuses the memory, unlike a derived one.
    fn clone_from(&mut self, other: &Self) {
        self.ids.clone_from(&other.ids);
        self.ends.clone_from(&other.ends);
    }
}

impl Entities {
    pub(super) fn new(kinds: usize) -> Self {
        Self { ids: Vec::new(), ends: vec![0; kinds] }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The ids of all entities, by index.
    #[inline]
    pub(super) fn ids(&self) -> &[EntityId] {
        &self.ids
    }

    /// The number of kinds in the schema.
    #[inline]
    pub(super) fn kinds(&self) -> usize {
        self.ends.len()
    }

    /// The indices of the entities of a kind.
    #[inline]
    pub(super) fn range(&self, kind: usize) -> Range<usize> {
        let begin = kind.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[kind] as usize
    }

    /// The indices of the entities of each kind.
    pub(super) fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        (0..self.kinds()).map(|kind| self.range(kind))
    }

    /// The ids of the entities of a kind, by row.
    #[inline]
    pub(super) fn of_kind(&self, kind: usize) -> &[EntityId] {
        &self.ids[self.range(kind)]
    }

    /// The id of the last entity of a kind.
    #[inline]
    pub(super) fn last_of_kind(&self, kind: usize) -> Option<EntityId> {
        match self.ends.len() {
            1 => self.ids.last().copied(),
            _ => self.of_kind(kind).last().copied(),
        }
    }

    /// The kind of the entity at `index`.
    #[inline]
    pub(super) fn kind_at(&self, index: usize) -> usize {
        if let [_] = self.ends[..] {
            return 0;
        }
        self.ends.iter().filter(|end| **end as usize <= index).count()
    }

    /// The kind and the row of the entity at `index`.
    #[inline]
    pub(super) fn place(&self, index: usize) -> (usize, usize) {
        let kind = self.kind_at(index);
        (kind, index - self.range(kind).start)
    }

    /// The index of the entity with this id, in any kind.
    pub(super) fn position(&self, id: EntityId) -> Option<usize> {
        (0..self.kinds()).find_map(|kind| self.position_in(kind, id))
    }

    /// The index of the entity with this id, if it is of this kind.
    pub(super) fn position_in(&self, kind: usize, id: EntityId) -> Option<usize> {
        let row = self.of_kind(kind).binary_search(&id).ok()?;
        Some(self.range(kind).start + row)
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.ends.fill(0);
    }

    /// Appends an entity to those of its kind. The entity's id must be above all ids of the kind.
    #[inline]
    pub(super) fn push(&mut self, kind: usize, id: EntityId) {
        if let [end] = &mut self.ends[..] {
            self.ids.push(id);
            *end += 1;
        } else {
            self.append(kind, &[id]);
        }
    }

    /// Appends entities to those of a kind. The appended ids must increase, and be above all ids of
    /// the kind.
    pub(super) fn append(&mut self, kind: usize, ids: &[EntityId]) {
        let end = self.ends[kind] as usize;
        if end == self.ids.len() {
            self.ids.extend_from_slice(ids);
        } else {
            self.ids.splice(end..end, ids.iter().copied());
        }
        self.ends[kind..].iter_mut().for_each(|end| *end += ids.len() as u32);
    }

    /// Removes the entities of a kind from the row `rows` on.
    pub(super) fn truncate_kind(&mut self, kind: usize, rows: usize) {
        let range = self.range(kind);
        self.ids.drain(range.start + rows..range.end);
        let removed = (range.len() - rows) as u32;
        self.ends[kind..].iter_mut().for_each(|end| *end -= removed);
    }

    /// The list of all ids, for rebuilding it after [`clear`](Self::clear). For each kind in order,
    /// append its entities to the list, then call [`finish_kind`](Self::finish_kind).
    pub(super) fn ids_mut(&mut self) -> &mut Vec<EntityId> {
        &mut self.ids
    }

    /// Ends a kind, which gets all entities that were appended since the previous kind ended.
    pub(super) fn finish_kind(&mut self, kind: usize) {
        self.ends[kind] = self.ids.len() as u32;
    }

    /// Returns whether `self` and `other` have the same ids in the same kinds.
    #[inline]
    pub(super) fn are_same(&self, other: &Self) -> bool {
        // The loop has no early exit, so that the compiler can vectorize it.
        let is_any = |any, (a, b): (&EntityId, &EntityId)| any | (a.0 ^ b.0);
        self.ends == other.ends && self.ids.iter().zip(&other.ids).fold(0, is_any) == 0
    }

    /// Finds an id that entities of two kinds have.
    pub(super) fn shared_id(&self) -> Option<EntityId> {
        let pairs = (1..self.kinds()).flat_map(|kind| (0..kind).map(move |other| (kind, other)));
        { pairs }.find_map(|(kind, other)| {
            let (mut few, mut many) = (self.of_kind(kind), self.of_kind(other));
            if few.len() > many.len() {
                core::mem::swap(&mut few, &mut many);
            }
            if few.last() < many.first() || many.last() < few.first() {
                return None;
            }
            few.iter().copied().find(|id| {
                many = &many[first_at_least(many, *id)..];
                many.first() == Some(id)
            })
        })
    }

    /// The size on the heap, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<EntityId>() + self.ends.capacity() * size_of::<u32>()
    }
}
