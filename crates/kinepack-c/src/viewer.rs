//! Viewers, which watch a broadcast.

use std::sync::Mutex;

use kinepack_crowd::{Viewer, ViewerConfig};

use crate::KpStatus;
use crate::catalogue::{CATALOGUES, KpCatalogue, KpTrack, track_of, track_to};
use crate::handles::{Handles, lock};
use crate::memory::{
    self, check_out, duration, give_list, milliseconds, optional, or_default, put, required, slice,
    time,
};
use crate::publisher::KpPiece;
use crate::shown::{KpPlayback, KpShown, Shown, nothing_yet};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// Watches a broadcast. A viewer has no socket and no clock: the caller passes in objects and
/// datagrams, and gets states to show. A viewer sends nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpViewer {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static VIEWERS: Handles<Mutex<Viewing>> = Handles::new(26, "a viewer");

/// A viewer, and the state that it shows.
#[derive(Debug)]
pub(crate) struct Viewing {
    viewer: Viewer,
    shown: Shown,
}

/// The settings of a viewer. A number of 0 selects the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpViewerOptions {
    /// The shortest delay of the shown state. By default, it depends on the network alone.
    pub min_delay_ms: u32,
    /// The longest delay of the shown state. Default: 500.
    pub max_delay_ms: u32,
    /// How long the viewer keeps states for rewinding. By default, it keeps no states.
    pub history_ms: u32,
    /// The maximum memory for states, in bytes. Default: 256 MiB.
    pub max_memory_bytes: u64,
}

/// The effect of a piece.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTaken {
    /// Not 0 if the piece made a snapshot readable. 0 if the piece waits for others.
    pub is_read: i32,
    /// The tick of the newest snapshot that became readable.
    pub tick: u32,
}

/// The counters and measurements of a viewer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpViewerStatus {
    /// The number of snapshots decoded.
    pub snapshots: u64,
    /// The number of snapshots decoded only to catch up, and not shown.
    pub caught_up: u64,
    /// The number of snapshots that arrived too late to be shown.
    pub late: u64,
    /// The number of objects and datagrams refused.
    pub refused: u64,
    /// The number of bytes of all objects and datagrams.
    pub bytes: u64,
    /// The delay of the shown state.
    pub delay_ms: f64,
    /// The variation of arrival times.
    pub jitter_ms: f64,
}

/// Creates a viewer of a broadcast, which does not watch any tier yet. `options` may be null. The
/// caller frees `*out` with `kp_viewer_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_new(
    catalogue: KpCatalogue,
    options: *const KpViewerOptions,
    out: *mut KpViewer,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let catalogue = CATALOGUES.get(catalogue.id)?;
        let mut config = ViewerConfig::at_hz(catalogue.tick_hz().into());
        // SAFETY: the caller guarantees that `options` is null or readable until this call returns.
        if let Some(options) = unsafe { optional(options)? } {
            let ViewerConfig { playout, history, max_memory_bytes, .. } = &mut config;
            playout.min_delay = or_default(duration(options.min_delay_ms), playout.min_delay);
            playout.max_delay = or_default(duration(options.max_delay_ms), playout.max_delay);
            *history = or_default(duration(options.history_ms), *history);
            *max_memory_bytes =
                or_default(memory::size(options.max_memory_bytes), *max_memory_bytes);
        }
        let viewer = Viewer::new(&catalogue, config).map_err(Failure::argument)?;
        let shown = Shown::new(catalogue.tiers()[0].codec.schema(), None);
        let viewing = Mutex::new(Viewing { viewer, shown });
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpViewer { id: VIEWERS.add(viewing) }) }
    })
}

/// Watches a tier from now on, or several together, such as regions of the world. The current tiers
/// are shown until the new ones have caught up. After this call, subscribe to the tracks of
/// `kp_viewer_wanted`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_watch(
    viewer: KpViewer,
    tiers: *const u32,
    count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `tiers` has `count` readable values until this call
        // returns.
        let tiers = unsafe { slice(tiers, count)? };
        if tiers.is_empty() {
            return Err(Failure::argument("a viewer watches at least one tier"));
        }
        let tiers: Vec<usize> = tiers.iter().map(|tier| *tier as usize).collect();
        lock(&*VIEWERS.get(viewer.id)?).viewer.watch_all(&tiers).map_err(Failure::argument)
    })
}

/// Writes the tracks that the viewer needs now: `*count` tracks, if they fit into `capacity`. The
/// tracks change with `kp_viewer_watch`, `kp_viewer_take` and `kp_viewer_play`. Subscribe to the
/// new tracks, and unsubscribe from the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_wanted(
    viewer: KpViewer,
    tracks: *mut KpTrack,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        let viewing = VIEWERS.get(viewer.id)?;
        let wanted: Vec<KpTrack> = lock(&viewing).viewer.wanted().map(track_to).collect();
        // SAFETY: the caller guarantees that `tracks` has `capacity` writable values and `count` is
        // writable, until this call returns.
        unsafe { give_list(wanted.into_iter(), tracks, capacity, count) }
    })
}

