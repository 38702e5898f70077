//! Hands states to the jitter buffer, and keeps them within their share of the memory.

use std::sync::Arc;
use std::time::Duration;

use kinepack::{Snapshot, Tick, View};

use super::Receiver;
use super::config::STATES_SHARE;
use crate::receiver::shown::Shown;
use crate::trace::event;
use crate::{Pushed, Sequence};

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
    /// Updates the newest known state and hands it to the jitter buffer.
    pub(super) fn show(
        &mut self,
        now: Duration,
        sequence: Sequence,
        view: &View,
        sent: Option<&Snapshot>,
        Pace { interval_ticks, turns, late }: Pace,
    ) {
        let tick = view.tick;
        let Some(sent) = sent else {
            if late && turns > 1 {
                // Newer datagrams skip what this one sent.
                let merged = self
                    .newest_shown
                    .as_mut()
                    .map_or(Ok(()), |shown| shown.add_late(tick, view.snapshot()));
                self.stats.unmerged += u64::from(merged.is_err());
                return;
            }
            let mut whole = Shown::whole(Arc::clone(view.snapshot()));
            let takes_turns = |shown: &&Shown| turns > 1 || !shown.is_complete();
            let before = self.newest_shown.as_ref().filter(|_| !late).filter(takes_turns);
            // The last update of some entities may be older than the previous state.
            let reach = before.map(|shown| {
                self.difference.find(&shown.state, view);
                let entity = |index: &u32| {
                    let index = *index as usize;
                    Some((view.kind_at(index)?, view.ids()[index]))
                };
                let changed = || self.difference.sent.iter().filter_map(entity);
                if turns > 1 {
                    whole.clone_from(shown);
                    whole.take_turns(view.snapshot(), changed(), turns);
                }
                let reach = shown.reach(tick, changed(), self.config.longest_blend_ticks());
                self.config.reach_of_turns(tick, turns).unwrap_or(reach)
            });
            if !late {
                self.newest_shown = Some(whole.clone());
            }
            // The interval was a pause only if the previous snapshot arrived.
            let before = self
                .views
                .find(sequence.before(1))
                .filter(|held| held.sent.is_none() && interval_ticks > 0);
            let unchanged_until =
                before.map_or(0, |_| tick.0.saturating_sub(u32::from(interval_ticks)));
            self.push(now, Tick(unchanged_until), reach, whole);
            return;
        };
        if late {
            let merged =
                self.newest_shown.as_mut().map_or(Ok(()), |shown| shown.add_late(tick, sent));
            self.stats.unmerged += u64::from(merged.is_err());
            return;
        }
        let mut shown =
            self.newest_shown.take().unwrap_or_else(|| Shown::whole(Arc::clone(view.snapshot())));
        let longest_blend_ticks = self.config.longest_blend_ticks();
        let reach = shown.reach(tick, sent.entities(), longest_blend_ticks);
        let reach = self.config.reach_of_turns(tick, turns).unwrap_or(reach);
        if shown.advance(tick, &self.difference.removed, sent, turns).is_err() {
            self.stats.unmerged += 1;
            shown = Shown::whole(Arc::clone(view.snapshot()));
        }
        self.largest_state_bytes = self.largest_state_bytes.max(shown.all_bytes());
        self.newest_shown = Some(shown.clone());
        // Another datagram of the same tick has already added this state.
        match self.buffer.state_mut(tick) {
            Some(state) => *state = shown,
            None => self.push(now, Tick(0), Some(reach), shown),
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
