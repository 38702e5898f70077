//! What a prediction shows and knows.

use kinepack::{EntityId, Tick};
use kinepack_net::PredictStats;

use crate::KpStatus;
use crate::columns::{KpTarget, check_targets, write_rows};
use crate::memory::{check_out, give_list, put, slice};
use crate::predict::{KpPrediction, using};
use crate::status::{Failure, call};

/// Counters of a prediction since it was made.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPredictStats {
    /// The inputs that were pushed.
    pub inputs: u64,
    /// The ticks without an input of their own, which were stepped with the last one.
    pub filled_ticks: u64,
    /// How often a gap between two inputs was longer than the history, which began anew.
    pub restarts: u64,
    /// The authoritative states that equal the prediction.
    pub confirmed: u64,
    /// Those that corrected it.
    pub corrected: u64,
    /// Those of ticks that were not predicted yet.
    pub ahead: u64,
    /// Those that are older than the history, and were not used.
    pub too_old: u64,
    /// The corrections that were shown at once.
    pub snapped: u64,
    /// The ticks that were repeated or shifted.
    pub repeated_ticks: u64,
    /// The states after a step that could not be quantized.
    pub unquantized: u64,
}

/// Writes the numbers of the state to draw at the moment `at`, a tick with its fraction, to a target
/// of one entity for each field: between two predicted ticks, plus the fading offset of corrections.
/// Returns `KP_STATUS_NOTHING` if the entity was not added, or begins later.
///
/// A game that draws between its last two ticks passes the tick of `kp_input_clock_tick` minus 1.
/// The moment is within the history and at most the newest tick. Call this once a frame for each
/// entity, with moments that increase. Positions, numbers with a range and rotations have an offset;
/// velocities, integers and flags change at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_shown(
    prediction: KpPrediction,
    id: u32,
    at: f64,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `targets` has `target_count` valid targets until this
        // call returns.
        let targets = unsafe { slice(targets, target_count)? };
        using(prediction, |predicted| {
            // Showing moves the moment from which a later correction fades.
            check_targets(predicted.lanes.schema().fields(), targets, 1)?;
            let words = predicted.lanes.shown(EntityId(id), at).ok_or_else(no_state)?;
            let read = |_: usize, to: &mut [u64]| {
                to.copy_from_slice(&words);
                Ok(())
            };
            // SAFETY: the caller guarantees that each target has writable memory for one entity
            // until this call returns.
            unsafe { write_rows(predicted.lanes.schema().fields(), targets, 1, 1, read) }
        })
    })
}

/// Writes the numbers of an entity's predicted state at a tick, without offset, to a target of one
/// entity for each field. Returns `KP_STATUS_NOTHING` if the history does not have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_state(
    prediction: KpPrediction,
    id: u32,
    tick: u32,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `targets` has `target_count` valid targets until this
        // call returns.
        let targets = unsafe { slice(targets, target_count)? };
        using(prediction, |predicted| {
            let schema = predicted.lanes.schema();
            let lanes = predicted.lanes.lanes_at(EntityId(id), Tick(tick)).ok_or_else(no_state)?;
            let read = |_: usize, words: &mut [u64]| schema.reconstruct_raw(lanes, words);
            // SAFETY: the caller guarantees that each target has writable memory for one entity
            // until this call returns.
            unsafe { write_rows(schema.fields(), targets, 1, 1, read) }
        })
    })
}

/// Writes the newest predicted tick. Returns `KP_STATUS_NOTHING` before the first input or entity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_newest(
    prediction: KpPrediction,
    tick: *mut u32,
) -> KpStatus {
    call(|| {
        check_out(tick)?;
        let newest = using(prediction, |predicted| Ok(predicted.lanes.newest()))?;
        let Tick(newest) = newest.ok_or_else(|| Failure::nothing("nothing is predicted yet"))?;
        // SAFETY: the caller guarantees that `tick` is writable until this call returns.
        unsafe { put(tick, newest) }
    })
}

/// Writes the ids of the predicted entities, in increasing order: `*count` ids, if they fit into
/// `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_ids(
    prediction: KpPrediction,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        using(prediction, |predicted| {
            let all = predicted.lanes.ids().map(|id| id.0);
            // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
            // writable, until this call returns.
            unsafe { give_list(all, ids, capacity, count) }
        })
    })
}

/// Writes the counters of a prediction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_prediction_stats(
    prediction: KpPrediction,
    out: *mut KpPredictStats,
) -> KpStatus {
    call(|| {
        let stats: PredictStats = using(prediction, |predicted| Ok(predicted.lanes.stats()))?;
        let described = KpPredictStats {
            inputs: stats.inputs,
            filled_ticks: stats.filled_ticks,
            restarts: stats.restarts,
            confirmed: stats.confirmed,
            corrected: stats.corrected,
            ahead: stats.ahead,
            too_old: stats.too_old,
            snapped: stats.snapped,
            repeated_ticks: stats.repeated_ticks,
            unquantized: stats.unquantized,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

fn no_state() -> Failure {
    Failure::nothing("the prediction has no state of this entity then")
}
