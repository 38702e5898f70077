//! Takes datagrams: snapshots, events alone, and fragments of full states.

use std::sync::Arc;
use std::time::Duration;

use kinepack::{DecodeError, Snapshot, Tick};

use super::show::Pace;
use super::{Received, Receiver};
use crate::Refused;
use crate::events::Taken;
use crate::packet::{Baseline, EventsAlone, FragmentHeader, SnapshotHeader};
use crate::receiver::assembly::{Added, Assembly};
use crate::receiver::shown::Shown;
use crate::receiver::views::{HeldView, Resolved};
use crate::trace::event;

/// A full state that is older than the newest state by more ticks than this belongs to another
/// session. Within one session, the difference is small, because a hub sends no snapshots while a
/// full state is on its way. Only the few snapshots that were sent before the full state can arrive
/// first.
const OLDEST_FULL_STATE: u32 = 1024;

impl Receiver {
    pub(super) fn take_snapshot(
        &mut self,
        now: Duration,
        header: &SnapshotHeader,
        bytes: &[u8],
        events: Option<&[u8]>,
    ) -> Result<Received, Refused> {
        let sequence = header.sequence;
        let begins_session =
            header.baseline == Baseline::Reference(0) && self.is_other_session(sequence);
        if !begins_session {
            self.window.check(sequence)?;
        }
        let Resolved { known, tick, interval_ticks } = self.views.resolve(header)?;
        let begins_session = begins_session
            || (header.baseline == Baseline::Reference(0) && self.runs_back(sequence, tick));
        let baselines = known.baselines().map_err(|_| Refused::BadOlder)?;
        let events =
            events.map(|list| self.check_events(tick, list, begins_session)).transpose()?;
        let view = match (self.decoder.decode(baselines, bytes, tick), header.check) {
            (Ok(view), None) => view,
            (Ok(view), Some(theirs)) => {
                self.stats.checked += 1;
                let ours = view.check();
                if ours != theirs {
                    self.lose_views(sequence, begins_session);
                    return Err(Refused::WrongState { theirs, ours });
                }
                view
            }
            // A state that exceeds the limits does not show that the two sides differ.
            (Err(error @ DecodeError::TooManyEntities { .. }), _) | (Err(error), None) => {
                return Err(error.into());
            }
            (Err(error), Some(_)) => {
                self.stats.checked += 1;
                self.lose_views(sequence, begins_session);
                return Err(error.into());
            }
        };
        let (mut sent, mut removed) = (None, Box::default());
        if header.left_out {
            self.difference.find(&known.baseline, &view);
            let sent = sent.insert(Snapshot::new_like(&view));
            sent.gather(&view, &self.difference.sent).map_err(|_| Refused::BadMerge)?;
            removed = self.difference.removed.as_slice().into();
        }

        // From here on, nothing can fail.
        if begins_session {
            self.begin_session();
        }
        self.window.note(sequence);
        if let Some(recount) = &mut self.recount {
            recount.take(&known, &view, bytes.len());
        }
        if let (Some(incoming), Some(list)) = (&mut self.events, events) {
            incoming.take(list);
        }
        if let Baseline::Back(back) = header.baseline {
            self.connection.note_baseline(now, sequence.before(u16::from(back)));
        }
        self.forget_shown(tick);
        let is_newest = self.newest.is_none_or(|newest| sequence.since(newest) > 0);
        // The shown state may come from a full state that is newer than this snapshot.
        let is_behind = self.newest_shown.as_ref().is_some_and(|shown| shown.state.tick > tick);
        let late = !is_newest || is_behind;
        let pace = Pace { interval_ticks, turns: header.turns, late };
        let own_back = header.baseline.back();
        let newest = self.window.newest().unwrap_or(sequence);
        let takes_turns = header.turns > 1;
        let taken = HeldView { sequence, view, own_back, sent, removed, takes_turns };
        let dropped = self.views.add(taken, header.baseline, newest);
        self.show(now, sequence, pace);
        if let Some(dropped) = dropped {
            self.decoder.recycle(dropped);
        }
        self.shed_memory();
        if is_newest {
            self.newest = Some(sequence);
        }
        Ok(Received::Snapshot { tick, left_out: header.left_out, late })
    }

    pub(super) fn take_events_alone(
        &mut self,
        header: &EventsAlone,
        list: &[u8],
    ) -> Result<Received, Refused> {
        let EventsAlone { sequence, tick } = *header;
        if self.is_other_session(sequence) || self.runs_back(sequence, tick) {
            // The sender repeats the events after the new session's first state.
            return Err(Refused::TooOld);
        }
        self.window.check(sequence)?;
        let list = self.check_events(tick, list, false)?;
        self.window.note(sequence);
        self.arrivals.note(sequence);
        if let Some(incoming) = &mut self.events {
            incoming.take(list);
        }
        Ok(Received::Events { tick })
    }

    fn check_events(
        &mut self,
        tick: Tick,
        list: &[u8],
        begins_session: bool,
    ) -> Result<Taken, Refused> {
        self.events.as_mut().ok_or(Refused::BadEvents)?.check(tick, list, begins_session)
    }

    pub(super) fn take_fragment(
        &mut self,
        now: Duration,
        header: &FragmentHeader,
        part: &[u8],
    ) -> Result<Received, Refused> {
        if self.is_other_session(header.sequence) {
            let mut assembly = Assembly::default();
            return match assembly.add(header, part, self.config.max_full_state_bytes)? {
                Added::Part => {
                    self.begin_session();
                    self.assembly = assembly;
                    self.window.note(header.sequence);
                    self.arrivals.note(header.sequence);
                    Ok(Received::Fragment)
                }
                // A sender cuts every full state into two fragments at least.
                Added::Whole(..) => Err(Refused::TooOld),
            };
        }
        self.window.check(header.sequence)?;
        let received = match self.assembly.add(header, part, self.config.max_full_state_bytes)? {
            Added::Part => Received::Fragment,
            Added::Whole(number, bytes) => {
                let (head, snapshot) = bytes.split_first_chunk().ok_or(Refused::BadFragment)?;
                let [a, b, c, d, reference] = *head;
                let tick = Tick(u32::from_le_bytes([a, b, c, d]));
                let base = self.views.reference(reference)?;
                let view = self.decoder.decode(base, snapshot, tick)?;
                let state = Arc::clone(view.snapshot());
                let is_of_other = |shown: Tick| shown.0.saturating_sub(tick.0) > OLDEST_FULL_STATE;
                if reference == 0 && !self.is_new_session && self.sought.is_some_and(is_of_other) {
                    self.begin_session();
                }
                self.assembly.finish(number, header.sequence);
                self.views.add_reference(number, reference, view);
                self.forget_shown(tick);
                // If newer snapshots arrived before this full state, the sender has given it up.
                if self.newest_shown.as_ref().is_none_or(|shown| shown.state.tick < tick) {
                    self.full_state = Some(Arc::clone(&state));
                    let whole = Shown::whole(state, None);
                    self.newest_shown = Some(whole.clone());
                    self.arrivals.note_full_state(number);
                    self.push(now, Tick(0), None, whole);
                }
                self.shed_memory();
                self.stats.full_states += 1;
                event!(debug, full_state = number, tick = tick.0, "full state finished");
                Received::FullState { tick }
            }
        };
        self.window.note(header.sequence);
        self.arrivals.note(header.sequence);
        Ok(received)
    }
}
