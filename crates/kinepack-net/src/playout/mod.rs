//! The jitter buffer: states arrive at irregular times, and are shown evenly.
//!
//! The jitter buffer is the last stage of a receiver: a decoded snapshot → **`JitterBuffer`** → two
//! states and a ratio between them, which the schema interpolates. The buffer knows neither fields
//! nor network; a state is whatever the caller stores.
//!
//! Playback lags by a *delay*: just long enough that the next state has arrived when it is needed.
//! The delay follows from recent arrivals ([`delay`]). A clock that never goes backwards follows
//! the delay by running slightly fast or slow ([`clock`]), and leaps after the stream has stopped.
//! The idea comes from adaptive playout of audio (Ramjee et al. 1994; WebRTC's NetEq). Audio has to
//! stretch samples; motion only needs to bend its clock. The jitter in the statistics is that of
//! RFC 3550, section 6.4.1. Cost per state: O(log n), and a short move within two arrays of at most
//! 1024 numbers. Cost per frame: O(log n). Memory: `max_states` states and 48 KiB.

mod clock;
mod config;
mod delay;
mod stats;

use std::collections::VecDeque;
use std::time::Duration;

use clock::Clock;
pub use config::{PlayoutConfig, PlayoutError};
use delay::{Arrival, DelayEstimator};
use kinepack::Tick;
pub use stats::PlayoutStats;

/// Stores the states of a stream, and computes which point of the stream to show.
///
/// Call [`push`](Self::push) for each state as it arrives and [`at`](Self::at) for each drawn
/// frame. `now` is the receiver's time since any fixed moment. If `now` goes backwards, the
/// buffer's time stands still. Ticks do not wrap: at 60 Hz, 32 bits last for two years.
///
/// ```
/// use std::time::Duration;
/// use kinepack::Tick;
/// use kinepack_net::{JitterBuffer, PlayoutConfig};
///
/// let mut buffer = JitterBuffer::new(PlayoutConfig::at_hz(50))?;
/// // The position is 3.0 at tick 100 and 4.0 at tick 101. Each arrives 30 ms after its tick.
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
    /// Invariant: ticks strictly increase, and there are at most `config.max_states` entries. Once
    /// the buffer has a state, it keeps at least one until `reset`.
    entries: VecDeque<Entry<S>>,
    delay: DelayEstimator,
    clock: Clock,
    /// The stream time of the last frame: [`Playout::tick`] in nanoseconds. Earlier states are no
    /// longer needed.
    shown_ns: Option<i64>,
    /// How far playback runs on after the newest state, in nanoseconds.
    reach_ns: i64,
    /// The latest `now` of any call, in nanoseconds.
    now_ns: i64,
    late: u64,
}

/// A state in the buffer.
#[derive(Clone, Debug)]
pub struct Entry<S> {
    /// The tick of the state.
    pub tick: Tick,
    /// The tick until which the previous state was valid, as passed to [`JitterBuffer::push`].
    pub unchanged_until: Tick,
    /// The state, as the caller stored it.
    pub state: S,
}

/// The outcome of pushing a state. [`Playout`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Pushed {
    /// The buffer holds the state.
    Stored,
    /// The state's tick was already shown or skipped, or is older than every state of a full
    /// buffer. A copy of a state that was already shown is late too.
    Late,
    /// The buffer already has a state of the same tick.
    Duplicate,
}

