//! The data that a page draws. They are a moment of a world, as columns in the module's memory.

use kinepack::frame::{FrameError, Moment, Motion};
use kinepack::values::ValueTable;
use kinepack::{Between, Schema, Snapshot};
use kinepack_net::Playback;
use wasm_bindgen::JsError;

use crate::in_world::InWorld;
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
    cut: Vec<u32>,
    places: Vec<u32>,
    /// Where the entities of each kind are in the world, if they are relative to others.
    in_world: Vec<Option<InWorld>>,
    /// The lanes of each kind, if a page asked for them.
    lanes: Vec<Option<Vec<u32>>>,
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
            cut: Vec::new(),
            places: Vec::new(),
            in_world: InWorld::of_kinds(schema),
            lanes: vec![None; schema.kinds().len()],
        }
    }

    /// Stores the moment of a playback.
    ///
    /// # Errors
    /// Fails if the states have another schema.
    pub fn play(&mut self, playback: &Playback<'_>) -> Result<(), JsError> {
        self.clear();
        for sample in playback.samples() {
            let motion = || playback.motion(&sample);
            self.push(sample.from, sample.to, sample.between, motion)?;
        }
        for (list, ids) in [
            (&mut self.added, playback.added()),
            (&mut self.removed, playback.removed()),
            (&mut self.cut, playback.cut()),
        ] {
            list.clear();
            list.extend(ids.iter().map(|id| id.0));
        }
        self.tick = playback.tick;
        self.is_starved = playback.is_starved();
        Ok(())
    }

    /// Stores a state without interpolation. Entities have the velocities of their fields.
    ///
    /// # Errors
    /// Fails if the state has another schema.
    pub fn take(&mut self, state: &Snapshot) -> Result<(), JsError> {
        self.clear();
        let at = Between { ratio: 0.0, seconds: 0.0 };
        let moment = |index| Moment::of((state, index));
        for index in 0..state.len() {
            let motion = || moment(index).motion(|id| state.position(id).map(moment));
            self.push((state, index), (state, index), at, motion)?;
        }
        self.tick = f64::from(state.tick.0);
        Ok(())
    }

    fn clear(&mut self) {
        self.values.clear();
        self.in_world.iter_mut().flatten().for_each(InWorld::clear);
        self.lanes.iter_mut().flatten().for_each(Vec::clear);
    }

    fn push(
        &mut self,
        from: (&Snapshot, usize),
        to: (&Snapshot, usize),
        at: Between,
        motion: impl FnOnce() -> Result<Motion, FrameError>,
    ) -> Result<(), JsError> {
        self.values.push(from, to, at).map_err(failed)?;
        let (state, index) = from;
        let Some(kind) = state.kind_at(index) else { return Ok(()) };
        if let Some(Some(places)) = self.in_world.get_mut(kind) {
            places.push(motion());
        }
        if let Some(Some(lanes)) = self.lanes.get_mut(kind) {
            lanes.extend([state.ids()[index].0, at.ratio.to_bits(), at.seconds.to_bits()]);
            lanes.extend(state.lanes_at(index).chain(to.0.lanes_at(to.1)));
        }
        Ok(())
    }

    /// Stores the lanes of a kind too from the next moment on, for figures, which have a module of
    /// their own.
    pub fn keep_lanes(&mut self, kind: usize) {
        if let Some(lanes) = self.lanes.get_mut(kind) {
            lanes.get_or_insert_default();
        }
    }

    /// The lanes of a kind. For each entity, they are its id, the bits of the ratio and of the
    /// seconds of [`Between`], the lanes of the state before the moment, and those of the state
    /// after it. The list is empty unless [`keep_lanes`](Self::keep_lanes) was called.
    pub fn kept_lanes(&self, kind: usize) -> &[u32] {
        self.lanes.get(kind).and_then(Option::as_deref).unwrap_or_default()
    }

    /// The hash of some neighbouring fields of a kind, as if they were a kind of their own. Empty if
    /// the kind has no such fields.
    pub fn fields_hash(&self, kind: usize, first: usize, count: usize) -> String {
        let fields = self.values.kinds().get(kind).map(|values| values.schema().fields());
        let fields = fields.and_then(|fields| fields.get(first..)?.get(..count));
        let schema = fields.and_then(|fields| Schema::try_new(fields.to_vec()).ok());
        schema.map_or_else(String::new, |schema| format!("{:016x}", schema.hash()))
    }

    /// The address of a list of places. It begins with the length and the address of each of four
    /// lists: `added`, `removed`, `cut` and the events. An event is three numbers. Then each kind of
    /// the world and each kind of event follows: the number of entities, the address of their ids,
    /// and the address of each field's numbers. At the end, each kind of the world with fields that
    /// are relative to others has three addresses: of positions, rotations and velocities in the
    /// world.
    pub fn places(&mut self, event_list: &[u32], events: Option<&ValueTable>) -> usize {
        self.places.clear();
        for list in [&self.added[..], &self.removed, &self.cut, event_list] {
            self.places.extend([list.len() as u32, list.as_ptr() as usize as u32]);
        }
        tables::places(&self.values, &mut self.places);
        if let Some(events) = events {
            tables::places(events, &mut self.places);
        }
        self.places.extend(self.in_world.iter().flatten().flat_map(InWorld::addresses));
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
