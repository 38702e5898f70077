//! The acknowledged states that a snapshot is coded against.

use super::adaptive::Learned;
use super::store::Snapshot;

/// The states that both sides hold and a snapshot is coded against: the baseline, and any number of older ones.
///
/// Levels that pack bits look at the baseline only, and at the first of the older ones where a field has a
/// [`TimePrecision`](crate::TimePrecision). The adaptive level takes from the older ones how things moved: with none it
/// predicts that all stays, with one it knows velocities, with two how they changed; a third is not looked at. A packet has to say which states it was coded against; a `&Snapshot` alone is a baseline without older ones.
#[derive(Clone, Copy, Debug)]
pub struct Baselines<'a> {
    /// The newest: what is not sent stays as it is here.
    pub baseline: &'a Snapshot,
    /// Older ones, by falling tick.
    pub older: &'a [&'a Snapshot],
    /// What was learned when the baseline was coded, for a level that learns. Without it the models start from the profile.
    pub learned: Option<&'a Learned>,
}

impl<'a> Baselines<'a> {
    /// How many older states there can be.
    pub const OLDER: usize = 3;

    /// A baseline and older states, by falling tick.
    pub fn new(baseline: &'a Snapshot, older: &'a [&'a Snapshot]) -> Self {
        Self { baseline, older: &older[..older.len().min(Self::OLDER)], learned: None }
    }

    /// The same, with what was learned when the baseline was coded.
    #[must_use]
    pub fn with_learned(self, learned: Option<&'a Learned>) -> Self {
        Self { learned, ..self }
    }

    /// All of them, the baseline first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a Snapshot> {
        core::iter::once(self.baseline).chain(self.older.iter().copied())
    }
}

impl<'a> From<&'a Snapshot> for Baselines<'a> {
    fn from(baseline: &'a Snapshot) -> Self {
        Self { baseline, older: &[], learned: None }
    }
}
