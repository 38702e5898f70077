//! Baselines: the views that a snapshot is coded against.

use super::adaptive::Learned;
use super::store::Snapshot;
use super::view::View;
use crate::BaselinesError;
use crate::limits::MAX_OLDER_VIEWS;

/// The views that both sides hold and a snapshot is coded against. The newest view comes first.
///
/// The first view is the *baseline*: values that a packet does not hold are those of the baseline.
/// Levels that pack bits use only the baseline. If a field has a
/// [`TimePrecision`](crate::schema::TimePrecision), they also use the first older view. The
/// adaptive level derives motion from the older views. Without an older view, that level predicts
/// that every value stays the same. One older view gives velocities, and two show how the
/// velocities change. The level ignores a third older view. The protocol must tell the receiver
/// which views the sender used.
///
/// A `&View` converts into a baseline without older views.
///
/// ```
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::{Baselines, BaselinesError, Schema, Snapshot, Tick, View};
///
/// let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
/// let [old, new] = [10, 16].map(|tick| View::from(Snapshot::new(&schema, Tick(tick))));
/// assert_eq!(Baselines::new([&new, &old])?.len(), 2);
/// let refused = Baselines::new([&old, &new]);
/// assert_eq!(refused.err(), Some(BaselinesError::NotOlder { tick: 16, newer: 10 }));
/// # Ok::<(), BaselinesError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Baselines<'a> {
    pub(super) baseline: &'a Snapshot,
    /// The first `count` elements are the older views; the others are copies of the reference to
    /// the baseline.
    older: [&'a Snapshot; MAX_OLDER_VIEWS],
    count: usize,
    /// The learned state of the baseline.
    pub(super) learned: Option<&'a Learned>,
}

impl<'a> Baselines<'a> {
    /// The maximum number of views older than the baseline.
    pub const OLDER: usize = MAX_OLDER_VIEWS;

    /// Collects one to four views, which must be given the newest first. Each view's tick must be
    /// before that of the previous view in the list. Ticks may wrap: a tick is before another if
    /// fewer than 2³¹ steps lead from it to the other.
    ///
    /// # Errors
    /// [`BaselinesError`] if there are no views or too many, or if their ticks do not decrease.
    pub fn new(views: impl IntoIterator<Item = &'a View>) -> Result<Self, BaselinesError> {
        let mut views = views.into_iter();
        let mut made = Self::from(views.next().ok_or(BaselinesError::None)?);
        let mut newer = made.baseline.tick.0;
        for view in views {
            let place = made.older.get_mut(made.count).ok_or(BaselinesError::TooMany)?;
            let tick = view.tick.0;
            if !(1..1 << 31).contains(&newer.wrapping_sub(tick)) {
                return Err(BaselinesError::NotOlder { tick, newer });
            }
            *place = view;
            made.count += 1;
            newer = tick;
        }
        Ok(made)
    }

    /// Uses snapshots as views: a baseline and up to three older ones, the newest first. Training
    /// uses this for captured snapshots that were never sent.
    pub(super) fn from_run(baseline: &'a Snapshot, older: &[&'a Snapshot]) -> Self {
        let mut made =
            Self { baseline, older: [baseline; MAX_OLDER_VIEWS], count: 0, learned: None };
        for (place, older) in made.older.iter_mut().zip(older) {
            *place = older;
            made.count += 1;
        }
        made
    }

    /// Returns the number of views, including the baseline.
    #[expect(clippy::len_without_is_empty, reason = "there is always a baseline")]
    pub fn len(&self) -> usize {
        1 + self.count
    }

    /// Returns the older views, the newest first.
    #[inline]
    pub(super) fn older(&self) -> &[&'a Snapshot] {
        &self.older[..self.count]
    }

    /// Returns all views, the baseline first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a Snapshot> {
        let older = self.older;
        core::iter::once(self.baseline).chain(older.into_iter().take(self.count))
    }
}

impl<'a> From<&'a View> for Baselines<'a> {
    fn from(view: &'a View) -> Self {
        Self { learned: view.learned(), ..Self::from_run(view, &[]) }
    }
}
