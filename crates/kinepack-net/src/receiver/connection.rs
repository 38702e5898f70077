//! The state of a receiver's connection, derived from headers that the receiver reads anyway.
//!
//! A round trip is measured from an acknowledgement to the first snapshot that is coded against the
//! newest view that the acknowledgement names. The first round trip is measured from the hello to
//! the first datagram. See `spec/NET.md`, sections 3, 4 and 6. Memory: at most [`MOST_WAITING`]
//! acknowledgements. Cost: constant for each acknowledgement and snapshot.

use std::collections::VecDeque;
use std::time::Duration;

use crate::Sequence;
use crate::round_trip::{RoundTrip, Shortest};

/// A baseline is at most this many sequences back, so older acknowledgements get no answer.
const MOST_WAITING: usize = 255;

/// The state of a receiver's connection. Terms and units are those of the hub's
/// [`PeerStatus`](crate::PeerStatus).
///
/// ```
/// use std::time::Duration;
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{Codec, Level, Profile, Schema};
/// use kinepack_net::{Receiver, ReceiverConfig};
///
/// let schema = Schema::new(vec![Field::new("health", FieldKind::Raw { lanes: 1 })]);
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// let status = receiver.status(Duration::ZERO);
/// assert!(!status.joined && status.round_trip.is_none() && status.server_tick.is_none());
/// assert_eq!(status.lost_ratio(), 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReceiverStatus {
    /// Whether a datagram with a snapshot, a fragment or events was accepted.
    pub joined: bool,
    /// Whether the receiver sends hellos again, because it accepted no datagram for
    /// [`ReceiverConfig::silence`](crate::ReceiverConfig::silence). If the sender answers with a
    /// refusal, [`Receiver::mismatch`](crate::Receiver::mismatch) returns the reason.
    pub silent: bool,
    /// The smoothed time from sending an acknowledgement to the first snapshot that builds on it.
    /// This time includes the server's wait for its next tick, just as the hub's value includes
    /// this side's wait until it acknowledges. `None` before the first measurement.
    pub round_trip: Option<Duration>,
    /// The number of datagrams that the server sent, from the first that arrived to the newest. The
    /// receiver knows this number because sequences have no gaps.
    pub sent: u64,
    /// How many of the sent datagrams arrived and were accepted.
    pub acknowledged: u64,
    /// How many of the sent datagrams were still missing when a datagram more than six sequences
    /// newer was accepted. Some of them may still have arrived later.
    pub lost: u64,
    /// An estimate of the tick that the server is simulating now, including its fraction. `None`
    /// before a state has arrived and a round trip was measured.
    ///
    /// The value is the stream's time by its fastest recent arrivals, plus half of the shortest
    /// recent round trip. It is exact if both directions take equally long and the server answers
    /// immediately. Otherwise it is off by half of the difference between the two directions, and
    /// ahead by half of the server's wait for its next tick. The value may step when the network
    /// changes; smooth it before you show it.
    pub server_tick: Option<f64>,
    /// `server_tick` as a time: divided by [`tick_hz`](crate::PlayoutConfig::tick_hz).
    pub server_time: Option<Duration>,
}

impl ReceiverStatus {
    /// The share of datagrams lost, from 0 to 1. Datagrams that arrived after they were counted as
    /// lost are left out.
    pub fn lost_ratio(&self) -> f64 {
        lost_ratio(self.sent, self.acknowledged, self.lost)
    }
}

/// The share of lost datagrams; 0 before any datagram is known to be lost or acknowledged. At most
/// `sent` − `acknowledged` datagrams can be missing. If `lost` is larger, the surplus datagrams
/// arrived after they were counted as lost.
pub(crate) fn lost_ratio(sent: u64, acknowledged: u64, lost: u64) -> f64 {
    let lost = lost.min(sent.saturating_sub(acknowledged));
    lost as f64 / lost.saturating_add(acknowledged).max(1) as f64
}

