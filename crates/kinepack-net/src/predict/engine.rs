//! Predicts on lanes: takes inputs and authoritative states in order, and repeats steps. The public
//! types give it their states, by [`Steps`] and [`Model`].

use std::ops::Range;

use kinepack::{EncodeError, EntityId, Schema, Tick};

use super::config::{PredictConfig, PredictError, Repair};
use super::report::{Correction, Outcome, PredictStats};
use super::track::{Rules, Track};
use crate::Receiver;
use crate::fade::Lasts;
use crate::model::Model;

/// The game's function, which steps entities from one tick to the next, for states of lanes.
pub(super) trait Steps {
    /// Forgets the entities of the step before.
    fn begin(&mut self);

    /// Adds an entity with its state of the tick before.
    fn take(&mut self, id: EntityId, lanes: &[u32]);

    /// Steps the entities, if there are any.
    fn step(&mut self, input: &[u32], tick: Tick);

    /// Quantizes the stepped state of the entity `index`.
    ///
    /// # Errors
    /// [`EncodeError`] if that is impossible; then `lanes` have any values.
    fn give(&self, index: usize, lanes: &mut [u32]) -> Result<(), EncodeError>;
}

/// A prediction of entities of one kind. `S` is what is shown of them.
#[derive(Debug)]
pub(super) struct Engine<S, M> {
    /// The kind's index in the whole schema.
    kind: usize,
    whole_schema_hash: u64,
    pub(super) config: PredictConfig,
    pub(super) rules: Rules<M>,
    /// The first and the last predicted tick; `None` before the first.
    pub(super) ticks: Option<(u32, u32)>,
    input_lanes: usize,
    /// The lanes of the last inputs; those of a tick are at the tick modulo the history.
    pub(super) inputs: Vec<u32>,
    /// Whether `inputs` has one for the newest tick.
    has_input: bool,
    /// The entities by id.
    pub(super) tracks: Vec<Track<S>>,
    /// Memory for the lanes of three states.
    pub(super) rows: [Vec<u32>; 3],
    pub(super) stats: PredictStats,
}

/// What a call took of a receiver, from which the steps are to be repeated then.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) outcome: Outcome,
    pub(super) start: Option<u32>,
}

impl<S, M: Model<S>> Engine<S, M> {
    /// Makes a prediction without entities. `whole` is the schema of the receiver, and `model` is
    /// of its kind `kind`. The configuration is valid.
    pub(super) fn new(
        whole: &Schema,
        kind: usize,
        model: M,
        input_lanes: usize,
        config: PredictConfig,
    ) -> Self {
        let schema = whole.of_kind(kind);
        let lanes = schema.lanes().len();
        let rules = Rules {
            model,
            tick_hz: f64::from(config.tick_hz),
            lasts: Lasts { position: config.position_fade, rotation: config.rotation_fade },
            snap_distance: config.snap_distance,
            break_lanes: schema.kinds()[0].break_lanes().to_vec(),
            schema,
        };
        Self {
            kind,
            whole_schema_hash: whole.hash(),
            rules,
            ticks: None,
            input_lanes,
            inputs: vec![0; input_lanes * config.history_ticks as usize],
            has_input: false,
            tracks: Vec::new(),
            rows: [(); 3].map(|()| vec![0; lanes]),
            stats: PredictStats::default(),
            config,
        }
    }

    /// Adds an entity with its authoritative state of a tick, which has the lanes `authority`.
    ///
    /// # Errors
    /// Returns [`PredictError::AlreadyAdded`]; then nothing has changed. Returns
    /// [`PredictError::State`] after it has done everything else.
    pub(super) fn add(
        &mut self,
        id: EntityId,
        tick: Tick,
        authority: Vec<u32>,
        steps: &mut impl Steps,
    ) -> Result<(), PredictError> {
        let place = match self.place_of(id) {
            Ok(_) => return Err(PredictError::AlreadyAdded { id }),
            Err(place) => place,
        };
        let (oldest, newest) = *self.ticks.get_or_insert((tick.0, tick.0));
        let mut track = Track::new(id, tick.0, authority, self.config.history_ticks);
        let repeats = tick.0 < newest && tick.0 >= oldest && self.config.repair == Repair::Repeat;
        if tick.0 <= newest {
            track.since = if repeats { tick.0 } else { newest };
            track.obey_at(track.since);
        }
        self.remember();
        self.tracks.insert(place, track);
        if repeats { self.repeat(tick.0, steps).map(|_| ()) } else { Ok(()) }
    }

    /// Removes an entity with its history. Returns whether there was one.
    pub(super) fn remove(&mut self, id: EntityId) -> bool {
        self.place_of(id).map(|place| self.tracks.remove(place)).is_ok()
    }

    /// Where an entity's track is, or where it would have to be.
    pub(super) fn place_of(&self, id: EntityId) -> Result<usize, usize> {
        self.tracks.binary_search_by_key(&id, |track| track.id)
    }

