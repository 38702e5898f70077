//! Prediction: entities of the client that its own inputs move at once. The server's states correct
//! them.
//!
//! `Receive` takes the server's states, `Simulate` steps the entities after each `InputTick`, and
//! then writes the components that are shown. Cost: that of [`kinepack_net::Predicted`], and a
//! look-up of each marked entity. Nothing is allocated while the entities stay the same.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

use bevy_ecs::change_detection::Mut;
use bevy_ecs::message::Message;
use bevy_ecs::query::{QueryState, With};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
use kinepack_net::{
    Correction, Outcome, Own, PredictConfig, PredictError, PredictStats, Predicted, Receiver,
};

use super::{MotionInputs, show};
use crate::part::MotionKind;
use crate::settings::expect;
use crate::{MotionEntities, MotionId};

/// A state of the server corrected the prediction of the entities of a kind. The plugin writes this
/// message on the client, at most once in a frame. What is shown does not jump: the difference
/// fades out, unless [`Correction::is_snapped`].
#[derive(Message)]
pub struct Corrected<K: Send + Sync + 'static> {
    /// What changed.
    pub correction: Correction,
    of: PhantomData<fn() -> K>,
}

impl<K: Send + Sync> Clone for Corrected<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Send + Sync> Copy for Corrected<K> {}

impl<K: Send + Sync> fmt::Debug for Corrected<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Corrected").field("correction", &self.correction).finish()
    }
}

/// The game's function that moves entities by a tick.
type StepFn<K, I> = Box<dyn Fn(&mut [Own<K>], &I, Tick) + Send + Sync>;

/// The prediction of the client's entities with the components `K` by its inputs of type `I`: see
/// [`add_motion_prediction`](crate::MotionAppExt::add_motion_prediction).
#[derive(Resource)]
pub struct MotionPrediction<K: MotionKind, I: Pack + Send + Sync> {
    predicted: Predicted<K, I>,
    /// The index of the kind in the schema.
    kind: usize,
    rest_ticks: u32,
    step: StepFn<K, I>,
    own: QueryState<&'static MotionId, (With<show::Predicted>, K::Has)>,
    write: QueryState<K::Write, With<show::Predicted>>,
    /// Scratch memory: the ids of the marked entities, in increasing order.
    marked: Vec<EntityId>,
    failed: u64,
    last_error: Option<PredictError>,
}

impl<K: MotionKind, I: Pack + Send + Sync> MotionPrediction<K, I> {
    fn new(schema: &Schema, config: PredictConfig, step: StepFn<K, I>, world: &mut World) -> Self {
        let kind = Snapshot::new(schema, Tick(0)).kind_of_type::<K>();
        Self {
            predicted: expect(Predicted::new(schema, config), "a prediction"),
            kind: expect(kind, "the kind of a prediction"),
            rest_ticks: config.rest_ticks,
            step,
            own: QueryState::new(world),
            write: QueryState::new(world),
            marked: Vec::new(),
            failed: 0,
            last_error: None,
        }
    }

    /// The predicted state of an entity at the newest predicted tick, without what fades out after
    /// corrections. `None` if the entity is not predicted, or begins later.
    pub fn state(&self, id: MotionId) -> Option<K> {
        self.predicted.state(id.entity_id())
    }

    /// The predicted state of an entity at a tick. `None` if the history does not have it.
    pub fn state_at(&self, id: MotionId, tick: Tick) -> Option<K> {
        self.predicted.state_at(id.entity_id(), tick)
    }

    /// The newest predicted tick. `None` before the first one.
    pub fn newest(&self) -> Option<Tick> {
        self.predicted.newest()
    }

    /// The predicted entities, by id.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = MotionId> {
        self.predicted.ids().map(|id| MotionId(id.0))
    }

    /// The counters since the app began.
    pub fn stats(&self) -> PredictStats {
        self.predicted.stats()
    }

    /// How many inputs and states the prediction refused, for example because the step's result is
    /// out of range. The log contains the first reason.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Why the prediction last refused an input or a state.
    pub fn last_error(&self) -> Option<&PredictError> {
        self.last_error.as_ref()
    }

    /// Adds and removes entities, and takes the states that have arrived.
    fn follow(&mut self, world: &mut World, receiver: &Receiver) -> Correction {
        let Self { predicted, own, marked, .. } = self;
        marked.clear();
        marked.extend(own.query(world).iter().map(|id| id.entity_id()));
        marked.sort_unstable();
        let gone = |predicted: &Predicted<K, I>| {
            predicted.ids().find(|id| marked.binary_search(id).is_err())
        };
        while let Some(id) = gone(predicted) {
            predicted.remove(id);
        }
        let corrected = predicted.correct_from(receiver, &self.step);
        let correction = self.note(corrected).unwrap_or_default();
        if let Some(newest) = receiver.newest() {
            for index in 0..self.marked.len() {
                self.add(receiver, newest, self.marked[index]);
            }
        }
        correction
    }

    /// Begins to predict an entity, if it is not predicted yet and its state is known.
    fn add(&mut self, receiver: &Receiver, newest: &Snapshot, id: EntityId) {
        if self.predicted.ids().any(|known| known == id) {
            return;
        }
        let Some(at) = newest.position_of(self.kind, id) else { return };
        let Ok(state) = newest.get_at_index::<K>(at) else { return };
        let fresh = receiver.fresh(at);
        let rests = newest.tick.0.saturating_sub(fresh.0) >= self.rest_ticks;
        let tick = if rests { newest.tick } else { fresh };
        let added = self.predicted.add(id, tick, &state, &self.step);
        self.note(added);
    }

    /// Counts and logs an error.
    fn note<T>(&mut self, result: Result<T, PredictError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if self.failed == 0 {
                    log::warn!("kinepack-bevy: prediction of {}: {error}", type_name::<K>());
                }
                self.failed += 1;
                self.last_error = Some(error);
                None
            }
        }
    }
}

