//! Viewers: one of many who watch a broadcast.

use std::sync::Mutex;
use std::time::Duration;

use kinepack_crowd::{Viewer, ViewerConfig};

use crate::KpStatus;
use crate::catalogue::{CATALOGUES, KpCatalogue, KpTrack, track_of, track_to};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give_list, milliseconds, optional, put, required, slice, time};
use crate::publisher::KpPiece;
use crate::showing::{Showing, Shows};
use crate::status::{Failure, call};

/// Watches a broadcast. It has no socket and no clock: objects and datagrams go in, states to show
/// come out. It sends nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpViewer {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static VIEWERS: Handles<Mutex<Viewing>> = Handles::new(26, "a viewer");

/// A viewer, and what it shows.
#[derive(Debug)]
pub(crate) struct Viewing {
    pub(crate) viewer: Viewer,
    pub(crate) showing: Showing,
}

impl Shows for Viewing {
    fn showing(&self) -> &Showing {
        &self.showing
    }
}

/// How a viewer works. A number of 0 takes the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpViewerOptions {
    /// The least delay of what is shown. Default: the network alone decides.
    pub min_delay_ms: u32,
    /// The largest delay of what is shown. Default: 500.
    pub max_delay_ms: u32,
    /// For how long it keeps states to go back to. Default: none.
    pub history_ms: u32,
    /// The most memory for states, in bytes. Default: 256 MiB.
    pub max_memory_bytes: u64,
}

/// What a piece led to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTaken {
    /// Not 0: a snapshot could be read with it. 0: the piece waits for others.
    pub is_read: i32,
    /// The tick of the newest snapshot that could be read.
    pub tick: u32,
}

/// What a viewer has counted and measured.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpViewerStatus {
    /// Snapshots decoded.
    pub snapshots: u64,
    /// Those that were only read to catch up, and not shown.
    pub caught_up: u64,
    /// Those too late to be shown.
    pub late: u64,
    /// Objects and datagrams refused.
    pub refused: u64,
    /// Bytes of all objects and datagrams.
    pub bytes: u64,
    /// The delay of what is shown.
    pub delay_ms: f64,
    /// How much the times of arrival vary.
    pub jitter_ms: f64,
}

/// A viewer of a broadcast, which watches nothing yet. `options` may be null. The caller frees
/// `*out` with `kp_viewer_free`.
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
        // SAFETY: the caller lends the options.
        if let Some(options) = unsafe { optional(options)? } {
            let playout = &mut config.playout;
            for (time, given) in [
                (&mut playout.min_delay, options.min_delay_ms),
                (&mut playout.max_delay, options.max_delay_ms),
                (&mut config.history, options.history_ms),
            ] {
                if given != 0 {
                    *time = Duration::from_millis(given.into());
                }
            }
            if options.max_memory_bytes != 0 {
                config.max_memory_bytes =
                    usize::try_from(options.max_memory_bytes).unwrap_or(usize::MAX);
            }
        }
        let viewer = Viewer::new(&catalogue, config).map_err(Failure::argument)?;
        let showing = Showing::new(catalogue.tiers()[0].codec.schema(), None);
        let viewing = Mutex::new(Viewing { viewer, showing });
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpViewer { id: VIEWERS.add(viewing) }) }
    })
}

/// Watches a tier from now on, or several together, such as regions of the world. What was shown
/// stays until the new ones have caught up. Then subscribe to the tracks of `kp_viewer_wanted`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_viewer_watch(
    viewer: KpViewer,
    tiers: *const u32,
    count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends the numbers.
        let tiers = unsafe { slice(tiers, count)? };
        if tiers.is_empty() {
            return Err(Failure::argument("a viewer watches at least one tier"));
        }
        let tiers: Vec<usize> = tiers.iter().map(|tier| *tier as usize).collect();
        lock(&*VIEWERS.get(viewer.id)?).viewer.watch_all(&tiers).map_err(Failure::argument)
    })
}

/// Writes the tracks that the viewer needs now: `*count` of them, if they are at most `capacity`.
/// They change with `kp_viewer_watch`, `kp_viewer_take` and `kp_viewer_play`: subscribe to the new
/// ones, and end the subscriptions to the others.
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
        // SAFETY: the caller lends `capacity` tracks, and `count`.
        unsafe { give_list(wanted.into_iter(), tracks, capacity, count) }
    })
}

/// Writes the numbers of the tiers that are shown, as `kp_viewer_wanted` does.
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
        // SAFETY: the caller lends `capacity` numbers, and `count`.
        unsafe { give_list(shown.into_iter(), tiers, capacity, count) }
    })
}

/// Takes an object or a datagram of a track. The objects of a group come in order. `taken` may be
/// null. A piece that is refused is `KP_STATUS_DATA`: it is not valid, of a tier that is not
/// watched, late, or after an object that is missing. Only counters have changed then. After an
/// object, the rest of its group is refused too. Times are nanoseconds since any fixed moment.
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
        // SAFETY: the caller lends the piece and its bytes.
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
        // SAFETY: `taken` is the caller's.
        unsafe { put(taken, described) }
    })
}

/// Begins to read all tracks anew, as after a connection was lost or the publisher started again.
/// What is shown stays until newer snapshots come.
#[unsafe(no_mangle)]
pub extern "C" fn kp_viewer_rejoin(viewer: KpViewer) -> KpStatus {
    call(|| {
        lock(&*VIEWERS.get(viewer.id)?).viewer.rejoin();
        Ok(())
    })
}

/// Changes the bounds of the delay of what is shown.
#[unsafe(no_mangle)]
pub extern "C" fn kp_viewer_set_delays(
    viewer: KpViewer,
    min_delay_ms: u32,
    max_delay_ms: u32,
) -> KpStatus {
    call(|| {
        let [min, max] = [min_delay_ms, max_delay_ms].map(|ms| Duration::from_millis(ms.into()));
        let set = lock(&*VIEWERS.get(viewer.id)?).viewer.set_delays(min, max);
        set.map_err(Failure::argument)
    })
}

/// What a viewer has counted and measured.
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
        // SAFETY: `out` is the caller's.
        unsafe { put(out, described) }
    })
}

/// Frees a viewer.
#[unsafe(no_mangle)]
pub extern "C" fn kp_viewer_free(viewer: KpViewer) -> KpStatus {
    call(|| VIEWERS.remove(viewer.id))
}
