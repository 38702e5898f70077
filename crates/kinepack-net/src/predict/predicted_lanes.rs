//! The public type for states of a schema that no type describes, such as one built by another
//! language.

use kinepack::{EncodeError, EntityId, Schema, Tick};

use super::config::{PredictConfig, PredictError};
use super::engine::{Engine, Steps, Taken};
use super::report::{Correction, PredictStats};
use crate::Receiver;
use crate::model::BySchema;

/// [`Predicted`](super::Predicted) for entities and inputs that no type describes: the step gets and
/// changes lanes, and shown states are [raw words](Schema::reconstruct_raw). It predicts the same
/// lanes as `Predicted`, and shows the same numbers as a type whose real numbers are `f64`.
///
/// Lanes are valid codes of their fields, as [`Schema::quantize_raw`] and
/// [`Quantizer`](kinepack::values::Quantizer) make them. What [`Schema::displace_raw`] does not move
/// has no offset after a correction.
///
/// ```
/// use kinepack::{EntityId, Pack, Schema, Tick};
/// use kinepack_net::{Outcome, OwnLanes, PredictConfig, PredictedLanes};
///
/// #[derive(Pack)]
/// struct Lift {
///     #[pack(range = 0.0..=100.0, precision = 1.0)]
///     height: f64,
/// }
///
/// let (lifts, buttons) = (Schema::of::<Lift>(), Schema::of::<bool>());
/// // While the button is pressed, the lift rises by a step of the quantizer in each tick.
/// let step = |lifts: &mut OwnLanes<'_>, input: &[u32], _: Tick| {
///     for index in 0..lifts.ids().len() {
///         lifts.lanes_mut(index)[0] += input[0];
///     }
/// };
/// let mut predicted = PredictedLanes::new(&lifts, 0, &buttons, PredictConfig::at_hz(60))?;
/// predicted.add(EntityId(7), Tick(100), &[20], step)?;
/// predicted.push(Tick(101), &[1], step)?;
/// predicted.push(Tick(102), &[1], step)?;
/// assert_eq!(predicted.lanes_at(EntityId(7), Tick(102)), Some(&[22][..]));
/// let correction = predicted.correct(EntityId(7), Tick(101), &[21], step)?;
/// assert_eq!(correction.outcome, Outcome::Confirmed);
/// let words = predicted.shown(EntityId(7), 101.5).ok_or("not added")?;
/// assert_eq!(words, [21.5f64.to_bits()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: like `Predicted`, but each shown state and each correction allocates the words of a few
/// states.
#[derive(Debug)]
pub struct PredictedLanes {
    engine: Engine<Vec<u64>, BySchema>,
    stepped: Stepped,
}

/// The entities of a step, in the order of their ids.
#[derive(Debug)]
pub struct OwnLanes<'a> {
    of: &'a mut Stepped,
}

/// The states of a receiver that [`PredictedLanes::take_from`] took.
#[derive(Debug)]
#[must_use = "the steps since are not repeated yet"]
pub struct TakenStates(Taken);

impl PredictedLanes {
    /// Makes a prediction without entities. `schema` is that of the receiver, `kind` is the index of
    /// the entities' kind in it, and `inputs` is the schema of the inputs.
    ///
    /// # Errors
    /// Returns [`PredictError`] for an invalid configuration, and [`PredictError::NoSuchKind`].
    pub fn new(
        schema: &Schema,
        kind: usize,
        inputs: &Schema,
        config: PredictConfig,
    ) -> Result<Self, PredictError> {
        config.validate()?;
        if kind >= schema.kinds().len() {
            return Err(PredictError::NoSuchKind { kind });
        }
        let model = BySchema::new(schema.of_kind(kind));
        let stepped = Stepped { lanes_each: model.schema().lanes().len(), ..Stepped::default() };
        let engine = Engine::new(schema, kind, model, inputs.lanes().len(), config);
        Ok(Self { engine, stepped })
    }

