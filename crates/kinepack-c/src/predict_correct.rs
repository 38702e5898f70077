//! Corrections of predictions by the states of the server.

use kinepack::{EntityId, Tick};
use kinepack_net::{Correction, Outcome};

use crate::KpStatus;
use crate::columns::KpColumn;
use crate::handles::lock;
use crate::memory::{check_out, put};
use crate::predict::{KpPrediction, Predicted, record, using};
use crate::predict_step::KpStep;
use crate::receiver::{KpReceiver, RECEIVERS};
use crate::status::{Failure, call};

/// What an authoritative state did.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpOutcome {
    /// Nothing: a state of this tick or of a later one was taken before.
    Stale = 0,
    /// It equals the prediction.
    Confirmed = 1,
    /// It is of a tick that was not predicted yet. The entity takes it when the input for that tick
    /// is pushed.
    Ahead = 2,
    /// It is older than the history, and was not used.
    TooOld = 3,
    /// It differs from the prediction, and corrected it.
    Corrected = 4,
}

/// What a call with authoritative states did.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpCorrection {
    /// What happened: a `KpOutcome`; of several entities, the largest.
    pub outcome: i32,
    /// How many ticks were repeated or shifted.
    pub repeated_ticks: u32,
    /// By how much the newest states changed: the length of the vector, or the difference of the
    /// number, that changed most. Velocities are not measured.
    pub distance: f64,
    /// The largest turn of a rotation, and of a number that wraps.
    pub turn_rad: f64,
    /// Not 0 if an entity's correction is shown at once instead of fading: because of a cut, a
    /// change of its frame, or the snap distance.
    pub is_snapped: i32,
}

/// Takes the authoritative state of an entity, a column of one entity for each field. If it equals
/// the prediction of its tick, nothing else happens. Otherwise it takes the prediction's place, and
/// all entities repeat the steps since. The shown paths continue without a step. The tick must be
/// exact: `kp_prediction_correct_from` takes it from a receiver. `out` may be null. Returns
/// `KP_STATUS_NOTHING` if the entity was not added, and `KP_STATUS_STEP` as `kp_prediction_push`
/// does; then `*out` is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_correct(
    prediction: KpPrediction,
    id: u32,
    tick: u32,
    columns: *const KpColumn,
    column_count: usize,
    step: *const KpStep,
    out: *mut KpCorrection,
) -> KpStatus {
    // SAFETY: the caller guarantees that `columns` has `column_count` valid columns of one readable
    // entity, that `step` and all of its memory are valid, and that `out` is null or writable, until
    // this call returns.
    unsafe {
        correct(prediction, out, |predicted| {
            let lanes = record(&mut predicted.states, columns, column_count)?;
            let rooms = predicted.lanes.ids().len();
            predicted.step_with(step, rooms, |prediction, step| {
                prediction.correct(EntityId(id), Tick(tick), &lanes, step)
            })
        })
    }
}

/// Takes the newest states of all entities from a receiver, if they are newer than those taken
/// before. Call this after datagrams arrived. An entity that the receiver does not know stays as it
/// is. `out` may be null. Returns `KP_STATUS_STEP` as `kp_prediction_push` does; then `*out` is not
/// written.
///
/// The tick of a state must be exact, so the hub should send own entities in each snapshot: near in
/// its rings, without a time precision, and with a high priority in a budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_correct_from(
    prediction: KpPrediction,
    receiver: KpReceiver,
    step: *const KpStep,
    out: *mut KpCorrection,
) -> KpStatus {
    // SAFETY: the caller guarantees that `step` and all of its memory are valid, and that `out` is
    // null or writable, until this call returns.
    unsafe {
        correct(prediction, out, |predicted| {
            let receiver = RECEIVERS.get(receiver.id)?;
            let rooms = predicted.lanes.ids().len();
            predicted.step_with(step, rooms, |prediction, step| {
                // The receiver is free again before the step, which may use it.
                let taken = prediction.take_from(&lock(&receiver).receiver)?;
                prediction.repair(taken, step)
            })
        })
    }
}

/// Repeats the last `ticks` steps of all entities, for a step that reads what has changed since: for
/// example another prediction, whose `repeated_ticks` of `KpCorrection` these are. With
/// `KP_REPAIR_BLEND` nothing is repeated. `out` may be null. Returns `KP_STATUS_STEP` as
/// `kp_prediction_push` does; then `*out` is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_repeat_last(
    prediction: KpPrediction,
    ticks: u32,
    step: *const KpStep,
    out: *mut KpCorrection,
) -> KpStatus {
    // SAFETY: the caller guarantees that `step` and all of its memory are valid, and that `out` is
    // null or writable, until this call returns.
    unsafe {
        correct(prediction, out, |predicted| {
            let rooms = predicted.lanes.ids().len();
            predicted.step_with(step, rooms, |prediction, step| prediction.repeat_last(ticks, step))
        })
    }
}

/// Runs a correction, and writes what it did.
///
/// # Safety
/// `out` is null or writable.
unsafe fn correct(
    prediction: KpPrediction,
    out: *mut KpCorrection,
    body: impl FnOnce(&mut Predicted) -> Result<Correction, Failure>,
) -> KpStatus {
    call(|| {
        if !out.is_null() {
            check_out(out)?;
        }
        let Correction { outcome, repeated_ticks, distance, turn_rad, is_snapped, .. } =
            using(prediction, body)?;
        if out.is_null() {
            return Ok(());
        }
        let outcome = match outcome {
            Outcome::Stale => KpOutcome::Stale,
            Outcome::Confirmed => KpOutcome::Confirmed,
            Outcome::Ahead => KpOutcome::Ahead,
            Outcome::TooOld => KpOutcome::TooOld,
            Outcome::Corrected => KpOutcome::Corrected,
        } as i32;
        let is_snapped = is_snapped.into();
        let described = KpCorrection { outcome, repeated_ticks, distance, turn_rad, is_snapped };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}
