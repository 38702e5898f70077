//! Replay files. This module reads them, and shows any moment of them.

use std::ffi::c_char;
use std::io::Cursor;
use std::sync::Mutex;

use kinepack::Tick;
use kinepack_replay::{ReplayError, ReplayReader};

use crate::KpStatus;
use crate::handles::{Handles, lock};
use crate::memory::{self, check_out, give_text, put, slice};
use crate::schema::{KpSchema, SCHEMAS};
use crate::shown::{KpPlayback, KpShown, Shown};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// A replay to read.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpReplay {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static REPLAYS: Handles<Mutex<Replaying>> = Handles::new(17, "a replay");

/// A replay, and the state that it shows.
pub(crate) struct Replaying {
    reader: ReplayReader,
    shown: Shown,
}

/// The properties of a replay.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpReplayInfo {
    /// The number of ticks per second.
    pub rate_hz: f64,
    /// The first tick.
    pub first_tick: u32,
    /// The last tick.
    pub last_tick: u32,
    /// The number of markers.
    pub markers: u32,
    /// Not 0 if the writer finished the file. 0 if the file is still being written, or if its
    /// writer was killed.
    pub is_complete: i32,
}

/// Opens a replay file, and keeps it open. The caller frees `*out` with `kp_replay_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_open(path: *const c_char, out: *mut KpReplay) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `path` points to a zero-terminated text and `out` is
        // writable, until this call returns.
        unsafe { add(ReplayReader::open(memory::text(path)?), out) }
    })
}

/// Reads a replay from a copy of `bytes`. The caller frees `*out` with `kp_replay_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_from_bytes(
    bytes: *const u8,
    size: usize,
    out: *mut KpReplay,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes and `out` is
        // writable, until this call returns.
        unsafe {
            let bytes = slice(bytes, size)?.to_vec();
            add(ReplayReader::from_reader(Cursor::new(bytes)), out)
        }
    })
}

/// Writes the properties of a replay. Returns `KP_STATUS_NOTHING` if it has no snapshot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_info(replay: KpReplay, out: *mut KpReplayInfo) -> KpStatus {
    call(|| {
        let replay = REPLAYS.get(replay.id)?;
        let Replaying { reader, .. } = &mut *lock(&replay);
        let (first, last) = reader.ticks().map_err(refused)?.ok_or_else(nothing)?;
        let described = KpReplayInfo {
            rate_hz: reader.rate_hz(),
            first_tick: first.0,
            last_tick: last.0,
            markers: reader.markers().len() as u32,
            is_complete: reader.is_complete().into(),
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Creates the schema of a replay's snapshots. The caller frees `*out` with `kp_schema_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_schema(replay: KpReplay, out: *mut KpSchema) -> KpStatus {
    call(|| {
        check_out(out)?;
        let replay = REPLAYS.get(replay.id)?;
        let schema = lock(&replay).reader.schema().clone();
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSchema { id: SCHEMAS.add(schema) }) }
    })
}

/// Creates the schema of a replay's events. Returns `KP_STATUS_NOTHING` if the replay has no
/// events. The caller frees `*out` with `kp_schema_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_event_schema(replay: KpReplay, out: *mut KpSchema) -> KpStatus {
    call(|| {
        check_out(out)?;
        let replay = REPLAYS.get(replay.id)?;
        let schema = lock(&replay).reader.events().map(|kinds| kinds.codec().schema().clone());
        let schema = schema.ok_or_else(|| Failure::nothing("the replay has no events"))?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSchema { id: SCHEMAS.add(schema) }) }
    })
}

/// Writes the tick and the name of a marker. The name has a terminating zero: `*size` bytes, if
/// they fit into `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_marker(
    replay: KpReplay,
    nth: u32,
    tick: *mut u32,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        check_out(tick)?;
        let replay = REPLAYS.get(replay.id)?;
        let Replaying { reader, .. } = &*lock(&replay);
        let markers = reader.markers();
        let marker = markers.get(nth as usize).ok_or_else(|| {
            Failure::argument(format!("no marker {nth}; the replay has {}", markers.len()))
        })?;
        // SAFETY: the caller guarantees that `name` has `capacity` writable bytes, `size` and
        // `tick` are writable, until this call returns.
        unsafe {
            give_text(&marker.name, name, capacity, size)?;
            put(tick, marker.tick.0)
        }
    })
}

