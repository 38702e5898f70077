//! What a prediction shows and knows.

use kinepack::{EntityId, Tick};

use super::engine::Engine;
use crate::model::Model;

impl<S, M: Model<S>> Engine<S, M> {
    /// The state to draw at the moment `at`, in ticks.
    pub(super) fn shown(&mut self, id: EntityId, at: f64) -> Option<S> {
        let ticks @ (_, newest) = self.ticks?;
        let place = self.place_of(id).ok()?;
        let track = &mut self.tracks[place];
        track.is_present(newest).then(|| track.shown(at, ticks, &self.rules))
    }

    /// The lanes of the predicted state of an entity at a tick.
    pub(super) fn lanes_at(&self, id: EntityId, tick: Tick) -> Option<&[u32]> {
        let (oldest, newest) = self.ticks?;
        let track = &self.tracks[self.place_of(id).ok()?];
        let has = (oldest.max(track.since)..=newest).contains(&tick.0);
        has.then(|| track.row(tick.0))
    }

    pub(super) fn newest(&self) -> Option<Tick> {
        self.ticks.map(|(_, newest)| Tick(newest))
    }

    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = EntityId> {
        self.tracks.iter().map(|track| track.id)
    }
}
