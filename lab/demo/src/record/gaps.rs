//! Finds the ticks that a recording of a server lacks.

use kinepack::Tick;
use kinepack_net::Sequence;

/// Decides which views become frames, and counts the missing ticks.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    last: Option<(Tick, Sequence)>,
    /// The greatest common divisor of all ticks. A server may send only every second tick, or every
    /// sixth.
    step: u32,
    /// The number of ticks between the first and the last frame that the server sent, but that did
    /// not become frames.
    between: u64,
    /// The number of ticks after the last frame that arrived in part.
    after: u64,
    /// The number of complete views that arrived after the frame of a later tick.
    pub(super) late: u64,
    /// The number of ticks that arrived in part. It is unknown whether their parts together are
    /// complete.
    pub(super) in_parts: u64,
    newest_part: Option<Tick>,
}

impl Gaps {
    /// Returns whether the view is the next frame.
    pub(super) fn take(&mut self, tick: Tick, sequence: Sequence, left_out: bool) -> bool {
        if left_out {
            let is_new_tick = self.newest_part.replace(tick) != Some(tick);
            self.in_parts += u64::from(is_new_tick);
            self.after += u64::from(is_new_tick && self.last.is_some_and(|(last, _)| last < tick));
            return false;
        }
        if self.last.is_some_and(|(last, _)| tick <= last) {
            self.late += 1;
            return false;
        }
        self.step = greatest_common_divisor(self.step, tick.0);
        if let Some((last_tick, last_sequence)) = self.last {
            // `step` divides both ticks, and this tick is not 0, so neither `step` nor the quotient
            // is 0.
            let steps = (tick.0 - last_tick.0) / self.step;
            // A world at rest is not sent at each tick, so the missing ticks are at most the
            // missing datagrams. A tick may take several datagrams.
            let datagrams = u32::try_from(sequence.since(last_sequence) - 1).unwrap_or(0);
            self.between += u64::from(datagrams.min(steps - 1));
        }
        (self.last, self.after) = (Some((tick, sequence)), 0);
        true
    }

    /// Returns the number of ticks after the first frame that the server sent, but that did not
    /// become frames.
    pub(super) fn missing(&self) -> u64 {
        self.between + self.after
    }

    pub(super) fn has_frames(&self) -> bool {
        self.last.is_some()
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes views, each given by its tick, its sequence, and whether parts of it are missing.
    /// Returns the ticks that become frames.
    fn taken<const N: usize>(views: [(u32, u16, bool); N]) -> (Vec<u32>, Gaps) {
        let mut gaps = Gaps::default();
        let taken = views.into_iter().filter(|(tick, sequence, left_out)| {
            let had_frames = gaps.has_frames();
            let is_frame = gaps.take(Tick(*tick), Sequence(*sequence), *left_out);
            assert_eq!(gaps.has_frames(), had_frames || is_frame);
            is_frame
        });
        (taken.map(|(tick, ..)| tick).collect(), gaps)
    }

    #[test]
    fn lost_ticks_are_counted_and_pauses_are_not() {
        let (ticks, gaps) = taken([
            (7, 65_534, false),
            (8, 65_535, false),
            (11, 2, false),
            (26, 3, false),
            (41, 5, false),
        ]);
        assert_eq!(ticks, [7, 8, 11, 26, 41]);
        assert_eq!((gaps.missing(), gaps.late, gaps.in_parts), (2 + 1, 0, 0));
    }

    #[test]
    fn late_views_are_left_out() {
        let (ticks, gaps) =
            taken([(1, 1, false), (3, 3, false), (2, 2, false), (4, 4, false), (4, 4, false)]);
        assert_eq!(ticks, [1, 3, 4]);
        assert_eq!((gaps.missing(), gaps.late, gaps.in_parts), (1, 2, 0));
    }

    #[test]
    fn a_tick_in_parts_is_missing_once() {
        let (ticks, gaps) = taken([
            (1, 1, false),
            (2, 2, false),
            (3, 3, true),
            (3, 4, true),
            (4, 6, false),
            (5, 7, true),
        ]);
        assert_eq!(ticks, [1, 2, 4]);
        assert_eq!((gaps.missing(), gaps.late, gaps.in_parts), (1 + 1, 0, 2));
        let (ticks, gaps) = taken([(1, 1, true), (2, 2, true), (3, 3, false)]);
        assert_eq!(
            (ticks, gaps.missing(), gaps.in_parts),
            (vec![3], 0, 2),
            "ticks before the first frame are not missing"
        );
    }

    #[test]
    fn only_ticks_that_the_server_sends_can_be_missing() {
        let (ticks, gaps) = taken([
            (3, 1, false),
            (6, 2, false),
            (9, 3, true),
            (9, 4, true),
            (12, 5, false),
            (18, 7, false),
        ]);
        assert_eq!(ticks, [3, 6, 12, 18]);
        assert_eq!((gaps.missing(), gaps.in_parts), (2, 1));
    }
}
