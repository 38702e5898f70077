//! The playout clock: which time of the stream is to be shown. It only goes forward, by jumps only
//! where it must.
//!
//! Where the next state is missing, the clock goes on and the newest state is held. When the next
//! one comes, there are two cases. If nothing had moved, the clock is right. If the state was
//! needed, the clock is set back to where the motion stopped, so that it goes on from there instead
//! of leaping: the delay has grown by as much as was too short, and is taken back slowly. Nobody
//! sees the clock set back, as what was shown had not passed that point.

use super::PlayoutConfig;
use super::delay::{Arrival, DelayEstimator, Disposition};

#[derive(Clone, Debug)]
pub(super) struct Clock {
    slew_ratio: f64,
    position_ns: i64,
    /// When `position_ns` was that. `None` before the first state.
    moved_at_ns: Option<i64>,
    /// The time for which it ran, and how much of that a state was missing.
    ran_ns: i64,
    starved_ns: i64,
    jumps: u64,
}

impl Clock {
    pub(super) fn new(config: &PlayoutConfig) -> Self {
        Self {
            slew_ratio: f64::from(config.slew_ratio),
            position_ns: 0,
            moved_at_ns: None,
            ran_ns: 0,
            starved_ns: 0,
            jumps: 0,
        }
    }

    /// The time of the stream to be shown, if there is a state for it.
    pub(super) fn position_ns(&self) -> i64 {
        self.position_ns
    }

    pub(super) fn jumps(&self) -> u64 {
        self.jumps
    }

    /// Share of the time in which a state was missing, the one being awaited included.
    pub(super) fn starved_ratio(&self, newest_ns: i64) -> f64 {
        let awaited_ns = self.position_ns.saturating_sub(newest_ns).max(0);
        (self.starved_ns.saturating_add(awaited_ns) as f64 / self.ran_ns.max(1) as f64).min(1.0)
    }

    /// Forgets the stream.
    pub(super) fn stop(&mut self) {
        self.moved_at_ns = None;
    }

    /// Runs to `now_ns`, no faster and no slower than allowed, to where the delay is as aimed at.
    pub(super) fn advance(&mut self, now_ns: i64, delay: &DelayEstimator) {
        let Some(moved_at_ns) = self.moved_at_ns.replace(now_ns) else {
            self.moved_at_ns = None;
            return;
        };
        let elapsed_ns = now_ns - moved_at_ns;
        let slew_ns = (elapsed_ns as f64 * self.slew_ratio) as i64;
        let aim_ns = delay.live_ns(now_ns).saturating_sub(delay.target_ns());
        let even_ns = self.position_ns.saturating_add(elapsed_ns);
        self.position_ns =
            aim_ns.clamp(even_ns.saturating_sub(slew_ns), even_ns.saturating_add(slew_ns));
        self.ran_ns = self.ran_ns.saturating_add(elapsed_ns);
    }

    /// Follows an arrival, after it has advanced to it. Never goes below `shown_ns`.
    pub(super) fn settle(
        &mut self,
        arrival: Arrival,
        disposition: Disposition,
        delay: &DelayEstimator,
        shown_ns: Option<i64>,
    ) {
        let live_ns = delay.live_ns(arrival.now_ns);
        let is_running = self.moved_at_ns.replace(arrival.now_ns).is_some();
        let overrun_ns =
            arrival.covered_ns.map_or(0, |covered_ns| self.position_ns.saturating_sub(covered_ns));
        if is_running && overrun_ns > 0 {
            self.starved_ns = self.starved_ns.saturating_add(overrun_ns);
        }
        match disposition {
            Disposition::Anew => {
                self.jumps += u64::from(is_running);
                self.position_ns =
                    live_ns.saturating_sub(delay.target_ns()).max(shown_ns.unwrap_or(i64::MIN));
            }
            Disposition::AfterStop => self.jumps += 1,
            Disposition::Next if overrun_ns > 0 => {
                // But not to a delay that is longer than any.
                let latest_ns = live_ns.saturating_sub(delay.max_delay_ns());
                let shown_ns = shown_ns.unwrap_or(i64::MIN);
                self.position_ns = self
                    .position_ns
                    .min(latest_ns.max(self.position_ns - overrun_ns).max(shown_ns));
            }
            Disposition::Next => {}
        }
    }
}
