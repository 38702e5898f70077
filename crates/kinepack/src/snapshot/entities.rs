//! The set of entities: who left and who came since the baseline, and the baseline's lanes lined up
//! with who is there now. An entity that came has zero in every lane before. `spec/CODEC.md`,
//! section 6.

use alloc::vec::Vec;

use super::sets::{GapTable, SetCoding, read_gamma, read_set, write_gamma, write_set};
use super::store::{EntityId, Snapshot};
use crate::DecodeError;
use crate::bits::{BitReader, BitSink};

/// For an entity that the baseline does not have.
const CAME: u32 = u32::MAX;

/// Whether two sets of entities are the same.
pub(super) fn are_same(a: &[EntityId], b: &[EntityId]) -> bool {
    // Without an early end the comparison runs over whole registers.
    a.len() == b.len() && a.iter().zip(b).fold(0, |any, (a, b)| any | (a.0 ^ b.0)) == 0
}

/// For each entity of a snapshot, where its baseline has it. Keeps its memory from snapshot to
/// snapshot.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    /// One index into the baseline, or [`CAME`], an entity.
    sources: Vec<u32>,
    left: Vec<u32>,
    came: Vec<EntityId>,
    scratch: Vec<u32>,
}

impl Alignment {
    /// Writes how the snapshot's set of entities, compared before, differs from the one of the
    /// baseline's entities.
    pub(super) fn write(&self, sink: &mut impl BitSink, baseline_len: usize, gaps: &GapTable) {
        write_set(sink, baseline_len, &self.left, SetCoding::BitsOrGaps(gaps));
        write_gamma(sink, self.came.len() as u64 + 1);
        let mut next = 0;
        for id in &self.came {
            write_gamma(sink, u64::from(id.0) - next + 1);
            next = u64::from(id.0) + 1;
        }
    }

    /// A walk over both sorted lists.
    pub(super) fn compare(&mut self, baseline: &[EntityId], ids: &[EntityId]) {
        self.sources.clear();
        self.left.clear();
        self.came.clear();
        let mut base = 0;
        for &id in ids {
            while base < baseline.len() && baseline[base] < id {
                self.left.push(base as u32);
                base += 1;
            }
            if base < baseline.len() && baseline[base] == id {
                self.sources.push(base as u32);
                base += 1;
            } else {
                self.sources.push(CAME);
                self.came.push(id);
            }
        }
        self.left.extend(base as u32..baseline.len() as u32);
    }

    /// Who left, by index into the baseline.
    pub(super) fn left(&self) -> &[u32] {
        &self.left
    }

    /// Whether the snapshot's entity at `index` is not in the baseline.
    pub(super) fn came(&self, index: usize) -> bool {
        self.sources[index] == CAME
    }

    /// Reads the set of entities, at most `max_entities`, into `ids`. True where it is the
    /// baseline's.
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
        let Self { sources, left, came, scratch } = self;
        read_set(reader, baseline.len(), SetCoding::BitsOrGaps(gaps), left, scratch)?;
        let came_count = read_gamma(reader)? - 1;
        let count = (baseline.len() - left.len()) as u64 + came_count;
        if count > u64::from(max_entities) {
            return Err(too_many(count));
        }
        came.clear();
        let mut next = 0;
        for _ in 0..came_count {
            let id = next + read_gamma(reader)? - 1;
            let at_bit = reader.position_bits();
            came.push(EntityId(
                u32::try_from(id).map_err(|_| DecodeError::BadEntitySet { at_bit })?,
            ));
            next = id + 1;
        }
        let consistent = merge(baseline, left, came, ids, sources);
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

/// Who of the baseline did not leave, and who came, in one sorted list. False where one came whom
/// the baseline has.
fn merge(
    baseline: &[EntityId],
    left: &[u32],
    came: &[EntityId],
    ids: &mut Vec<EntityId>,
    sources: &mut Vec<u32>,
) -> bool {
    sources.clear();
    let mut left = left.iter().peekable();
    let mut came = came.iter().peekable();
    for (index, id) in baseline.iter().enumerate() {
        while let Some(new) = came.next_if(|new| *new < id) {
            ids.push(*new);
            sources.push(CAME);
        }
        if came.peek() == Some(&id) {
            return false;
        }
        if left.next_if(|gone| **gone as usize == index).is_some() {
            continue;
        }
        ids.push(*id);
        sources.push(index as u32);
    }
    for new in came {
        ids.push(*new);
        sources.push(CAME);
    }
    true
}
