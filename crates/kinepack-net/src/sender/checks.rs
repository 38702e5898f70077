//! Which snapshots of one receiver get a state check. `spec/NET.md`, section 4.6.

use std::time::Duration;

use crate::Sequence;

/// When the next state check of one receiver is due, and how often the receiver asked for the state
/// anew.
#[derive(Debug)]
pub(super) struct Checks {
    /// Bytes sent since the last check; `None` where the next snapshot is to have one.
    unchecked_bytes: Option<u64>,
    /// The snapshot with the last check.
    newest: Sequence,
    /// How often the state was sent anew.
    pub(super) sent_anew: u64,
    last_anew: Option<Duration>,
}

impl Checks {
    pub(super) fn new(first: Sequence) -> Self {
        Self { unchecked_bytes: None, newest: first, sent_anew: 0, last_anew: None }
    }

    /// Whether a snapshot of this many values gets a check, where `every` is
    /// [`HubConfig::check_every_bytes`](super::HubConfig::check_every_bytes). Checking takes time for
    /// each value, so a large state waits until the bytes sent since have taken longer.
    ///
    /// A fault passes from a view to the views coded against it: at a steady round trip, to about
    /// every third. Checks at equal distances could miss these for long. So each check comes up to a
    /// quarter earlier, by an amount that changes with the sequence of the last.
    pub(super) fn is_due(&self, every: Option<u32>, values: usize) -> bool {
        let (Some(every), Some(bytes)) = (every, self.unchecked_bytes) else { return every.is_some() };
        let every = if every == 0 { 0 } else { u64::from(every).max(values as u64 / 4) };
        let share = u64::from(u16::MAX - self.newest.0.wrapping_mul(0x9E37) / 4);
        bytes >= every * share / u64::from(u16::MAX)
    }

    /// The next snapshot gets a check.
    pub(super) fn ask(&mut self) {
        self.unchecked_bytes = None;
    }

    /// A datagram was sent.
    pub(super) fn note_sent(&mut self, bytes: usize) {
        self.unchecked_bytes = self.unchecked_bytes.map(|unchecked| unchecked.saturating_add(bytes as u64));
    }

    /// The snapshot of this sequence was sent with a check.
    pub(super) fn note_checked(&mut self, sequence: Sequence) {
        (self.unchecked_bytes, self.newest) = (Some(0), sequence);
    }

    /// The receiver asks for the state anew. False if the last time was less than `rest` ago: then
    /// nothing is to be done.
    pub(super) fn begin_anew(&mut self, now: Duration, rest: Duration) -> bool {
        if self.last_anew.is_some_and(|last| now.saturating_sub(last) < rest) {
            return false;
        }
        self.last_anew = Some(now);
        self.sent_anew += 1;
        self.ask();
        true
    }
}