    /// Adds an entity: see [`Predicted::add`](super::Predicted::add).
    ///
    /// # Errors
    /// Returns [`PredictError::AlreadyAdded`], and [`PredictError::State`].
    pub fn add(
        &mut self,
        id: EntityId,
        tick: Tick,
        lanes: &[u32],
        step: impl FnMut(&mut OwnLanes<'_>, &[u32], Tick),
    ) -> Result<(), PredictError> {
        self.check_state(lanes)?;
        let (engine, mut steps) = self.with(step);
        engine.add(id, tick, lanes.to_vec(), &mut steps)
    }

    /// Removes an entity with its history. Returns whether there was one.
    pub fn remove(&mut self, id: EntityId) -> bool {
        self.engine.remove(id)
    }

    /// Removes all entities, inputs and ticks, as for a new session. The counters stay.
    pub fn clear(&mut self) {
        self.engine.clear();
    }

    /// Checks that an input for `tick` can be pushed.
    ///
    /// # Errors
    /// Returns [`PredictError::NotAfter`].
    pub fn check_after(&self, tick: Tick) -> Result<(), PredictError> {
        self.engine.check_after(tick)
    }

    /// Predicts one more tick: see [`Predicted::push`](super::Predicted::push).
    ///
    /// # Errors
    /// Returns [`PredictError::NotAfter`] and [`PredictError::Input`]; then nothing has changed.
    /// Returns [`PredictError::State`] after it has done everything else.
    pub fn push(
        &mut self,
        tick: Tick,
        input: &[u32],
        step: impl FnMut(&mut OwnLanes<'_>, &[u32], Tick),
    ) -> Result<(), PredictError> {
        self.engine.check_after(tick)?;
        check_count(self.engine.input_lanes(), input.len()).map_err(PredictError::Input)?;
        let (engine, mut steps) = self.with(step);
        engine.push(tick, input, &mut steps)
    }

    /// Takes the authoritative state of an entity: see
    /// [`Predicted::correct`](super::Predicted::correct).
    ///
    /// # Errors
    /// Returns [`PredictError::UnknownEntity`], and [`PredictError::State`].
    pub fn correct(
        &mut self,
        id: EntityId,
        tick: Tick,
        lanes: &[u32],
        step: impl FnMut(&mut OwnLanes<'_>, &[u32], Tick),
    ) -> Result<Correction, PredictError> {
        self.check_state(lanes)?;
        let (engine, mut steps) = self.with(step);
        engine.correct(id, tick, lanes, &mut steps)
    }

    /// Takes the newest states of all entities from a receiver, as
    /// [`Predicted::correct_from`](super::Predicted::correct_from) does.
    /// [`repair`](Self::repair) then repeats the steps. These are two calls, so that the step may
    /// use the receiver.
    ///
    /// # Errors
    /// Returns [`PredictError::State`] if the receiver has another schema; then nothing has changed.
    pub fn take_from(&mut self, receiver: &Receiver) -> Result<TakenStates, PredictError> {
        self.engine.take_from(receiver).map(TakenStates)
    }

    /// Repeats the steps since the states that were taken, if they differ from the prediction.
    ///
    /// # Errors
    /// Returns [`PredictError::State`] after it has done everything else.
    pub fn repair(
        &mut self,
        taken: TakenStates,
        step: impl FnMut(&mut OwnLanes<'_>, &[u32], Tick),
    ) -> Result<Correction, PredictError> {
        let (engine, mut steps) = self.with(step);
        engine.repair(taken.0, &mut steps)
    }

    /// Repeats the last steps: see [`Predicted::repeat_last`](super::Predicted::repeat_last).
    ///
    /// # Errors
    /// Returns [`PredictError::State`] after it has done everything else.
    pub fn repeat_last(
        &mut self,
        ticks: u32,
        step: impl FnMut(&mut OwnLanes<'_>, &[u32], Tick),
    ) -> Result<Correction, PredictError> {
        let (engine, mut steps) = self.with(step);
        engine.repeat_last(ticks, &mut steps)
    }

    /// The raw words of the state to draw at the moment `at`: see
    /// [`Predicted::shown`](super::Predicted::shown).
    pub fn shown(&mut self, id: EntityId, at: f64) -> Option<Vec<u64>> {
        self.engine.shown(id, at)
    }

    /// The predicted lanes of an entity at a tick. `None` if the history does not have them.
    pub fn lanes_at(&self, id: EntityId, tick: Tick) -> Option<&[u32]> {
        self.engine.lanes_at(id, tick)
    }

    /// The newest predicted tick; `None` before the first input or entity.
    pub fn newest(&self) -> Option<Tick> {
        self.engine.newest()
    }

    /// The entities, by id.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = EntityId> {
        self.engine.ids()
    }

    /// The counters.
    pub fn stats(&self) -> PredictStats {
        self.engine.stats
    }

    /// The schema of the entities' kind alone.
    pub fn schema(&self) -> &Schema {
        self.engine.schema()
    }

    fn check_state(&self, lanes: &[u32]) -> Result<(), PredictError> {
        check_count(self.stepped.lanes_each, lanes.len()).map_err(PredictError::State)
    }

    /// The prediction, and the game's function for it.
    fn with<F: FnMut(&mut OwnLanes<'_>, &[u32], Tick)>(
        &mut self,
        step: F,
    ) -> (&mut Engine<Vec<u64>, BySchema>, LaneSteps<'_, F>) {
        (&mut self.engine, LaneSteps { of: &mut self.stepped, step })
    }
}

fn check_count(expected_lanes: usize, lanes: usize) -> Result<(), EncodeError> {
    if lanes == expected_lanes {
        Ok(())
    } else {
        Err(EncodeError::LaneCount { expected_lanes, lanes })
    }
}

impl OwnLanes<'_> {
    /// The entities.
    pub fn ids(&self) -> &[EntityId] {
        &self.of.ids
    }

    /// The lanes of the entity `index`: at first those of the tick before.
    ///
    /// # Panics
    /// If there are not more than `index` entities.
    pub fn lanes(&self, index: usize) -> &[u32] {
        let each = self.of.lanes_each;
        &self.of.lanes[index * each..][..each]
    }

    /// The lanes of the entity `index`, which the step changes.
    ///
    /// # Panics
    /// If there are not more than `index` entities.
    pub fn lanes_mut(&mut self, index: usize) -> &mut [u32] {
        let each = self.of.lanes_each;
        &mut self.of.lanes[index * each..][..each]
    }

    /// Says that the stepped state of the entity `index` cannot be quantized. The entity keeps its
    /// state of the tick before.
    pub fn refuse(&mut self, index: usize, error: EncodeError) {
        self.of.refused.push((index, error));
    }
}

/// Memory for the entities of a step.
#[derive(Debug, Default)]
struct Stepped {
    lanes_each: usize,
    ids: Vec<EntityId>,
    /// The lanes of all entities, one after another.
    lanes: Vec<u32>,
    refused: Vec<(usize, EncodeError)>,
}

/// A step on lanes.
struct LaneSteps<'a, F> {
    of: &'a mut Stepped,
    step: F,
}

impl<F: FnMut(&mut OwnLanes<'_>, &[u32], Tick)> Steps for LaneSteps<'_, F> {
    fn begin(&mut self) {
        let Stepped { ids, lanes, refused, .. } = &mut *self.of;
        ids.clear();
        lanes.clear();
        refused.clear();
    }

    fn take(&mut self, id: EntityId, lanes: &[u32]) {
        self.of.ids.push(id);
        self.of.lanes.extend(lanes);
    }

    fn step(&mut self, input: &[u32], tick: Tick) {
        if !self.of.ids.is_empty() {
            (self.step)(&mut OwnLanes { of: self.of }, input, tick);
        }
    }

    fn give(&self, index: usize, lanes: &mut [u32]) -> Result<(), EncodeError> {
        let Stepped { lanes_each, lanes: all, refused, .. } = &*self.of;
        if let Some((_, error)) = refused.iter().find(|(of, _)| *of == index) {
            return Err(error.clone());
        }
        lanes.copy_from_slice(&all[index * lanes_each..][..*lanes_each]);
        Ok(())
    }
}
