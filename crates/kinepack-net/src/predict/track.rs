//! One predicted entity: its states of the last ticks, its newest authoritative state, and the
//! offset of its shown path.

use std::ops::Range;

use kinepack::schema::Share;
use kinepack::{Between, EncodeError, EntityId, Schema};

use super::distance::{Distance, distance};
use crate::fade::{Fade, Lasts, Step};
use crate::model::Model;

/// The speed of a path is measured over this part of a tick.
const SPEED_TICKS: f64 = 0.5;

/// What the tracks of a prediction share.
#[derive(Debug)]
pub(super) struct Rules<M> {
    pub(super) model: M,
    /// The schema of the entities' kind alone.
    pub(super) schema: Schema,
    pub(super) tick_hz: f64,
    pub(super) lasts: Lasts,
    pub(super) snap_distance: f64,
    /// The lanes whose change breaks the motion: cuts and frames.
    pub(super) break_lanes: Vec<usize>,
}

impl<M> Rules<M> {
    fn is_broken(&self, from: &[u32], to: &[u32]) -> bool {
        self.break_lanes.iter().any(|lane| from[*lane] != to[*lane])
    }
}

#[derive(Debug)]
pub(super) struct Track<S> {
    pub(super) id: EntityId,
    /// The first tick with a state. It may be later than the newest predicted tick.
    pub(super) since: u32,
    /// The tick of the newest authoritative state, even if that was too old to be taken.
    pub(super) known_tick: u32,
    /// The tick of `authority`.
    pub(super) authority_tick: u32,
    /// The newest authoritative state that was taken.
    pub(super) authority: Vec<u32>,
    lanes: usize,
    /// The states of the last ticks; that of a tick is at the tick modulo the number of rows.
    rows: Vec<u32>,
    /// The last two states before a correction, if they are remembered.
    before: Vec<u32>,
    is_remembered: bool,
    fade: Option<Fade<S>>,
    /// The tick from which on there is no offset, because the entity jumps.
    fade_end: f64,
    /// The moment that was shown last, in ticks; infinite before the first.
    shown_at: f64,
}

impl<S> Track<S> {
    pub(super) fn new(id: EntityId, tick: u32, authority: Vec<u32>, history_ticks: u32) -> Self {
        let lanes = authority.len();
        Self {
            id,
            since: tick,
            known_tick: tick,
            authority_tick: tick,
            rows: vec![0; lanes * history_ticks as usize],
            before: vec![0; 2 * lanes],
            is_remembered: false,
            fade: None,
            fade_end: f64::INFINITY,
            shown_at: f64::INFINITY,
            authority,
            lanes,
        }
    }

    pub(super) fn is_present(&self, tick: u32) -> bool {
        self.since <= tick
    }

    fn place(&self, tick: u32) -> Range<usize> {
        place(self.rows.len(), self.lanes, tick)
    }

    pub(super) fn row(&self, tick: u32) -> &[u32] {
        &self.rows[self.place(tick)]
    }

    pub(super) fn row_mut(&mut self, tick: u32) -> &mut [u32] {
        let place = self.place(tick);
        &mut self.rows[place]
    }

    /// Sets the state of a tick to that of another one.
    pub(super) fn copy_row(&mut self, from: u32, to: u32) {
        let (from, to) = (self.place(from), self.place(to));
        self.rows.copy_within(from, to.start);
    }

    /// Sets the state of a tick to the authoritative one.
    pub(super) fn obey_at(&mut self, tick: u32) {
        let place = self.place(tick);
        self.rows[place].copy_from_slice(&self.authority);
    }

    /// Takes an authoritative state.
    pub(super) fn take(&mut self, tick: u32, lanes: &[u32]) {
        self.authority_tick = tick;
        self.authority.copy_from_slice(lanes);
    }

    /// Takes the predicted state of a tick as the authoritative one.
    pub(super) fn agree(&mut self, tick: u32) {
        let place = self.place(tick);
        self.authority_tick = tick;
        self.authority.copy_from_slice(&self.rows[place]);
    }

    /// Ends the offset if the entity jumps at the newest tick.
    pub(super) fn note_break<M>(&mut self, newest: u32, rules: &Rules<M>) {
        let is_first = newest == 0 || !self.is_present(newest - 1);
        if !is_first && rules.is_broken(self.row(newest - 1), self.row(newest)) {
            self.fade_end = self.fade_end.min(newest.into());
        }
    }

    /// The two ticks between which a moment is, from `oldest` to `newest`, and the moment.
    fn around(&self, at: f64, oldest: u32, newest: u32) -> (u32, u32, f64) {
        let oldest = oldest.max(self.since).min(newest);
        let at = if at.is_nan() { f64::from(newest) } else { at };
        let at = at.clamp(oldest.into(), newest.into());
        let from = (at as u32).min(newest.saturating_sub(1)).max(oldest);
        (from, newest.min(from.saturating_add(1)), at)
    }

