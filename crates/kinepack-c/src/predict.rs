//! Predictions: a client steps its own entities with its inputs at once, and corrects them when the
//! server's states arrive.

use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::time::Duration;

use kinepack::{EntityId, Tick};
use kinepack_net::{OwnLanes, PredictConfig, PredictError, PredictedLanes, Repair};

use crate::KpStatus;
use crate::columns::{KpColumn, World};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, duration, put, required, slice};
use crate::predict_step::{KpStep, Stepping};
use crate::schema::{KpSchema, SCHEMAS};
use crate::status::{Failure, call};

/// Predicts a client's own entities, of one kind: shows the effect of an input at once, and corrects
/// itself by the states that arrive from the server. Push each input with the tick for which the
/// server will use it. Several entities are stepped together, so that they may affect each other.
///
/// The step must depend on nothing but what it is given and what never changes, and give the same
/// floats on both machines. The server must round each state after each step as a packet does, by
/// `kp_schema_rounded`. Otherwise corrections happen all the time.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpPrediction {
    /// The handle; 0 means no object.
    pub id: u64,
}

static PREDICTIONS: Handles<Predicting> = Handles::new(31, "a prediction");

/// How a state that differs from the prediction corrects it.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpRepair {
    /// Takes the state, and repeats the steps with the inputs since.
    Repeat = 0,
    /// Adds the difference to the states since, without steps. This is for motion that the client
    /// cannot repeat, such as physics with others' bodies, and for steps that are expensive.
    Blend = 1,
}

/// How a client predicts its own entities. `kp_predict_config_at_hz` writes the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPredictConfig {
    /// Ticks per second.
    pub tick_hz: u32,
    /// How many ticks of inputs and states are kept, 2 to 1,024. An authoritative state that is
    /// older than all of them is not used.
    pub history_ticks: u32,
    /// How a state that differs from the prediction corrects it: a `KpRepair`.
    pub repair: i32,
    /// How long the offset of numbers and vectors fades after a correction: the time until a
    /// twentieth is left. 0 shows corrections at once.
    pub position_fade_ms: u32,
    /// The same for rotations, and for numbers that wrap.
    pub rotation_fade_ms: u32,
    /// An entity that no snapshot has sent for this many ticks rests, so its state is also that of
    /// the newest snapshot's tick. That must be longer than the hub may take to send an entity that
    /// moves, also after a loss. The largest number means never.
    pub rest_ticks: u32,
    /// A correction that shifts a number or a vector by more than this is shown at once, like a
    /// teleport. The unit is that of the fields.
    pub snap_distance: f64,
}

/// A prediction, and the thread that uses it.
#[derive(Debug)]
struct Predicting {
    /// The step that this thread runs must not use the prediction: it would wait for itself.
    used_by: Mutex<Option<ThreadId>>,
    state: Mutex<Predicted>,
}

#[derive(Debug)]
pub(crate) struct Predicted {
    pub(crate) lanes: PredictedLanes,
    /// The quantizer of states.
    pub(crate) states: World,
    /// The quantizer of inputs.
    inputs: World,
}

