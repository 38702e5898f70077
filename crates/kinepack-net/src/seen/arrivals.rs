//! Notes which datagrams of a session arrived.

use super::{RUNS, SPAN, Seen};
use crate::Sequence;

/// The datagrams that arrived, the last [`SPAN`] of them by sequence.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    newest: Option<Sequence>,
    /// The number of the newest complete full state; 0 before the first.
    full_state: u8,
    /// For each of the last [`SPAN`] sequences, modulo the span, whether it is missing.
    is_missing: [bool; SPAN as usize],
    /// The newest runs of missing sequences. A run stays in its place while it is one of them, so
    /// that a stamp has few changes.
    runs: [Run; RUNS],
}

/// Missing sequences in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    /// The lower eight bits of the newest of them.
    pub(crate) last: u8,
    /// How many they are; 0 if there is no run in this place.
    pub(crate) len: u8,
}

impl Default for Arrivals {
    fn default() -> Self {
        let runs = [Run::default(); RUNS];
        Self { newest: None, full_state: 0, is_missing: [true; SPAN as usize], runs }
    }
}

impl Arrivals {
    /// Notes that the datagram with the sequence `sequence` arrived.
    pub(crate) fn note(&mut self, sequence: Sequence) {
        // Before the first datagram, nothing arrived.
        let newest = self.newest.unwrap_or(sequence.before(SPAN));
        let ahead = sequence.since(newest);
        if ahead <= -i32::from(SPAN) {
            return;
        }
        for behind in 1..ahead.min(SPAN.into()).max(1) as u16 {
            self.is_missing[place(sequence.before(behind))] = true;
        }
        self.is_missing[place(sequence)] = false;
        if ahead > 0 {
            self.newest = Some(sequence);
        }
        let may_forget = self.newest.is_some_and(|newest| {
            self.runs.iter().any(|run| run.len > 0 && (newest.0 as u8).wrapping_sub(run.last) < 2)
        });
        if ahead != 1 || may_forget {
            self.list_runs();
        }
    }

    /// Lists the newest runs.
    fn list_runs(&mut self) {
        let Some(newest) = self.newest else { return };
        let mut runs: Vec<Run> = Vec::with_capacity(RUNS);
        let mut behind = 1;
        while behind < SPAN && runs.len() < RUNS {
            let is_missing = |behind: &u16| self.is_missing[place(newest.before(*behind))];
            let len = (behind..SPAN).take_while(is_missing).count() as u16;
            if len > 0 {
                runs.push(Run { last: newest.before(behind).0 as u8, len: len as u8 });
            }
            behind += len + 1;
        }
        for run in &mut self.runs {
            // The oldest run may reach beyond the span, where the list no longer follows it.
            let is_same = |of: &Run| of.last == run.last && run.len > 0 && of.len <= run.len;
            match runs.iter().position(is_same) {
                Some(at) => {
                    let of = runs.swap_remove(at);
                    let reaches_end = u16::from((newest.0 as u8).wrapping_sub(of.last))
                        + u16::from(of.len)
                        >= SPAN;
                    if !reaches_end {
                        *run = of;
                    }
                }
                None => *run = Run::default(),
            }
        }
        let mut free = self.runs.iter_mut().filter(|run| run.len == 0);
        for run in runs {
            if let Some(place) = free.next() {
                *place = run;
            }
        }
    }

    /// Notes that the full state with the number `number` is complete.
    pub(crate) fn note_full_state(&mut self, number: u8) {
        self.full_state = number;
    }

    /// Whether the datagram with the sequence `sequence` arrived.
    pub(crate) fn has(&self, sequence: Sequence) -> bool {
        let behind = self.newest.map_or(-1, |newest| newest.since(sequence));
        (0..SPAN.into()).contains(&behind) && !self.is_missing[place(sequence)]
    }

    /// The stamp for the moment `moment`, in steps.
    pub(crate) fn seen(&self, moment: u64) -> Seen {
        Seen {
            moment: moment as u16 % super::MOMENTS,
            newest: self.newest.map_or(0, |newest| newest.0 as u8),
            full_state: self.full_state,
            missing: self.runs,
        }
    }
}

fn place(sequence: Sequence) -> usize {
    usize::from(sequence.0 % SPAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stamp tells of each datagram whether it arrived, as far as it has room, and never wrongly.
    #[test]
    fn stamps_tell_which_datagrams_are_missing() {
        let first = Sequence(65_500);
        for period in [2, 7, 40, 300] {
            let mut arrivals = Arrivals::default();
            assert!(!arrivals.has(first));
            let arrive = |step: u16| step % period != period - 1 && !(400..420).contains(&step);
            for step in (0..900).filter(|step| arrive(*step)) {
                let newest = first.after(step);
                arrivals.note(newest);
                let missing = arrivals.seen(0).missing(newest);
                for behind in 0..SPAN {
                    let arrived = behind <= step && arrive(step - behind);
                    let of = newest.before(behind);
                    assert_eq!(arrivals.has(of), arrived, "{behind} before {step}");
                    match missing.has(of) {
                        Some(misses) => assert_eq!(misses, !arrived, "{behind} before {step}"),
                        None => assert!(period < 40, "there is room"),
                    }
                }
            }
        }
    }

    #[test]
    fn late_datagrams_are_no_longer_missing() {
        let mut arrivals = Arrivals::default();
        for sequence in [10, 11, 20, 15, 12, 19, 30] {
            arrivals.note(Sequence(sequence));
        }
        let seen = arrivals.seen(0).missing(Sequence(30));
        let missing: Vec<u16> =
            (10..31).filter(|of| seen.has(Sequence(*of)) == Some(true)).collect();
        assert_eq!(missing, [&[13, 14, 16, 17, 18], &(21..30).collect::<Vec<_>>()[..]].concat());
        arrivals.note(Sequence(5_000));
        assert!(!arrivals.has(Sequence(4_900)) && !arrivals.has(Sequence(30)));
        assert_eq!(arrivals.seen(0).missing(Sequence(5_000)).has(Sequence(4_900)), Some(true));
    }
}