/// Writes the numbers of the shown tiers, like `kp_viewer_wanted`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_shown_tiers(
    viewer: KpViewer,
    tiers: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        let viewing = VIEWERS.get(viewer.id)?;
        let shown = lock(&viewing).viewer.shown_tiers().map(|tier| tier as u32).collect::<Vec<_>>();
        // SAFETY: the caller guarantees that `tiers` has `capacity` writable values and `count` is
        // writable, until this call returns.
        unsafe { give_list(shown.into_iter(), tiers, capacity, count) }
    })
}

/// Takes an object or a datagram of a track. The objects of a group must be passed in order.
/// `taken` may be null. Returns `KP_STATUS_DATA` for a refused piece, which changes only counters.
/// A piece is refused if it is invalid, late, of a tier that is not watched, or after a missing
/// object. If an object is refused, the rest of its group is refused too. Times are nanoseconds
/// since any fixed moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_take(
    viewer: KpViewer,
    now_ns: u64,
    piece: *const KpPiece,
    bytes: *const u8,
    size: usize,
    taken: *mut KpTaken,
) -> KpStatus {
    call(|| {
        if !taken.is_null() {
            check_out(taken)?;
        }
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes and `piece` is
        // readable, until this call returns.
        let (piece, bytes) = unsafe { (required(piece)?, slice(bytes, size)?) };
        let track = track_of(piece.tier, piece.track)?;
        let viewing = VIEWERS.get(viewer.id)?;
        let Viewing { viewer, .. } = &mut *lock(&viewing);
        let read = if piece.is_datagram == 0 {
            viewer.object(time(now_ns), track, piece.group, piece.object, bytes)
        } else {
            viewer.datagram(time(now_ns), track.tier(), bytes)
        };
        let tick = read.map_err(Failure::data)?;
        if taken.is_null() {
            return Ok(());
        }
        let described =
            KpTaken { is_read: tick.is_some().into(), tick: tick.map_or(0, |tick| tick.0) };
        // SAFETY: the caller guarantees that `taken` is writable until this call returns.
        unsafe { put(taken, described) }
    })
}

/// Restarts the reading of all tracks, after a connection was lost or the publisher restarted. The
/// current state is shown until newer snapshots arrive.
#[unsafe(no_mangle)]
pub extern "C" fn kp_viewer_rejoin(viewer: KpViewer) -> KpStatus {
    call(|| {
        lock(&*VIEWERS.get(viewer.id)?).viewer.rejoin();
        Ok(())
    })
}

/// Changes the limits for the delay of the shown state.
#[unsafe(no_mangle)]
pub extern "C" fn kp_viewer_set_delays(
    viewer: KpViewer,
    min_delay_ms: u32,
    max_delay_ms: u32,
) -> KpStatus {
    call(|| {
        let [min, max] = [min_delay_ms, max_delay_ms].map(duration);
        let set = lock(&*VIEWERS.get(viewer.id)?).viewer.set_delays(min, max);
        set.map_err(Failure::argument)
    })
}

/// Computes the state to show now, which is slightly delayed and interpolated. Read this state
/// through `kp_viewer_shown`. Returns `KP_STATUS_NOTHING` before the first state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_play(
    viewer: KpViewer,
    now_ns: u64,
    out: *mut KpPlayback,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let viewing = VIEWERS.get(viewer.id)?;
        let Viewing { viewer, shown } = &mut *lock(&viewing);
        let playback = shown.show(&viewer.playback(time(now_ns)).ok_or_else(nothing_yet)?)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, playback) }
    })
}

/// Writes the first and the last tick that `kp_viewer_play_at` can show. Returns
/// `KP_STATUS_NOTHING` before the first state, or if the viewer keeps no history.
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
        let Viewing { viewer, shown } = &mut *lock(&viewing);
        let playback = shown.show(&viewer.playback_at(tick).ok_or_else(nothing_in_history)?)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, playback) }
    })
}

/// Returns the state that the viewer shows. The handle stays the same until `kp_viewer_free`, which
/// frees it too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_shown(viewer: KpViewer, out: *mut KpShown) -> KpStatus {
    call(|| {
        let shown = lock(&*VIEWERS.get(viewer.id)?).shown.handle();
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, shown) }
    })
}

/// Copies the newest state of the shown tiers into a snapshot of the same schema, without delay or
/// interpolation. Returns `KP_STATUS_NOTHING` before the first state.
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

/// Writes the counters and measurements of a viewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_status(viewer: KpViewer, out: *mut KpViewerStatus) -> KpStatus {
    call(|| {
        let stats = lock(&*VIEWERS.get(viewer.id)?).viewer.stats();
        let described = KpViewerStatus {
            snapshots: stats.snapshots,
            caught_up: stats.caught_up,
            late: stats.late,
            refused: stats.refused,
            bytes: stats.bytes,
            delay_ms: milliseconds(Some(stats.playout.delay)),
            jitter_ms: milliseconds(Some(stats.playout.jitter)),
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Frees a viewer.
#[unsafe(no_mangle)]
pub extern "C" fn kp_viewer_free(viewer: KpViewer) -> KpStatus {
    call(|| VIEWERS.remove(viewer.id))
}

fn nothing_in_history() -> Failure {
    Failure::nothing("the viewer has no history yet")
}