/// The round trip as the receiver sees it.
#[derive(Debug)]
pub(super) struct Connection {
    /// When the hello was sent. `None` if the receiver sent several hellos, because it is unknown
    /// which of them was answered.
    hello_at: Option<Duration>,
    hellos: u64,
    /// The newest sequence of each acknowledgement that no snapshot has built on yet, and the time
    /// when this acknowledgement was first sent. Sequences rise.
    waiting: VecDeque<(Sequence, Duration)>,
    round_trip: RoundTrip,
    shortest: Shortest,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            hello_at: None,
            hellos: 0,
            waiting: VecDeque::with_capacity(MOST_WAITING),
            round_trip: RoundTrip::default(),
            shortest: Shortest::default(),
        }
    }

    /// Begins a new session. Drops the acknowledgements that still wait, because the datagrams of
    /// the new session reuse their sequences.
    pub(super) fn begin_anew(&mut self) {
        self.waiting.clear();
    }

    /// Notes that a hello was sent.
    pub(super) fn note_hello(&mut self, now: Duration) {
        self.hellos += 1;
        self.hello_at = (self.hellos == 1).then_some(now);
    }

    /// Notes that the first datagram after the hello was accepted.
    pub(super) fn note_first(&mut self, now: Duration) {
        if let Some(sent_at) = self.hello_at.take() {
            self.sample(now, sent_at);
        }
    }

    /// Notes that an acknowledgement with `latest` as its newest sequence was sent.
    pub(super) fn note_acknowledged(&mut self, now: Duration, latest: Sequence) {
        if self.waiting.back().is_some_and(|(newest, _)| latest.since(*newest) <= 0) {
            return;
        }
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((latest, now));
    }

    /// Notes that a snapshot coded against the view of `baseline` was accepted.
    pub(super) fn note_baseline(&mut self, now: Duration, baseline: Sequence) {
        while let Some((latest, sent_at)) =
            self.waiting.pop_front_if(|(latest, _)| baseline.since(*latest) >= 0)
        {
            if latest == baseline {
                self.sample(now, sent_at);
            }
        }
    }

    fn sample(&mut self, now: Duration, sent_at: Duration) {
        let sample = now.saturating_sub(sent_at);
        self.round_trip.sample(sample);
        self.shortest.sample(now, sample);
    }

    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip.smoothed()
    }

    /// The shortest recent round trip.
    pub(super) fn shortest(&self) -> Option<Duration> {
        self.shortest.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn only_a_hello_that_was_sent_once_is_measured() {
        for (hellos, measured) in [(1, Some(millis(80))), (2, None)] {
            let mut connection = Connection::new();
            (0..hellos).for_each(|_| connection.note_hello(millis(20)));
            connection.note_first(millis(100));
            assert_eq!(connection.round_trip(), measured);
        }
    }

    #[test]
    fn each_acknowledgement_is_measured_once() {
        let mut connection = Connection::new();
        for step in 0..1_000u16 {
            let now = millis(u64::from(step) * 10);
            let latest = Sequence(65_000).after(step);
            connection.note_acknowledged(now, latest);
            // If an acknowledgement is sent again, the time of its first sending counts.
            connection.note_acknowledged(now + millis(5), latest);
            if step >= 6 && step % 2 == 0 {
                connection.note_baseline(now, latest.before(6));
                connection.note_baseline(now + millis(500), latest.before(6));
            }
            assert!(connection.waiting.len() <= 8);
        }
        assert_eq!(connection.round_trip(), Some(millis(60)));
        assert_eq!(connection.shortest(), Some(millis(60)));
        (0..1_000).for_each(|step| connection.note_acknowledged(millis(1), Sequence(5_000 + step)));
        assert_eq!(connection.waiting.len(), MOST_WAITING);
    }

    #[test]
    fn the_shortest_round_trip_follows_a_longer_path() {
        let mut connection = Connection::new();
        for second in 0..30u16 {
            let now = Duration::from_secs(second.into());
            let trip = if second < 10 { millis(50) } else { millis(90) };
            connection.note_acknowledged(now, Sequence(second));
            connection.note_baseline(now + trip, Sequence(second));
            let shortest = if second < 20 { millis(50) } else { millis(90) };
            assert!(second >= 10 || connection.shortest() == Some(millis(50)));
            assert!(second < 22 || connection.shortest() == Some(shortest), "{second}");
        }
    }
}
