//! Keeps the states that a viewer has shown recently, so that the user can pause and rewind.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Snapshot, Tick};

/// The number of states that are kept per second. Playback interpolates between these states.
const KEPT_HZ: u32 = 20;

/// The maximum number of ticks in a history. Ticks wrap, so only ticks less than 2³¹ apart have an
/// order.
const MAX_SPAN_TICKS: u32 = 1 << 30;

#[derive(Debug)]
pub(crate) struct History {
    /// The states, in the order of increasing ticks.
    states: VecDeque<Arc<Snapshot>>,
    /// The maximum number of ticks from the oldest state to the newest.
    span_ticks: u32,
    /// The minimum number of ticks from one state to the next.
    step_ticks: u32,
}

impl History {
    pub(crate) fn new(span: Duration, tick_hz: u32) -> Self {
        let span_ticks = (span.as_secs_f64() * f64::from(tick_hz)) as u32;
        let step_ticks = (tick_hz / KEPT_HZ).max(1);
        Self { states: VecDeque::new(), span_ticks, step_ticks }
    }

    /// Returns whether a history may cover this time.
    pub(crate) fn can_span(span: Duration, tick_hz: u32) -> bool {
        span.as_secs_f64() * f64::from(tick_hz) <= f64::from(MAX_SPAN_TICKS)
    }

    /// Returns the maximum number of states that a history of this span keeps.
    pub(crate) fn max_states(span: Duration) -> usize {
        let states = (span.as_secs_f64() * f64::from(KEPT_HZ)).ceil() as usize;
        states.saturating_add(2)
    }

    pub(crate) fn push(&mut self, state: &Arc<Snapshot>) {
        if self.span_ticks == 0 {
            return;
        }
        let since = |of: &Arc<Snapshot>| state.tick.0.wrapping_sub(of.tick.0) as i32;
        if let Some(newest) = self.states.back() {
            let ticks = since(newest);
            // In this case the simulation has restarted.
            if ticks < -(self.span_ticks as i32) {
                self.states.clear();
            } else if ticks < self.step_ticks as i32 {
                return;
            }
        }
        self.states.push_back(Arc::clone(state));
        while self.states.front().is_some_and(|oldest| since(oldest) > self.span_ticks as i32) {
            self.states.pop_front();
        }
    }

    /// Replaces the kept state that has the same tick, if there is one.
    pub(crate) fn replace(&mut self, state: &Arc<Snapshot>) {
        if let Ok(place) = self.states.binary_search_by_key(&state.tick, |of| of.tick) {
            self.states[place] = Arc::clone(state);
        }
    }

    pub(crate) fn range(&self) -> Option<(Tick, Tick)> {
        Some((self.states.front()?.tick, self.states.back()?.tick))
    }

    /// Returns the states before and after a moment, which may be the same.
    pub(crate) fn around(&self, tick: f64) -> Option<[&Arc<Snapshot>; 2]> {
        let after = self.states.partition_point(|state| f64::from(state.tick.0) <= tick);
        let last = self.states.len().checked_sub(1)?;
        Some([&self.states[after.saturating_sub(1)], &self.states[after.min(last)]])
    }
}
