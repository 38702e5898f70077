//! Selects the two states of each entity around the playout point, and computes how far the point
//! is between or beyond them.

use kinepack::{Between, EntityId, Snapshot, Tick};

use super::playback::{Sample, Starved};
use super::shown::Shown;
use crate::Extrapolation;
use crate::extrapolation::Extrapolations;
use crate::playout::{Entry, Playout};
use crate::seen::Row;

/// The playout point, and the states around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayoutPoint<'a> {
    playout: Playout<'a, Shown>,
    pace: Pace,
    extrapolations: &'a Extrapolations,
}

impl<'a> PlayoutPoint<'a> {
    pub(super) fn new(
        playout: Playout<'a, Shown>,
        tick_hz: f64,
        longest_blend_ticks: f64,
        extrapolations: &'a Extrapolations,
    ) -> Self {
        let pace = Pace { tick: playout.tick, tick_hz, longest_blend_ticks };
        Self { playout, pace, extrapolations }
    }

    /// The point this much later, between the same states.
    pub(super) fn later_by(&self, ticks: f64) -> Self {
        let pace = Pace { tick: self.pace.tick + ticks, ..self.pace };
        Self { pace, ..*self }
    }

    pub(super) fn tick(&self) -> f64 {
        self.pace.tick
    }

    pub(super) fn tick_hz(&self) -> f64 {
        self.pace.tick_hz
    }

    pub(super) fn is_starved(&self) -> bool {
        self.playout.starved
    }

    /// The state before the moment. Its entities are shown.
    pub(super) fn state(&self) -> &'a Snapshot {
        &self.playout.from.state.state
    }

    /// The samples of a kind, by id. There are none if the schema has no such kind.
    pub(super) fn samples_of_kind(
        &self,
        kind: usize,
    ) -> impl Iterator<Item = Sample<'a>> + use<'_, 'a> {
        let state = self.state();
        let range = state.of_kind(kind);
        let ids = &state.ids()[range.clone()];
        range.zip(ids).map(move |(index, id)| self.sample(index, kind, *id))
    }

    /// The sample of the entity at `index` of the shown state.
    pub(super) fn sample(&self, index: usize, kind: usize, id: EntityId) -> Sample<'a> {
        let Self { playout, .. } = self;
        let shown = &playout.from.state;
        let since = f64::from(shown.since(index).0);
        let held = (&*shown.state, index);
        let spawn = shown.state.spawn_hash(index);
        let look = |entry: &'a Entry<Shown>| {
            let at = place(&entry.state, kind, id, index)?;
            // In a later state, another entity may have this id.
            if entry.state.state.spawn_hash(at) != spawn {
                return None;
            }
            let fresh = f64::from(entry.state.since(at).0);
            // A complete state always has the entity's next value, so the search ends there.
            (fresh > since || entry.state.is_complete()).then_some((entry, at, fresh))
        };
        // Most entities are in the next state.
        let next = look(playout.to).or_else(|| playout.later().find_map(look));
        let next = next.map(|(entry, at, until)| Next {
            row: (&*entry.state.state, at),
            until,
            unchanged_until: if entry.state.is_complete() {
                entry.unchanged_until
            } else {
                Tick(0)
            },
        });
        let before = || {
            // Other entities may be at rest.
            let is_new = since == f64::from(shown.state.tick.0);
            let entry = playout.before().filter(|_| is_new)?;
            let at = place(&entry.state, kind, id, index)?;
            let row = (&*entry.state.state, at);
            let since = f64::from(entry.state.since(at).0);
            (row.0.spawn_hash(at) == spawn).then_some(Before { row, since })
        };
        let of_kind = self.extrapolations.of(kind);
        let unchanged_until =
            if shown.is_complete() { playout.from.unchanged_until } else { Tick(0) };
        self.pace.sample(id, held, since, next, of_kind).unwrap_or_else(|| {
            self.pace.beyond(id, held, [since, unchanged_until.0.into()], of_kind, before)
        })
    }
}

/// The moment of playback, and how motion is blended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) tick: f64,
    pub(crate) tick_hz: f64,
    pub(crate) longest_blend_ticks: f64,
}

