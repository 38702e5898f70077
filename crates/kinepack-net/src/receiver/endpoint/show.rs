//! Hands states to the jitter buffer, and keeps them within their share of the memory.

use std::sync::Arc;
use std::time::Duration;

use kinepack::{EntityId, Snapshot, Tick};

use super::Receiver;
use super::config::STATES_SHARE;
use crate::receiver::shown::Shown;
use crate::receiver::views::{HeldView, Views};
use crate::seen::{Arrivals, Arrived, Row, Said, version};
use crate::trace::event;
use crate::{Entry, Pushed, Sequence};

/// A datagram that arrives late is at most this many sequences before the newest one.
const REACH: u16 = 32;

/// How a state follows the previous one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) interval_ticks: u8,
    /// In how many ticks each entity has a turn at least once.
    pub(super) turns: u8,
    /// Whether the state is older than one that is known.
    pub(super) late: bool,
}

impl Receiver {
    /// Updates the newest known state with the snapshot of the held view `sequence`, and hands it to
    /// the jitter buffer.
    pub(super) fn show(&mut self, now: Duration, sequence: Sequence, pace: Pace) {
        // The view is not held if there is no memory for it.
        let Some(held) = self.views.find(sequence) else { return };
        let (view, said) = (Arc::clone(held.view.snapshot()), held.part_said());
        let Pace { interval_ticks, turns, late } = pace;
        self.arrivals.note(sequence);
        if late {
            return self.show_late(now, sequence, pace);
        }
        let (tick, longest_blend_ticks) = (view.tick, self.config.longest_blend_ticks());
        let Some(said) = said else {
            let mut whole = Shown::whole(Arc::clone(&view), Some(sequence));
            whole.interval_ticks = interval_ticks;
            let takes_turns = |shown: &&Shown| turns > 1 || !shown.is_complete();
            let before = self.newest_shown.as_ref().filter(takes_turns);
            if turns > 1 && before.is_none() {
                whole.take_turns(sequence, &view, view.entities(), turns);
            }
            // The last update of some entities may be older than the previous state.
            let reach = before.map(|shown| {
                self.difference.find(&shown.state, &view);
                let changed = || entities_at(&view, &self.difference.sent);
                if turns > 1 {
                    whole.clone_from(shown);
                    whole.interval_ticks = interval_ticks;
                    whole.take_turns(sequence, &view, changed(), turns);
                }
                let reach = shown.reach(tick, changed(), longest_blend_ticks);
                self.config.reach_of_turns(tick, turns).unwrap_or(reach)
            });
            self.newest_shown = Some(whole.clone());
            let unchanged_until = self.unchanged_until(&whole);
            match self.buffer.state_mut(tick) {
                Some(state) => *state = whole,
                None => self.push(now, unchanged_until, reach, whole),
            }
            return;
        };
        let new = || Shown::whole(Arc::clone(&view), Some(sequence));
        let mut shown = self.newest_shown.take().unwrap_or_else(new);
        let reach = shown.reach(tick, said.sent.entities(), longest_blend_ticks);
        let reach = self.config.reach_of_turns(tick, turns).unwrap_or(reach);
        let is_gone = |id| {
            let arrived = arrived_by(&self.views, &self.arrivals, &self.full_state, sequence, tick);
            version(id, Tick(0), arrived).is_none()
        };
        if shown.advance(sequence, &view, said, turns, &mut self.difference, is_gone).is_err() {
            self.stats.unmerged += 1;
            shown = new();
        }
        self.largest_state_bytes = self.largest_state_bytes.max(shown.all_bytes());
        self.newest_shown = Some(shown.clone());
        // Another datagram of the same tick has already added this state.
        match self.buffer.state_mut(tick) {
            Some(state) => *state = shown,
            None => self.push(now, Tick(0), Some(reach), shown),
        }
    }

    /// Until when the state before `whole` was valid, as far as it is known.
    fn unchanged_until(&self, whole: &Shown) -> Tick {
        // The interval was a pause only if the previous snapshot arrived.
        let before = whole.sequence.map(|sequence| sequence.before(1));
        let before = before.filter(|before| self.arrivals.has(*before));
        let before = before.and_then(|before| self.views.find(before));
        let is_known = before.is_some_and(|held| held.sent.is_none()) && whole.interval_ticks > 0;
        let interval = if is_known { whole.interval_ticks.into() } else { u32::MAX };
        Tick(whole.state.tick.0.saturating_sub(interval))
    }

