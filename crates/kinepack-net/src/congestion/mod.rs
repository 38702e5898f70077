//! Congestion control: finds how many bytes a second a link carries, from acknowledgements alone.
//!
//! A game differs from a video call. Its rate follows its content, a datagram goes out in each tick,
//! and most of the time everything fits. So the control only lowers a limit when datagrams begin to
//! wait in a queue, and raises it only while the limit is what holds the content back:
//!
//! - *The queue.* The round trip of the last tenth of a second, less the shortest round trip of the
//!   last seconds, is the time that datagrams wait ([`Trips`]). The smallest of several round trips
//!   counts, so jitter does not look like a queue. Source: Copa (Arun and Balakrishnan, 2018).
//! - *Less.* While datagrams wait, the rate at which they are acknowledged is what the link carries
//!   ([`Delivery`]). The new limit is nine tenths of it, and less until the queue is empty. Source:
//!   Google's congestion control for WebRTC (draft-ietf-rmcat-gcc-02).
//! - *More.* Near the last rate that made a queue, the limit grows by steps of a constant size, so
//!   that two senders come to share a link equally. Far from it, it grows faster with each step.
//! - *Loss* that does not depend on the rate is a property of the link, and is ignored
//!   ([`Losses`]).
//! - *Others.* A queue that does not empty although the limit was lowered belongs to another sender,
//!   who stops only for lost packets. Then this sender does the same, so that it keeps a share.
//!   Source: Copa's competitive mode; SCReAM (RFC 8298) raises its target instead.
//!
//! All numbers come from `+`, `−`, `×` and `÷`, so equal inputs give equal datagrams everywhere.

mod delivery;
mod losses;
mod status;
mod trips;

use std::time::Duration;

use delivery::Delivery;
use losses::{Losses, Verdict};
pub use status::{LinkLimit, LinkStatus};
use trips::Trips;

/// The queueing delay that the control allows, if acknowledgements come as often as ticks at 60 Hz.
const TARGET: Duration = Duration::from_millis(30);
/// How long a queue must have been longer than [`TARGET`]. A single late burst is no queue.
const PERSISTS: Duration = Duration::from_millis(60);
/// Acknowledgements of a queue before the limit falls.
const PERSISTS_COUNT: u32 = 3;
/// How long the effect of a change takes to be seen, in addition to a round trip.
const SETTLES: Duration = Duration::from_millis(100);
/// A queue of this length more than [`TARGET`] stops all that can wait.
const STOPS: Duration = Duration::from_millis(250);
/// A shorter queueing delay than this is none.
const EMPTY: Duration = Duration::from_millis(4);
/// If the queue was not empty for this long, it is made empty, because its delay may be hidden in
/// the shortest round trip.
const NOT_EMPTY: Duration = Duration::from_secs(3);
/// How long less is sent to make it empty, in addition to the time until a change is seen.
const EMPTIES: Duration = Duration::from_millis(200);
/// How long an own queue must become shorter before one that does not is another sender's.
const DRAINS: Duration = Duration::from_millis(300);
/// The least share of the limit that is sent while a queue empties, and the bytes a second that are
/// sent even if that is less.
const LEAST_SHARE: f64 = 0.05;
const LEAST_SENT: f64 = 256.0;
/// A step of growth near the last rate that made a queue: bytes a second, and a share of the limit.
const STEP_BYTES_PER_S: f64 = 1_200.0;
const STEP_RATIO: f64 = 0.01;
/// A datagram that is answered late by this much more than usual shows that something is wrong.
const LATE: Duration = Duration::from_millis(40);
/// How long another sender who fills the queue is first taken for granted.
const COMPETES: Duration = Duration::from_secs(5);
/// If the queue is as long as before for this long, it is no queue.
const STEADY: Duration = Duration::from_secs(4);
/// After this long without a queue, there is no other sender.
const ALONE: Duration = Duration::from_secs(10);
/// The factor of a lost datagram while another sender fills the queue (RFC 9438).
const LOSS_FACTOR: f64 = 0.7;
/// The growth in a round trip while another sender fills the queue.
const DATAGRAM_BYTES: f64 = 1_200.0;

