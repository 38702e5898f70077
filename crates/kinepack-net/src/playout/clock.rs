//! The playout clock computes which time of the stream to show. The shown time only moves forward,
//! and jumps only if it must.
//!
//! If the next state is missing, the clock keeps running and the newest state is held. When the
//! next state arrives, there are two cases. If nothing had moved, the clock is already right. If
//! the state was needed, the clock is set back to where the motion stopped, so that the motion
//! resumes there instead of leaping. The delay has then grown by the missing time, and shrinks
//! again slowly. No viewer notices that the clock was set back, because no later point had been
//! shown. If entities are extrapolated, the motion stops only after that, so that the clock is set
//! back less, or not at all.
//!
//! The clock never lags by more than the longest delay. If states now arrive sooner and the lag
//! would exceed this delay, the clock leaps forward. After a stop that was longer than any delay,
//! it leaps to the target. A clock that lags far behind the target runs faster.

use super::PlayoutConfig;
use super::delay::{Arrival, DelayEstimator, Disposition};

/// A clock that lags its target by more than the first of these values hurries, until the lag is
/// below the second. At a slew of 0.05 alone, the lag would take three seconds to fall from the
/// first to the second.
const HURRIES_NS: [i64; 2] = [250_000_000, 100_000_000];
/// A clock that hurries would reach its target in this time if it kept its speed. Because the clock
/// slows down as the lag shrinks, the lag falls by a factor of 5 in 2.4 seconds.
const HURRY_NS: f64 = 1.5e9;
/// Shorter leaps do not count as jumps, because they look like a single late frame.
const SHORTEST_JUMP_NS: i64 = 100_000_000;

#[derive(Clone, Debug)]
pub(super) struct Clock {
    slew_ratio: f64,
    position_ns: i64,
    /// The caller's time at which the clock was at `position_ns`. `None` before the first state.
    moved_at_ns: Option<i64>,
    /// How long the clock ran, and for how much of that time a state was missing.
    ran_ns: i64,
    starved_ns: i64,
    /// Up to which position missing states are counted in `starved_ns`. If the clock is not set
    /// back, several states may arrive that were all missing at the same time.
    counted_ns: i64,
    jumps: u64,
    hurries: bool,
}

impl Clock {
    pub(super) fn new(config: &PlayoutConfig) -> Self {
        Self {
            slew_ratio: f64::from(config.slew_ratio),
            position_ns: 0,
            moved_at_ns: None,
            ran_ns: 0,
            starved_ns: 0,
            counted_ns: i64::MIN,
            jumps: 0,
            hurries: false,
        }
    }

    /// The stream time to show, if there is a state for it.
    pub(super) fn position_ns(&self) -> i64 {
        self.position_ns
    }

    pub(super) fn jumps(&self) -> u64 {
        self.jumps
    }

    /// The share of the time in which a state was missing, including the current wait.
    pub(super) fn starved_ratio(&self, newest_ns: i64) -> f64 {
        let awaited_ns = self.starved_since_ns(newest_ns);
        (self.starved_ns.saturating_add(awaited_ns) as f64 / self.ran_ns.max(1) as f64).min(1.0)
    }

    /// Returns for how long the clock has run without a state since the state at `covered_ns`. The
    /// part of that time that is already counted is left out.
    fn starved_since_ns(&self, covered_ns: i64) -> i64 {
        self.position_ns.saturating_sub(covered_ns.max(self.counted_ns)).max(0)
    }

    /// Forgets the stream.
    pub(super) fn stop(&mut self) {
        self.moved_at_ns = None;
    }

    /// Advances the clock to `now_ns`, and moves its lag towards the target delay. The speed stays
    /// within the slew ratio, unless the clock hurries.
    pub(super) fn advance(&mut self, now_ns: i64, delay: &DelayEstimator) {
        let Some(moved_at_ns) = self.moved_at_ns.replace(now_ns) else {
            self.moved_at_ns = None;
            return;
        };
        let elapsed_ns = now_ns - moved_at_ns;
        let slew_ns = (elapsed_ns as f64 * self.slew_ratio) as i64;
        let aim_ns = delay.live_ns(now_ns).saturating_sub(delay.target_ns());
        let even_ns = self.position_ns.saturating_add(elapsed_ns);
        let behind_ns = aim_ns.saturating_sub(even_ns);
        self.hurries = behind_ns > HURRIES_NS[usize::from(self.hurries)];
        let hurry_ns = match self.hurries {
            true => (elapsed_ns as f64 * (behind_ns as f64 / HURRY_NS)) as i64,
            false => 0,
        };
        self.position_ns = aim_ns
            .clamp(even_ns.saturating_sub(slew_ns), even_ns.saturating_add(slew_ns.max(hurry_ns)));
        self.ran_ns = self.ran_ns.saturating_add(elapsed_ns);
    }

    /// Corrects the clock after an arrival. Before this, [`advance`](Self::advance) the clock to
    /// the time of the arrival. `live_before_ns` is [`DelayEstimator::live_ns`] before the arrival
    /// was observed. Never sets the clock below `shown_ns`. Playback runs on for `reach_ns` after
    /// the newest state.
    pub(super) fn settle(
        &mut self,
        arrival: Arrival,
        disposition: Disposition,
        delay: &DelayEstimator,
        live_before_ns: i64,
        shown_ns: Option<i64>,
        reach_ns: i64,
    ) {
        let live_ns = delay.live_ns(arrival.now_ns);
        let is_running = self.moved_at_ns.replace(arrival.now_ns).is_some();
        let stopped_ns = arrival.covered_ns.map(|covered_ns| covered_ns.saturating_add(reach_ns));
        let overrun_ns =
            stopped_ns.map_or(0, |stopped_ns| self.position_ns.saturating_sub(stopped_ns));
        if let Some(covered_ns) = arrival.covered_ns.filter(|_| is_running) {
            self.starved_ns = self.starved_ns.saturating_add(self.starved_since_ns(covered_ns));
        }
        match disposition {
            Disposition::Anew => {
                self.jumps += u64::from(is_running);
                self.position_ns =
                    live_ns.saturating_sub(delay.target_ns()).max(shown_ns.unwrap_or(i64::MIN));
            }
            Disposition::AfterStop => self.jumps += 1,
            Disposition::HeldBack => {
                let aim_ns = live_ns.saturating_sub(delay.target_ns());
                self.position_ns = self.position_ns.max(aim_ns);
            }
            Disposition::Next if overrun_ns > 0 => {
                // Set the clock back to where the motion stopped, but not so far that the delay
                // exceeds the longest delay.
                let latest_ns = live_ns.saturating_sub(delay.max_delay_ns());
                let shown_ns = shown_ns.unwrap_or(i64::MIN);
                self.position_ns = self
                    .position_ns
                    .min(latest_ns.max(self.position_ns - overrun_ns).max(shown_ns));
            }
            Disposition::Next => {}
        }
        // `set_delays` may have lowered the longest delay, and the clock approaches the new bound
        // slowly. So the leap makes up only for what this arrival changed.
        let latest_ns = live_ns.saturating_sub(delay.max_delay_ns());
        let leap_ns =
            latest_ns.saturating_sub(self.position_ns).min(live_ns.saturating_sub(live_before_ns));
        if leap_ns > 0 {
            self.position_ns = self.position_ns.saturating_add(leap_ns);
            self.jumps += u64::from(leap_ns >= SHORTEST_JUMP_NS);
        }
        self.counted_ns = self.position_ns;
    }
}
