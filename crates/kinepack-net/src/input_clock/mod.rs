//! The client's clock for inputs: which tick to simulate now, so that its input reaches the server
//! just before the server simulates the same tick.
//!
//! The server measures how early each input arrives (`spec/NET.md`, 8.4) and reports it in the
//! acknowledgements of the stream. [`lead`] computes how far ahead the client must be. The clock
//! then runs a few per cent faster or slower until it is there, and jumps only if that would take
//! too long.

mod config;
mod lead;

use std::time::Duration;

use kinepack::Tick;

pub use config::{InputClockConfig, InputClockError};
use lead::LeadEstimator;

use crate::stream::PARTS;
use crate::{ReceiverStatus, Sequence, StreamAcknowledgement, StreamTiming};

/// The maximum number of ticks that one call returns: as many inputs as a packet holds.
const MOST_TICKS: u32 = 16;
/// How many ticks' leads are kept: as many as the longest ring of a stream.
const KEPT_LEADS: usize = 256;
/// An error of the lead shrinks by a factor of e in this time, if the slew ratio allows it.
const SETTLES_NS: f64 = 0.25e9;
/// The lead at the start, in addition to the way to the server.
const START_TICKS: f64 = 2.0;

/// The clock of a client that simulates its own inputs ahead of the server.
///
/// [`start`](Self::start) it once the server's tick is known. In each frame, call
/// [`ticks`](Self::ticks), and push an input for each returned tick. Give each acknowledgement that
/// the [`StreamSender`](crate::StreamSender) takes to [`observe`](Self::observe). The server must
/// take the inputs by tick:
/// [`StreamReceiver::read_for_tick`](crate::StreamReceiver::read_for_tick). It should send an
/// acknowledgement in each tick, or at least ten times a second. A hub sends only a few datagrams
/// per second while nothing changes, so send it alone if there is nothing else.
///
/// The clock follows the network: it leads the server by the time that inputs need, plus a margin
/// for their jitter. Of late inputs, it tolerates
/// [`1 - in_time_ratio`](InputClockConfig::in_time_ratio). The tick never goes backwards, and no
/// tick is returned twice, until the next `start`.
///
/// Cost: 0.2 µs in each frame. It allocates its memory at the beginning, except for two windows of
/// reports, which grow to at most 24 KiB each.
///
/// ```
/// use std::time::Duration;
/// use kinepack::stream::{StreamCodec, StreamLevel};
/// use kinepack::{Pack, Tick};
/// use kinepack_net::{InputClock, InputClockConfig, StreamConfig, StreamReceiver, StreamSender};
///
/// #[derive(Pack, Clone, Copy, Debug, Default, PartialEq)]
/// struct Input {
///     forward: bool,
/// }
///
/// let codec = StreamCodec::of::<Input>(StreamLevel::Packed)?;
/// let mut inputs = StreamSender::new(&codec, StreamConfig::at_hz(60))?;
/// let mut server = StreamReceiver::new(&codec, StreamConfig::at_hz(60))?;
/// let mut clock = InputClock::new(InputClockConfig::at_hz(60))?;
/// clock.start(Duration::ZERO, 100.0); // with a receiver: `start_from(now, &receiver.status(now))`
///
/// let mut last = Input::default();
/// for frame in 0..600 {
///     let now = Duration::from_secs(1) * frame / 60;
///     // The client.
///     for tick in clock.ticks(now) {
///         inputs.push_for_tick(tick, &Input { forward: true })?;
///     }
///     if let Some(datagram) = inputs.poll_transmit() {
///         server.handle(now, datagram)?; // over your transport
///     }
///     // The server. An input that is not there in time is most likely the same as the last one.
///     last = server.read_for_tick(now, Tick(95 + frame))?.unwrap_or(last);
///     let mut back = Vec::new();
///     if server.write_acknowledgement(&mut back) {
///         clock.observe(now, &inputs.handle(&back)?);
///     }
/// }
/// assert!(server.stats().in_time > 590);
/// // The client began five ticks ahead of the server, and needs no lead here.
/// assert!(clock.tick() < 95.0 + 600.0 + 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputClock {
    config: InputClockConfig,
    lead: LeadEstimator,
    /// The tick's time minus the caller's time.
    lead_ns: i64,
    /// The caller's time of the last call; `None` before the start.
    now_ns: Option<i64>,
    /// The next tick to return.
    next: u32,
    /// The lead of each recent tick, at the tick modulo the length. `None` if nothing is learned
    /// from its input.
    leads: Vec<Option<(Sequence, i64)>>,
    /// The newest acknowledged number, and the number of the newest report that is not a sample.
    observed: Option<(Sequence, Option<Sequence>)>,
    stats: InputClockStats,
}