/// The states to show in a frame.
///
/// ```
/// use std::time::Duration;
/// use kinepack::Tick;
/// use kinepack_net::{JitterBuffer, PlayoutConfig, Pushed};
///
/// let mut buffer = JitterBuffer::new(PlayoutConfig::at_hz(50))?;
/// assert!(buffer.at(Duration::ZERO).is_none(), "nothing to show yet");
/// assert_eq!(buffer.push(Duration::from_millis(30), Tick(100), Tick(99), 3.0), Pushed::Stored);
/// assert_eq!(buffer.push(Duration::from_millis(31), Tick(100), Tick(99), 3.0), Pushed::Duplicate);
///
/// // No later state arrives, so the newest one is shown.
/// let shown = buffer.at(Duration::from_secs(1)).ok_or("nothing to show")?;
/// assert!(shown.starved);
/// assert_eq!((shown.tick, shown.from.state, shown.to.state), (100.0, 3.0, 3.0));
/// assert_eq!(shown.later().len(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Playout<'a, S> {
    /// The shown tick, which is fractional between two states. It never decreases from frame to
    /// frame.
    pub tick: f64,
    /// The state before or at that tick.
    pub from: &'a Entry<S>,
    /// The state after or at that tick. It is the same as `from` while only one state can be shown.
    pub to: &'a Entry<S>,
    /// How much of `to` to show, from 0 to 1; the rest is `from`. The ratio stays 0 until the tick
    /// `to.unchanged_until`.
    pub ratio: f32,
    /// Whether the clock has passed the newest state, which is then both `from` and `to`. Either a
    /// state is missing, the stream has stopped, or nothing moves and the sender has slowed down.
    pub starved: bool,
    entries: &'a VecDeque<Entry<S>>,
    to_index: usize,
}

// Derived, these would need a `Copy` state.
impl<S> Clone for Playout<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Playout<'_, S> {}

impl<'a, S> Playout<'a, S> {
    /// The moment at the fractional tick `tick`, between the entries at the two indices.
    pub(crate) fn between(
        entries: &'a VecDeque<Entry<S>>,
        [from_index, to_index]: [usize; 2],
        tick: f64,
        ratio: f32,
    ) -> Self {
        let (from, to) = (&entries[from_index], &entries[to_index]);
        Self { tick, from, to, ratio, starved: false, entries, to_index }
    }

    /// The state before `from`, which only a buffer that [runs on](JitterBuffer::run_on) keeps.
    pub(crate) fn before(&self) -> Option<&'a Entry<S>> {
        self.entries.front().filter(|oldest| oldest.tick < self.from.tick)
    }

    /// The states after `to`, oldest first. If snapshots were partial, an entity's next value may
    /// be in one of these states.
    pub fn later(&self) -> impl ExactSizeIterator<Item = &'a Entry<S>> + Clone + use<'a, S> {
        self.entries.range(self.to_index + 1..)
    }
}

impl<S> JitterBuffer<S> {
    /// An empty buffer.
    ///
    /// # Errors
    /// Returns the errors of [`PlayoutConfig::validate`].
    pub fn new(config: PlayoutConfig) -> Result<Self, PlayoutError> {
        config.validate()?;
        Ok(Self {
            config,
            entries: VecDeque::new(),
            delay: DelayEstimator::new(&config),
            clock: Clock::new(&config),
            shown_ns: None,
            reach_ns: 0,
            now_ns: 0,
            late: 0,
        })
    }

    /// The buffer's configuration.
    pub fn config(&self) -> &PlayoutConfig {
        &self.config
    }

    /// Changes the bounds of the delay from now on, for example because a user chose them. If `min`
    /// equals `max`, the delay is fixed, whatever the network needs. The buffer keeps its states
    /// and estimates.
    ///
    /// The clock approaches the new delay as always, without a jump and never backwards. It
    /// approaches a longer delay at [`slew_ratio`](PlayoutConfig::slew_ratio): at 0.05, from 100 to
    /// 500 ms in 8 seconds. If the new delay is shorter by more than 0.25 s, the clock runs faster
    /// than that. [`max_states`](PlayoutConfig::max_states) does not change. If the buffer has no
    /// room for the states of such a long delay, the oldest stored state is shown.
    ///
    /// # Errors
    /// Returns [`PlayoutError::BadDelays`], as in [`PlayoutConfig::validate`]; then nothing has
    /// changed.
    pub fn set_delays(&mut self, min: Duration, max: Duration) -> Result<(), PlayoutError> {
        let config = PlayoutConfig { min_delay: min, max_delay: max, ..self.config };
        config.validate()?;
        self.delay.set_bounds(&config);
        self.config = config;
        Ok(())
    }