    /// Removes all entities, inputs and ticks. The counters stay.
    pub(super) fn clear(&mut self) {
        self.tracks.clear();
        (self.ticks, self.has_input) = (None, false);
    }

    /// Checks that an input for `tick` can be pushed.
    ///
    /// # Errors
    /// Returns [`PredictError::NotAfter`].
    pub(super) fn check_after(&self, tick: Tick) -> Result<(), PredictError> {
        match self.ticks {
            Some((_, newest)) if tick.0 <= newest => {
                Err(PredictError::NotAfter { tick, newest: Tick(newest) })
            }
            _ => Ok(()),
        }
    }

    /// Predicts one more tick, which [`check_after`](Self::check_after) has checked.
    ///
    /// # Errors
    /// Returns [`PredictError::State`] after it has done everything else.
    pub(super) fn push(
        &mut self,
        tick: Tick,
        input: &[u32],
        steps: &mut impl Steps,
    ) -> Result<(), PredictError> {
        let next = self.ticks.map(|(_, newest)| newest.saturating_add(1));
        self.stats.inputs += 1;
        let mut next = next.unwrap_or(tick.0);
        if tick.0 - next >= self.config.history_ticks {
            self.begin_anew(tick.0 - 1);
            next = tick.0;
        }
        let mut result = Ok(());
        for at in next..=tick.0 {
            if at < tick.0 && self.has_input {
                let (before, place) = (self.input_place(at - 1), self.input_place(at));
                self.inputs.copy_within(before, place.start);
            } else {
                let place = self.input_place(at);
                self.inputs[place].copy_from_slice(input);
            }
            self.stats.filled_ticks += u64::from(at < tick.0);
            let oldest = self.ticks.map_or(at, |(oldest, _)| oldest);
            let oldest = oldest.max(at.saturating_sub(self.config.history_ticks - 1));
            self.ticks = Some((oldest, at));
            result = result.and(self.advance(at, steps));
            for track in self.tracks.iter_mut().filter(|track| track.is_present(at)) {
                track.note_break(at, &self.rules);
            }
        }
        self.has_input = true;
        result.map_err(PredictError::State)
    }

    /// Takes the authoritative state of an entity, which has these lanes.
    ///
    /// # Errors
    /// Returns [`PredictError::UnknownEntity`]; then nothing has changed. Returns
    /// [`PredictError::State`] after it has done everything else.
    pub(super) fn correct(
        &mut self,
        id: EntityId,
        tick: Tick,
        lanes: &[u32],
        steps: &mut impl Steps,
    ) -> Result<Correction, PredictError> {
        let index = self.place_of(id).map_err(|_| PredictError::UnknownEntity { id })?;
        let (outcome, start) = self.take(index, tick.0, lanes, None);
        self.repair(Taken { outcome, start }, steps)
    }

    /// Takes the newest states of all entities from a receiver. [`repair`](Self::repair) repeats the
    /// steps then.
    ///
    /// # Errors
    /// Returns [`PredictError::State`] if the receiver has another schema; then nothing has changed.
    pub(super) fn take_from(&mut self, receiver: &Receiver) -> Result<Taken, PredictError> {
        let (mut outcome, mut start) = (Outcome::Stale, None);
        let Some(world) = receiver.newest() else { return Ok(Taken { outcome, start }) };
        let (expected_hash, hash) = (self.whole_schema_hash, world.schema_hash());
        if expected_hash != hash {
            let error = EncodeError::SchemaMismatch { expected_hash, hash };
            return Err(PredictError::State(error));
        }
        for index in 0..self.tracks.len() {
            let Some(at) = world.position_of(self.kind, self.tracks[index].id) else { continue };
            let fresh = receiver.fresh(at);
            let rests = world.tick.0.saturating_sub(fresh.0) >= self.config.rest_ticks;
            let tick = if rests { world.tick } else { fresh };
            if tick.0 <= self.tracks[index].known_tick {
                continue;
            }
            let mut lanes = std::mem::take(&mut self.rows[0]);
            lanes.iter_mut().zip(world.lanes_at(at)).for_each(|(lane, value)| *lane = value);
            let (its, from) = self.take(index, tick.0, &lanes, start);
            self.rows[0] = lanes;
            (outcome, start) = (outcome.max(its), from);
        }
        Ok(Taken { outcome, start })
    }

    /// The schema of the entities' kind alone.
    pub(super) fn schema(&self) -> &Schema {
        &self.rules.schema
    }

    /// How many lanes an input has.
    pub(super) fn input_lanes(&self) -> usize {
        self.input_lanes
    }

    pub(super) fn input_place(&self, tick: u32) -> Range<usize> {
        let first = tick as usize % self.config.history_ticks as usize * self.input_lanes;
        first..first + self.input_lanes
    }
}
