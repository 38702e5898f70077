//! What both sides know before a packet: the baseline lined up with the snapshot's entities, how
//! they moved, and how coarse that makes their values.

use alloc::vec::Vec;

use super::Baselines;
use super::entities::{Alignment, are_same};
use super::history::History;
use super::precision::{Precision, Shifts};
use super::sets::GapTable;
use super::store::{EntityId, Snapshot};
use crate::bits::BitSink;

/// Found once a packet. Keeps its memory from packet to packet.
#[derive(Debug, Default)]
pub(super) struct Lineup {
    alignment: Alignment,
    /// The baseline's columns, where its entities are not the snapshot's.
    pub(super) aligned: Vec<Vec<u32>>,
    is_aligned: bool,
    pub(super) history: History,
    pub(super) shifts: Shifts,
}

impl Lineup {
    /// Looks at `baselines` for a snapshot of entities `ids` at `tick`. Cost: a run over the
    /// states; what moved costs more where there is a precision.
    pub(super) fn prepare(
        &mut self,
        precision: Option<&Precision>,
        baselines: &Baselines<'_>,
        ids: &[EntityId],
        tick: u32,
    ) {
        let baseline = baselines.baseline;
        self.line_up(baseline, ids);
        let base = if self.is_aligned { &self.aligned } else { &baseline.columns };
        let alignment = self.is_aligned.then_some(&self.alignment);
        self.history.prepare(baselines, base, alignment, ids, tick);
        if let Some(precision) = precision {
            precision.find(&mut self.shifts, &self.history, baselines, base);
        }
    }

    /// Lines up the baseline alone, which is all that levels that pack bits need.
    pub(super) fn line_up(&mut self, baseline: &Snapshot, ids: &[EntityId]) {
        self.is_aligned = !are_same(&baseline.ids, ids);
        if self.is_aligned {
            self.alignment.compare(&baseline.ids, ids);
            self.aligned.resize_with(baseline.lane_count(), Vec::new);
            self.alignment.line_up(baseline, &mut self.aligned);
        }
    }

    /// Writes the set of entities that was looked at, relative to that of the baseline.
    pub(super) fn write_entities(
        &self,
        sink: &mut impl BitSink,
        baseline: &Snapshot,
        gaps: &GapTable,
    ) {
        sink.write_bool(self.is_aligned);
        if self.is_aligned {
            self.alignment.write(sink, baseline.len(), gaps);
        }
    }

    /// Makes values coarse, of the snapshot that was prepared for.
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

    /// The columns of `baseline`, the one that was looked at, in the order of the snapshot's
    /// entities.
    pub(super) fn base<'a>(&'a self, baseline: &'a Snapshot) -> &'a [Vec<u32>] {
        if self.is_aligned { &self.aligned } else { &baseline.columns }
    }
}