    /// Makes playback run on for up to `reach` after the newest state, so that
    /// [`at_step`](Self::at_step) returns moments after it. Then the buffer also keeps the state
    /// before `from`.
    pub(crate) fn run_on(&mut self, reach: Duration) {
        self.reach_ns = i64::try_from(reach.as_nanos()).unwrap_or(i64::MAX);
    }

    /// The number of states in the buffer.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no state has arrived since the buffer was created or [`reset`](Self::reset).
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes a state that arrives at `now`.
    ///
    /// `unchanged_until` is the last tick up to which the previous state *in this buffer* is known
    /// to have been valid. If nothing is known, pass that state's tick or any earlier tick, such as
    /// `Tick(0)`. A sender that slowed down because nothing moved reports the state as unchanged
    /// until shortly before `tick`. The motion then begins there, instead of being spread over the
    /// pause. If the sender's previous state was lost, do not pass a tick that refers to the lost
    /// state.
    ///
    /// A state that arrives out of order is inserted at its place, unless its tick was already
    /// shown. A full buffer drops its oldest state.
    pub fn push(&mut self, now: Duration, tick: Tick, unchanged_until: Tick, state: S) -> Pushed {
        let newest = self.entries.back().map_or(tick, |newest| newest.tick);
        self.push_part(now, tick, unchanged_until, newest.max(unchanged_until), state)
    }

