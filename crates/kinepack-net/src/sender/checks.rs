//! Which snapshots of one receiver get a state check. `spec/NET.md`, section 4.6.

use std::time::Duration;

use crate::Sequence;

/// When the next state check of one receiver is due, and how often the receiver asked for the state
/// anew.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// Bytes to send before the next check; 0 where the next snapshot gets one.
    bytes_left: u64,
    /// How often the state was sent anew.
    pub(super) sent_anew: u64,
    last_anew: Option<Duration>,
}

impl Checks {
    /// Whether the next snapshot gets a check, where the hub makes any.
    pub(super) fn is_due(&self) -> bool {
        self.bytes_left == 0
    }

    /// The next snapshot gets a check.
    pub(super) fn ask(&mut self) {
        self.bytes_left = 0;
    }

    /// A datagram was sent.
    pub(super) fn note_sent(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes as u64);
    }

    /// The snapshot of this sequence, of a state of this many values, was sent with a check. `every`
    /// is [`HubConfig::check_every_bytes`](super::HubConfig::check_every_bytes). Checking takes time
    /// for each value, so the next check of a large state comes later.
    ///
    /// A fault passes from a view to the views coded against it: at a steady round trip, to about
    /// every third. Checks at equal distances could miss these for long. So each check comes up to a
    /// quarter earlier, by an amount that changes with the sequence.
    pub(super) fn note_checked(&mut self, sequence: Sequence, every: u32, values: usize) {
        let every = if every == 0 { 0 } else { u64::from(every).max(values as u64 / 4) };
        let share = u64::from(u16::MAX - sequence.0.wrapping_mul(0x9E37) / 4);
        self.bytes_left = every * share / u64::from(u16::MAX);
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
