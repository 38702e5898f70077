//! Spreads a tick's datagrams over a time, as a budget of bytes that grows with the clock.
//!
//! A burst may leave at once, and another one each millisecond. If that would take longer than the
//! pace allows, the budget grows faster, so that everything that waits leaves within the pace after
//! the newest datagram was sent. The pacer therefore never causes a backlog by itself.

use std::time::{Duration, Instant};

/// What may leave at once: 16 datagrams of 1,280 bytes. One burst per [`STEP`] is 164 Mbit/s.
pub(crate) const BURST_BYTES: usize = 16 * 1280;
/// The time between two bursts.
pub(crate) const STEP: Duration = Duration::from_millis(1);
/// The pacer ignores shorter times, so that rounding does not lose bytes.
const SHORTEST: Duration = Duration::from_micros(10);

pub(crate) struct Pacer {
    /// The time over which to spread. `None` does not limit anything.
    pace: Option<Duration>,
    /// The bytes that may leave.
    budget_bytes: usize,
    /// The time up to which the budget was counted.
    clock: Instant,
}

impl Pacer {
    pub(crate) fn new(pace: Option<Duration>, now: Instant) -> Self {
        Self { pace, budget_bytes: BURST_BYTES, clock: now }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.pace.is_some()
    }

    /// Advances the clock. `newest` is the time at which the newest of the `waiting_bytes` was
    /// sent.
    pub(crate) fn advance(&mut self, now: Instant, waiting_bytes: usize, newest: Option<Instant>) {
        let Some(pace) = self.pace else { return };
        let elapsed = now.saturating_duration_since(self.clock);
        if elapsed < SHORTEST {
            return;
        }
        // The part of the remaining time that has passed is the part of the rest that may leave.
        let age = newest.map(|newest| self.clock.saturating_duration_since(newest));
        let remaining = pace.saturating_sub(age.unwrap_or_default());
        let held_bytes = waiting_bytes.saturating_sub(self.budget_bytes);
        let share = part(held_bytes, elapsed, remaining).min(held_bytes);
        let steady = part(BURST_BYTES, elapsed, STEP);
        let most = waiting_bytes.max(BURST_BYTES);
        self.budget_bytes = self.budget_bytes.saturating_add(share.max(steady)).min(most);
        self.clock = now;
    }

    /// Whether a datagram of `bytes` may leave now.
    pub(crate) fn allows(&self, bytes: usize) -> bool {
        self.pace.is_none() || bytes <= self.budget_bytes
    }

    /// Counts a datagram that left.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.budget_bytes = self.budget_bytes.saturating_sub(bytes);
    }
}

#[cfg(test)]
impl Pacer {
    /// Lets nothing leave before `then`.
    pub(crate) fn hold(&mut self, then: Instant) {
        (self.budget_bytes, self.clock) = (0, then);
    }
}

/// `bytes * time / whole`, rounded down, or `bytes` if `whole` is zero.
fn part(bytes: usize, time: Duration, whole: Duration) -> usize {
    let part = (bytes as u128).saturating_mul(time.as_nanos()).checked_div(whole.as_nanos());
    part.map_or(bytes, |part| usize::try_from(part).unwrap_or(usize::MAX))
}
