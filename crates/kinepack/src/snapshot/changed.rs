//! Finds the entities that differ from the baseline, and the fields in which they differ. See
//! `spec/CODEC.md`, section 9.

use alloc::vec::Vec;
use core::ops::Range;

use super::entities::Entities;
use super::fields::FieldTable;
use crate::schema::Kinds;

/// The number of entities that are compared at once, small enough to keep the differences in
/// registers.
const BLOCK: usize = 32;

/// Finds the indices of the entities that differ from the baseline in some lane. The comparison
/// runs over plain arrays, at memory speed.
pub(super) fn find_changed(
    kinds: &Kinds,
    entities: &Entities,
    base: &[Vec<u32>],
    new: &[Vec<u32>],
    changed: &mut Vec<u32>,
) {
    changed.clear();
    for (index, kind) in kinds.list.iter().enumerate() {
        let [base, new] = [base, new].map(|columns| &columns[kind.lanes()]);
        append_changed(base, new, entities.range(index), changed);
    }
}

/// Appends the indices of the changed entities of one kind, whose index range and columns are
/// given.
fn append_changed(
    base: &[Vec<u32>],
    new: &[Vec<u32>],
    range: Range<usize>,
    changed: &mut Vec<u32>,
) {
    // Each index is written whether the entity differs or not. This avoids a branch that is hard to
    // predict.
    let (begin, count) = (range.start as u32, range.len());
    let mut found = changed.len();
    changed.resize(found + count, 0);
    let mut push = |first: usize, differs: &[u32]| {
        if differs.iter().fold(0, |any, differs| any | differs) != 0 {
            for (index, differs) in (begin + first as u32..).zip(differs) {
                changed[found] = index;
                found += usize::from(*differs != 0);
            }
        }
    };
    let mut first = 0;
    while let Some(differs) = compare_block(base, new, first) {
        push(first, &differs);
        first += BLOCK;
    }
    for row in first..count {
        push(row, &[base.iter().zip(new).fold(0, |any, (base, new)| any | (base[row] ^ new[row]))]);
    }
    changed.truncate(found);
}

/// Compares the entities of a block: an element is not 0 if its entity differs in some lane.
/// Returns `None` if less than a block remains.
#[inline]
fn compare_block(base: &[Vec<u32>], new: &[Vec<u32>], first: usize) -> Option<[u32; BLOCK]> {
    let mut differs = [0; BLOCK];
    if base.is_empty() {
        return None;
    }
    for (base, new) in base.iter().zip(new) {
        let base: &[u32; BLOCK] = base.get(first..)?.first_chunk()?;
        let new: &[u32; BLOCK] = new.get(first..)?.first_chunk()?;
        differs = core::array::from_fn(|index| differs[index] | (base[index] ^ new[index]));
    }
    Some(differs)
}

/// Takes the next elements of `changed` that are in `range`, the indices of a kind, and replaces
/// `rows` with the entities' rows.
pub(super) fn take_rows(changed: &mut &[u32], range: Range<usize>, rows: &mut Vec<u32>) {
    let count = changed.partition_point(|index| (*index as usize) < range.end);
    let (of_kind, rest) = changed.split_at(count);
    *changed = rest;
    rows.clear();
    rows.extend(of_kind.iter().map(|index| index - range.start as u32));
}

/// Finds which of the entities at the rows `changed` of a kind may have a field in a packet.
/// `candidates` gets the positions of these entities in `changed`. `new` holds all columns of the
/// snapshot.
pub(super) fn find_candidates(
    field: &FieldTable,
    new: &[Vec<u32>],
    changed: &[u32],
    is_added: impl Fn(usize) -> bool,
    candidates: &mut Vec<u32>,
) {
    candidates.clear();
    let may_change = |(_, row): &(u32, &u32)| field.may_change(new, **row as usize, &is_added);
    candidates.extend((0..).zip(changed).filter(may_change).map(|(nth, _)| nth));
}

/// Converts the set of entities that changed a field to the form in which a packet stores it.
/// Returns the number of candidates, and the position of each member in the list of candidates.
/// `flagged` holds the positions of the members in `changed`.
#[cfg(feature = "training")]
pub(super) fn set_of_flagged(
    field: &FieldTable,
    new: &[Vec<u32>],
    changed: &[u32],
    is_added: impl Fn(usize) -> bool,
    flagged: &[u32],
) -> (usize, Vec<u32>) {
    if !field.is_selective() {
        return (changed.len(), flagged.to_vec());
    }
    let mut candidates = Vec::new();
    find_candidates(field, new, changed, is_added, &mut candidates);
    let members = flagged.iter().filter_map(|nth| candidates.binary_search(nth).ok());
    (candidates.len(), members.map(|place| place as u32).collect())
}

/// Finds which of the entities at the rows `changed` of a kind changed the lanes of a field.
/// `flagged` gets the positions of these entities in `changed`.
pub(super) fn find_flagged(
    base: &[Vec<u32>],
    new: &[Vec<u32>],
    changed: &[u32],
    differs: &mut Vec<u32>,
    flagged: &mut Vec<u32>,
) {
    differs.clear();
    differs.resize(changed.len(), 0);
    for (base, new) in base.iter().zip(new) {
        for (differs, &entity) in differs.iter_mut().zip(changed) {
            *differs |= base[entity as usize] ^ new[entity as usize];
        }
    }
    // The loop has no branch, for the same reason as in `append_changed`.
    flagged.clear();
    flagged.resize(changed.len(), 0);
    let mut found = 0;
    for (nth, differs) in (0..).zip(differs) {
        flagged[found] = nth;
        found += usize::from(*differs != 0);
    }
    flagged.truncate(found);
}
