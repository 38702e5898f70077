//! Chooses the older views of a snapshot, from which a predicting codec learns most. See
//! `spec/NET.md`, section 4.3.
//!
//! The *lag* is the number of ticks from the baseline to the snapshot. The best older views are
//! half a lag before the baseline, then one lag before that view, and so on. A velocity over half a
//! lag is recent enough, and quantization steps do not yet dominate it (measured with the adaptive
//! level). The lag and the best ticks follow from the ticks of baseline and snapshot alone. So
//! receivers with the same baseline choose the same older views and share the encoding, except
//! after losses.
//!
//! Cost: a scan of the datagrams of two lags, at most [`REACH`] datagrams.

use std::sync::Arc;

use kinepack::Tick;

use super::{History, REACH};
use crate::sender::chosen_baseline::{ChosenBaseline, OlderView};
use crate::sender::view::SentView;

impl History {
    /// Up to `wanted` acknowledged views for snapshots of tick `tick` that are coded against
    /// `base`, newest first. The next `datagrams` datagrams can all use these views.
    ///
    /// Returns no views if the baseline was merged or is partial. The lanes of such a baseline come
    /// from several ticks, so differences would not be velocities.
    pub(in crate::sender) fn older(
        &self,
        base: &ChosenBaseline,
        tick: Tick,
        wanted: u8,
        datagrams: u32,
    ) -> Vec<OlderView> {
        let mut chosen = Vec::new();
        let Some(sequence) = base.sequence.filter(|_| base.view.is_complete()) else {
            return chosen;
        };
        let base_tick = base.view.tick();
        let Some(lag) = tick.0.checked_sub(base_tick.0).filter(|lag| *lag > 0) else {
            return chosen;
        };
        // The codec needs falling ticks. So this skips a view unless its tick is before the ticks
        // of all newer views.
        let mut newer = base_tick;
        let falling = self.whole_before(sequence, REACH, datagrams as usize).filter(|(_, view)| {
            let falls = view.tick() < newer;
            newer = newer.min(view.tick());
            falls
        });
        let mut falling = falling.peekable();
        chosen.reserve_exact(usize::from(wanted));
        for nth in 0..u32::from(wanted) {
            let best =
                base_tick.0.saturating_sub(lag.div_ceil(2).saturating_add(lag.saturating_mul(nth)));
            let distance = |view: &SentView| view.tick().0.abs_diff(best);
            let Some(mut nearest) = falling.next() else { break };
            while let Some(nearer) =
                falling.next_if(|(_, view)| distance(view) < distance(nearest.1))
            {
                nearest = nearer;
            }
            chosen.push((nearest.0, Arc::clone(nearest.1)));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kinepack::{Schema, Snapshot, View};

    use super::super::Content;
    use super::*;
    use crate::sender::view::{Held, Rows, Skipped};
    use crate::{Acknowledgement, Sequence};

    fn view(tick: u32, is_whole: bool) -> Arc<SentView> {
        let whole = View::from(Snapshot::new(&Schema::new(Vec::new()), Tick(tick)));
        let part = || Skipped {
            held: Held::Except { old: (*whole).clone(), unknown: Vec::new() },
            sent: Rows::new(whole.snapshot(), &[]),
            removed: Box::default(),
            waiting: 0,
            split: None,
            turn: None,
        };
        let skipped = (!is_whole).then(part);
        Arc::new(SentView::new(u64::from(tick), None, false, whole, skipped))
    }

    /// A history with snapshots of the ticks `ticks`, the first with sequence 65,530. The views of
    /// the ticks `lost` did not arrive, and the views of the ticks `parts` are partial.
    fn history(ticks: impl IntoIterator<Item = u32>, lost: &[u32], parts: &[u32]) -> History {
        let mut history = History::new(Sequence(65_530));
        history.keep_older();
        for tick in ticks {
            let view = view(tick, !parts.contains(&tick));
            let sequence = history.next();
            history.push(
                Duration::ZERO,
                100,
                Content::Snapshot {
                    view,
                    tick: Tick(tick),
                    turns: 1,
                    own_back: 0,
                    interval_ticks: 1,
                    sent_before: Vec::new(),
                    models: None,
                    cost: None,
                },
                None,
            );
            if !lost.contains(&tick) {
                let acknowledgement = Acknowledgement { latest: sequence, before: 0 };
                history.acknowledge(Duration::ZERO, acknowledgement, &mut Vec::new()).unwrap();
            }
        }
        history
    }

    /// The ticks of the older views for a snapshot of tick `tick` coded against the newest view.
    fn chosen(history: &History, tick: u32, wanted: u8) -> Vec<u32> {
        let base = history.base().unwrap();
        history.older(&base, Tick(tick), wanted, 1).iter().map(|(_, view)| view.tick().0).collect()
    }

    #[test]
    fn the_best_views_are_half_a_lag_and_then_whole_lags_before_the_baseline() {
        let steady = history(1..=40, &[], &[]);
        assert_eq!(chosen(&steady, 46, 3), [37, 31, 25]);
        assert_eq!(chosen(&steady, 46, 1), [37]);
        assert_eq!(chosen(&steady, 46, 0), []);
        assert_eq!(chosen(&steady, 41, 3), [39, 38, 37]);
        assert_eq!(chosen(&steady, 70, 3), [25, 1], "the history is no longer");
        assert_eq!(chosen(&steady, 40, 3), [], "the tick does not increase");
        let slow = history((1..=20).map(|nth| 6 * nth), &[], &[]);
        assert_eq!(chosen(&slow, 132, 2), [114, 102]);
    }

    #[test]
    fn the_nearest_complete_views_that_arrived_are_chosen() {
        assert_eq!(
            chosen(&history(1..=40, &[37], &[]), 46, 2),
            [38, 31],
            "of two as near, the newer"
        );
        assert_eq!(chosen(&history(1..=40, &[37, 38], &[36]), 46, 2), [39, 31]);
        let gap: Vec<u32> = (20..40).collect();
        assert_eq!(chosen(&history(1..=40, &gap, &[]), 46, 3), [19, 18, 17], "ticks decrease");
        assert_eq!(
            chosen(&history([5, 9, 7, 8, 10], &[], &[]), 11, 3),
            [8, 7, 5],
            "though the caller's do not rise"
        );
    }

    #[test]
    fn older_views_are_no_farther_than_receivers_hold() {
        let steady = history(1..=100, &[], &[]);
        assert_eq!(chosen(&steady, 140, 2), [80, 40]);
        // The baseline was sent 200 datagrams ago.
        let silent: Vec<u32> = (101..300).collect();
        let silent = history(1..300, &silent, &[]);
        let base = silent.base().unwrap();
        assert_eq!(base.view.tick().0, 100);
        let reach = |datagrams| {
            silent.older(&base, Tick(300), 1, datagrams).first().map(|(_, view)| view.tick().0)
        };
        assert_eq!((reach(1), reach(4), reach(60)), (Some(45), Some(48), None));
    }

    #[test]
    fn a_partial_baseline_gets_no_older_views() {
        let parts = history(1..=40, &[], &[32, 33, 34, 35, 36, 37, 38, 39, 40]);
        assert_eq!(chosen(&parts, 46, 2), []);
    }
}
