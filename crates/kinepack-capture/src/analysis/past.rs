//! The last views of a stream, as both sides keep them.

use std::collections::VecDeque;

use kinepack::{Baselines, View};

/// The newest view of a stream, and those before it.
#[derive(Debug)]
pub struct Past {
    /// The newest first.
    views: VecDeque<View>,
    most: usize,
}

impl Past {
    /// Keeps at most `most` views.
    pub fn new(most: usize) -> Self {
        Self { views: VecDeque::new(), most }
    }

    /// Adds the next view. Returns the one that it drops, if any.
    pub fn push(&mut self, view: View) -> Option<View> {
        self.views.push_front(view);
        if self.views.len() > self.most { self.views.pop_back() } else { None }
    }

    /// The view that is `lag` before the next one: the newest for 1. `None` before the first, and
    /// if it was dropped.
    pub fn back(&self, lag: usize) -> Option<&View> {
        self.views.get(lag.checked_sub(1)?)
    }

    /// The next view's baselines if each view is acknowledged `lag` later. `None` if there is no
    /// baseline.
    pub fn baselines(&self, lag: usize) -> Option<Baselines<'_>> {
        falling((1..=3).map_while(|times| self.back(times * lag)))
    }
}

/// The first of the views, the newest first, that have falling ticks.
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
        assert!(past.back(1).is_none() && past.baselines(1).is_none());
        let forgotten: Vec<u32> =
            (0..8).filter_map(|tick| Some(past.push(view(tick))?.tick.0)).collect();
        assert_eq!(forgotten, [0, 1, 2]);
        assert_eq!([1, 5].map(|lag| past.back(lag).map(|view| view.tick.0)), [Some(7), Some(3)]);
        assert!(past.back(0).is_none() && past.back(6).is_none());
        assert_eq!([1, 2, 3, 5].map(|lag| past.baselines(lag).unwrap().len()), [3, 2, 1, 1]);
        assert!(past.baselines(6).is_none());
    }

    #[test]
    fn a_view_that_is_not_older_is_left_out() {
        let mut past = Past::new(3);
        for tick in [4, 9, 9] {
            past.push(view(tick));
        }
        assert_eq!(past.baselines(1).unwrap().len(), 1);
        past.push(view(10));
        assert_eq!(past.baselines(1).unwrap().len(), 2);
    }
}