/// Finds how many bytes a second a link carries. A [`Hub`](crate::Hub) has one for each receiver
/// whose budget is [`Budget::Auto`](crate::Budget::Auto). For other connections, pass in what was
/// sent, acknowledged and lost.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::CongestionControl;
///
/// let ms = Duration::from_millis;
/// let mut control = CongestionControl::new(1_000_000);
/// let begin = control.bytes_per_s(ms(0));
/// for tick in 0..60 {
///     let now = ms(tick * 16);
///     control.note_sent(now, 1_000);
///     // The link carries a datagram in 32 ms, so each waits longer than the one before.
///     control.note_acknowledged(now + ms(20 + tick * 16), now, 1_000);
///     control.feedback(now + ms(20 + tick * 16));
/// }
/// assert!(control.bytes_per_s(ms(2_000)) < begin);
/// ```
#[derive(Clone, Debug)]
pub struct CongestionControl {
    at_most: f64,
    /// The limit in bytes a second, apart from what an emptying queue takes away.
    rate: f64,
    trips: Trips,
    delivery: Delivery,
    losses: Losses,
    in_flight_bytes: u64,
    /// All bytes that were ever sent.
    sent_bytes: u64,
    mode: Mode,
    limit: LinkLimit,
    /// When the sender last had more to send than the limit allowed.
    limited_at: Option<Duration>,
    /// No queue was seen at the limit yet, so it may grow fast.
    starts: bool,
    /// The last rate that made a queue.
    ceiling: f64,
    /// The limit and `ceiling` before the last test of losses.
    before_test: (f64, f64),
    /// How many steps the limit grew without a queue, far from `ceiling`.
    steps: u32,
    grows_at: Duration,
    /// Since when each acknowledgement shows a queue, and how many there were.
    queue_since: Option<(Duration, u32)>,
    /// No further fall before this time, because the last one has not been seen yet.
    falls_at: Duration,
    /// When the queue was last empty.
    empty_at: Duration,
    /// Until when less is sent, so that the queue becomes empty and the shortest round trip is
    /// seen again.
    empties_until: Duration,
    /// When the queue was last much longer than allowed.
    long_at: Duration,
    /// When the limit first fell since the queue was last short.
    fell_at: Option<Duration>,
    /// The longest queueing delay since the queue was last short.
    longest: Duration,
    /// Whether it is known that the queue is another sender's. Until then it may be the path that
    /// became longer, and growth would hide this.
    has_rival: bool,
    /// How long another sender is taken for granted. It doubles each time that he is still there.
    competes_for: Duration,
    /// Since when so little is sent that an own queue must become shorter.
    drain: Option<Drain>,
    /// What arrived in a second before the limit fell first.
    before_queue: f64,
}

/// A time in which so little is sent that an own queue must become shorter.
#[derive(Clone, Copy, Debug)]
struct Drain {
    since: Duration,
    /// When the first datagram of that time was sent, and how long it waited.
    first: Option<(Duration, Duration)>,
    /// The bytes that had been sent when the time began.
    sent_bytes: u64,
}

/// Who fills the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Alone,
    /// Another sender, who stops only for lost packets. The standing round trips of a span show
    /// whether it is rather the path that became longer.
    Competing {
        /// When it is tried whether the other sender is still there.
        until: Duration,
        since: Duration,
        shortest: Duration,
        longest: Duration,
        has_lost: bool,
    },
}

impl CongestionControl {
    /// The limit at the beginning, in bytes a second: 400 kbit/s.
    pub const START_BYTES_PER_S: u32 = 50_000;
    /// The smallest limit, in bytes a second: 20 kbit/s.
    pub const LEAST_BYTES_PER_S: u32 = 2_500;

    /// A control for a link that is not known yet. The limit never exceeds `at_most` bytes a
    /// second.
    pub fn new(at_most: u32) -> Self {
        let at_most = f64::from(at_most.max(1));
        let rate = at_most.min(f64::from(Self::START_BYTES_PER_S));
        Self {
            at_most,
            rate,
            trips: Trips::default(),
            delivery: Delivery::default(),
            losses: Losses::default(),
            in_flight_bytes: 0,
            sent_bytes: 0,
            mode: Mode::Alone,
            limit: LinkLimit::Content,
            limited_at: None,
            starts: true,
            ceiling: 0.0,
            before_test: (0.0, 0.0),
            steps: 0,
            grows_at: Duration::ZERO,
            queue_since: None,
            falls_at: Duration::ZERO,
            empty_at: Duration::ZERO,
            empties_until: Duration::ZERO,
            long_at: Duration::ZERO,
            fell_at: None,
            has_rival: false,
            competes_for: COMPETES,
            longest: Duration::ZERO,
            drain: None,
            before_queue: 0.0,
        }
    }

