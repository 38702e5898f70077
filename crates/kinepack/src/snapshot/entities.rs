//! The set of entities: which were added and removed since the baseline, and the baseline's lanes
//! lined up with the snapshot's entities. An added entity has zero in every lane of the baseline.
//! `spec/CODEC.md`, section 6.

use alloc::vec::Vec;

use super::sets::{GapTable, SetCoding, read_gamma, read_set, write_gamma, write_set};
use super::store::{EntityId, Snapshot};
use crate::DecodeError;
use crate::bits::{BitReader, BitSink};

/// The source of an entity that the baseline does not have.
const ADDED: u32 = u32::MAX;

/// Whether two sets of entities are the same.
pub(super) fn are_same(a: &[EntityId], b: &[EntityId]) -> bool {
    // Without an early exit the compiler can vectorize the comparison.
    a.len() == b.len() && a.iter().zip(b).fold(0, |any, (a, b)| any | (a.0 ^ b.0)) == 0
}

/// For each entity of a snapshot, its index in the baseline. Keeps its memory from snapshot to
/// snapshot.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    /// For each entity, an index into the baseline or [`ADDED`].
    sources: Vec<u32>,
    removed: Vec<u32>,
    added: Vec<EntityId>,
    scratch: Vec<u32>,
}

impl Alignment {
    /// Writes how the snapshot's set of entities differs from the baseline's. Call
    /// [`compare`](Self::compare) first.
    pub(super) fn write(&self, sink: &mut impl BitSink, baseline_len: usize, gaps: &GapTable) {
        write_set(sink, baseline_len, &self.removed, SetCoding::BitsOrGaps(gaps));
        write_gamma(sink, self.added.len() as u64 + 1);
        let mut next = 0;
        for id in &self.added {
            write_gamma(sink, u64::from(id.0) - next + 1);
            next = u64::from(id.0) + 1;
        }
    }

    /// Compares the two sorted lists in one pass.
    pub(super) fn compare(&mut self, baseline: &[EntityId], ids: &[EntityId]) {
        self.sources.clear();
        self.removed.clear();
        self.added.clear();
        let mut base = 0;
        for &id in ids {
            while base < baseline.len() && baseline[base] < id {
                self.removed.push(base as u32);
                base += 1;
            }
            if base < baseline.len() && baseline[base] == id {
                self.sources.push(base as u32);
                base += 1;
            } else {
                self.sources.push(ADDED);
                self.added.push(id);
            }
        }
        self.removed.extend(base as u32..baseline.len() as u32);
    }

    /// The removed entities, by index into the baseline.
    pub(super) fn removed(&self) -> &[u32] {
        &self.removed
    }

    /// Whether the snapshot's entity at `index` is not in the baseline.
    pub(super) fn is_added(&self, index: usize) -> bool {
        self.sources[index] == ADDED
    }

    /// Reads the set of entities, at most `max_entities`, into `ids`. True if it is the baseline's
    /// set.
    pub(super) fn read(
        &mut self,
        reader: &mut BitReader<'_>,
        baseline: &[EntityId],
        ids: &mut Vec<EntityId>,
        gaps: &GapTable,
        max_entities: u32,
    ) -> Result<bool, DecodeError> {
        ids.clear();
        let same = !reader.read_bool()?;
        let too_many = |count| DecodeError::TooManyEntities { count, limit: max_entities };
        if same {
            if baseline.len() > max_entities as usize {
                return Err(too_many(baseline.len() as u64));
            }
            ids.extend_from_slice(baseline);
            return Ok(true);
        }
        let Self { sources, removed, added, scratch } = self;
        read_set(reader, baseline.len(), SetCoding::BitsOrGaps(gaps), removed, scratch)?;
        let added_count = read_gamma(reader)? - 1;
        let count = (baseline.len() - removed.len()) as u64 + added_count;
        if count > u64::from(max_entities) {
            return Err(too_many(count));
        }
        added.clear();
        let mut next = 0;
        for _ in 0..added_count {
            let id = next + read_gamma(reader)? - 1;
            let at_bit = reader.position_bits();
            added.push(EntityId(
                u32::try_from(id).map_err(|_| DecodeError::BadEntitySet { at_bit })?,
            ));
            next = id + 1;
        }
        let consistent = merge(baseline, removed, added, ids, sources);
        if consistent {
            Ok(false)
        } else {
            Err(DecodeError::BadEntitySet { at_bit: reader.position_bits() })
        }
    }

    /// The baseline's columns in the order of the snapshot's entities.
    pub(super) fn line_up(&self, baseline: &Snapshot, columns: &mut [Vec<u32>]) {
        for (column, base) in columns.iter_mut().zip(&baseline.columns) {
            column.clear();
            column.extend(
                self.sources.iter().map(|source| base.get(*source as usize).copied().unwrap_or(0)),
            );
        }
    }
}

/// Merges the baseline's entities that were not removed with those that were added into one sorted
/// list. False if the baseline already has an added entity.
fn merge(
    baseline: &[EntityId],
    removed: &[u32],
    added: &[EntityId],
    ids: &mut Vec<EntityId>,
    sources: &mut Vec<u32>,
) -> bool {
    sources.clear();
    let mut removed = removed.iter().peekable();
    let mut added = added.iter().peekable();
    for (index, id) in baseline.iter().enumerate() {
        while let Some(new) = added.next_if(|new| *new < id) {
            ids.push(*new);
            sources.push(ADDED);
        }
        if added.peek() == Some(&id) {
            return false;
        }
        if removed.next_if(|next| **next as usize == index).is_some() {
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
