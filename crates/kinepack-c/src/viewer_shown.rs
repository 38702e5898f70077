//! The output of a viewer: now, and at a moment of its history.

use crate::KpStatus;
use crate::columns::KpTarget;
use crate::handles::lock;
use crate::memory::{check_out, put, time};
use crate::showing::{KpPlayback, Which, nothing_yet, write_ids, write_numbers};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};
use crate::viewer::{KpViewer, VIEWERS, Viewing};

/// Computes what to show now: a slightly delayed, interpolated state. The functions below read it.
/// `KP_STATUS_NOTHING` before the first state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_play(
    viewer: KpViewer,
    now_ns: u64,
    out: *mut KpPlayback,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let viewing = VIEWERS.get(viewer.id)?;
        let Viewing { viewer, showing } = &mut *lock(&viewing);
        let playback = viewer.playback(time(now_ns)).ok_or_else(nothing_yet)?;
        let shown = showing.show(&playback)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, shown) }
    })
}

/// The first and the last tick that `kp_viewer_play_at` can show. `KP_STATUS_NOTHING` before the
/// first state, or if the viewer keeps no history.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_history(
    viewer: KpViewer,
    first: *mut u32,
    last: *mut u32,
) -> KpStatus {
    call(|| {
        check_out(last)?;
        let range = lock(&*VIEWERS.get(viewer.id)?).viewer.history();
        let (from, to) = range.ok_or_else(nothing_in_history)?;
        // SAFETY: the caller guarantees that `first` and `last` are writable until this call
        // returns.
        unsafe {
            put(first, from.0)?;
            put(last, to.0)
        }
    })
}

/// Like `kp_viewer_play`, but for a fractional tick of the history, to pause and to rewind. A tick
/// outside of the history shows the nearest state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_play_at(
    viewer: KpViewer,
    tick: f64,
    out: *mut KpPlayback,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        if !tick.is_finite() {
            return Err(Failure::argument("the tick is not a number"));
        }
        let viewing = VIEWERS.get(viewer.id)?;
        let Viewing { viewer, showing } = &mut *lock(&viewing);
        let shown = showing.show(&viewer.playback_at(tick).ok_or_else(nothing_in_history)?)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, shown) }
    })
}

/// Writes the ids of a kind's shown entities, like `kp_receiver_ids`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_ids(
    viewer: KpViewer,
    kind: u32,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe { write_ids((&VIEWERS, viewer.id), Which::Shown, kind, ids, capacity, count) }
}

/// Writes the ids of the entities that are newly shown, of all kinds, like `kp_viewer_ids`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_added(
    viewer: KpViewer,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe { write_ids((&VIEWERS, viewer.id), Which::Added, 0, ids, capacity, count) }
}

/// Writes the ids of the entities that are no longer shown, of all kinds, like `kp_viewer_ids`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_removed(
    viewer: KpViewer,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe { write_ids((&VIEWERS, viewer.id), Which::Removed, 0, ids, capacity, count) }
}

/// Writes the numbers of a kind's shown entities, like `kp_receiver_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_read(
    viewer: KpViewer,
    kind: u32,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `targets` has `target_count` valid targets and each target
    // has writable memory for `capacity` entities, until this call returns.
    unsafe { write_numbers((&VIEWERS, viewer.id), kind, capacity, targets, target_count) }
}

/// Copies the newest state of the shown tiers into a snapshot of the same schema, without delay or
/// interpolation. `KP_STATUS_NOTHING` before the first state.
#[unsafe(no_mangle)]
pub extern "C" fn kp_viewer_newest(viewer: KpViewer, snapshot: KpSnapshot) -> KpStatus {
    call(|| {
        let (viewing, world) = (VIEWERS.get(viewer.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (viewing, mut world) = (lock(&viewing), lock(&world));
        let newest = viewing.viewer.newest().ok_or_else(nothing_yet)?;
        world.check_schema(newest.schema_hash(), "viewer")?;
        world.snapshot.copy_from(newest);
        Ok(())
    })
}

fn nothing_in_history() -> Failure {
    Failure::nothing("the viewer has no history yet")
}
