//! The public type: takes inputs and authoritative states in order, and repeats steps.

use std::marker::PhantomData;

use kinepack::{EncodeError, EntityId, Pack, Schema, Snapshot, Tick};

use super::config::{PredictConfig, PredictError, Repair};
use super::report::{Correction, Outcome, PredictStats};
use super::track::{Rules, Track};
use crate::Receiver;
use crate::fade::Lasts;

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
    /// The kind's index in the whole schema.
    kind: usize,
    whole_schema_hash: u64,
    pub(super) config: PredictConfig,
    pub(super) rules: Rules,
    /// The first and the last predicted tick; `None` before the first.
    pub(super) ticks: Option<(u32, u32)>,
    /// The lanes of the last inputs; those of a tick are at the tick modulo the history.
    pub(super) inputs: Vec<u32>,
    /// Whether `inputs` has one for the newest tick.
    has_input: bool,
    /// The entities by id.
    pub(super) tracks: Vec<Track<S>>,
    pub(super) states: Vec<Own<S>>,
    /// Memory for the lanes of three states, and of an input.
    pub(super) rows: [Vec<u32>; 3],
    input: Vec<u32>,
    pub(super) stats: PredictStats,
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
        let (whole_schema_hash, schema) = (schema.hash(), schema.of_kind(kind));
        let lanes = schema.lanes().len();
        if lanes != S::LANES {
            let error = EncodeError::LaneCount { expected_lanes: lanes, lanes: S::LANES };
            return Err(PredictError::State(error));
        }
        let rules = Rules {
            tick_hz: f64::from(config.tick_hz),
            lasts: Lasts { position: config.position_fade, rotation: config.rotation_fade },
            snap_distance: config.snap_distance,
            break_lanes: schema.kinds()[0].break_lanes().to_vec(),
            schema,
        };
        Ok(Self {
            kind,
            whole_schema_hash,
            rules,
            ticks: None,
            inputs: vec![0; I::LANES * config.history_ticks as usize],
            has_input: false,
            tracks: Vec::new(),
            states: Vec::new(),
            rows: [(); 3].map(|()| vec![0; lanes]),
            input: vec![0; I::LANES],
            stats: PredictStats::default(),
            inputs_are: PhantomData,
            config,
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
        let place = match self.place_of(id) {
            Ok(_) => return Err(PredictError::AlreadyAdded { id }),
            Err(place) => place,
        };
        let mut authority = vec![0; S::LANES];
        state.quantize(&mut authority).map_err(PredictError::State)?;
        let (oldest, newest) = *self.ticks.get_or_insert((tick.0, tick.0));
        let mut track = Track::new(id, tick.0, authority, self.config.history_ticks);
        let repeats = tick.0 < newest && tick.0 >= oldest && self.config.repair == Repair::Repeat;
        if tick.0 <= newest {
            track.since = if repeats { tick.0 } else { newest };
            track.obey_at(track.since);
        }
        self.remember();
        self.tracks.insert(place, track);
        // From now on, a step allocates nothing for its list of states.
        self.states.clear();
        self.states.reserve(self.tracks.len());
        if repeats { self.repeat(tick.0, step).map(|_| ()) } else { Ok(()) }
    }

    /// Removes an entity with its history. Returns whether there was one.
    pub fn remove(&mut self, id: EntityId) -> bool {
        self.place_of(id).map(|place| self.tracks.remove(place)).is_ok()
    }

    /// Where an entity's track is, or where it would have to be.
    pub(super) fn place_of(&self, id: EntityId) -> Result<usize, usize> {
        self.tracks.binary_search_by_key(&id, |track| track.id)
    }

    /// Removes all entities, inputs and ticks, as for a new session. The counters stay.
    pub fn clear(&mut self) {
        self.tracks.clear();
        (self.ticks, self.has_input) = (None, false);
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
        mut step: impl FnMut(&mut [Own<S>], &I, Tick),
    ) -> Result<(), PredictError> {
        let next = self.ticks.map(|(_, newest)| newest.saturating_add(1));
        if let Some((_, newest)) = self.ticks.filter(|(_, newest)| tick.0 <= *newest) {
            return Err(PredictError::NotAfter { tick, newest: Tick(newest) });
        }
        input.quantize(&mut self.input).map_err(PredictError::Input)?;
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
                self.inputs[place].copy_from_slice(&self.input);
            }
            self.stats.filled_ticks += u64::from(at < tick.0);
            let oldest = self.ticks.map_or(at, |(oldest, _)| oldest);
            let oldest = oldest.max(at.saturating_sub(self.config.history_ticks - 1));
            self.ticks = Some((oldest, at));
            result = result.and(self.advance(at, &mut step));
            for track in self.tracks.iter_mut().filter(|track| track.is_present(at)) {
                track.note_break(at, &self.rules);
            }
        }
        self.has_input = true;
        result.map_err(PredictError::State)
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
        let index = self.place_of(id).map_err(|_| PredictError::UnknownEntity { id })?;
        let mut lanes = std::mem::take(&mut self.rows[0]);
        let taken = state.quantize(&mut lanes).map(|()| self.take(index, tick.0, &lanes, None));
        self.rows[0] = lanes;
        let (outcome, start) = taken.map_err(PredictError::State)?;
        self.repair(outcome, start, step)
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
        let Some(world) = receiver.newest() else { return Ok(Correction::default()) };
        let (expected_hash, hash) = (self.whole_schema_hash, world.schema_hash());
        if expected_hash != hash {
            let error = EncodeError::SchemaMismatch { expected_hash, hash };
            return Err(PredictError::State(error));
        }
        let (mut outcome, mut start) = (Outcome::Stale, None);
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
        self.repair(outcome, start, step)
    }
}