    /// The state to show at the moment `at`, in ticks.
    pub(super) fn shown<M: Model<S>>(
        &mut self,
        at: f64,
        (oldest, newest): (u32, u32),
        rules: &Rules<M>,
    ) -> S {
        let (from, to, at) = self.around(at, oldest, newest);
        self.shown_at = at;
        let mut state = between(self.row(from), self.row(to), (from, to), at, rules);
        let fade = self.fade.as_ref().filter(|_| at < self.fade_end);
        if fade.is_none_or(|fade| fade.apply(&rules.model, &mut state, at / rules.tick_hz)) {
            self.fade = None;
        }
        state
    }

    /// Remembers the path to `newest` before a correction.
    pub(super) fn remember(&mut self, oldest: u32, newest: u32) {
        let (from, to, _) = self.around(newest.into(), oldest, newest);
        let (first, second) = self.before.split_at_mut(self.lanes);
        first.copy_from_slice(&self.rows[place(self.rows.len(), self.lanes, from)]);
        second.copy_from_slice(&self.rows[place(self.rows.len(), self.lanes, to)]);
        self.is_remembered = true;
    }

    /// Continues the shown path after a correction, from the remembered path to the present one.
    /// `moved` is memory for a row. Returns by how much the newest state changed, and whether that
    /// is shown at once.
    pub(super) fn continue_path<M: Model<S>>(
        &mut self,
        (oldest, newest): (u32, u32),
        rules: &Rules<M>,
        moved: &mut [u32],
    ) -> Result<(Distance, bool), EncodeError> {
        // The path of an entity that was just added was not shown.
        let was_shown = std::mem::take(&mut self.is_remembered);
        let (from, to, at) =
            self.around(self.shown_at, oldest.max(newest.saturating_sub(1)), newest);
        let (old, ticks) = (self.before.split_at(self.lanes), (from, to));
        let new = (self.row(from), self.row(to));
        if !was_shown || old == new {
            return Ok((Distance::default(), false));
        }
        let changed = distance(&rules.schema, &rules.model, [old.1, new.1], moved)?;
        let is_snapped = rules.is_broken(old.0, new.0)
            || rules.is_broken(old.1, new.1)
            || changed.length > rules.snap_distance;
        if is_snapped {
            self.fade = None;
            return Ok((changed, true));
        }
        let known = path_at(new, ticks, at, rules);
        let mut shown = path_at(old, ticks, at, rules);
        let fade = self.fade.as_ref().filter(|_| at < self.fade_end);
        if let Some(fade) = fade {
            let (model, now_s) = (&rules.model, at / rules.tick_hz);
            fade.apply(model, &mut shown.at, now_s);
            fade.apply(model, &mut shown.beside, now_s);
            fade.apply_speed(model, &mut shown.beside, now_s, -shown.seconds);
        }
        let jumps_later = at < f64::from(to) && rules.is_broken(new.0, new.1);
        self.fade_end = if jumps_later { f64::from(to) } else { f64::INFINITY };
        self.fade = Some(Fade::new(at / rules.tick_hz, shown, known, rules.lasts));
        Ok((changed, false))
    }
}

/// The path between two ticks at a moment, and where it would have been a little earlier at the
/// speed that it has there.
fn path_at<S, M: Model<S>>(
    rows: (&[u32], &[u32]),
    ticks @ (from, to): (u32, u32),
    at: f64,
    rules: &Rules<M>,
) -> Step<S> {
    let state = |at| between(rows.0, rows.1, ticks, at, rules);
    let (mut beside, seconds) = (state(at), SPEED_TICKS / rules.tick_hz);
    if from != to {
        let (first, last) = (f64::from(from), f64::from(to) - SPEED_TICKS);
        let begin = (at - SPEED_TICKS / 2.0).clamp(first, last);
        let [from, to] = [begin + SPEED_TICKS, begin].map(state);
        rules.model.displace(&mut beside, &from, &to, Share::WHOLE);
    }
    Step { at: state(at), beside, seconds }
}

/// The place of a tick's row among `count` lanes of rows.
fn place(count: usize, lanes: usize, tick: u32) -> Range<usize> {
    let rows = count.checked_div(lanes).unwrap_or(1);
    let first = tick as usize % rows * lanes;
    first..first + lanes
}

/// The state at the moment `at` between those of two ticks. At a break it is the first until the
/// second tick.
fn between<S, M: Model<S>>(
    from: &[u32],
    to: &[u32],
    (from_tick, to_tick): (u32, u32),
    at: f64,
    rules: &Rules<M>,
) -> S {
    let model = &rules.model;
    if from_tick == to_tick || at >= f64::from(to_tick) {
        return model.reconstruct(to);
    }
    if rules.is_broken(from, to) {
        return model.reconstruct(from);
    }
    let ratio = (at - f64::from(from_tick)) as f32;
    model.interpolate(from, to, Between { ratio, seconds: (1.0 / rules.tick_hz) as f32 })
}
