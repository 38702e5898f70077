//! The views that a snapshot is coded against.

use super::adaptive::Learned;
use super::store::Snapshot;
use super::view::View;
use crate::BaselinesError;

/// Older views beside the baseline.
const OLDER: usize = 3;

/// The views that both sides hold and a snapshot is coded against, the newest first.
///
/// The first is the *baseline*: what is not sent stays as it is there. Levels that pack bits look
/// at it alone, and at the next one where a field has a
/// [`TimePrecision`](crate::schema::TimePrecision). The adaptive level takes from the others how things
/// moved: with none it predicts that all stays, with one it knows velocities, with two how they
/// changed. It does not look at a third. A protocol has to tell its receiver which views these are.
///
/// A `&View` alone is a baseline without others.
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
    /// Those behind `count` are the baseline.
    older: [&'a Snapshot; OLDER],
    count: usize,
    /// What was learned with the baseline.
    pub(super) learned: Option<&'a Learned>,
}

impl<'a> Baselines<'a> {
    /// How many views older than the baseline there can be.
    pub const OLDER: usize = OLDER;

    /// One to four views, the newest first: the tick of each is before that of the one in front of
    /// it. Ticks may wrap: of two, that one is newer which the other reaches in less than 2³¹
    /// steps.
    ///
    /// # Errors
    /// [`BaselinesError`].
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

    /// A snapshot that stands for a view, and up to three older ones by falling tick: for training,
    /// which looks at runs of snapshots that nobody sent.
    pub(super) fn of_run(baseline: &'a Snapshot, older: &[&'a Snapshot]) -> Self {
        let mut made = Self { baseline, older: [baseline; OLDER], count: 0, learned: None };
        for (place, older) in made.older.iter_mut().zip(older) {
            *place = older;
            made.count += 1;
        }
        made
    }

    /// How many there are, the baseline included.
    #[expect(clippy::len_without_is_empty, reason = "there is always a baseline")]
    pub fn len(&self) -> usize {
        1 + self.count
    }

    /// Those behind the baseline.
    #[inline]
    pub(super) fn older(&self) -> &[&'a Snapshot] {
        &self.older[..self.count]
    }

    /// All of them, the baseline first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a Snapshot> {
        let older = self.older;
        core::iter::once(self.baseline).chain(older.into_iter().take(self.count))
    }
}

impl<'a> From<&'a View> for Baselines<'a> {
    fn from(view: &'a View) -> Self {
        Self { learned: view.learned(), ..Self::of_run(view, &[]) }
    }
}