/// Writes the defaults for a world of `tick_hz` ticks per second: a second of history, positions
/// that fade in a second and rotations in half of that, and a snap distance of four.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_predict_config_at_hz(
    tick_hz: u32,
    out: *mut KpPredictConfig,
) -> KpStatus {
    call(|| {
        let config = PredictConfig::at_hz(tick_hz);
        let ms = |fade: Duration| fade.as_millis() as u32;
        let described = KpPredictConfig {
            tick_hz,
            history_ticks: config.history_ticks,
            repair: KpRepair::Repeat as i32,
            position_fade_ms: ms(config.position_fade),
            rotation_fade_ms: ms(config.rotation_fade),
            rest_ticks: config.rest_ticks,
            snap_distance: config.snap_distance,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Creates a prediction without entities. `schema` is that of the receiver, and `kind` is the index
/// of the entities' kind in it. `inputs` is the schema of the inputs, with one kind, as in
/// `kp_stream_sender_new`. The caller frees `*out` with `kp_prediction_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_new(
    schema: KpSchema,
    kind: u32,
    inputs: KpSchema,
    config: *const KpPredictConfig,
    out: *mut KpPrediction,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `config` is readable until this call returns.
        let config = config_of(unsafe { required(config)? })?;
        let (schema, inputs) = (SCHEMAS.get(schema.id)?, SCHEMAS.get(inputs.id)?);
        if inputs.kinds().len() != 1 {
            return Err(Failure::argument("the schema of the inputs has several kinds"));
        }
        let made = PredictedLanes::new(&schema, kind as usize, &inputs, config);
        let lanes = made.map_err(Failure::argument)?;
        let states = World::new(lanes.schema());
        let state = Mutex::new(Predicted { lanes, states, inputs: World::new(&inputs) });
        let predicting = Predicting { used_by: Mutex::new(None), state };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpPrediction { id: PREDICTIONS.add(predicting) }) }
    })
}

/// Adds an entity with its authoritative state of a tick: a column of one entity for each field. If
/// the tick is before the newest predicted one, the steps since are repeated for all entities. If it
/// is later, the entity begins when the input for it is pushed. Inputs are expected from the tick
/// after the first entity's on. Returns `KP_STATUS_ARGUMENT` if the entity was added before, and
/// `KP_STATUS_STEP` as `kp_prediction_push` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_add(
    prediction: KpPrediction,
    id: u32,
    tick: u32,
    columns: *const KpColumn,
    column_count: usize,
    step: *const KpStep,
) -> KpStatus {
    call(|| {
        using(prediction, |predicted| {
            // SAFETY: the caller guarantees that `columns` has `column_count` valid columns of one
            // readable entity, and that `step` and all of its memory are valid, until this call
            // returns.
            unsafe {
                let lanes = record(&mut predicted.states, columns, column_count)?;
                let rooms = predicted.lanes.ids().len() + 1;
                predicted.step_with(step, rooms, |prediction, step| {
                    prediction.add(EntityId(id), Tick(tick), &lanes, step)
                })
            }
        })
    })
}

/// Removes an entity with its history. Returns `KP_STATUS_NOTHING` if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn kp_prediction_remove(prediction: KpPrediction, id: u32) -> KpStatus {
    call(|| {
        let removed = using(prediction, |predicted| Ok(predicted.lanes.remove(EntityId(id))))?;
        if removed { Ok(()) } else { Err(Failure::nothing("the entity is not predicted")) }
    })
}

/// Removes all entities, inputs and ticks, as for a new session. The counters stay.
#[unsafe(no_mangle)]
pub extern "C" fn kp_prediction_clear(prediction: KpPrediction) -> KpStatus {
    call(|| {
        using(prediction, |predicted| {
            predicted.lanes.clear();
            Ok(())
        })
    })
}

/// Predicts one more tick with an input, a column of one record for each of its fields: calls `step`
/// with the entities' states of the tick before. Push the same numbers to the stream, with
/// `kp_stream_push_for_tick`.
///
/// A client may skip ticks. The ticks between are stepped with the input before them, as a server
/// does that repeats the last input. After a gap that is longer than the history, the entities keep
/// their states until the tick before `tick`, and the history begins anew there.
///
/// Returns `KP_STATUS_ARGUMENT` if the tick is not after the newest one. Returns `KP_STATUS_STEP` if
/// the step failed or gave a state that cannot be quantized. Then those entities have kept their
/// states of the tick before, and everything else was done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_push(
    prediction: KpPrediction,
    tick: u32,
    columns: *const KpColumn,
    column_count: usize,
    step: *const KpStep,
) -> KpStatus {
    call(|| {
        using(prediction, |predicted| {
            predicted.lanes.check_after(Tick(tick)).map_err(Failure::argument)?;
            // SAFETY: the caller guarantees that `columns` has `column_count` valid columns of one
            // readable record, and that `step` and all of its memory are valid, until this call
            // returns.
            unsafe {
                let input = record(&mut predicted.inputs, columns, column_count)?;
                let rooms = predicted.lanes.ids().len();
                predicted.step_with(step, rooms, |prediction, step| {
                    prediction.push(Tick(tick), &input, step)
                })
            }
        })
    })
}

