//! The jitter buffer: states come in when the network pleases, and are shown evenly.
//!
//! Last stage of a receiver: snapshot decoded → **`JitterBuffer`** → two states and how far between
//! them, for the schema to interpolate. It knows neither fields nor network; a state is whatever
//! the caller stores.
//!
//! What is shown lies a *delay* in the past, long enough that the next state is there when it is
//! needed, and no longer. The delay follows from what arrived lately ([`delay`]), and a clock that
//! never goes backwards follows the delay by running a little fast or slow ([`clock`]). The idea is
//! that of adaptive playout in audio (Ramjee et al. 1994; WebRTC's NetEq), with other means: audio
//! stretches samples, motion only bends its clock. The jitter in the statistics is RFC 3550's,
//! section 6.4.1. Cost of a state: O(log n) and a short move within two arrays of at most 1024
//! numbers; of a frame: O(log n). Memory: `max_states` states and 48 KiB.

mod clock;
mod config;
mod delay;
mod stats;
mod window;

use std::collections::VecDeque;
use std::time::Duration;

use clock::Clock;
pub use config::{PlayoutConfig, PlayoutError};
use delay::{Arrival, DelayEstimator};
use kinepack::Tick;
pub use stats::PlayoutStats;

/// States of a stream, and the point in it that is to be shown.
///
/// Call [`push`](Self::push) for each state as it arrives and [`at`](Self::at) for each frame that
/// is drawn. `now` is the receiver's time since any fixed moment; time that goes backwards counts
/// as standing still. Ticks do not wrap: at 60 Hz, 32 bits last for two years.
///
/// ```
/// use std::time::Duration;
/// use kinepack::Tick;
/// use kinepack_net::{JitterBuffer, PlayoutConfig};
///
/// let mut buffer = JitterBuffer::new(PlayoutConfig { tick_hz: 50, ..PlayoutConfig::default() })?;
/// // Position 3.0 at tick 100, 4.0 at tick 101; each arrives 30 ms after its tick, 20 ms apart.
/// buffer.push(Duration::from_millis(30), Tick(100), Tick(99), 3.0);
/// buffer.push(Duration::from_millis(50), Tick(101), Tick(100), 4.0);
/// let shown = buffer.at(Duration::from_millis(55)).ok_or("nothing came yet")?;
/// let position = shown.from.state + shown.ratio * (shown.to.state - shown.from.state);
/// assert_eq!((shown.tick, position), (100.25, 3.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JitterBuffer<S> {
    config: PlayoutConfig,
    /// Invariant: ticks strictly increase; at most `config.max_states`. Once there is one, there is
    /// one until `reset`.
    entries: VecDeque<Entry<S>>,
    delay: DelayEstimator,
    clock: Clock,
    /// The stream time of the last frame, [`Playout::tick`] in nanoseconds: what lies before is
    /// history.
    shown_ns: Option<i64>,
    /// The latest time that a call gave.
    now_ns: i64,
    late: u64,
}

/// A state in the buffer.
#[derive(Clone, Debug)]
pub struct Entry<S> {
    /// When it was the state.
    pub tick: Tick,
    /// Until when the state before it held, as said by [`JitterBuffer::push`].
    pub unchanged_until: Tick,
    /// What the caller stored.
    pub state: S,
}

/// What became of a pushed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Pushed {
    /// It is in the buffer, in its place.
    Stored,
    /// Its tick has been shown or skipped already, or it is older than all states of a full buffer.
    /// Copies of states that have been shown are late as well.
    Late,
    /// The buffer has a state of this tick.
    Duplicate,
}

/// What to show in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Playout<'a, S> {
    /// The tick shown, with its fraction. Never less than in an earlier frame.
    pub tick: f64,
    /// The state before it, or at it.
    pub from: &'a Entry<S>,
    /// The state after it, or at it. The same as `from` while only one state can be shown.
    pub to: &'a Entry<S>,
    /// How much of `to` to show, from 0 to 1; the rest is `from`. It stays 0 until
    /// `to.unchanged_until`.
    pub ratio: f32,
    /// The clock has passed the newest state, which is shown for lack of a newer one: it is
    /// missing, or the stream has stopped, or nothing moves and the sender has slowed down. Then
    /// `from` is `to`.
    pub starved: bool,
    entries: &'a VecDeque<Entry<S>>,
    to_index: usize,
}

