//! Packs bits: levels 1 to 12 use these stages, and the levels that predict fall back to them. See
//! `spec/CODEC.md`, sections 6 to 9.

use alloc::vec;
use alloc::vec::Vec;

use super::changed::{find_candidates, find_flagged, take_rows};
use super::codec::Tables;
use super::contexts::Contexts;
use super::fields::{FieldTable, Measured};
use super::lineup::Lineup;
use super::sets::{SetCoding, write_set};
use super::store::Snapshot;
use super::tally::Tally;
use crate::bits::{BitSink, BitWriter};

/// The size of each part of a packet. The parts add up to all bits of the packet, except the
/// padding of its last byte.
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
///
/// let schema = Schema::new(vec![Field::new("value", FieldKind::Raw { lanes: 1 })]);
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let mut world = Snapshot::new(&schema, Tick(1));
/// world.push_lanes(EntityId(7), &[500])?;
/// let (mut encoder, mut packet) = (Encoder::new(&codec), Vec::new());
/// encoder.encode(&View::empty(&schema), &world, &mut packet)?;
///
/// let size = encoder.size();
/// let bits = size.sets_bits + size.fields_bits.iter().sum::<u64>();
/// assert_eq!(bits.div_ceil(8), packet.len() as u64);
/// assert_eq!(size.changed_entities, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The sets of entities that were added, removed and changed, and the sets of their changed
    /// fields.
    pub sets_bits: u64,
    /// The bits of each field's values, summed over all entities, in the schema's order.
    pub fields_bits: Vec<u64>,
    /// The number of entities that were sent.
    pub changed_entities: usize,
}

/// The content of a packet to write.
#[derive(Clone, Copy)]
pub(super) struct Contents<'a> {
    pub(super) tables: &'a Tables,
    pub(super) lineup: &'a Lineup,
    pub(super) baseline: &'a Snapshot,
    pub(super) snapshot: &'a Snapshot,
    /// The indices of the entities to send, increasing. The list is empty at levels that send every
    /// entity.
    pub(super) changed: &'a [u32],
    /// The coding of the set of changed entities, if the caller chose some of the changes.
    pub(super) chosen_coding: Option<SetCoding<'a>>,
}

/// The size of each part of a packet, and of each entity and lane if the caller wants these counts.
#[derive(Debug)]
pub(super) struct Spent {
    pub(super) size: Size,
    /// The number of bits of each entity, by the entity's index in the snapshot.
    pub(super) tally: Tally,
}

impl Spent {
    pub(super) fn new(fields: usize) -> Self {
        Self {
            size: Size { fields_bits: vec![0; fields], ..Size::default() },
            tally: Tally::default(),
        }
    }
}

/// Packs snapshots into bits. A packer keeps its scratch memory from packet to packet.
#[derive(Debug, Default)]
pub(super) struct Packer {
    /// The rows of the changed entities of the current kind.
    rows: Vec<u32>,
    /// One word per changed entity, which is not zero if the entity changed the current field.
    differs: Vec<u32>,
    /// The positions in `rows` of the entities that may have changed the current field. The list is
    /// used only if the current field is selective.
    candidates: Vec<u32>,
    /// The positions in `rows` of the entities that changed the current field.
    flagged: Vec<u32>,
    pub(super) contexts: Contexts,
    /// Scratch memory: the rows of `candidates`, then those of `flagged`.
    entities: Vec<u32>,
    measured: Measured,
}

impl Packer {
    /// Writes a packet.
    pub(super) fn write(
        &mut self,
        writer: &mut BitWriter<'_>,
        contents: &Contents<'_>,
        spent: &mut Spent,
    ) {
        let Contents { tables, lineup, baseline, chosen_coding, .. } = *contents;
        let begin = writer.len_bits();
        match chosen_coding {
            // If changes were chosen, the set of entities is the baseline's.
            Some(_) => writer.write_bool(false),
            None => {
                writer.write_bool(lineup.is_aligned());
                lineup.write_entities(writer, baseline, &tables.entities);
            }
        }
        spent.size.sets_bits = writer.len_bits() - begin;
        match chosen_coding.or_else(|| tables.changed_coding()) {
            None if spent.tally.is_wanted() => write_all::<true>(writer, contents, spent),
            None => write_all::<false>(writer, contents, spent),
            Some(coding) => self.write_changed(writer, contents, coding, spent),
        }
    }

    /// Writes the changed entities, at levels 7 to 12.
    fn write_changed(
        &mut self,
        writer: &mut BitWriter<'_>,
        contents: &Contents<'_>,
        coding: SetCoding<'_>,
        spent: &mut Spent,
    ) {
        let Contents { tables, lineup, baseline, snapshot, changed, .. } = *contents;
        let base = lineup.base(baseline);
        spent.size.changed_entities = changed.len();
        spent.tally.begin(changed.iter().copied(), tables.schema.lanes().len());
        let begin = writer.len_bits();
        write_set(writer, snapshot.len(), changed, coding);
        spent.size.sets_bits += writer.len_bits() - begin;
        let mut rest = changed;
        for (nth, kind) in tables.schema.kinds().iter().enumerate() {
            let range = snapshot.entities.range(nth);
            let first = changed.len() - rest.len();
            take_rows(&mut rest, range, &mut self.rows);
            self.contexts.reset(kind.fields(), self.rows.len());
            for index in kind.fields() {
                let field = &tables.fields[index];
                let lanes = || field.lanes.clone();
                let [base, new] = [&base[lanes()], &snapshot.columns[lanes()]];
                let begin = writer.len_bits();
                self.flag(writer, contents, (nth, field), [base, new]);
                let values = writer.len_bits();
                let tally = (&mut spent.tally, first);
                if tally.0.is_wanted() {
                    self.write_field::<true>(writer, contents, index, [base, new], tally);
                } else {
                    self.write_field::<false>(writer, contents, index, [base, new], tally);
                }
                spent.size.sets_bits += values - begin;
                spent.size.fields_bits[index] = writer.len_bits() - values;
            }
        }
    }