    /// Changes the largest limit.
    pub fn set_at_most(&mut self, at_most: u32) {
        self.at_most = f64::from(at_most.max(1));
        self.rate = self.rate.min(self.at_most);
    }

    /// Notes that a datagram of `bytes`, with all headers, was sent.
    pub fn note_sent(&mut self, now: Duration, bytes: usize) {
        self.in_flight_bytes = self.in_flight_bytes.saturating_add(bytes as u64);
        self.sent_bytes = self.sent_bytes.saturating_add(bytes as u64);
        self.trips.note_sent(now);
    }

    /// Notes that a datagram of `bytes`, sent at `sent_at`, was acknowledged.
    pub fn note_acknowledged(&mut self, now: Duration, sent_at: Duration, bytes: usize) {
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(bytes as u64);
        self.trips.note_answer(now, sent_at);
        self.delivery.note(now, bytes);
        self.losses.note_arrived(bytes);
    }

    /// Notes that a datagram of `bytes` was lost.
    pub fn note_lost(&mut self, now: Duration, bytes: usize) {
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(bytes as u64);
        self.losses.note_lost();
        let is_full = self.trips.queueing() >= self.longest / 2;
        if let Mode::Competing { has_lost, .. } = &mut self.mode
            && is_full
            && now >= self.falls_at
        {
            *has_lost = true;
            self.set_rate(self.rate * LOSS_FACTOR);
            self.falls_at = now.saturating_add(self.trips.smoothed());
        }
    }

    /// Notes that the sender has more to send than the limit allows.
    pub fn note_limited(&mut self, now: Duration) {
        self.limited_at = Some(now);
    }

    /// Draws conclusions. Call this after the datagrams of an acknowledgement were noted.
    pub fn feedback(&mut self, now: Duration) {
        self.trips.note_feedback(now);
        let (queueing, target) = (self.trips.queueing(), self.target());
        self.longest = self.longest.max(queueing).max(self.trips.late(now));
        self.queue_since = (queueing > target).then(|| {
            let (since, count) = self.queue_since.unwrap_or((now, 0));
            (since, count + 1)
        });
        if queueing <= EMPTY {
            (self.empty_at, self.empties_until) = (now, now);
        }
        if queueing <= self.short() {
            (self.fell_at, self.longest) = (None, queueing);
            if matches!(self.mode, Mode::Competing { .. }) {
                self.end_competition(now);
            }
        }
        if now.saturating_sub(self.long_at) > ALONE {
            (self.competes_for, self.has_rival) = (COMPETES, false);
        }
        if queueing > target * 2 {
            self.long_at = now;
        }
        match self.mode {
            Mode::Alone => self.alone(now, queueing),
            Mode::Competing { .. } => self.compete(now),
        }
    }

    fn alone(&mut self, now: Duration, queueing: Duration) {
        let is_queue = self.queue_since.is_some_and(|(since, count)| {
            count >= PERSISTS_COUNT && now.saturating_sub(since) >= PERSISTS
        });
        if is_queue && now >= self.falls_at {
            self.fall_to_delivered(now);
        }
        let patience = Duration::from_secs(1).saturating_add(self.longest.saturating_mul(2));
        let is_long = queueing > self.target().max(self.longest / 2);
        let fell_at = self.fell_at.filter(|_| is_long);
        let is_late = fell_at.is_some_and(|at| now.saturating_sub(at) > patience);
        if is_late || self.is_not_draining(now, queueing) {
            let trip = self.trips.standing();
            let (shortest, longest) = (trip, trip);
            let until = now.saturating_add(self.competes_for);
            self.competes_for = (self.competes_for * 2).min(COMPETES * 16);
            self.mode = Mode::Competing { until, since: now, shortest, longest, has_lost: false };
            self.limit = LinkLimit::Competing;
            self.set_rate(self.rate.max(self.before_queue * LOSS_FACTOR));
            return;
        }
        match self.losses.judge(now, self.trips.smoothed()) {
            Some(Verdict::Test) => {
                self.losses.begin_test();
                self.before_test = (self.rate, self.ceiling);
                self.ceiling = self.losses.arrived_bytes_per_s();
                self.set_rate(self.rate.min(self.ceiling * 0.9));
                self.limit = LinkLimit::Loss;
                self.wait(now);
            }
            Some(Verdict::Random) => {
                let (rate, ceiling) = self.before_test;
                self.ceiling = ceiling;
                self.set_rate(rate);
            }
            Some(Verdict::Congestion) => (self.starts, self.steps) = (false, 0),
            None => {}
        }
        if self.queue_since.is_none() {
            self.grow(now, queueing);
        }
    }