impl<'a, S> Playout<'a, S> {
    /// The states after `to`, oldest first. With partial snapshots, one of these has an entity's
    /// next state.
    pub fn later(&self) -> impl ExactSizeIterator<Item = &'a Entry<S>> + Clone + use<'a, S> {
        self.entries.range(self.to_index + 1..)
    }
}

impl<S> JitterBuffer<S> {
    /// An empty buffer.
    ///
    /// # Errors
    /// What [`PlayoutConfig::validate`] says.
    pub fn new(config: PlayoutConfig) -> Result<Self, PlayoutError> {
        config.validate()?;
        Ok(Self {
            config,
            entries: VecDeque::new(),
            delay: DelayEstimator::new(&config),
            clock: Clock::new(&config),
            shown_ns: None,
            now_ns: 0,
            late: 0,
        })
    }

    /// The buffer's configuration.
    pub fn config(&self) -> &PlayoutConfig {
        &self.config
    }

    /// Changes the bounds of the delay from now on, such as where a person chooses: `min` = `max`
    /// is a delay of that, whatever the network needs. States and estimates stay.
    ///
    /// The clock goes to the new delay as it always does, without a jump and never backwards, by
    /// [`slew_ratio`](PlayoutConfig::slew_ratio): at 0.05, from 100 to 500 ms in 8 seconds.
    /// [`max_states`](PlayoutConfig::max_states) stays: where it has no room for as long a delay,
    /// what is shown is the oldest state that there is room for.
    ///
    /// # Errors
    /// [`PlayoutError::BadDelays`], as [`PlayoutConfig::validate`] says; nothing has changed then.
    pub fn set_delays(&mut self, min: Duration, max: Duration) -> Result<(), PlayoutError> {
        let config = PlayoutConfig { min_delay: min, max_delay: max, ..self.config };
        config.validate()?;
        self.delay.set_bounds(&config);
        self.config = config;
        Ok(())
    }

    /// Number of states in the buffer.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing has come yet, or since [`reset`](Self::reset).
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes a state that arrives at `now`.
    ///
    /// `unchanged_until` is the last tick up to which the state before this one, *in this buffer*,
    /// is known to have held. Where nothing is known, give its tick or anything before that, such
    /// as `Tick(0)`. A sender that slowed down because nothing moved says so up to shortly before
    /// `tick`, and the motion then begins there, instead of being spread over the pause. It must
    /// not be said of a state that was sent but lost.
    ///
    /// A state that comes out of order is put in its place, unless that has been shown already. A
    /// full buffer drops its oldest state.
    pub fn push(&mut self, now: Duration, tick: Tick, unchanged_until: Tick, state: S) -> Pushed {
        let newest = self.entries.back().map_or(tick, |newest| newest.tick);
        self.push_part(now, tick, unchanged_until, newest.max(unchanged_until), state)
    }

    /// As [`push`](Self::push), for a state in which only some things are news. `reach` is the tick
    /// up to which those were known before it came: the delay is to bridge the time from one news
    /// of a thing to the next, not from one state to the next.
    pub fn push_part(
        &mut self,
        now: Duration,
        tick: Tick,
        unchanged_until: Tick,
        reach: Tick,
        state: S,
    ) -> Pushed {
        self.advance(now);
        let index = self.entries.partition_point(|entry| entry.tick < tick);
        if self.entries.get(index).is_some_and(|entry| entry.tick == tick) {
            return Pushed::Duplicate;
        }
        let tick_ns = self.config.tick_ns(tick);
        let is_full = self.entries.len() == self.config.max_states;
        if self.shown_ns.is_some_and(|shown_ns| tick_ns <= shown_ns) || (is_full && index == 0) {
            self.late += 1;
            return Pushed::Late;
        }
        // What comes behind a newer state was not waited for, and the newer one says more about the
        // delay.
        if index == self.entries.len() {
            let newest = self.entries.back().map(|newest| newest.tick.max(unchanged_until));
            let reach_ns = newest.map(|_| self.config.tick_ns(reach).min(tick_ns));
            let covered_ns = newest.map(|newest| self.config.tick_ns(newest).min(tick_ns));
            let arrival = Arrival { now_ns: self.now_ns, tick_ns, reach_ns, covered_ns };
            let disposition = self.delay.observe(arrival);
            self.clock.settle(arrival, disposition, &self.delay, self.shown_ns);
        }
        if is_full {
            self.entries.pop_front();
        }
        let index = index - usize::from(is_full);
        self.entries.insert(index, Entry { tick, unchanged_until, state });
        Pushed::Stored
    }