    /// Finds the entities that changed a field, and writes their set if the level has field flags.
    fn flag(
        &mut self,
        writer: &mut BitWriter<'_>,
        contents: &Contents<'_>,
        (kind, field): (usize, &FieldTable),
        [base, new]: [&[Vec<u32>]; 2],
    ) {
        let Contents { tables, lineup, snapshot, .. } = *contents;
        let Self { rows, candidates: found, entities, differs, flagged, .. } = self;
        let mut candidates = &*rows;
        if field.is_selective() {
            let is_added = |row| lineup.is_added(kind, row);
            find_candidates(field, &snapshot.columns, rows, is_added, found);
            entities.clear();
            entities.extend(found.iter().map(|nth| rows[*nth as usize]));
            candidates = entities;
        }
        if tables.level.field_flags() {
            find_flagged(base, new, candidates, differs, flagged);
            let coding = SetCoding::BitsOrGaps(&tables.flags);
            write_set(writer, candidates.len(), flagged, coding);
        } else {
            flagged.clear();
            flagged.extend(0..candidates.len() as u32);
        }
        if field.is_selective() {
            flagged.iter_mut().for_each(|nth| *nth = found[*nth as usize]);
        }
    }

    /// Writes the values of one field. With `COUNTS`, also counts the bits of each entity, like
    /// [`write_all`]. `first` is the number of the kind's first changed entity in the tally.
    fn write_field<const COUNTS: bool>(
        &mut self,
        writer: &mut BitWriter<'_>,
        contents: &Contents<'_>,
        index: usize,
        [base, new]: [&[Vec<u32>]; 2],
        (tally, first): (&mut Tally, usize),
    ) {
        let Contents { tables, lineup, .. } = *contents;
        let field = &tables.fields[index];
        let level = &tables.level;
        if field.is_relative(level.relative_numbers(), level.relative_rotations()) {
            self.entities.clear();
            self.entities.extend(self.flagged.iter().map(|nth| self.rows[*nth as usize]));
            let shifts = lineup.shifts.columns(field.differenced());
            field.measure(base, new, shifts, &self.entities, &mut self.measured);
            let mut previous = 0;
            for (place, (&nth, &entity)) in self.flagged.iter().zip(&self.entities).enumerate() {
                let state = self.contexts.state(field.context, nth as usize, previous);
                let begin = writer.len_bits();
                let class =
                    field.write(writer, state, (&self.measured, place), (new, entity as usize));
                if COUNTS {
                    tally.add(first + nth as usize, writer.len_bits() - begin);
                    field.add_bits(class, tally.lanes_mut());
                }
                self.contexts.record(index, nth as usize, class);
                previous = class + 1;
            }
            return;
        }
        let is_category = level.field_flags() && field.is_category();
        for &nth in &self.flagged {
            let entity = self.rows[nth as usize] as usize;
            let begin = writer.len_bits();
            if is_category {
                field.write_category(writer, base, new, entity);
            } else {
                field.write_full(writer, new, entity);
            }
            if COUNTS {
                tally.add(first + nth as usize, writer.len_bits() - begin);
                if is_category {
                    tally.lanes_mut()[field.lanes.start] += writer.len_bits() - begin;
                } else {
                    field.add_full_bits(tally.lanes_mut());
                }
            }
        }
    }
}

/// Writes every entity in full, at levels 1 to 6. With `COUNTS`, also counts the bits of each
/// entity. This is a const parameter because a branch in the loop would slow down callers that do
/// not count.
fn write_all<const COUNTS: bool>(
    writer: &mut BitWriter<'_>,
    contents: &Contents<'_>,
    spent: &mut Spent,
) {
    let Contents { tables, snapshot, .. } = *contents;
    let columns = &snapshot.columns;
    let Spent { size, tally } = spent;
    size.changed_entities = snapshot.len();
    tally.begin(0..snapshot.len() as u32, tables.schema.lanes().len());
    for (range, kind) in snapshot.entities.ranges().zip(tables.schema.kinds()) {
        for index in kind.fields() {
            let (field, rest) = (&tables.fields[index], &tables.rest_lanes[index]);
            let of_field = &columns[field.lanes.clone()];
            let begin = writer.len_bits();
            for row in 0..range.len() {
                if !field.conditions.hold_at(columns, row) {
                    continue;
                }
                let begin = writer.len_bits();
                let is_at_rest = rest.as_ref().is_some_and(|rest| {
                    let at_rest = of_field.iter().zip(rest).all(|(column, at)| column[row] == *at);
                    writer.write_bool(at_rest);
                    at_rest
                });
                if !is_at_rest {
                    field.write_full(writer, of_field, row);
                }
                if COUNTS {
                    tally.add(range.start + row, writer.len_bits() - begin);
                    if !is_at_rest {
                        field.add_full_bits(tally.lanes_mut());
                    }
                }
            }
            size.fields_bits[index] = writer.len_bits() - begin;
        }
    }
}
