//! What both sides know before a packet: the baseline lined up with the snapshot's entities, the
//! motion of these entities, and how coarse it makes their values.

use alloc::vec::Vec;

use super::Baselines;
use super::alignment::Alignment;
use super::entities::Entities;
use super::history::History;
use super::precision::{Precision, Shifts};
use super::sets::GapTable;
use super::store::Snapshot;
use crate::bits::BitSink;

/// Prepared once per packet. Keeps its memory from packet to packet.
#[derive(Debug, Default)]
pub(super) struct Lineup {
    alignment: Alignment,
    /// The baseline's columns in the order of the snapshot's entities, if its own are others.
    pub(super) aligned: Vec<Vec<u32>>,
    is_aligned: bool,
    pub(super) history: History,
    pub(super) shifts: Shifts,
}

impl Lineup {
    /// Lines up `baselines` with a snapshot of these entities at `tick`, and finds what moved.
    /// Cost: one pass over the states; with a precision, moved entities cost more.
    pub(super) fn prepare(
        &mut self,
        precision: Option<&Precision>,
        baselines: &Baselines<'_>,
        entities: &Entities,
        tick: u32,
    ) {
        let baseline = baselines.baseline;
        self.line_up(baseline, entities);
        let base = if self.is_aligned { &self.aligned } else { &baseline.columns };
        let alignment = self.is_aligned.then_some(&self.alignment);
        self.history.prepare(baselines, base, alignment, entities, tick);
        if let Some(precision) = precision {
            precision.find(&mut self.shifts, &self.history, entities, baselines, base);
        }
    }

    /// Lines up only the baseline. This is all that levels that pack bits need.
    pub(super) fn line_up(&mut self, baseline: &Snapshot, entities: &Entities) {
        self.is_aligned = !baseline.entities.are_same(entities);
        if self.is_aligned {
            self.alignment.compare(&baseline.entities, entities);
            self.aligned.resize_with(baseline.lane_count(), Vec::new);
            self.alignment.line_up(baseline, &mut self.aligned);
        }
    }

    /// Writes the lined-up snapshot's set of entities, relative to the baseline's.
    pub(super) fn write_entities(
        &self,
        sink: &mut impl BitSink,
        baseline: &Snapshot,
        gaps: &GapTable,
    ) {
        sink.write_bool(self.is_aligned);
        if self.is_aligned {
            self.alignment.write(sink, &baseline.entities, gaps);
        }
    }

    /// Whether the lined-up snapshot has other entities than the baseline.
    pub(super) fn is_aligned(&self) -> bool {
        self.is_aligned
    }

    /// Makes the values of the lined-up snapshot coarse.
    pub(super) fn coarsen(
        &self,
        precision: &Precision,
        baseline: &Snapshot,
        columns: &mut [Vec<u32>],
    ) {
        precision.coarsen(&self.shifts, self.base(baseline), columns);
    }

    /// Whether [`coarsen`](Self::coarsen) would change anything.
    pub(super) fn is_too_fine(
        &self,
        precision: &Precision,
        baseline: &Snapshot,
        columns: &[Vec<u32>],
    ) -> bool {
        precision.is_too_fine(&self.shifts, self.base(baseline), columns)
    }

    /// The columns of `baseline`, which must be the one lined up, in the order of the snapshot's
    /// entities.
    pub(super) fn base<'a>(&'a self, baseline: &'a Snapshot) -> &'a [Vec<u32>] {
        if self.is_aligned { &self.aligned } else { &baseline.columns }
    }
}