/// Measurements of an [`InputClock`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InputClockStats {
    /// The number of ticks that the clock returned.
    pub ticks: u64,
    /// The number of ticks that the clock skipped, because they were too many to simulate at once.
    pub skipped: u64,
    /// How many times the clock jumped forward or back, instead of running faster or slower.
    pub jumps: u64,
    /// The number of reports that the clock learned from.
    pub reports: u64,
    /// How early the input of the last report arrived, in ticks. Negative if it was late. About
    /// half of the reports are of the least early of 16 inputs.
    pub early_ticks: f64,
    /// How far the clock is from the lead that it needs, in seconds. Positive if the clock runs
    /// faster to get there.
    pub error_s: f64,
}

impl InputClock {
    /// Makes a clock that waits for its start.
    ///
    /// # Errors
    /// Returns [`InputClockError`] for an invalid configuration.
    pub fn new(config: InputClockConfig) -> Result<Self, InputClockError> {
        config.validate()?;
        Ok(Self {
            lead: LeadEstimator::new(&config),
            lead_ns: 0,
            now_ns: None,
            next: 0,
            leads: vec![None; KEPT_LEADS],
            observed: None,
            stats: InputClockStats::default(),
            config,
        })
    }

    /// Starts the clock at `tick`, which may have a fraction. It should be the server's tick when
    /// an input that is sent now arrives, plus one or two. An error costs late inputs, or a longer
    /// delay, for one round trip.
    ///
    /// Start it again after a reconnection, or if the server's ticks start again. This forgets what
    /// the clock learned.
    pub fn start(&mut self, now: Duration, tick: f64) {
        let now_ns = nanos(now);
        let tick = if tick.is_finite() { tick.clamp(0.0, f64::from(u32::MAX)) } else { 0.0 };
        self.now_ns = Some(now_ns);
        self.lead_ns = (tick * 1e9 / f64::from(self.config.tick_hz)) as i64 - now_ns;
        self.next = tick.ceil() as u32;
        self.leads.fill(None);
        self.lead.clear();
        self.observed = None;
    }

    /// Starts the clock from what a [`Receiver`](crate::Receiver) of the same server knows: its
    /// tick, and the round trip. Returns false and does nothing as long as these are not known.
    pub fn start_from(&mut self, now: Duration, status: &ReceiverStatus) -> bool {
        let Some((tick, round_trip)) = status.server_tick.zip(status.round_trip) else {
            return false;
        };
        let ahead = round_trip.as_secs_f64() / 2.0 * f64::from(self.config.tick_hz);
        self.start(now, tick + ahead + START_TICKS);
        true
    }

    /// Whether the clock was started.
    pub fn is_started(&self) -> bool {
        self.now_ns.is_some()
    }

    /// The ticks to simulate at `now`: those that became due since the last call, at most 16. If
    /// more became due, for example because the game was in the background, the earlier ones are
    /// skipped. Empty before the start.
    pub fn ticks(&mut self, now: Duration) -> impl ExactSizeIterator<Item = Tick> + use<> {
        let (before_ns, jumps) = (self.now_ns, self.stats.jumps);
        let due = self.due(now).unwrap_or(self.next);
        let first = self.next.max(due.saturating_sub(MOST_TICKS));
        let frame_ns =
            self.now_ns.zip(before_ns).map_or(0, |(now_ns, before_ns)| now_ns - before_ns);
        // After a pause or a jump, inputs are late because many ticks are simulated at once.
        let is_usual = frame_ns <= nanos(self.config.longest_frame) && jumps == self.stats.jumps;
        for tick in first..due {
            let number = Sequence::from(Tick(tick));
            self.leads[tick as usize % KEPT_LEADS] = is_usual.then_some((number, self.lead_ns));
        }
        self.stats.skipped += u64::from(first - self.next);
        self.stats.ticks += u64::from(due.saturating_sub(first));
        self.next = self.next.max(due);
        (first..due.max(first)).map(Tick)
    }

