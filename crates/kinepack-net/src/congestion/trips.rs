//! The queueing delay, from round trips.

use std::collections::VecDeque;
use std::time::Duration;

use crate::round_trip::{RoundTrip, Shortest};

/// The smallest round trip of this span is the standing one.
const STANDING: Duration = Duration::from_millis(100);
/// If the span has fewer round trips, the last ones count.
const LEAST_SAMPLES: usize = 3;
const MOST_SAMPLES: usize = 64;
/// Datagrams in flight whose answers may be late.
const MOST_WAITING: usize = 256;
/// The round trip before one was measured.
const UNKNOWN: Duration = Duration::from_millis(100);
/// A longer round trip is no measure.
const LONGEST_TRIP: Duration = Duration::from_secs(60);
/// A longer time without acknowledgements is a pause.
const LONGEST_GAP: Duration = Duration::from_millis(100);

/// The round trips of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct Trips {
    smoothed: RoundTrip,
    shortest: Shortest,
    /// When the last round trips were measured, and their lengths.
    recent: VecDeque<(Duration, Duration)>,
    /// The smallest of the recent round trips.
    standing: Option<Duration>,
    newest_answered: Option<Duration>,
    /// How long that datagram waited in queues.
    newest_queueing: Duration,
    /// The smoothed time from one acknowledgement to the next, and when the last one came.
    gap: RoundTrip,
    feedback_at: Option<Duration>,
    /// When the datagrams after the newest answered one were sent.
    waiting: VecDeque<Duration>,
}

impl Trips {
    pub(super) fn note_sent(&mut self, now: Duration) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(now);
        }
    }

    /// Notes the answer to the datagram that was sent at `sent_at`. An older datagram than one that
    /// was answered before is no measure, because its first answer may have been lost.
    pub(super) fn note_answer(&mut self, now: Duration, sent_at: Duration) {
        if self.newest_answered.is_some_and(|newest| sent_at < newest) {
            return;
        }
        self.newest_answered = Some(sent_at);
        while self.waiting.pop_front_if(|at| *at <= sent_at).is_some() {}
        let trip = now.saturating_sub(sent_at).min(LONGEST_TRIP);
        self.smoothed.sample(trip);
        self.shortest.sample(now, trip);
        self.newest_queueing = trip.saturating_sub(self.shortest());
        if self.recent.len() == MOST_SAMPLES {
            self.recent.pop_front();
        }
        self.recent.push_back((now, trip));
        while self.recent.len() > LEAST_SAMPLES
            && self.recent.front().is_some_and(|(at, _)| now.saturating_sub(*at) > STANDING)
        {
            self.recent.pop_front();
        }
        self.standing = self.recent.iter().map(|(_, trip)| *trip).min();
    }

    /// Notes that an acknowledgement came.
    pub(super) fn note_feedback(&mut self, now: Duration) {
        if let Some(last) = self.feedback_at.replace(now).filter(|last| *last < now) {
            self.gap.sample((now - last).min(LONGEST_GAP));
        }
    }

    /// The usual time from one acknowledgement to the next.
    pub(super) fn gap(&self) -> Duration {
        self.gap.smoothed().unwrap_or(LONGEST_GAP)
    }

    /// How long datagrams wait in queues.
    pub(super) fn queueing(&self) -> Duration {
        self.standing().saturating_sub(self.shortest())
    }

    /// When the newest answered datagram was sent, and how long it waited in queues.
    pub(super) fn newest(&self) -> Option<(Duration, Duration)> {
        Some((self.newest_answered?, self.newest_queueing))
    }

    /// Keeps the shortest round trip for longer.
    pub(super) fn hold_shortest(&mut self, now: Duration) {
        self.shortest.hold(now);
    }

    /// The smallest recent round trip.
    pub(super) fn standing(&self) -> Duration {
        self.standing.unwrap_or_default()
    }

    /// By how much the next answer is later than the shortest round trip.
    pub(super) fn late(&self, now: Duration) -> Duration {
        let (Some(sent), Some(shortest)) = (self.waiting.front(), self.shortest.get()) else {
            return Duration::ZERO;
        };
        now.saturating_sub(*sent).saturating_sub(shortest)
    }

    pub(super) fn smoothed(&self) -> Duration {
        self.smoothed.smoothed().unwrap_or(UNKNOWN)
    }

    /// The shortest round trip, without any queue.
    pub(super) fn shortest(&self) -> Duration {
        self.shortest.get().unwrap_or_default()
    }

    pub(super) fn known_shortest(&self) -> Option<Duration> {
        self.shortest.get()
    }

    /// The path became longer: the standing round trip is the shortest one.
    pub(super) fn forget_shortest(&mut self) {
        self.shortest = Shortest::default();
        if let Some((now, _)) = self.recent.back() {
            self.shortest.sample(*now, self.standing());
        }
    }
}
