//! How many bytes a hub may still send to one receiver: its budget, and its share of the uplink.

use std::time::Duration;

use super::bucket::Bucket;
use super::config::Budget;
use crate::{CongestionControl, LinkLimit, LinkStatus};

/// The share of an uplink that has no limit.
const NO_LIMIT: usize = usize::MAX;

/// For how long the uplink counts as too small after it was.
const SHORT_LATELY: Duration = Duration::from_millis(250);

/// The bytes that a hub may still send to one receiver.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    /// `None` without a budget.
    bucket: Option<Bucket>,
    /// Finds the rate that fills the bucket, for [`Budget::Auto`].
    control: Option<Box<CongestionControl>>,
    /// The largest datagram with its headers.
    datagram_bytes: usize,
    /// What the uplink of all receivers has left for this one in this tick, or [`NO_LIMIT`]. An
    /// `Option` would do too, but valgrind then complains about the absent number.
    share: usize,
    /// When the share of the uplink was last too small, although the budget had room.
    short_of_share_at: Option<Duration>,
}

impl Allowance {
    /// `datagram_bytes` is the largest datagram with its headers.
    pub(super) fn new(budget: Budget, datagram_bytes: usize, now: Duration) -> Self {
        let control = match budget {
            Budget::Auto { at_most } => Some(Box::new(CongestionControl::new(at_most))),
            Budget::Unlimited | Budget::Fixed { .. } => None,
        };
        let bytes_per_s = match (budget, &control) {
            (Budget::Fixed { bytes_per_s }, _) => Some(bytes_per_s),
            (_, Some(control)) => Some(control.bytes_per_s(now)),
            _ => None,
        };
        let bucket = bytes_per_s.map(|rate| Bucket::new(rate, datagram_bytes, now));
        Self { bucket, control, datagram_bytes, share: NO_LIMIT, short_of_share_at: None }
    }

    /// Changes the budget. What is known of the link stays known.
    pub(super) fn set_budget(&mut self, budget: Budget, now: Duration) {
        let mut new = Self::new(budget, self.datagram_bytes, now);
        if let (Budget::Auto { at_most }, Some(mut control)) = (budget, self.control.take()) {
            control.set_at_most(at_most);
            new.control = Some(control);
        }
        if let (Some(new), Some(old)) = (&mut new.bucket, &self.bucket) {
            *new = old.changed(new.bytes_per_s(), self.datagram_bytes, now);
        }
        *self = Self { share: self.share, ..new };
        self.refill(now);
    }

    /// Brings the bytes of the time since the last call.
    pub(super) fn refill(&mut self, now: Duration) {
        let Some(bucket) = &mut self.bucket else { return };
        bucket.fill(now);
        if let Some(control) = &self.control {
            *bucket = bucket.changed(control.bytes_per_s(now), self.datagram_bytes, now);
        }
    }

    /// Sets what the uplink has left for the receiver in this tick.
    pub(super) fn set_share(&mut self, bytes: Option<usize>) {
        self.share = bytes.unwrap_or(NO_LIMIT);
    }

    /// What the uplink still has for the receiver in this tick.
    pub(super) fn share(&self) -> Option<usize> {
        Some(self.share).filter(|share| *share != NO_LIMIT)
    }

    /// Whether there is any limit.
    pub(super) fn is_limited(&self) -> bool {
        self.bucket.is_some() || self.share != NO_LIMIT
    }

    /// Whether the limit was set to save bytes, so that what is sent for safety is not worth them.
    pub(super) fn is_thrifty(&self) -> bool {
        self.bucket.is_some() && self.control.is_none()
    }

    /// The number of bytes that may be sent now.
    pub(super) fn bytes(&self) -> usize {
        self.budget_bytes().min(self.share)
    }

    /// The number of bytes that the budget has room for.
    fn budget_bytes(&self) -> usize {
        let bucket = self.bucket.as_ref().map_or(usize::MAX, Bucket::bytes);
        let free = self.control.as_ref().map_or(u64::MAX, |control| control.free_bytes());
        bucket.min(usize::try_from(free).unwrap_or(usize::MAX))
    }

    /// The number of bytes that events may take now.
    pub(super) fn bytes_for_events(&self) -> usize {
        let bucket = self.bucket.as_ref().map_or(usize::MAX, Bucket::bytes_for_events);
        bucket.min(self.bytes())
    }

    /// The number of bytes that events may take once the bucket has them. `None` without a budget.
    pub(super) fn bytes_owed_to_events(&self) -> Option<usize> {
        self.bucket.as_ref().map(Bucket::bytes_owed_to_events)
    }

    /// Notes how many of the bytes that [`note_sent`](Self::note_sent) takes belong to events.
    pub(super) fn note_events(&mut self, bytes: usize) {
        if let Some(bucket) = &mut self.bucket {
            bucket.note_events(bytes);
        }
    }

    /// Notes a datagram of `bytes` with its headers.
    pub(super) fn note_sent(&mut self, now: Duration, bytes: usize) {
        if let Some(bucket) = &mut self.bucket {
            bucket.spend(bytes);
        }
        if self.share != NO_LIMIT {
            self.share = self.share.saturating_sub(bytes);
        }
        if let Some(control) = &mut self.control {
            control.note_sent(now, bytes);
        }
    }

    /// Notes that something had to wait. If the budget was too small for it, a link that carries
    /// more may get more.
    pub(super) fn note_short(&mut self, now: Duration) {
        if self.budget_bytes() >= self.datagram_bytes {
            self.short_of_share_at = (self.share != NO_LIMIT).then_some(now);
        } else if let Some(control) = &mut self.control {
            control.note_limited(now);
        }
    }

    /// Notes that a datagram of `bytes` with its headers was acknowledged.
    pub(super) fn note_acknowledged(&mut self, now: Duration, sent_at: Duration, bytes: usize) {
        if let Some(control) = &mut self.control {
            control.note_acknowledged(now, sent_at, bytes);
        }
    }

    /// Notes that a datagram of `bytes` with its headers was lost.
    pub(super) fn note_lost(&mut self, now: Duration, bytes: usize) {
        if let Some(control) = &mut self.control {
            control.note_lost(now, bytes);
        }
    }

    /// Draws conclusions from an acknowledgement, after its datagrams were noted.
    pub(super) fn note_feedback(&mut self, now: Duration) {
        if let Some(control) = &mut self.control {
            control.feedback(now);
        }
    }

    /// The state of the link, for [`Budget::Auto`].
    pub(super) fn link(&self, now: Duration) -> Option<LinkStatus> {
        let mut status = self.control.as_ref()?.status(now);
        let since = |at| now.saturating_sub(at) <= SHORT_LATELY;
        if status.limit == LinkLimit::Content && self.short_of_share_at.is_some_and(since) {
            status.limit = LinkLimit::Uplink;
        }
        Some(status)
    }
}
