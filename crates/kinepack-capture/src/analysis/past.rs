//! Keeps the last views of a stream, as both sides of a connection do.

use std::collections::VecDeque;

use kinepack::{Baselines, Tick, View};

/// The newest view of a stream, and the views before it. The views' ticks increase, and some ticks
/// may be missing. A lag counts ticks, because the delay of a receiver's acknowledgement is a time
/// and not a number of frames.
#[derive(Debug)]
pub struct Past {
    /// The views, the newest first.
    views: VecDeque<View>,
    most: usize,
}

impl Past {
    /// Makes a list that keeps at most `most` views.
    pub fn new(most: usize) -> Self {
        Self { views: VecDeque::new(), most }
    }

    /// Adds the next view. Returns the view that this drops, if there is one.
    pub fn push(&mut self, view: View) -> Option<View> {
        self.views.push_front(view);
        if self.views.len() > self.most { self.views.pop_back() } else { None }
    }

    /// Returns the newest view that is at least `lag_ticks` older than `tick`. If no ticks are
    /// missing, that view is exactly `lag_ticks` older. Returns `None` if there is no such view, or
    /// if it was dropped.
    pub fn before(&self, tick: Tick, lag_ticks: u32) -> Option<&View> {
        let newest = tick.0.checked_sub(lag_ticks)?;
        self.views.get(self.views.partition_point(|view| view.tick.0 > newest))
    }

    /// Returns views before `tick`, the newest first, each at least a lag older than the previous
    /// one in the list.
    pub fn chain(
        &self,
        tick: Tick,
        lags_ticks: impl IntoIterator<Item = u32>,
    ) -> impl Iterator<Item = &View> {
        lags_ticks.into_iter().scan(tick, |tick, lag_ticks| {
            let view = self.before(*tick, lag_ticks)?;
            *tick = view.tick;
            Some(view)
        })
    }

    /// Returns the baselines of a view at `tick`, if each view is acknowledged `lag_ticks` later.
    /// Returns `None` if there is no baseline.
    pub fn baselines(&self, tick: Tick, lag_ticks: u32) -> Option<Baselines<'_>> {
        Baselines::new(self.chain(tick, [lag_ticks; 3])).ok()
    }
}

/// Makes baselines of the first views, as many as have decreasing ticks. The newest view must come
/// first.
pub(super) fn falling<'a>(views: impl Iterator<Item = &'a View> + Clone) -> Option<Baselines<'a>> {
    (1..=1 + Baselines::OLDER)
        .rev()
        .find_map(|count| Baselines::new(views.clone().take(count)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinepack::schema::{Field, FieldKind};
    use kinepack::{Schema, Snapshot, Tick};

    fn view(tick: u32) -> View {
        let schema = Schema::new(vec![Field::new("flag", FieldKind::Bool)]);
        View::from(Snapshot::new(&schema, Tick(tick)))
    }

    #[test]
    fn the_last_views_are_kept() {
        let mut past = Past::new(5);
        assert!(past.before(Tick(9), 1).is_none() && past.baselines(Tick(9), 1).is_none());
        let forgotten: Vec<u32> =
            (0..8).filter_map(|tick| Some(past.push(view(tick))?.tick.0)).collect();
        assert_eq!(forgotten, [0, 1, 2]);
        let before = |lag| past.before(Tick(8), lag).map(|view| view.tick.0);
        assert_eq!([1, 5, 6].map(before), [Some(7), Some(3), None]);
        let counts = [1, 2, 3, 5].map(|lag| past.baselines(Tick(8), lag).unwrap().len());
        assert_eq!(counts, [3, 2, 1, 1]);
        assert!(past.baselines(Tick(8), 6).is_none());
    }

    #[test]
    fn across_missing_ticks_a_view_is_as_old_as_the_lag_at_least() {
        let mut past = Past::new(9);
        for tick in [4, 5, 9, 10, 17] {
            past.push(view(tick));
        }
        let chain = |tick, lag| {
            past.chain(Tick(tick), [lag; 3]).map(|view| view.tick.0).collect::<Vec<u32>>()
        };
        assert_eq!(chain(18, 1), [17, 10, 9]);
        assert_eq!(chain(18, 3), [10, 5]);
        assert_eq!(chain(20, 3), [17, 10, 5]);
        assert_eq!(chain(18, 15), [] as [u32; 0]);
    }
}
