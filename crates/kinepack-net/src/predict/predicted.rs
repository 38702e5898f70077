//! The public type for states of a type.

use std::marker::PhantomData;

use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};

use super::config::{PredictConfig, PredictError};
use super::engine::{Engine, Steps};
use super::report::{Correction, PredictStats};
use crate::Receiver;
use crate::model::ByType;

/// One of the entities that a step moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Own<S> {
    /// The entity.
    pub id: EntityId,
    /// Its state, which the step changes.
    pub state: S,
}

/// Predicts a client's own entities: shows the effect of an input at once, and corrects itself by
/// the states that arrive from the server.
///
/// Push each input with the tick for which the server will use it. The game's function steps the
/// entities. When an authoritative state arrives, it takes the place of the prediction of its tick,
/// and the steps since are repeated. The difference fades out of the shown path, which stays
/// continuous in position and velocity.
///
/// ```
/// use kinepack::{EntityId, Pack, Schema, Tick};
/// use kinepack_net::{Outcome, Own, PredictConfig, Predicted};
///
/// #[derive(Pack, Clone, Debug, PartialEq)]
/// struct Walker {
///     #[pack(range = -64.0..64.0, precision = 1.0 / 512.0)]
///     position: [f32; 2],
/// }
///
/// #[derive(Pack)]
/// struct Input {
///     #[pack(range = -1.0..=1.0, precision = 1.0 / 64.0)]
///     stick: [f32; 2],
/// }
///
/// /// A step of the game, which the client and the server share.
/// fn step(walkers: &mut [Own<Walker>], input: &Input, _: Tick) {
///     for Own { state, .. } in walkers {
///         state.position = [0, 1].map(|axis| state.position[axis] + input.stick[axis] / 12.0);
///     }
/// }
///
/// let (id, east) = (EntityId(7), Input { stick: [1.0, 0.0] });
/// let mut predicted = Predicted::new(&Schema::of::<Walker>(), PredictConfig::at_hz(60))?;
/// let begin = Walker { position: [0.0; 2] };
/// predicted.add(id, Tick(100), &begin, step)?;
/// for tick in 101..=106 {
///     predicted.push(Tick(tick), &east, step)?; // send it as well
/// }
///
/// // The server used the input for tick 101, and rounded its state as the network does.
/// let mut server = [Own { id, state: begin }];
/// step(&mut server, &east, Tick(101));
/// let mut state = server[0].state.rounded()?;
/// assert_eq!(predicted.correct(id, Tick(101), &state, step)?.outcome, Outcome::Confirmed);
///
/// // In tick 102, somebody pushes the walker by 30 cm.
/// state.position[1] += 0.3;
/// let before = predicted.shown(id, 105.5).ok_or("not added")?;
/// let correction = predicted.correct(id, Tick(102), &state, step)?;
/// assert_eq!((correction.outcome, correction.repeated_ticks), (Outcome::Corrected, 4));
/// let after = predicted.shown(id, 105.5).ok_or("not added")?;
/// assert!((before.position[1] - after.position[1]).abs() < 1e-4, "not a step");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With a stream of inputs for ticks, this is a frame of the client, and a tick of the server:
///
/// ```
/// # use std::{error::Error, time::Duration};
/// # use kinepack::{EntityId, Pack, Tick};
/// # use kinepack_net::{InputClock, Own, Predicted, Receiver, StreamReceiver, StreamSender};
/// # #[derive(Pack, Clone)]
/// # struct Walker {
/// #     #[pack(range = -64.0..64.0, precision = 1.0 / 512.0)]
/// #     position: [f32; 2],
/// # }
/// # #[derive(Pack)]
/// # struct Input { jumps: bool }
/// # fn step(_: &mut [Own<Walker>], _: &Input, _: Tick) {}
/// # struct Client {
/// #     clock: InputClock,
/// #     inputs: StreamSender,
/// #     receiver: Receiver,
/// #     me: Predicted<Walker, Input>,
/// # }
/// # struct Server { inputs: StreamReceiver, last: Input, own: [Own<Walker>; 1] }
/// # impl Client {
/// fn frame(&mut self, now: Duration, id: EntityId, input: &Input) -> Result<Option<Walker>, Box<dyn Error>> {
///     let Self { clock, inputs, receiver, me } = self;
///     for tick in clock.ticks(now) {
///         inputs.push_for_tick(tick, input)?;
///         me.push(tick, input, step)?;
///     }
///     me.correct_from(receiver, step)?;
///     Ok(me.shown(id, clock.tick() - 1.0)) // between the last two ticks
/// }
/// # }
/// # impl Server {
/// fn tick(&mut self, now: Duration, tick: Tick) -> Result<(), Box<dyn Error>> {
///     if let Some(input) = self.inputs.read_for_tick(now, tick)? {
///         self.last = input; // otherwise the last one is used again
///     }
///     step(&mut self.own, &self.last, tick);
///     for own in &mut self.own {
///         own.state = own.state.rounded()?;
///     }
///     Ok(())
/// }
/// # }
/// ```
///
/// **Equal results.** A correction is 0 if both sides compute the same. The step must depend on
/// nothing but its arguments and what never changes, and give the same floats on both machines, so
/// avoid `sin` and `exp` of the platform. The client rounds each state as a packet does. The server
/// must do that too, after each step: [`Pack::rounded`]. Without it, the client's states are off by
/// steps of the quantizer, and corrections happen all the time: of that size, and of centimetres if
/// the step branches, for example if a character lands a tick earlier. They fade like others.
/// An input is quantized by `push` as by the stream, so give the same value to both, and let the
/// server step with the one that it reads. Fields marked `skip` do not survive from tick to tick.
///
/// **Exact ticks.** A state must be that of its tick. What [`Receiver::fresh`] returns is
///
/// | the hub sends | the tick of a state |
/// |---|---|
/// | complete snapshots | exact: that of the newest snapshot |
/// | within a budget, or a kind every few ticks | exact: that of the snapshot that sent the entity last. An entity that rests is not sent: see [`PredictConfig::rest_ticks`]. |
/// | with [`Rings`](crate::Rings), in a ring with `every` = 1 | exact |
/// | in a ring of less frequent turns | after a loss up to a turn later than the state |
/// | with a time precision, or coarser in a ring | exact, but the values are coarse while the entity moves |
///
/// So keep own entities near, without a time precision, and give them a high priority: the hub then
/// sends them in each tick. In the last two rows, corrections of that size happen all the time.
/// While nothing in the world changes, the hub sends a complete snapshot four times a second
/// ([`HubConfig::keep_alive`](crate::HubConfig::keep_alive)), and a prediction of something else is
/// corrected by that.
///
/// **Several entities** of one kind are stepped together, so that they may affect each other. For
/// two kinds, such as a character and a car, use two `Predicted` with the same inputs, and step the
/// car first. The character's step may read the car: [`state_at`](Self::state_at). Correct them in
/// the same order, and after a correction of the car, also [`repeat_last`](Self::repeat_last) the
/// character.
///
/// **Offsets** apply to the fields that [`Pack::displace`] moves. Positions fade within one time,
/// rotations and numbers that `wrap` within another, the short way round. Velocities,
/// integers and flags change at once. There is no offset after a cut, or if the frame that a place
/// is relative to changes, because the two places have nothing in common.
#[derive(Debug)]
pub struct Predicted<S, I> {
    engine: Engine<S, ByType>,
    /// Memory for the states of a step.
    states: Vec<Own<S>>,
    /// Memory for the lanes of a state, and of an input.
    lanes: Vec<u32>,
    input: Vec<u32>,
    inputs_are: PhantomData<fn() -> I>,
}

