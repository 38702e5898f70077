//! Which sequences came: the newest and the 32 before it. `spec/NET.md`, section 6.

use crate::{Acknowledgement, Refused, Sequence};

/// What was received.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// `None` before anything came.
    received: Option<Acknowledgement>,
}

impl Window {
    /// Whether a sequence is new, and not too old to be acknowledged.
    pub(super) fn check(&self, sequence: Sequence) -> Result<(), Refused> {
        let Some(Acknowledgement { latest, before }) = self.received else { return Ok(()) };
        match latest.since(sequence) {
            0 => Err(Refused::Duplicate),
            behind @ 1..=32 if before >> (behind - 1) & 1 == 1 => Err(Refused::Duplicate),
            // Half of all numbers away, -0x8000, is neither before nor after.
            -0x7FFF..=32 => Ok(()),
            _ => Err(Refused::TooOld),
        }
    }

    /// Notes that a sequence, which was checked, came.
    pub(super) fn note(&mut self, sequence: Sequence) {
        let received = self.received.unwrap_or(Acknowledgement { latest: sequence, before: 0 });
        self.received = Some(received.with(sequence));
    }

    /// What to tell the sender.
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
    fn the_field_moves_along() {
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