/// Frees a prediction.
#[unsafe(no_mangle)]
pub extern "C" fn kp_prediction_free(prediction: KpPrediction) -> KpStatus {
    call(|| {
        // A step must not free its own prediction, like all other uses.
        using(prediction, |_| Ok(()))?;
        PREDICTIONS.remove(prediction.id)
    })
}

impl Predicted {
    /// Runs `body`, which may call the caller's step for up to `rooms` entities.
    ///
    /// # Safety
    /// `step` is null or points to a step, whose function and memory are valid until this returns.
    pub(crate) unsafe fn step_with<R>(
        &mut self,
        step: *const KpStep,
        rooms: usize,
        body: impl FnOnce(&mut PredictedLanes, &mut Run<'_>) -> Result<R, PredictError>,
    ) -> Result<R, Failure> {
        let Self { lanes, states, inputs } = self;
        // SAFETY: the caller guarantees that `step` is readable, and that its function and memory
        // are valid, until this function returns.
        let mut stepping = unsafe { Stepping::new(required(step)?, states, inputs, rooms)? };
        let done = body(lanes, &mut |own, input, tick| stepping.run(own, input, tick));
        stepping.end(done)
    }
}

/// A step, as the prediction calls it.
pub(crate) type Run<'a> = dyn FnMut(&mut OwnLanes<'_>, &[u32], Tick) + 'a;

/// Uses a prediction. A step that uses the prediction that calls it gets an error.
pub(crate) fn using<R>(
    prediction: KpPrediction,
    body: impl FnOnce(&mut Predicted) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let predicting = PREDICTIONS.get(prediction.id)?;
    let this_thread = Some(thread::current().id());
    if *lock(&predicting.used_by) == this_thread {
        return Err(Failure::argument("a step must not use the prediction that calls it"));
    }
    let mut state = lock(&predicting.state);
    *lock(&predicting.used_by) = this_thread;
    // Dropped before `state`, also by a panic.
    let _used = Used(&predicting.used_by);
    body(&mut state)
}

/// While this lives, a thread uses a prediction.
struct Used<'a>(&'a Mutex<Option<ThreadId>>);

impl Drop for Used<'_> {
    fn drop(&mut self) {
        *lock(self.0) = None;
    }
}

/// Quantizes the only record of columns.
///
/// # Safety
/// `columns` has `column_count` valid columns, and each column has one readable record.
pub(crate) unsafe fn record(
    of: &mut World,
    columns: *const KpColumn,
    column_count: usize,
) -> Result<Vec<u32>, Failure> {
    // SAFETY: the caller guarantees `column_count` valid columns of one readable record, until this
    // function returns.
    unsafe { of.set_record(0, slice(columns, column_count)?)? };
    Ok(of.snapshot.lanes_at(0).collect())
}

/// The settings of a prediction.
fn config_of(given: &KpPredictConfig) -> Result<PredictConfig, Failure> {
    let repair = match given.repair {
        0 => Repair::Repeat,
        1 => Repair::Blend,
        repair => return Err(Failure::argument(format!("no KpRepair is {repair}"))),
    };
    Ok(PredictConfig {
        tick_hz: given.tick_hz,
        history_ticks: given.history_ticks,
        repair,
        position_fade: duration(given.position_fade_ms),
        rotation_fade: duration(given.rotation_fade_ms),
        snap_distance: given.snap_distance,
        rest_ticks: given.rest_ticks,
    })
}