    /// Shows a snapshot that arrived after newer ones, as if it had arrived in order: adds a state
    /// between the others, unless playback is beyond the next one, and corrects newer states.
    fn show_late(&mut self, now: Duration, sequence: Sequence, pace: Pace) {
        let Some(held) = self.views.find(sequence) else { return };
        let (view, said) = (Arc::clone(held.view.snapshot()), held.part_said());
        let tick = view.tick;
        let is_before = |shown: &Shown| shown.state.tick <= tick && !shown.is_after(sequence);
        let before = self.buffer.states().rfind(|shown| is_before(shown));
        let is_complete = said.is_none() && pace.turns <= 1;
        let mut shown = match before {
            Some(before) if !is_complete => before.clone(),
            _ => Shown::whole(Arc::clone(&view), Some(sequence)),
        };
        let advanced = match said {
            Some(said) => {
                let arrived =
                    arrived_by(&self.views, &self.arrivals, &self.full_state, sequence, tick);
                let is_gone = |id| version(id, Tick(0), arrived.clone()).is_none();
                shown.advance(sequence, &view, said, pace.turns, &mut self.difference, is_gone)
            }
            None if is_complete => Ok(()),
            None => {
                self.difference.find(&shown.state, &view);
                let changed = entities_at(&view, &self.difference.sent);
                shown.take_turns(sequence, &view, changed, pace.turns);
                Ok(())
            }
        };
        if advanced.is_err() {
            self.stats.unmerged += 1;
            return;
        }
        shown.interval_ticks = pace.interval_ticks;
        let is_between = before.is_some();
        let unchanged_until = self.unchanged_until(&shown);
        self.largest_state_bytes = self.largest_state_bytes.max(shown.all_bytes());
        match self.buffer.state_mut(tick) {
            // An earlier datagram of the same tick has already added this state.
            Some(same) if !same.is_after(sequence) => *same = shown,
            Some(_) => {}
            None => {
                if is_complete {
                    self.push(now, unchanged_until, None, shown.clone());
                }
                if is_between && self.buffer.state_mut(tick).is_none() {
                    self.buffer.insert(Entry { tick, unchanged_until, state: shown });
                }
            }
        }
        self.correct_newer(sequence, tick);
    }

    /// Corrects the states from `tick` on after the datagram `late` arrived late.
    fn correct_newer(&mut self, late: Sequence, tick: Tick) {
        let Self { views, arrivals, buffer, newest_shown, full_state, stats, .. } = self;
        let Some(held) = views.find(late) else { return };
        let is_used = |held: &&HeldView| arrivals.has(held.sequence);
        let ids_of = |held: &HeldView| {
            let mut ids = held.sent.as_ref().map_or(held.view.ids(), Snapshot::ids).to_vec();
            ids.extend(&held.removed);
            ids
        };
        let ids = ids_of(held);
        // Of an entity with turns, the late datagram may show that the next one brought nothing new.
        let next = views.up_to(late.after(REACH)).filter(is_used);
        let next = next.take_while(|held| held.sequence != late).last();
        let next = next.filter(|next| next.takes_turns).map(|next| (next.sequence, ids_of(next)));
        let mut correct = |shown: &mut Shown| {
            let Some(newest) = shown.sequence.filter(|_| shown.is_after(late)) else { return };
            let mut ids = ids.clone();
            if held.sent.is_none() {
                ids.extend(shown.state.ids());
            }
            if let Some((next, others)) = &next
                && newest.since(*next) >= 0
            {
                ids.extend(others);
            }
            ids.sort_unstable();
            ids.dedup();
            let arrived = arrived_by(views, arrivals, full_state, newest, shown.state.tick);
            let corrected = shown.correct(&ids, |id| version(id, Tick(0), arrived.clone()));
            stats.unmerged += u64::from(corrected.is_err());
        };
        let newer = buffer.entries_mut().skip_while(|entry| entry.tick < tick);
        let mut last = None;
        for entry in newer {
            correct(&mut entry.state);
            last = Some(&entry.state);
        }
        if let Some(newest) = newest_shown {
            match last.filter(|last| last.sequence == newest.sequence) {
                Some(last) => newest.clone_from(last),
                None => correct(newest),
            }
        }
        // The state after the late one may have begun only after a pause.
        let next = self.buffer.states().find(|shown| shown.sequence == Some(late.after(1)));
        if let Some(next) = next.filter(|next| next.is_complete()) {
            let (tick, unchanged_until) = (next.state.tick, self.unchanged_until(next));
            let mut entries = self.buffer.entries_mut();
            if let Some(entry) = entries.find(|entry| entry.tick == tick) {
                entry.unchanged_until = unchanged_until;
            }
        }
    }