    /// Whether the queue stays although too little is sent to fill it.
    fn is_not_draining(&mut self, now: Duration, queueing: Duration) -> bool {
        if self.share_of(queueing) > 0.5 {
            self.drain = None;
            return false;
        }
        let sent_bytes = self.sent_bytes;
        let drain = self.drain.get_or_insert(Drain { since: now, first: None, sent_bytes });
        let Some((sent_at, waited)) = self.trips.newest() else { return false };
        let Some((first_sent_at, first_waited)) = drain.first else {
            if sent_at >= drain.since {
                drain.first = Some((sent_at, waited));
            }
            return false;
        };
        let span = sent_at.saturating_sub(first_sent_at);
        if span < DRAINS {
            return false;
        }
        let sent = (sent_bytes - drain.sent_bytes) as f64;
        let arrives = self.delivery.bytes_per_s().unwrap_or(0.0);
        let is_little = sent < 0.6 * arrives * now.saturating_sub(drain.since).as_secs_f64();
        is_little && waited > first_waited.saturating_sub(span / 4)
    }

    /// Lowers the limit to what the link carries.
    fn fall_to_delivered(&mut self, now: Duration) {
        let Some(delivered) = self.delivery.bytes_per_s() else { return };
        if self.fell_at.is_none() {
            self.before_queue = delivered;
            self.fell_at = Some(now);
        }
        self.ceiling = delivered;
        self.set_rate(self.rate.min(delivered * 0.9));
        (self.starts, self.steps) = (false, 0);
        self.limit = LinkLimit::Queue;
        self.wait(now);
        if now.saturating_sub(self.empty_at) > NOT_EMPTY {
            self.empties_until = self.falls_at.saturating_add(EMPTIES);
            self.falls_at = self.empties_until;
        }
    }

    /// Waits until the effect of a change can be seen.
    fn wait(&mut self, now: Duration) {
        let settled = now.saturating_add(self.round());
        (self.falls_at, self.grows_at) = (settled, settled);
    }

    fn grow(&mut self, now: Duration, queueing: Duration) {
        let round = self.round();
        let is_limited = self.limited_at.is_some_and(|at| now.saturating_sub(at) <= round);
        if !is_limited {
            if self.limit != LinkLimit::Queue || now >= self.grows_at {
                self.limit = LinkLimit::Content;
            }
            return;
        }
        if now < self.grows_at || self.losses.is_testing() {
            return;
        }
        let is_near = self.rate > self.ceiling * 0.8 && self.rate < self.ceiling * 1.15;
        let is_short = queueing <= self.short();
        let step = if self.starts && is_short {
            self.rate
        } else if is_near || !is_short {
            self.steps = 0;
            STEP_BYTES_PER_S + self.rate * STEP_RATIO
        } else {
            self.steps = (self.steps + 1).min(4);
            STEP_BYTES_PER_S.max(self.rate * [0.05, 0.1, 0.2, 0.4, 0.5][self.steps as usize])
        };
        // More than twice of what arrives was never tried.
        let known = self.delivery.bytes_per_s().map_or(self.rate, |bytes| bytes * 2.0);
        self.set_rate((self.rate + step).min(known.max(self.rate)));
        self.limit = LinkLimit::Probing;
        self.grows_at = now.saturating_add(round);
    }