/// What a client does with each prediction.
#[derive(Clone, Copy)]
pub(crate) struct Prediction {
    clear: fn(&mut World),
    follow: fn(&mut World, &Receiver),
    push: fn(&mut World, Tick),
    show: fn(&mut World, f64),
}

/// All predictions of a client, in the order in which they were registered.
#[derive(Resource)]
pub(super) struct Predictions(pub(super) Vec<Prediction>);

impl Prediction {
    /// Adds the resource of a prediction.
    pub(crate) fn new<K: MotionKind, I: Pack + Send + Sync>(
        schema: &Schema,
        config: PredictConfig,
        step: StepFn<K, I>,
        world: &mut World,
    ) -> Self {
        let prediction = MotionPrediction::<K, I>::new(schema, config, step, world);
        world.insert_resource(prediction);
        Self {
            clear: clear::<K, I>,
            follow: follow::<K, I>,
            push: push::<K, I>,
            show: show::<K, I>,
        }
    }
}

/// Forgets all entities and inputs, for a new connection.
pub(super) fn clear_all(world: &mut World) {
    each(world, |prediction, world| (prediction.clear)(world));
}

/// Takes the states that have arrived.
pub(super) fn follow_all(world: &mut World, receiver: &Receiver) {
    each(world, |prediction, world| (prediction.follow)(world, receiver));
}

/// Predicts a tick by its inputs.
pub(super) fn push_all(world: &mut World, tick: Tick) {
    each(world, |prediction, world| (prediction.push)(world, tick));
}

/// Writes the components at the moment `at`, a tick with its fraction.
pub(super) fn show_all(world: &mut World, at: f64) {
    each(world, |prediction, world| (prediction.show)(world, at));
}

fn each(world: &mut World, call: impl Fn(Prediction, &mut World)) {
    let of = |world: &World, index: usize| {
        world.get_resource::<Predictions>().and_then(|all| all.0.get(index).copied())
    };
    let mut index = 0;
    while let Some(prediction) = of(world, index) {
        call(prediction, world);
        index += 1;
    }
}

/// Calls a function with the resource, if the game has not removed it.
fn with<K: MotionKind, I: Pack + Send + Sync>(
    world: &mut World,
    call: impl FnOnce(&mut World, &mut MotionPrediction<K, I>),
) {
    if world.contains_resource::<MotionPrediction<K, I>>() {
        world.resource_scope(|world, mut prediction: Mut<'_, MotionPrediction<K, I>>| {
            call(world, &mut prediction);
        });
    }
}

fn clear<K: MotionKind, I: Pack + Send + Sync>(world: &mut World) {
    with::<K, I>(world, |_, prediction| prediction.predicted.clear());
}

fn follow<K: MotionKind, I: Pack + Send + Sync>(world: &mut World, receiver: &Receiver) {
    with::<K, I>(world, |world, prediction| {
        let correction = prediction.follow(world, receiver);
        if correction.outcome == Outcome::Corrected {
            world.write_message(Corrected::<K> { correction, of: PhantomData });
        }
    });
}

fn push<K: MotionKind, I: Pack + Send + Sync>(world: &mut World, tick: Tick) {
    with::<K, I>(world, |world, prediction| {
        let inputs = world.get_resource::<MotionInputs<I>>();
        // If the game has no input for the tick, the next one fills the gap.
        let Some(input) = inputs.and_then(|inputs| inputs.of_tick(tick)) else { return };
        let pushed = prediction.predicted.push(tick, input, &prediction.step);
        prediction.note(pushed);
    });
}

fn show<K: MotionKind, I: Pack + Send + Sync>(world: &mut World, at: f64) {
    with::<K, I>(world, |world, MotionPrediction { predicted, write, marked, .. }| {
        world.resource_scope::<MotionEntities, _>(|world, entities| {
            let mut write = write.query_mut(world);
            for id in marked.iter() {
                let Some(entity) = entities.get(MotionId(id.0)) else { continue };
                let Ok(components) = write.get_mut(entity) else { continue };
                if let Some(state) = predicted.shown(*id, at) {
                    state.write(components);
                }
            }
        });
    });
}