    pub(super) fn push(
        &mut self,
        now: Duration,
        unchanged_until: Tick,
        reach: Option<Tick>,
        shown: Shown,
    ) {
        let tick = shown.state.tick;
        self.largest_state_bytes = self.largest_state_bytes.max(shown.all_bytes());
        let pushed = match reach {
            Some(reach) => self.buffer.push_part(now, tick, unchanged_until, reach, shown),
            None => self.buffer.push(now, tick, unchanged_until, shown),
        };
        if pushed == Pushed::Late {
            self.stats.late += 1;
        }
    }

    /// Drops the oldest views and the oldest states to show until views and states fit their shares
    /// of the memory.
    pub(super) fn shed_memory(&mut self) {
        let states_bytes = self.config.max_memory_bytes / STATES_SHARE;
        let dropped_views = self.views.shed(self.config.max_memory_bytes - states_bytes);
        if dropped_views > 0 {
            self.stats.dropped_views += dropped_views;
            event!(debug, views = dropped_views, "views dropped for lack of memory");
        }
        // This upper bound is cheap to compute. The exact sum would take longer than decoding a
        // small snapshot.
        if (self.buffer.len() + 1) * self.largest_state_bytes <= states_bytes {
            return;
        }
        let mut own_bytes = self.buffer.states().map(Shown::own_bytes).sum::<usize>();
        while own_bytes > states_bytes
            && let Some(dropped) = self.buffer.drop_oldest()
        {
            own_bytes = own_bytes.saturating_sub(dropped.own_bytes());
            self.stats.dropped_states += 1;
        }
    }
}

/// A state that arrived.
#[derive(Clone, Copy)]
enum State<'a> {
    Snapshot(&'a HeldView),
    FullState(&'a Snapshot),
}

impl<'a> Arrived<'a> for State<'a> {
    fn sequence(&self) -> Sequence {
        match self {
            Self::Snapshot(held) => held.sequence,
            Self::FullState(_) => Sequence::default(),
        }
    }

    fn tick(&self) -> Tick {
        match self {
            Self::Snapshot(held) => held.view.tick,
            Self::FullState(state) => state.tick,
        }
    }

    fn is_full_state(&self) -> bool {
        matches!(self, Self::FullState(_))
    }

    fn takes_turns(&self) -> bool {
        matches!(self, Self::Snapshot(held) if held.takes_turns)
    }

    fn said(&self, id: EntityId) -> Said<'a> {
        match self {
            Self::Snapshot(held) => held.said(id),
            Self::FullState(_) => self.held(id).map_or(Said::Absent, Said::Row),
        }
    }

    fn held(&self, id: EntityId) -> Option<Row<'a>> {
        match *self {
            Self::Snapshot(held) => held.held(id),
            Self::FullState(state) => Some((state, state.position(id)?)),
        }
    }
}

/// The states that arrived, from the snapshot `newest` of the tick `tick` to the oldest, or to the
/// full state before it, which has all that came before.
fn arrived_by<'a>(
    views: &'a Views,
    arrivals: &'a Arrivals,
    full_state: &'a Option<Arc<Snapshot>>,
    newest: Sequence,
    tick: Tick,
) -> impl Iterator<Item = State<'a>> + Clone {
    let full_state = full_state.as_deref().filter(|full_state| full_state.tick < tick);
    let is_later = move |held: &&HeldView| full_state.is_none_or(|of| held.view.tick > of.tick);
    let held = views.up_to(newest).filter(|held| arrivals.has(held.sequence)).take_while(is_later);
    held.map(State::Snapshot).chain(full_state.map(State::FullState))
}

/// The kinds and ids of the entities of `state` at `indices`.
fn entities_at(state: &Snapshot, indices: &[u32]) -> impl Iterator<Item = (usize, EntityId)> {
    indices.iter().filter_map(|index| {
        let index = *index as usize;
        Some((state.kind_at(index)?, state.ids()[index]))
    })
}