/// The next known state of an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next<'a> {
    pub(crate) row: Row<'a>,
    /// The tick of the state.
    pub(crate) until: f64,
    /// The tick until which the state before is known to have been valid; 0 if unknown.
    pub(crate) unchanged_until: Tick,
}

/// The state of an entity before its newest one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before<'a> {
    pub(crate) row: Row<'a>,
    /// The tick from which the state blends to the newest one.
    pub(crate) since: f64,
}

impl Pace {
    /// The entity's sample, between the state `held` since the tick `since` and the next one.
    /// `None` if there is no next one.
    pub(crate) fn sample<'a>(
        &self,
        id: EntityId,
        held: Row<'a>,
        since: f64,
        next: Option<Next<'a>>,
        extrapolation: Extrapolation,
    ) -> Option<Sample<'a>> {
        let Next { row: (state, at), until, unchanged_until } =
            next.filter(|next| next.until > since)?;
        let longest_ticks = self.longest_blend_ticks + extrapolation.reach_ticks(self.tick_hz);
        let begin = since.max(until - longest_ticks).max(f64::from(unchanged_until.0));
        let (passed, span) = (self.tick - begin, until - begin);
        let ratio = if span > 0.0 { (passed / span).clamp(0.0, 1.0) } else { 1.0 };
        let steps = Between {
            ratio: if ratio < 1.0 { 0.0 } else { 1.0 },
            seconds: (span / self.tick_hz) as f32,
        };
        let blends = Between { ratio: ratio as f32, ..steps };
        let is_broken = state.is_broken_since(at, held.0, held.1);
        let is_cut = is_broken && state.is_cut_since(at, held.0, held.1);
        Some(Sample {
            id,
            from: held,
            to: (state, at),
            between: if is_broken { steps } else { blends },
            is_cut,
            in_world: if is_cut { steps } else { blends },
            starved: None,
        })
    }

    /// The entity's sample after its newest state, which it `held` since the first tick. The state
    /// before it is known to have been valid until the second tick.
    pub(crate) fn beyond<'a>(
        &self,
        id: EntityId,
        held: Row<'a>,
        [since, unchanged_until]: [f64; 2],
        extrapolation: Extrapolation,
        before: impl FnOnce() -> Option<Before<'a>>,
    ) -> Sample<'a> {
        let still = Between { ratio: 0.0, seconds: 0.0 };
        let passed_ticks = (self.tick - since).max(0.0);
        let starved = Some(Starved { since, passed_s: passed_ticks / self.tick_hz });
        let hold = Sample {
            id,
            from: held,
            to: held,
            between: still,
            is_cut: false,
            in_world: still,
            starved,
        };
        let beyond_ticks = extrapolation.beyond_ticks(passed_ticks, self.tick_hz);
        if beyond_ticks <= 0.0 {
            return hold;
        }
        let before = before();
        let is_broken = |of: &Before<'a>| held.0.is_broken_since(held.1, of.row.0, of.row.1);
        if before.as_ref().is_some_and(is_broken) {
            return hold;
        }
        // Without another state, only fields with a velocity move.
        let (from, span_ticks) = match before {
            Some(Before { row, since: begin }) => {
                let begin = begin.max(since - self.longest_blend_ticks).max(unchanged_until);
                (row, since - begin)
            }
            None => (held, 1.0),
        };
        if span_ticks <= 0.0 {
            return hold;
        }
        let between = Between {
            ratio: (1.0 + beyond_ticks / span_ticks) as f32,
            seconds: (span_ticks / self.tick_hz) as f32,
        };
        Sample { from, between, in_world: between, ..hold }
    }
}

/// The index of an entity. Tries `guess` first, because the index is usually the same as in the
/// previous state.
fn place(shown: &Shown, kind: usize, id: EntityId, guess: usize) -> Option<usize> {
    let state = &shown.state;
    let is_there = state.ids().get(guess) == Some(&id) && state.kind_at(guess) == Some(kind);
    if is_there { Some(guess) } else { state.position_of(kind, id) }
}
