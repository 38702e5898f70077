//! Estimates the delay that recent states would have needed.
//!
//! A state's *transit* is its arrival time minus its tick's time: the time in the network plus the
//! unknown offset of the two clocks. The smallest recent transit represents a network without
//! jitter, and follows clocks that drift. With a delay D, the state of time t is shown at t +
//! smallest transit + D. The state before it lasts until t′: its own tick, or the tick until which
//! it is known to have held. The next state must arrive by then: D ≥ arrival − t′ − smallest
//! transit. The right side is the state's *need*. It includes the send interval, jitter, and gaps
//! caused by loss. The delay is a quantile of the needs.

use super::PlayoutConfig;
use crate::sorted_window::SortedWindow;

/// If a need exceeds the longest delay by more than this, the stream had stopped. The network was
/// not merely slow.
const STOPPED_NS: i64 = 500_000_000;
/// States that waited in the socket when the receiver took its first state arrive within this time
/// after the first. Most senders send at longer intervals.
const TAKEN_AT_ONCE_NS: i64 = 5_000_000;

/// The arrival of a state that is newer than all before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) now_ns: i64,
    pub(super) tick_ns: i64,
    /// The time up to which the state's changed entities were already known. `None` for the first
    /// state.
    pub(super) reach_ns: Option<i64>,
    /// The time up to which there was a state to show.
    pub(super) covered_ns: Option<i64>,
}

/// How an arrival relates to earlier arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disposition {
    /// The state is the first one, or its tick does not fit the timing of the stream. The stream
    /// starts anew.
    Anew,
    /// The stream had stopped for longer than any delay.
    AfterStop,
    /// A stop held the state back. The state does not measure the delay, and is too old to show.
    HeldBack,
    /// The state is the next one of a running stream.
    Next,
}

/// The end of a stop: no state arrived for longer than any delay, and now the states that were held
/// back arrive together. The first state ends a stop too, because others may wait in the socket.
#[derive(Clone, Copy, Debug)]
struct Stop {
    /// A state may have been held back if its `reach_ns` is at most this stream time.
    until_ns: i64,
    /// States that arrive after this time were not held back, whatever their ticks. A sender whose
    /// ticks paused looks like a stop too. Without this bound, the states of that sender would stay
    /// unmeasured for as long as the pause lasted.
    over_at_ns: i64,
    /// Whether the stream was shown before it stopped.
    was_running: bool,
}

impl Stop {
    /// The stop that `arrival` ends, if any. `live_ns` is the stream time that would have been
    /// shown without the stop.
    fn ended_by(
        arrival: &Arrival,
        has_stopped: bool,
        live_ns: i64,
        window_ns: i64,
    ) -> Option<Self> {
        let was_running = arrival.reach_ns.is_some();
        let (until_ns, lasts_ns) = match was_running {
            false => (i64::MAX, TAKEN_AT_ONCE_NS),
            true if has_stopped => (live_ns, window_ns),
            true => return None,
        };
        Some(Self { until_ns, over_at_ns: arrival.now_ns.saturating_add(lasts_ns), was_running })
    }

    /// Whether the stop held this state back, or made the sender slow down before it.
    fn held_back(&self, arrival: &Arrival) -> bool {
        arrival.now_ns <= self.over_at_ns
            && arrival.reach_ns.is_some_and(|reach_ns| reach_ns <= self.until_ns)
    }
}

#[derive(Clone, Debug)]
pub(super) struct DelayEstimator {
    min_delay_ns: i64,
    max_delay_ns: i64,
    window_ns: i64,
    coverage_ratio: f64,
    transits: SortedWindow,
    /// Arrival − reach of each state that continues the stream. The smallest transit is subtracted
    /// later, because it changes.
    needs: SortedWindow,
    /// The smallest of `transits`. It is kept when the window runs empty.
    fastest_transit_ns: i64,
    last_transit_ns: Option<i64>,
    /// The delay that the network needs, without the bounds. It is kept when the window runs empty.
    needed_ns: i64,
    jitter_ns: i64,
    /// The last stop.
    stop: Option<Stop>,
}

