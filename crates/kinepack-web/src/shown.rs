//! The data that a page draws. They are a moment of a world, as columns in the module's memory.

use kinepack::values::ValueTable;
use kinepack::{Schema, Snapshot};
use kinepack_net::Playback;
use wasm_bindgen::JsError;

use crate::{failed, tables};

/// A moment of a world.
pub struct Shown {
    /// The numbers of each entity.
    pub values: ValueTable,
    /// The tick. It has a fraction between two states.
    pub tick: f64,
    /// Whether no newer state had arrived when one was needed.
    pub is_starved: bool,
    added: Vec<u32>,
    removed: Vec<u32>,
    places: Vec<u32>,
}

impl Shown {
    /// A moment without entities.
    pub fn new(schema: &Schema) -> Self {
        Self {
            values: ValueTable::new(schema),
            tick: 0.0,
            is_starved: false,
            added: Vec::new(),
            removed: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Stores the moment of a playback.
    ///
    /// # Errors
    /// Fails if the states have another schema.
    pub fn play(&mut self, playback: &Playback<'_>) -> Result<(), JsError> {
        self.values.clear();
        for sample in playback.samples() {
            self.values.push(sample.from, sample.to, sample.between).map_err(failed)?;
        }
        for (list, ids) in
            [(&mut self.added, playback.added()), (&mut self.removed, playback.removed())]
        {
            list.clear();
            list.extend(ids.iter().map(|id| id.0));
        }
        self.tick = playback.tick;
        self.is_starved = playback.is_starved();
        Ok(())
    }

    /// Stores a state without interpolation.
    ///
    /// # Errors
    /// Fails if the state has another schema.
    pub fn take(&mut self, state: &Snapshot) -> Result<(), JsError> {
        self.values.clear();
        self.values.extend(state).map_err(failed)?;
        self.tick = f64::from(state.tick.0);
        Ok(())
    }

    /// The address of a list of places. It begins with the length and the address of each of three
    /// lists: `added`, `removed` and the events. An event is three numbers. Then each kind of the
    /// world and each kind of event follows: the number of entities, the address of their ids, and
    /// the address of each field's numbers.
    pub fn places(&mut self, event_list: &[u32], events: Option<&ValueTable>) -> usize {
        self.places.clear();
        for list in [&self.added[..], &self.removed, event_list] {
            self.places.extend([list.len() as u32, list.as_ptr() as usize as u32]);
        }
        tables::places(&self.values, &mut self.places);
        if let Some(events) = events {
            tables::places(events, &mut self.places);
        }
        self.places.as_ptr() as usize
    }
    /// Returns `state` as integers, so that tests can compare two sides integer by integer. The
    /// integers of a kind are the number of its entities, the ids, the value of `fresh` for each
    /// entity, and each lane in turn.
    pub fn lanes(&self, state: &Snapshot, fresh: impl Fn(usize) -> Option<u32>) -> Vec<u32> {
        let mut lanes = Vec::new();
        for kind in 0..self.values.kinds().len() {
            let range = state.of_kind(kind);
            lanes.push(range.len() as u32);
            lanes.extend(state.ids()[range.clone()].iter().map(|id| id.0));
            lanes.extend(range.filter_map(&fresh));
            state.lanes_of(kind).for_each(|lane| lanes.extend(state.lane(lane)));
        }
        lanes
    }
}