    /// Advances the clock, and returns the first tick that is not due yet. `None` before the start.
    fn due(&mut self, now: Duration) -> Option<u32> {
        let before_ns = self.now_ns?;
        let now_ns = nanos(now).max(before_ns);
        self.now_ns = Some(now_ns);
        self.steer(now_ns - before_ns);
        let position_ns = i128::from(self.position_ns());
        let due = (position_ns * i128::from(self.config.tick_hz)).div_euclid(1_000_000_000);
        Some((due + 1).clamp(0, u32::MAX.into()) as u32)
    }

    /// Moves the lead towards the needed one, as far as the clock may in `elapsed_ns`.
    fn steer(&mut self, elapsed_ns: i64) {
        let Some(needed_ns) = self.lead.needed_ns() else { return };
        let error_ns = needed_ns.saturating_sub(self.lead_ns);
        self.stats.error_s = error_ns as f64 / 1e9;
        if error_ns > nanos(self.config.jump_forward) || error_ns < -nanos(self.config.jump_back) {
            self.lead_ns = needed_ns;
            self.lead.start_again();
            self.stats.jumps += 1;
            return;
        }
        let most_ns = elapsed_ns as f64 * f64::from(self.config.slew_ratio);
        let wanted_ns = error_ns as f64 * (elapsed_ns as f64 / SETTLES_NS).min(1.0);
        self.lead_ns += wanted_ns.clamp(-most_ns, most_ns) as i64;
    }

    fn position_ns(&self) -> i64 {
        self.now_ns.unwrap_or(0).saturating_add(self.lead_ns)
    }

    /// Takes an acknowledgement of the stream, as
    /// [`StreamSender::handle`](crate::StreamSender::handle) returns it. Acknowledgements that are
    /// repeated, overtaken or without a timing change nothing.
    pub fn observe(&mut self, now: Duration, acknowledgement: &StreamAcknowledgement) {
        let Some(timing) = acknowledgement.timing.filter(|_| self.is_started()) else { return };
        let newest = acknowledgement.newest;
        let is_sample = StreamTiming::is_sample(newest);
        let is_known = |(last, worst): (Sequence, Option<Sequence>)| {
            newest.since(last) < i32::from(is_sample) || !is_sample && worst == Some(timing.number)
        };
        if self.observed.is_some_and(is_known) {
            return;
        }
        let place = usize::from(timing.number.0) % KEPT_LEADS;
        let lead_ns = self.leads[place].filter(|(number, _)| *number == timing.number);
        let Some((number, lead_ns)) = lead_ns else { return };
        let worst = self.observed.and_then(|(_, worst)| worst);
        self.observed = Some((newest, if is_sample { worst } else { Some(number) }));
        let early_ns = i64::from(timing.early_parts) * 1_000_000_000
            / (PARTS * i64::from(self.config.tick_hz));
        self.lead.observe(nanos(now).max(self.now_ns.unwrap_or(0)), lead_ns, early_ns, is_sample);
        self.stats.reports += 1;
        self.stats.early_ticks = timing.early_ticks();
    }

    /// The clock's tick at the last call, with its fraction. The newest tick that
    /// [`ticks`](Self::ticks) returned is the whole part, unless the clock jumped back.
    pub fn tick(&self) -> f64 {
        self.position_ns() as f64 * f64::from(self.config.tick_hz) / 1e9
    }

    /// The configuration.
    pub fn config(&self) -> &InputClockConfig {
        &self.config
    }

    /// Measurements.
    pub fn stats(&self) -> InputClockStats {
        self.stats
    }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX / 2)
}