impl DelayEstimator {
    pub(super) fn new(config: &PlayoutConfig) -> Self {
        let [min_delay_ns, max_delay_ns] = bounds_ns(config);
        Self {
            min_delay_ns,
            max_delay_ns,
            window_ns: config.window.as_nanos() as i64,
            coverage_ratio: f64::from(config.coverage_ratio),
            transits: SortedWindow::default(),
            needs: SortedWindow::default(),
            fastest_transit_ns: 0,
            last_transit_ns: None,
            needed_ns: 0,
            jitter_ns: 0,
            stop: None,
        }
    }

    /// Takes the bounds of the delay from `config`. Keeps the observations.
    pub(super) fn set_bounds(&mut self, config: &PlayoutConfig) {
        [self.min_delay_ns, self.max_delay_ns] = bounds_ns(config);
    }

    /// The target delay.
    pub(super) fn target_ns(&self) -> i64 {
        self.needed_ns.clamp(self.min_delay_ns, self.max_delay_ns)
    }

    /// The largest target delay.
    pub(super) fn max_delay_ns(&self) -> i64 {
        self.max_delay_ns
    }

    /// RFC 3550's interarrival jitter.
    pub(super) fn jitter_ns(&self) -> i64 {
        self.jitter_ns
    }

    /// The stream time of a state that would arrive at `now_ns` with the shortest recent transit
    /// time.
    pub(super) fn live_ns(&self, now_ns: i64) -> i64 {
        now_ns.saturating_sub(self.fastest_transit_ns)
    }

    pub(super) fn observe(&mut self, arrival: Arrival) -> Disposition {
        let Arrival { now_ns, tick_ns, reach_ns, .. } = arrival;
        let limit_ns = self.max_delay_ns + STOPPED_NS;
        let live_ns = self.live_ns(now_ns);
        let transit_ns = now_ns.saturating_sub(tick_ns);
        let is_other_relation = transit_ns.abs_diff(self.fastest_transit_ns) > limit_ns as u64;
        let last_transit_ns =
            self.last_transit_ns.replace(transit_ns).filter(|_| !is_other_relation);
        let need_ns = reach_ns.map(|reach_ns| now_ns.saturating_sub(reach_ns));
        let has_stopped = need_ns
            .is_some_and(|need_ns| need_ns.saturating_sub(self.fastest_transit_ns) > limit_ns);
        let was_held_back = self.stop.is_some_and(|stop| stop.held_back(&arrival));
        if !was_held_back {
            self.stop = Stop::ended_by(&arrival, has_stopped, live_ns, self.window_ns);
        }
        if last_transit_ns.is_none() {
            self.transits.clear();
            self.needs.clear();
        }
        self.transits.insert(now_ns, transit_ns);
        let since_ns = now_ns.saturating_sub(self.window_ns);
        self.transits.expire(since_ns);
        self.needs.expire(since_ns);
        self.fastest_transit_ns = self.transits.sorted().first().copied().unwrap_or(transit_ns);

        let (Some(last_transit_ns), Some(need_ns)) = (last_transit_ns, need_ns) else {
            return Disposition::Anew;
        };
        self.jitter_ns += ((transit_ns - last_transit_ns).abs() - self.jitter_ns) / 16;
        match self.stop {
            Some(Stop { was_running, .. }) if was_held_back => {
                return if was_running { Disposition::HeldBack } else { Disposition::Next };
            }
            _ if !has_stopped => self.needs.insert(now_ns, need_ns),
            _ => {}
        }
        self.aim();
        if has_stopped { Disposition::AfterStop } else { Disposition::Next }
    }

    fn aim(&mut self) {
        let needs = self.needs.sorted();
        let in_time = (self.coverage_ratio * needs.len() as f64).ceil() as usize;
        if let Some(quantile_ns) = needs.get(in_time.max(1) - 1) {
            self.needed_ns = quantile_ns.saturating_sub(self.fastest_transit_ns);
        }
    }
}

/// The bounds of the delay in nanoseconds. A validated configuration allows at most a minute, which
/// fits.
fn bounds_ns(config: &PlayoutConfig) -> [i64; 2] {
    [config.min_delay, config.max_delay].map(|delay| delay.as_nanos() as i64)
}
