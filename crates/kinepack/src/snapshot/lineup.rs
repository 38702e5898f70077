//! Prepares the state that both sides know before a packet: the baseline lined up with the
//! snapshot's entities, and the motion of these entities. If the schema has a time precision, the
//! motion determines how coarse the entities' values are.

use alloc::vec::Vec;

use super::alignment::Alignment;
use super::baselines::Baselines;
use super::entities::Entities;
use super::fields::FieldTable;
use super::history::History;
use super::precision::{Precision, Shifts};
use super::sets::GapTable;
use super::store::Snapshot;
use crate::DecodeError;
use crate::bits::{BitReader, BitSink};

/// The baseline and the motion, lined up with a packet's entities. A lineup is prepared once per
/// packet, and keeps its memory from packet to packet.
#[derive(Debug, Default)]
pub(super) struct Lineup {
    alignment: Alignment,
    /// The baseline's columns in the order of the snapshot's entities, if the two have different
    /// entities.
    pub(super) aligned: Vec<Vec<u32>>,
    is_aligned: bool,
    pub(super) history: History,
    pub(super) shifts: Shifts,
}

impl Lineup {
    /// Makes a lineup with room for `kinds` kinds: see [`Alignment::with_capacity`].
    pub(super) fn with_capacity(kinds: usize) -> Self {
        Self { alignment: Alignment::with_capacity(kinds), ..Self::default() }
    }

    /// Computes the motion before a snapshot of these entities at `tick`. The baseline must already
    /// be lined up with that snapshot. The cost is one pass over the states; with a precision,
    /// moved entities cost more.
    pub(super) fn find_motion(
        &mut self,
        precision: Option<&Precision>,
        baselines: &Baselines<'_>,
        entities: &Entities,
        tick: u32,
    ) {
        let baseline = baselines.baseline;
        let base = if self.is_aligned { &self.aligned } else { &baseline.columns };
        let alignment = self.is_aligned.then_some(&self.alignment);
        self.history.prepare(baselines, base, alignment, entities, tick);
        if let Some(precision) = precision {
            precision.find(&mut self.shifts, &self.history, entities, baselines, base);
        }
    }

    /// Finds the shifts of a field that may be coarser, for entities of the kind `kind` with the
    /// columns `new`. The baseline must already be lined up with them.
    pub(super) fn find_coarse(
        &mut self,
        (kind, field): (usize, &FieldTable),
        baseline: &Snapshot,
        new: &[Vec<u32>],
    ) {
        let Self { alignment, aligned, is_aligned, shifts, .. } = self;
        let base = if *is_aligned { &*aligned } else { &baseline.columns };
        let is_added = |row| *is_aligned && alignment.is_added(kind, row);
        shifts.find_coarse(field, [base, new], is_added);
    }

    /// Lines up the baseline with an encoder's snapshot.
    pub(super) fn line_up(&mut self, baseline: &Snapshot, snapshot: &Snapshot) {
        let (entities, columns) = (&snapshot.entities, &snapshot.columns);
        self.is_aligned = !baseline.has_entities(entities, columns);
        if self.is_aligned {
            self.alignment.compare(baseline, entities, columns);
            self.aligned.resize_with(baseline.lane_count(), Vec::new);
            self.alignment.line_up(baseline, &mut self.aligned);
        }
    }

    /// Reads a packet's set of entities, of which there are at most `max_entities`, into `next`.
    /// The columns of `next` become those of the baseline, lined up with the set. If the baseline's
    /// columns are needed later, [`keep_base`](Self::keep_base) must follow.
    pub(super) fn read_entities(
        &mut self,
        reader: &mut BitReader<'_>,
        baseline: &Snapshot,
        next: &mut Snapshot,
        gaps: &GapTable,
        max_entities: u32,
    ) -> Result<(), DecodeError> {
        self.is_aligned = true;
        self.alignment.read(reader, baseline, &mut next.entities, gaps, max_entities)?;
        self.alignment.line_up(baseline, &mut next.columns);
        Ok(())
    }

    /// Gives `next`, the snapshot that is being read, the entities of `baseline`.
    pub(super) fn keep_entities(
        &mut self,
        baseline: &Snapshot,
        next: &mut Snapshot,
        max_entities: u32,
    ) -> Result<(), DecodeError> {
        self.is_aligned = false;
        let count = baseline.entities.len();
        if count > max_entities as usize {
            return Err(DecodeError::TooManyEntities { count: count as u64, limit: max_entities });
        }
        next.entities.clone_from(&baseline.entities);
        for (column, base) in next.columns.iter_mut().zip(&baseline.columns) {
            column.clear();
            column.extend_from_slice(base);
        }
        Ok(())
    }

    /// Copies the columns of the snapshot that is being read, while they still hold the baseline's
    /// values.
    pub(super) fn keep_base(&mut self, columns: &[Vec<u32>]) {
        if self.is_aligned {
            self.aligned.resize_with(columns.len(), Vec::new);
            self.aligned.clone_from_slice(columns);
        }
    }

    /// Returns whether the entity at a row of a kind is not in the baseline.
    #[inline]
    pub(super) fn is_added(&self, kind: usize, row: usize) -> bool {
        self.is_aligned && self.alignment.is_added(kind, row)
    }

    /// Writes the lined-up snapshot's set of entities relative to the baseline's, if the two sets
    /// [differ](Self::is_aligned).
    pub(super) fn write_entities(
        &self,
        sink: &mut impl BitSink,
        baseline: &Snapshot,
        gaps: &GapTable,
    ) {
        if self.is_aligned {
            self.alignment.write(sink, &baseline.entities, gaps);
        }
    }

    /// Returns whether the lined-up snapshot has other entities than the baseline.
    pub(super) fn is_aligned(&self) -> bool {
        self.is_aligned
    }

    /// Makes the values of the lined-up snapshot as coarse as its steps.
    pub(super) fn coarsen(
        &self,
        precision: &Precision,
        baseline: &Snapshot,
        columns: &mut [Vec<u32>],
    ) {
        precision.coarsen(&self.shifts, self.base(baseline), columns);
    }

    /// Returns whether any value is finer than its step, so that [`coarsen`](Self::coarsen) would
    /// change it.
    pub(super) fn is_too_fine(
        &self,
        precision: &Precision,
        baseline: &Snapshot,
        columns: &[Vec<u32>],
    ) -> bool {
        precision.is_too_fine(&self.shifts, self.base(baseline), columns)
    }

    /// Returns the columns of `baseline` in the order of the snapshot's entities. `baseline` must
    /// be the snapshot that was lined up.
    pub(super) fn base<'a>(&'a self, baseline: &'a Snapshot) -> &'a [Vec<u32>] {
        if self.is_aligned { &self.aligned } else { &baseline.columns }
    }
}
