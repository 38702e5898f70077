//! The shown entities of one kind: their states, and what was computed of them when they were shown.

use kinepack::frame::Motion;
use kinepack::schema::EntityKind;
use kinepack::{Between, Schema};
use kinepack_net::{Playback, Sample, WordSmoother};

use crate::memory::milliseconds;
use crate::shown_places::KpPlace;
use crate::status::Failure;

/// The entities of a kind.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The schema of this kind only.
    pub(crate) schema: Schema,
    pub(crate) ids: Vec<u32>,
    /// The lanes of each entity in the states before and after the moment. They are interpolated
    /// when they are read, because a figure does not interpolate them as a schema does.
    lanes: [Vec<u32>; 2],
    /// How far the moment is between the two states.
    between: Vec<Between>,
    /// For how long each entity has waited for a newer state.
    pub(crate) starved_ms: Vec<f64>,
    /// Where each entity is in the world. `None` if no field of the kind is relative to an entity.
    pub(crate) places: Option<Vec<KpPlace>>,
    pub(crate) smoother: Option<WordSmoother>,
    /// The smoothed words of each entity. Empty if the moment was shown without smoothing.
    words: Vec<u64>,
}

impl Rows {
    pub(crate) fn new(schema: Schema) -> Self {
        let has_frame = schema.kinds().iter().any(EntityKind::has_frame);
        let places = has_frame.then(Vec::new);
        Self {
            schema,
            ids: Vec::new(),
            lanes: Default::default(),
            between: Vec::new(),
            starved_ms: Vec::new(),
            places,
            smoother: None,
            words: Vec::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        let Self { ids, lanes, between, starved_ms, places, words, .. } = self;
        ids.clear();
        lanes.iter_mut().for_each(Vec::clear);
        between.clear();
        starved_ms.clear();
        words.clear();
        places.iter_mut().for_each(Vec::clear);
    }

    /// Adds an entity at the shown moment. `motion` finds where it is in the world.
    pub(crate) fn add(&mut self, sample: &Sample<'_>, motion: impl FnOnce() -> Option<Motion>) {
        for (lanes, (state, index)) in self.lanes.iter_mut().zip([sample.from, sample.to]) {
            lanes.extend(state.lanes_at(index));
        }
        self.ids.push(sample.id.0);
        self.between.push(sample.between);
        self.starved_ms.push(milliseconds(Some(sample.starved_for())));
        if let Some(places) = &mut self.places {
            places.push(KpPlace::of(motion()));
        }
    }

    /// Computes the smoothed words of all entities of a playback.
    pub(crate) fn smooth(&mut self, kind: usize, playback: &Playback<'_>) -> Result<(), Failure> {
        let Self { smoother: Some(smoother), words, .. } = self else { return Ok(()) };
        for sample in playback.samples_of_kind(kind) {
            words.extend(smoother.state(playback, &sample).map_err(Failure::argument)?);
        }
        Ok(())
    }

    /// The smoothed words of an entity, if the kind is smoothed.
    pub(crate) fn smoothed(&self, row: usize) -> Option<&[u64]> {
        let count = self.schema.lanes().len();
        self.words.get(row * count..(row + 1) * count).filter(|words| !words.is_empty())
    }

    /// The lanes of an entity in both states, and how far the moment is between them.
    pub(crate) fn states(&self, row: usize) -> ([&[u32]; 2], Between) {
        let count = self.schema.lanes().len();
        let of_row = self.lanes.each_ref().map(|lanes| &lanes[row * count..][..count]);
        (of_row, self.between[row])
    }
}