    fn compete(&mut self, now: Duration) {
        let short = self.short();
        let Mode::Competing { until, since, shortest, longest, has_lost } = &mut self.mode else {
            return;
        };
        let (until, has_lost) = (*until, *has_lost);
        self.trips.hold_shortest(now);
        let trip = self.trips.standing();
        (*shortest, *longest) = ((*shortest).min(trip), (*longest).max(trip));
        if now.saturating_sub(*since) > STEADY {
            let is_steady = *longest - *shortest <= short;
            (*since, *shortest, *longest) = (now, trip, trip);
            self.has_rival = true;
            if is_steady {
                // Nobody's queue is that steady: the path became longer.
                self.has_rival = false;
                self.trips.forget_shortest();
                return self.end_competition(now);
            }
        }
        if now >= until {
            self.end_competition(now);
            return self.fall_to_delivered(now);
        }
        let round = self.trips.smoothed().max(Duration::from_millis(10));
        let is_limited =
            self.limited_at.is_some_and(|at| now.saturating_sub(at) <= round + SETTLES);
        // While the queue is long, what arrives is the own share. Much more only makes it longer.
        let is_used = self.delivery.bytes_per_s().is_none_or(|bytes| self.rate < bytes * 1.25);
        if self.has_rival && is_limited && is_used && now >= self.grows_at {
            let step = DATAGRAM_BYTES / round.as_secs_f64();
            self.set_rate(self.rate + if has_lost { step } else { step.max(self.rate / 4.0) });
            self.grows_at = now.saturating_add(round);
        }
    }

    fn end_competition(&mut self, now: Duration) {
        self.mode = Mode::Alone;
        (self.queue_since, self.drain) = (None, None);
        (self.fell_at, self.longest) = (None, Duration::ZERO);
        (self.ceiling, self.steps) = (self.rate, 0);
        self.limit = LinkLimit::Probing;
        self.wait(now);
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.max(f64::from(Self::LEAST_BYTES_PER_S)).min(self.at_most);
    }

    /// The limit in bytes a second, less while a queue empties.
    pub fn bytes_per_s(&self, now: Duration) -> u32 {
        let late = self.trips.late(now).saturating_sub(LATE.max(self.trips.gap() * 2));
        let queueing = match self.mode {
            Mode::Alone => self.trips.queueing().max(late),
            Mode::Competing { .. } => late.saturating_sub(self.trips.queueing()),
        };
        let share = self.share_of(queueing);
        let share = if now < self.empties_until { share / 2.0 } else { share };
        // A slow link needs it all to empty its queue.
        (self.rate * share).max(self.at_most.min(LEAST_SENT)) as u32
    }

    /// The number of bytes that may be in flight: what the limit sends in a round trip, with room
    /// for a queue and for late acknowledgements.
    pub fn window_bytes(&self) -> u64 {
        let room = self.trips.shortest() + self.target() + self.trips.gap();
        let room = match self.mode {
            Mode::Alone => room,
            Mode::Competing { .. } => self.trips.smoothed() * 2,
        };
        ((self.rate * room.as_secs_f64()) as u64).max(2 * DATAGRAM_BYTES as u64)
    }

    /// How many bytes may be sent now, if the limit has room for them.
    pub fn free_bytes(&self) -> u64 {
        self.window_bytes().saturating_sub(self.in_flight_bytes)
    }

    /// The state of the link.
    pub fn status(&self, now: Duration) -> LinkStatus {
        let is_most = self.rate >= self.at_most && self.limited_at.is_some();
        LinkStatus {
            bytes_per_s: self.bytes_per_s(now),
            limit: if is_most && self.limit == LinkLimit::Probing {
                LinkLimit::AtMost
            } else {
                self.limit
            },
            queueing_delay: self.trips.queueing(),
            shortest_round_trip: self.trips.known_shortest(),
            delivered_bytes_per_s: self.delivery.bytes_per_s().map(|bytes| bytes as u32),
            in_flight_bytes: self.in_flight_bytes,
            lost_ratio: self.losses.ratio(),
        }
    }

    /// How long the effect of a change takes to be seen.
    fn round(&self) -> Duration {
        self.trips.smoothed().saturating_add(SETTLES.max(self.trips.gap() * 3))
    }

    /// The queueing delay that is allowed. Round trips vary by a tick, so rare ticks need more.
    fn target(&self) -> Duration {
        TARGET.max(self.trips.gap() * 5 / 4)
    }

    /// The longest queueing delay that may be only the wait for a tick.
    fn short(&self) -> Duration {
        (TARGET * 2 / 3).max(self.trips.gap() * 9 / 8)
    }

    /// The share of the limit that is sent while a queue of this length empties.
    fn share_of(&self, queueing: Duration) -> f64 {
        let over = queueing.saturating_sub(self.target()).as_secs_f64() / STOPS.as_secs_f64();
        (1.0 - over).max(LEAST_SHARE)
    }
}
