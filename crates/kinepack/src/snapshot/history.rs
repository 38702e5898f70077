//! The history of each entity, which both sides know before a packet: its lanes in the acknowledged
//! states, and whether it moved.

use alloc::vec::Vec;

use super::alignment::Alignment;
use super::baselines::Baselines;
use super::changed::find_changed;
use super::entities::Entities;
use super::level::MAX_TICKS;
use super::status::{ADDED, MOVED, MOVED_BEFORE, NEW, NEW_BEFORE, STEPS};
use super::store::Snapshot;

/// The states before the baseline, lined up with the snapshot's entities. A history keeps its
/// memory from packet to packet.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The columns of each older state whose entities differ from the snapshot's, lined up with the
    /// snapshot.
    aligned: [Vec<Vec<u32>>; STEPS],
    is_aligned: [bool; STEPS],
    /// The [status](super::status) of each entity, by index.
    pub(super) status: Vec<u8>,
    alignment: Alignment,
    changed: Vec<u32>,
    /// The number of ticks from the baseline to the snapshot, 1 to [`MAX_TICKS`].
    pub(super) lag: u32,
    /// `lag` divided by the number of ticks of each step.
    pub(super) per_step: [f64; STEPS],
    /// True if the time from the state before the baseline to the baseline is less than three
    /// quarters of the lag.
    pub(super) is_near: bool,
    /// The number of older states.
    pub(super) steps: usize,
}

/// Returns the number of ticks from one state to a later one.
fn ticks(from: &Snapshot, to: u32) -> u32 {
    to.wrapping_sub(from.tick.0).clamp(1, MAX_TICKS)
}

/// Adds `flags` to the statuses of the entities that are added according to `alignment`.
fn add_flags(statuses: &mut [u8], alignment: &Alignment, flags: u8) {
    for (status, is_added) in statuses.iter_mut().zip(alignment.are_added()) {
        *status |= if is_added { flags } else { 0 };
    }
}

impl History {
    /// Lines up the older states of `baselines` with a packet's entities at `tick`. `base` holds
    /// the baseline's columns for these entities. `alignment` is the baseline's alignment with
    /// these entities, if its entities differ.
    pub(super) fn prepare(
        &mut self,
        baselines: &Baselines<'_>,
        base: &[Vec<u32>],
        alignment: Option<&Alignment>,
        entities: &Entities,
        tick: u32,
    ) {
        self.status.clear();
        self.status.resize(entities.len(), 0);
        self.lag = ticks(baselines.baseline, tick);
        self.steps = baselines.older().len().min(STEPS);
        let mut newer = baselines.baseline;
        self.is_near = baselines
            .older()
            .first()
            .is_some_and(|older| 4 * ticks(older, newer.tick.0) < 3 * self.lag);
        for (step, older) in baselines.older().iter().take(STEPS).enumerate() {
            self.per_step[step] = f64::from(self.lag) / f64::from(ticks(older, newer.tick.0));
            newer = older;
            self.is_aligned[step] = !older.has_entities(entities, base);
            if self.is_aligned[step] {
                self.alignment.compare(older, entities, base);
                self.aligned[step].resize_with(older.lane_count(), Vec::new);
                self.alignment.line_up(older, &mut self.aligned[step]);
                let flags = if step == 0 { NEW | NEW_BEFORE } else { NEW_BEFORE };
                add_flags(&mut self.status, &self.alignment, flags);
            }
        }
        match self.steps {
            0 => self.status.fill(NEW | NEW_BEFORE),
            1 => self.status.iter_mut().for_each(|status| *status |= NEW_BEFORE),
            _ => {}
        }
        if let Some(alignment) = alignment {
            add_flags(&mut self.status, alignment, ADDED | NEW | NEW_BEFORE);
        }
        self.find_breaks(baselines, base, entities);
        let mut changed = core::mem::take(&mut self.changed);
        for (step, flag) in [MOVED, MOVED_BEFORE].into_iter().enumerate().take(self.steps) {
            let newer = if step == 0 { base } else { self.columns(baselines, step - 1) };
            let older = self.columns(baselines, step);
            find_changed(&baselines.baseline.kinds, entities, older, newer, &mut changed);
            let unknown = if step == 0 { NEW } else { NEW_BEFORE };
            for &index in &changed {
                let status = &mut self.status[index as usize];
                *status |= if *status & unknown == 0 { flag } else { 0 };
            }
        }
        self.changed = changed;
    }

    /// Marks an entity as new if a cut or a change of its frame is between older states and the
    /// newer ones.
    fn find_breaks(&mut self, baselines: &Baselines<'_>, base: &[Vec<u32>], entities: &Entities) {
        let kinds = &baselines.baseline.kinds.list;
        if kinds.iter().all(|kind| kind.break_lanes().is_empty()) {
            return;
        }
        let mut status = core::mem::take(&mut self.status);
        for step in 0..self.steps {
            let newer = if step == 0 { base } else { self.columns(baselines, step - 1) };
            let older = self.columns(baselines, step);
            let flags = if step == 0 { NEW | NEW_BEFORE } else { NEW_BEFORE };
            for (range, kind) in entities.ranges().zip(kinds) {
                for lane in kind.break_lanes() {
                    let rows = newer[*lane].iter().zip(&older[*lane]);
                    for (status, (newer, older)) in status[range.clone()].iter_mut().zip(rows) {
                        *status |= if newer == older { 0 } else { flags };
                    }
                }
            }
        }
        self.status = status;
    }

    /// Returns the changes of a value of an entity in the last step and in the step before. `now`
    /// is the value in the baseline, and `at` returns the value in other states. `change` computes
    /// the change from one value to another, times a factor that scales the step to the lag. The
    /// result is `None` if the entity is new. If the entity has only one step of history, that step
    /// is returned twice.
    #[inline]
    pub(super) fn recent_changes<T: Copy, D: Copy>(
        &self,
        baselines: &Baselines<'_>,
        status: u8,
        now: T,
        at: impl Fn(&[Vec<u32>]) -> T,
        change: impl Fn(T, T, f64) -> D,
    ) -> Option<[D; STEPS]> {
        if status & NEW != 0 {
            return None;
        }
        let before = at(self.columns(baselines, 0));
        let last = change(before, now, self.per_step[0]);
        if status & NEW_BEFORE != 0 {
            return Some([last; STEPS]);
        }
        let long_before = at(self.columns(baselines, 1));
        Some([last, change(long_before, before, self.per_step[1])])
    }

    /// Returns all columns of an older state, in the order of the snapshot's entities.
    #[inline]
    pub(super) fn columns<'a>(&'a self, baselines: &Baselines<'a>, step: usize) -> &'a [Vec<u32>] {
        if self.is_aligned[step] { &self.aligned[step] } else { &baselines.older()[step].columns }
    }
}
