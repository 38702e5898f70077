//! Notes which datagrams of a session arrived in time to be drawn.

use super::{MISSING_BYTES, SPAN, Seen};
use crate::Sequence;

/// The datagrams that arrived, the last [`SPAN`] of them by sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    newest: Option<Sequence>,
    /// The number of the newest complete full state; 0 before the first.
    full_state: u8,
    missing: [u8; MISSING_BYTES],
}

impl Arrivals {
    /// Notes that the datagram with the sequence `sequence` arrived.
    pub(crate) fn note(&mut self, sequence: Sequence) {
        // Before the first datagram, nothing arrived.
        let newest = self.newest.unwrap_or(sequence.before(SPAN));
        let ahead = sequence.since(newest);
        if ahead > 0 {
            for behind in 0..ahead.min(SPAN.into()) as u16 {
                self.set(sequence.before(behind), true);
            }
            self.newest = Some(sequence);
        }
        if ahead > -i32::from(SPAN) {
            self.set(sequence, false);
        }
    }

    /// Notes that the full state with the number `number` is complete.
    pub(crate) fn note_full_state(&mut self, number: u8) {
        self.full_state = number;
    }

    /// Whether the datagram with the sequence `sequence` arrived.
    pub(crate) fn has(&self, sequence: Sequence) -> bool {
        let behind = self.newest.map_or(-1, |newest| newest.since(sequence));
        (0..SPAN.into()).contains(&behind) && !self.seen(0).misses(sequence)
    }

    /// The stamp for the moment `moment`, in 1/256 ticks.
    pub(crate) fn seen(&self, moment: u64) -> Seen {
        Seen {
            moment: moment as u16,
            newest: self.newest.map_or(0, |newest| newest.0 as u8),
            full_state: self.full_state,
            missing: self.missing,
        }
    }

    fn set(&mut self, sequence: Sequence, is_missing: bool) {
        let bit = sequence.0 % SPAN;
        let byte = &mut self.missing[usize::from(bit / 8)];
        *byte = *byte & !(1 << (bit % 8)) | u8::from(is_missing) << (bit % 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_datagram_of_the_span_has_a_bit() {
        let mut arrivals = Arrivals::default();
        let first = Sequence(65_500);
        assert!(!arrivals.has(first));
        let arrive = |step: u16| step % 7 != 3;
        for step in (0..600).filter(|step| arrive(*step)) {
            arrivals.note(first.after(step));
            for behind in 0..300 {
                let (of, is_before) = (first.after(step).before(behind), behind > step);
                let arrived = !is_before && behind < SPAN && arrive(step - behind);
                assert_eq!(arrivals.has(of), arrived, "{behind} before {step}");
            }
        }
        arrivals.note(first.after(598));
        arrivals.note(first.after(591));
        assert!(arrivals.has(first.after(598)) && arrivals.has(first.after(591)));
        arrivals.note(first.after(5_000));
        assert!(!arrivals.has(first.after(4_900)) && !arrivals.has(first.after(599)));
    }
}
