//! What a prediction shows and knows.

use kinepack::{EntityId, Pack, Tick};

use super::predicted::Predicted;
use super::report::PredictStats;

impl<S: Pack, I: Pack> Predicted<S, I> {
    /// The state to draw at the moment `at`, a tick with its fraction: between two predicted ticks
    /// as [`Pack::interpolate`] does, plus the fading offset of corrections. `None` if the entity
    /// was not added, or begins later.
    ///
    /// A game that draws between its last two ticks passes `newest − 1 + fraction`, which is
    /// [`InputClock::tick`](crate::InputClock::tick)` − 1.0`. The moment is within the history and
    /// at most the newest tick. Call this once a frame, with moments that increase: after a
    /// correction, the path continues from the moment that was shown last.
    ///
    /// At a [cut](kinepack::schema::Role::Cut), and if the [frame](kinepack::frame) changes, this
    /// is the earlier state until the later one's tick.
    pub fn shown(&mut self, id: EntityId, at: f64) -> Option<S> {
        let ticks @ (_, newest) = self.ticks?;
        let place = self.place_of(id).ok()?;
        let track = &mut self.tracks[place];
        track.is_present(newest).then(|| track.shown(at, ticks, &self.rules))
    }

    /// The newest predicted state of an entity, without offset. `None` if the entity was not added,
    /// or begins later.
    pub fn state(&self, id: EntityId) -> Option<S> {
        self.state_at(id, self.newest()?)
    }

    /// The predicted state of an entity at a tick. `None` if the history does not have it.
    pub fn state_at(&self, id: EntityId, tick: Tick) -> Option<S> {
        let (oldest, newest) = self.ticks?;
        let track = &self.tracks[self.place_of(id).ok()?];
        let has = (oldest.max(track.since)..=newest).contains(&tick.0);
        has.then(|| S::reconstruct(track.row(tick.0)))
    }

    /// The newest predicted tick; `None` before the first input or entity.
    pub fn newest(&self) -> Option<Tick> {
        self.ticks.map(|(_, newest)| Tick(newest))
    }

    /// The entities, by id.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = EntityId> {
        self.tracks.iter().map(|track| track.id)
    }

    /// The counters.
    pub fn stats(&self) -> PredictStats {
        self.stats
    }
}