impl<S: Pack, I: Pack> Predicted<S, I> {
    /// Makes a prediction without entities. `schema` is that of the receiver; if it has several
    /// kinds, the entities are those that `S` describes.
    ///
    /// # Errors
    /// Returns [`PredictError`] for an invalid configuration, and [`PredictError::State`] if `S`
    /// describes no kind of the schema.
    pub fn new(schema: &Schema, config: PredictConfig) -> Result<Self, PredictError> {
        config.validate()?;
        let kind = Snapshot::new(schema, Tick(0)).kind_of_type::<S>();
        let kind = kind.map_err(PredictError::State)?;
        let expected_lanes = schema.of_kind(kind).lanes().len();
        if expected_lanes != S::LANES {
            let error = EncodeError::LaneCount { expected_lanes, lanes: S::LANES };
            return Err(PredictError::State(error));
        }
        Ok(Self {
            engine: Engine::new(schema, kind, ByType, I::LANES, config),
            states: Vec::new(),
            lanes: vec![0; S::LANES],
            input: vec![0; I::LANES],
            inputs_are: PhantomData,
        })
    }

    /// Adds an entity with its authoritative state of a tick. If the tick is before the newest
    /// predicted one, the steps since are repeated for all entities. If it is later, the entity
    /// begins when the input for it is pushed. If it is older than the history, or nothing is
    /// repeated, the entity begins at the newest tick. Inputs are expected from the tick after the
    /// first entity's on.
    ///
    /// # Errors
    /// Returns [`PredictError::AlreadyAdded`], and [`PredictError::State`].
    pub fn add(
        &mut self,
        id: EntityId,
        tick: Tick,
        state: &S,
        step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<(), PredictError> {
        if self.engine.place_of(id).is_ok() {
            return Err(PredictError::AlreadyAdded { id });
        }
        let mut authority = vec![0; S::LANES];
        state.quantize(&mut authority).map_err(PredictError::State)?;
        // From now on, a step allocates nothing for its list of states.
        self.states.clear();
        self.states.reserve(self.engine.tracks.len() + 1);
        let (engine, mut steps) = self.with(step);
        engine.add(id, tick, authority, &mut steps)
    }

    /// Removes an entity with its history. Returns whether there was one.
    pub fn remove(&mut self, id: EntityId) -> bool {
        self.engine.remove(id)
    }

    /// Removes all entities, inputs and ticks, as for a new session. The counters stay.
    pub fn clear(&mut self) {
        self.engine.clear();
    }

    /// Predicts one more tick: calls `step` with the entities' states of the tick before, the input
    /// as the server will read it, and the tick.
    ///
    /// A client may skip ticks, for example because its clock runs ahead after a stall. The ticks
    /// between are stepped with the input before them, as a server does that repeats the last
    /// input. After a gap that is longer than the history, the entities keep their states until the
    /// tick before `tick`, and the history begins anew there.
    ///
    /// Cost: a step, and quantizing the states; nothing is allocated.
    ///
    /// # Errors
    /// Returns [`PredictError::NotAfter`] and [`PredictError::Input`]; then nothing has changed.
    /// Returns [`PredictError::State`] after it has done everything else.
    pub fn push(
        &mut self,
        tick: Tick,
        input: &I,
        step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<(), PredictError> {
        self.engine.check_after(tick)?;
        let mut lanes = std::mem::take(&mut self.input);
        let quantized = input.quantize(&mut lanes).map_err(PredictError::Input);
        let pushed = quantized.and_then(|()| {
            let (engine, mut steps) = self.with(step);
            engine.push(tick, &lanes, &mut steps)
        });
        self.input = lanes;
        pushed
    }

    /// Takes the authoritative state of an entity. If it equals the prediction of its tick, nothing
    /// else happens. Otherwise it takes the prediction's place, and all entities repeat the steps
    /// since, each from its own authoritative state on. The shown paths continue without a step.
    ///
    /// The tick must be exact: the state of the tick before plus the step with the input of that
    /// tick. [`correct_from`](Self::correct_from) takes it from a receiver.
    ///
    /// # Errors
    /// Returns [`PredictError::UnknownEntity`], and [`PredictError::State`].
    pub fn correct(
        &mut self,
        id: EntityId,
        tick: Tick,
        state: &S,
        step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<Correction, PredictError> {
        if self.engine.place_of(id).is_err() {
            return Err(PredictError::UnknownEntity { id });
        }
        let mut lanes = std::mem::take(&mut self.lanes);
        let quantized = state.quantize(&mut lanes).map_err(PredictError::State);
        let corrected = quantized.and_then(|()| {
            let (engine, mut steps) = self.with(step);
            engine.correct(id, tick, &lanes, &mut steps)
        });
        self.lanes = lanes;
        corrected
    }

    /// Takes the newest states of all entities from a receiver, if they are newer than those taken
    /// before. Call this after datagrams arrived. An entity that the receiver does not know stays
    /// as it is.
    ///
    /// The tick of a state is [`Receiver::fresh`], or that of the newest snapshot if the entity
    /// [rests](PredictConfig::rest_ticks). See [`Predicted`] for when it is exact.
    ///
    /// # Errors
    /// Returns [`PredictError::State`], also if the receiver has another schema.
    pub fn correct_from(
        &mut self,
        receiver: &Receiver,
        step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<Correction, PredictError> {
        let taken = self.engine.take_from(receiver)?;
        let (engine, mut steps) = self.with(step);
        engine.repair(taken, &mut steps)
    }

    /// Repeats the last steps of all entities, for a step that reads what has changed since: for
    /// example another `Predicted`, whose [`Correction::repeated_ticks`] are these. With
    /// [`Repair::Blend`](super::Repair::Blend) nothing is repeated.
    ///
    /// # Errors
    /// Returns [`PredictError::State`].
    pub fn repeat_last(
        &mut self,
        ticks: u32,
        step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<Correction, PredictError> {
        let (engine, mut steps) = self.with(step);
        engine.repeat_last(ticks, &mut steps)
    }

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
        self.engine.shown(id, at)
    }

    /// The newest predicted state of an entity, without offset. `None` if the entity was not added,
    /// or begins later.
    pub fn state(&self, id: EntityId) -> Option<S> {
        self.state_at(id, self.newest()?)
    }

    /// The predicted state of an entity at a tick. `None` if the history does not have it.
    pub fn state_at(&self, id: EntityId, tick: Tick) -> Option<S> {
        self.engine.lanes_at(id, tick).map(S::reconstruct)
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

    /// The prediction, and the game's function for it.
    fn with<F: FnMut(&mut [Own<S>], &I, Tick)>(
        &mut self,
        step: F,
    ) -> (&mut Engine<S, ByType>, TypedSteps<'_, S, I, F>) {
        let steps = TypedSteps { states: &mut self.states, step, inputs_are: PhantomData };
        (&mut self.engine, steps)
    }
}

/// A step of states of a type.
struct TypedSteps<'a, S, I, F> {
    states: &'a mut Vec<Own<S>>,
    step: F,
    inputs_are: PhantomData<fn() -> I>,
}

impl<S: Pack, I: Pack, F: FnMut(&mut [Own<S>], &I, Tick)> Steps for TypedSteps<'_, S, I, F> {
    fn begin(&mut self) {
        self.states.clear();
    }

    fn take(&mut self, id: EntityId, lanes: &[u32]) {
        self.states.push(Own { id, state: S::reconstruct(lanes) });
    }

    fn step(&mut self, input: &[u32], tick: Tick) {
        if !self.states.is_empty() {
            (self.step)(self.states, &I::reconstruct(input), tick);
        }
    }

    fn give(&self, index: usize, lanes: &mut [u32]) -> Result<(), EncodeError> {
        self.states[index].state.quantize(lanes)
    }
}
