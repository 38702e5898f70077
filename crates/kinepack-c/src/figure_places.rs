//! The lanes of a figure in kinds of entities, which may have other fields before and after them.

use std::ops::Range;

use kinepack::Schema;
use kinepack::schema::Field;
use kinepack_anim::figure::Figure;

use crate::columns::{KpColumn, World};
use crate::status::Failure;

/// The kinds in which a figure was found.
#[derive(Debug, Default)]
pub(crate) struct Places {
    list: Vec<Place>,
}

/// A kind that has a figure's fields.
#[derive(Debug)]
pub(crate) struct Place {
    /// The hash of the kind's fields.
    hash: u64,
    /// The lanes of the figure among those of the kind.
    pub(crate) own: Range<usize>,
    /// A record of the kind's other fields. `None` before the first body is pushed.
    others: Option<World>,
    /// The lanes of the entity that is pushed.
    pub(crate) lanes: Vec<u32>,
}

impl Places {
    /// Returns the place of a figure in a kind. `of_kind` is the schema of this kind only. The
    /// first call for a kind compares all fields, so its result is kept.
    pub(crate) fn of(
        &mut self,
        figure: &Figure,
        of_kind: &Schema,
        kind: u32,
    ) -> Result<&mut Place, Failure> {
        let hash = of_kind.hash();
        let known = self.list.iter().position(|place| place.hash == hash);
        let index = known.unwrap_or(self.list.len());
        if known.is_none() {
            let first = figure.find(of_kind, 0).ok_or_else(|| {
                Failure::argument(format!("kind {kind} does not have the fields of this figure"))
            })?;
            let own = first..first + figure.lane_count();
            self.list.push(Place { hash, own, others: None, lanes: Vec::new() });
        }
        Ok(&mut self.list[index])
    }
}

impl Place {
    /// Reads the kind's other fields, and sets the lanes of the figure to 0.
    ///
    /// # Safety
    /// Each column has one readable record.
    pub(crate) unsafe fn take_others(
        &mut self,
        of_kind: &Schema,
        columns: &[KpColumn],
    ) -> Result<(), Failure> {
        let Self { own, others, lanes, .. } = self;
        let others = match others {
            Some(others) => others,
            none => none.insert(others_of(of_kind, own)?),
        };
        // SAFETY: the caller of this function guarantees that each column has one readable record.
        unsafe { others.set_record(0, columns)? };
        let row = || others.snapshot.lanes_at(0);
        lanes.clear();
        lanes.extend(row().take(own.start));
        lanes.resize(own.end, 0);
        lanes.extend(row().skip(own.start));
        Ok(())
    }
}

/// Makes memory for a record of the fields that are not the figure's.
fn others_of(of_kind: &Schema, own: &Range<usize>) -> Result<World, Failure> {
    let is_other = |field: &&Field| {
        let lanes = field.lanes();
        lanes.end <= own.start || lanes.start >= own.end
    };
    let others = of_kind.fields().iter().filter(is_other).cloned().collect();
    // A field may have a condition on one of the figure's.
    let schema = Schema::try_new(others).map_err(Failure::argument)?;
    Ok(World::new(&schema))
}
