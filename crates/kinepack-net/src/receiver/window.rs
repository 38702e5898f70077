//! Tracks which sequences arrived: the newest, and the 32 before it. See `spec/NET.md`, section 6.

use crate::sequence::REORDERED;
use crate::{Acknowledgement, Refused, Sequence};

/// The sequences received.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// The newest sequences that arrived. `None` before the first datagram.
    received: Option<Acknowledgement>,
    /// The number of sequences from the first received one to the newest one.
    sent: u64,
    /// The sum of the `sent` of earlier sessions.
    sent_before: u64,
    /// How many sequences of all sessions were missing when a sequence more than [`REORDERED`]
    /// newer arrived.
    lost: u64,
}

impl Window {
    /// Whether a sequence is new, and not too old to be acknowledged.
    pub(super) fn check(&self, sequence: Sequence) -> Result<(), Refused> {
        let Some(Acknowledgement { latest, before }) = self.received else { return Ok(()) };
        match latest.since(sequence) {
            0 => Err(Refused::Duplicate),
            behind @ 1..=32 if before >> (behind - 1) & 1 == 1 => Err(Refused::Duplicate),
            // A sequence at a distance of half the number space, -0x8000, is neither earlier nor
            // later.
            -0x7FFF..=32 => Ok(()),
            _ => Err(Refused::TooOld),
        }
    }

    /// Notes that a checked sequence arrived.
    pub(super) fn note(&mut self, sequence: Sequence) {
        let first = Acknowledgement { latest: sequence, before: 0 };
        let received = self.received.unwrap_or(first);
        if self.received.is_none() {
            self.sent = 1;
        }
        if let ahead @ 1.. = sequence.since(received.latest) {
            self.note_lost(received, ahead);
            self.sent += ahead as u64;
        }
        self.received = Some(received.with(sequence));
    }

    /// Begins a new session. The counts continue.
    pub(super) fn begin_anew(&mut self) {
        self.received = None;
        self.sent_before += std::mem::take(&mut self.sent);
    }

    /// Counts the missing sequences that are more than [`REORDERED`] before the new sequence, but
    /// were at most that far before `received.latest`. The new sequence is `ahead` after
    /// `received.latest`.
    fn note_lost(&mut self, received: Acknowledgement, ahead: i32) {
        // No sequence after `received.latest` has arrived.
        self.lost += (ahead - REORDERED - 1).max(0) as u64;
        let oldest_behind = REORDERED.min((self.sent - 1).min(32) as i32);
        for behind in (REORDERED + 1 - ahead).max(1)..=oldest_behind {
            self.lost += u64::from(received.before >> (behind - 1) & 1 == 0);
        }
    }

    /// The number of datagrams that the sender sent, from the first that arrived to the newest of
    /// each session.
    pub(super) fn sent(&self) -> u64 {
        self.sent_before + self.sent
    }

    /// The number of datagrams that were lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// The acknowledgement to send. `None` before the first datagram.
    pub(super) fn acknowledgement(&self) -> Option<Acknowledgement> {
        self.received
    }

    pub(super) fn newest(&self) -> Option<Sequence> {
        self.received.map(|received| received.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bit_field_moves_along() {
        let mut window = Window::default();
        let first = Sequence(65_530);
        window.note(first);
        for behind in [3, 1, 32] {
            window.note(first.before(behind));
        }
        assert_eq!(window.acknowledgement().unwrap().before, 1 << 31 | 0b101);
        assert_eq!(window.check(first.before(1)), Err(Refused::Duplicate));
        assert_eq!(window.check(first.before(2)), Ok(()));
        assert_eq!(window.check(first.before(33)), Err(Refused::TooOld));
        assert_eq!(window.check(first), Err(Refused::Duplicate));
        window.note(first.after(10));
        let Acknowledgement { latest, before } = window.acknowledgement().unwrap();
        assert_eq!((latest, before), (Sequence(4), 0b101 << 10 | 1 << 9));
        window.note(first.after(10 + 32));
        assert_eq!(window.acknowledgement().unwrap().before, 1 << 31);
        window.note(first.after(10 + 32 + 33));
        assert_eq!(window.acknowledgement().unwrap().before, 0);
    }
}