    /// Like [`push`](Self::push), but for a state in which only some entities are new. `reach` is
    /// the tick up to which these entities were already known. The delay must bridge the time
    /// between two updates of an entity, not between two states.
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
        // Playback may have run on after the newest state. A newer state is not late then.
        let is_newest = index == self.entries.len();
        let is_shown = self.shown_ns.is_some_and(|shown_ns| tick_ns <= shown_ns) && !is_newest;
        if is_shown || (is_full && index == 0) {
            self.late += 1;
            return Pushed::Late;
        }
        // A state that arrives after a newer one does not change the estimate. The buffer did not
        // wait for it, and the newer state is the better measurement of the delay.
        if is_newest {
            let newest = self.entries.back().map(|newest| newest.tick.max(unchanged_until));
            let reach_ns = newest.map(|_| self.config.tick_ns(reach).min(tick_ns));
            let covered_ns = newest.map(|newest| self.config.tick_ns(newest).min(tick_ns));
            let arrival = Arrival { now_ns: self.now_ns, tick_ns, reach_ns, covered_ns };
            let live_before_ns = self.delay.live_ns(self.now_ns);
            let disposition = self.delay.observe(arrival);
            let Self { clock, delay, shown_ns, reach_ns, .. } = self;
            clock.settle(arrival, disposition, delay, live_before_ns, *shown_ns, *reach_ns);
        }
        if is_full {
            self.entries.pop_front();
        }
        let index = index - usize::from(is_full);
        self.entries.insert(index, Entry { tick, unchanged_until, state });
        Pushed::Stored
    }

    /// The stored state of `tick`, if any, for the caller to update.
    pub fn state_mut(&mut self, tick: Tick) -> Option<&mut S> {
        let index = self.entries.binary_search_by_key(&tick, |entry| entry.tick).ok()?;
        Some(&mut self.entries[index].state)
    }

    /// The entries, oldest first. The caller must not change their ticks.
    pub(crate) fn entries_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Entry<S>> {
        self.entries.iter_mut()
    }

    /// Adds a state between two others, even if its tick was already shown. Motion then continues
    /// from this state. Unlike [`push`](Self::push), this does not count the state as late.
    pub(crate) fn insert(&mut self, entry: Entry<S>) {
        let index = self.entries.partition_point(|other| other.tick < entry.tick);
        self.entries.insert(index, entry);
        if self.entries.len() > self.config.max_states {
            self.entries.pop_front();
        }
    }

    /// The states, oldest first.
    pub(crate) fn states(&self) -> impl DoubleEndedIterator<Item = &S> {
        self.entries.iter().map(|entry| &entry.state)
    }

    /// Drops and returns the oldest state. `None` if the buffer has at most two states.
    pub(crate) fn drop_oldest(&mut self) -> Option<S> {
        if self.entries.len() > 2 {
            self.entries.pop_front().map(|entry| entry.state)
        } else {
            None
        }
    }

    /// The states to show at `now`; `None` before the first state.
    ///
    /// Drops the stored states before `from`.
    pub fn at(&mut self, now: Duration) -> Option<Playout<'_, S>> {
        let (shown_ns, starved) = self.show(now)?;
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

    /// Like [`at`](Self::at), but rounds the moment to a multiple of 1/`steps` tick, and returns it
    /// in this unit. The state before the moment is always the last one that is not after it. So the
    /// moment and the states determine what is shown.
    pub(crate) fn at_step(&mut self, now: Duration, steps: u64) -> Option<(u64, Playout<'_, S>)> {
        let (shown_ns, starved) = self.show(now)?;
        let moment = (self.config.ticks(shown_ns) * steps as f64).round() as u64;
        let is_later = |entry: &Entry<S>| u64::from(entry.tick.0) * steps > moment;
        let later = self.entries.iter().position(is_later).unwrap_or(self.entries.len());
        let kept = if self.reach_ns > 0 { 2 } else { 1 };
        self.entries.drain(..later.saturating_sub(kept));
        let from_index = later.min(kept).saturating_sub(1);
        let to_index = (from_index + 1).min(self.entries.len() - 1);
        let tick = moment as f64 / steps as f64;
        let mut playout = Playout::between(&self.entries, [from_index, to_index], tick, 0.0);
        playout.starved = starved;
        Some((moment, playout))
    }

    /// Moves on to the point to show at `now`. Returns the point, and whether the clock has passed
    /// the newest state.
    fn show(&mut self, now: Duration) -> Option<(i64, bool)> {
        self.advance(now);
        let oldest_ns = self.config.tick_ns(self.entries.front()?.tick);
        let newest_ns = self.config.tick_ns(self.entries.back()?.tick);
        let starved = self.clock.position_ns() > newest_ns;
        // Playout never goes backwards, even if the clock does.
        let earliest_ns = self.shown_ns.map_or(oldest_ns, |last_ns| last_ns.max(oldest_ns));
        let latest_ns = newest_ns.saturating_add(self.reach_ns);
        let shown_ns = self.clock.position_ns().min(latest_ns).max(earliest_ns);
        self.shown_ns = Some(shown_ns);
        Some((shown_ns, starved))
    }

    /// The fractional tick that a state would have if it arrived at `now` with the shortest recent
    /// transit time. `None` before the first state.
    pub(crate) fn live_tick(&self, now: Duration) -> Option<f64> {
        let now_ns = self.now_ns.max(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        let live_ns = self.delay.live_ns(now_ns);
        (!self.is_empty()).then(|| self.config.ticks(live_ns))
    }

    /// Forgets the stream: states, clock and estimates. The counters of [`stats`](Self::stats)
    /// continue. Call this if the sender has restarted: the sender's ticks begin anew, so all its
    /// states would be late.
    pub fn reset(&mut self) {
        self.entries.clear();
        self.delay = DelayEstimator::new(&self.config);
        self.clock.stop();
        self.shown_ns = None;
    }

    /// Measurements as of the last call that took a `now`.
    pub fn stats(&self) -> PlayoutStats {
        let newest_ns =
            self.entries.back().map_or(i64::MAX, |newest| self.config.tick_ns(newest.tick));
        let live_ns = self.delay.live_ns(self.now_ns);
        let behind_ns = live_ns.saturating_sub(self.clock.position_ns());
        PlayoutStats {
            delay: nanos(if self.is_empty() { 0 } else { behind_ns }),
            target_delay: nanos(self.delay.target_ns()),
            jitter: nanos(self.delay.jitter_ns()),
            late: self.late,
            starved_ratio: self.clock.starved_ratio(newest_ns),
            jumps: self.clock.jumps(),
        }
    }

    fn advance(&mut self, now: Duration) {
        // An `i64` can store 292 years in nanoseconds.
        self.now_ns = self.now_ns.max(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        self.clock.advance(self.now_ns, &self.delay);
    }
}

/// Converts nanoseconds to a duration. A negative span becomes 0.
fn nanos(span_ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(span_ns).unwrap_or(0))
}