/// Writes the value that the writer stored under `key`, with a terminating zero: `*size` bytes, if
/// they fit into `capacity`. Returns `KP_STATUS_NOTHING` if there is no such value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_value(
    replay: KpReplay,
    key: *const c_char,
    value: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `key` points to a zero-terminated text, `value` has
        // `capacity` writable bytes and `size` is writable, until this call returns.
        unsafe {
            let key = memory::text(key)?;
            let replay = REPLAYS.get(replay.id)?;
            let replay = lock(&replay);
            let stored = replay.reader.info().get(key);
            let nothing =
                || Failure::new(KpStatus::Nothing, format!("nothing has the key {key:?}"));
            give_text(stored.ok_or_else(nothing)?, value, capacity, size)
        }
    })
}

/// Copies the snapshot of the tick `tick`, or the last snapshot before it, into a snapshot of the
/// same schema. Returns `KP_STATUS_NOTHING` if there is no such snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn kp_replay_get(replay: KpReplay, tick: u32, snapshot: KpSnapshot) -> KpStatus {
    call(|| {
        let (replay, world) = (REPLAYS.get(replay.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut replay, mut world) = (lock(&replay), lock(&world));
        world.check_schema(replay.reader.schema().hash(), "replay")?;
        let frame = match replay.reader.frame_at(Tick(tick)).map_err(refused)? {
            Some(frame) => Some(frame),
            None => replay.reader.frame_before(Tick(tick)).map_err(refused)?,
        };
        world.snapshot.copy_from(&*frame.ok_or_else(nothing)?);
        Ok(())
    })
}

/// Computes the state to show at a moment, given as a fractional tick. Read this state through
/// `kp_replay_shown`. Moments may be in any order. Events are due only if a moment is at most 5
/// seconds after the previous one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_play(
    replay: KpReplay,
    tick: f64,
    out: *mut KpPlayback,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        if !tick.is_finite() {
            return Err(Failure::argument("the tick is not a number"));
        }
        let replay = REPLAYS.get(replay.id)?;
        let Replaying { reader, shown } = &mut *lock(&replay);
        let playback = shown.show(&reader.playback(tick).map_err(refused)?.ok_or_else(nothing)?)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, playback) }
    })
}

/// Returns the state that the replay shows. The handle stays the same until `kp_replay_free`, which
/// frees it too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_shown(replay: KpReplay, out: *mut KpShown) -> KpStatus {
    call(|| {
        let shown = lock(&*REPLAYS.get(replay.id)?).shown.handle();
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, shown) }
    })
}

/// Jumps to a tick. The next moment shows no events before that tick.
#[unsafe(no_mangle)]
pub extern "C" fn kp_replay_seek(replay: KpReplay, tick: f64) -> KpStatus {
    call(|| {
        lock(&*REPLAYS.get(replay.id)?).reader.seek(tick);
        Ok(())
    })
}

/// Frees a replay, and closes its file.
#[unsafe(no_mangle)]
pub extern "C" fn kp_replay_free(replay: KpReplay) -> KpStatus {
    call(|| REPLAYS.remove(replay.id))
}

/// Registers a replay reader, and returns its handle in `*out`.
///
/// # Safety
/// The caller must meet the conditions of [`put`].
unsafe fn add(
    reader: Result<ReplayReader, ReplayError>,
    out: *mut KpReplay,
) -> Result<(), Failure> {
    let reader = reader.map_err(refused)?;
    let shown = Shown::new(reader.schema(), reader.events());
    let replaying = Mutex::new(Replaying { reader, shown });
    // SAFETY: the caller guarantees that `out` is writable until this call returns.
    unsafe { put(out, KpReplay { id: REPLAYS.add(replaying) }) }
}

fn nothing() -> Failure {
    Failure::nothing("the replay has no snapshot there")
}

/// Converts an error of reading or writing a replay.
pub(crate) fn refused(error: ReplayError) -> Failure {
    let status = match error {
        ReplayError::Io(_) => KpStatus::File,
        ReplayError::Encode(_)
        | ReplayError::NoEvents
        | ReplayError::TooManyEvents { .. }
        | ReplayError::TicksNotIncreasing { .. }
        | ReplayError::TickTooLate { .. }
        | ReplayError::FrameTooLarge { .. }
        | ReplayError::NothingToCut
        | ReplayError::Schema { .. } => KpStatus::Argument,
        _ => KpStatus::Data,
    };
    Failure::new(status, error)
}