    /// The state of a tick, where the buffer has one: to add to it.
    pub fn state_mut(&mut self, tick: Tick) -> Option<&mut S> {
        let index = self.entries.binary_search_by_key(&tick, |entry| entry.tick).ok()?;
        Some(&mut self.entries[index].state)
    }

    /// The states, oldest first.
    pub(crate) fn states(&self) -> impl Iterator<Item = &S> {
        self.entries.iter().map(|entry| &entry.state)
    }

    /// Drops the oldest state, as a full buffer does; not the last two.
    pub(crate) fn drop_oldest(&mut self) -> Option<S> {
        if self.entries.len() > 2 {
            self.entries.pop_front().map(|entry| entry.state)
        } else {
            None
        }
    }

    /// What to show at `now`; `None` while nothing has come.
    ///
    /// Drops the states before `from`.
    pub fn at(&mut self, now: Duration) -> Option<Playout<'_, S>> {
        self.advance(now);
        let oldest_ns = self.config.tick_ns(self.entries.front()?.tick);
        let newest_ns = self.config.tick_ns(self.entries.back()?.tick);
        let starved = self.clock.position_ns() > newest_ns;
        // Whatever the clock says, playout does not go backwards.
        let earliest_ns = self.shown_ns.map_or(oldest_ns, |last_ns| last_ns.max(oldest_ns));
        let shown_ns = self.clock.position_ns().min(newest_ns).max(earliest_ns);
        self.shown_ns = Some(shown_ns);

        let to_index =
            self.entries.partition_point(|entry| self.config.tick_ns(entry.tick) < shown_ns);
        let from_index = if starved { to_index } else { to_index.saturating_sub(1) };
        self.entries.drain(..from_index);
        let to_index = to_index - from_index;
        let (from, to) = (self.entries.front()?, self.entries.get(to_index)?);
        let begin_ns = self.config.tick_ns(from.tick.max(to.unchanged_until));
        let end_ns = self.config.tick_ns(to.tick);
        let ratio = match (shown_ns - begin_ns, end_ns - begin_ns) {
            _ if shown_ns >= end_ns => 1.0,
            (passed_ns, span_ns) => (passed_ns as f64 / span_ns as f64).clamp(0.0, 1.0) as f32,
        };
        let tick = self.config.ticks(shown_ns);
        Some(Playout { tick, from, to, ratio, starved, entries: &self.entries, to_index })
    }

    /// The tick, with its fraction, that the fastest states of late would show at `now` on their
    /// arrival; `None` while nothing has come.
    pub(crate) fn live_tick(&self, now: Duration) -> Option<f64> {
        let now_ns = self.now_ns.max(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        let live_ns = self.delay.live_ns(now_ns);
        (!self.is_empty()).then(|| self.config.ticks(live_ns))
    }

    /// Forgets the stream: states, clock and estimates. The counters of [`stats`](Self::stats) go
    /// on. For a sender that has restarted, whose ticks begin anew and would all be late.
    pub fn reset(&mut self) {
        self.entries.clear();
        self.delay = DelayEstimator::new(&self.config);
        self.clock.stop();
        self.shown_ns = None;
    }

    /// How the buffer does, as of the last call that gave the time.
    pub fn stats(&self) -> PlayoutStats {
        let newest_ns =
            self.entries.back().map_or(i64::MAX, |newest| self.config.tick_ns(newest.tick));
        PlayoutStats {
            delay: nanos(self.delay.live_ns(self.now_ns).saturating_sub(self.clock.position_ns())),
            target_delay: nanos(self.delay.target_ns()),
            jitter: nanos(self.delay.jitter_ns()),
            late: self.late,
            starved_ratio: self.clock.starved_ratio(newest_ns),
            jumps: self.clock.jumps(),
        }
    }

    fn advance(&mut self, now: Duration) {
        // 292 years.
        self.now_ns = self.now_ns.max(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        self.clock.advance(self.now_ns, &self.delay);
    }
}

/// A time span that may have come out negative.
fn nanos(span_ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(span_ns).unwrap_or(0))
}
