//! Replay files: read, shown from any moment, and cut.

use std::ffi::c_char;
use std::io::Cursor;
use std::sync::Mutex;

use kinepack::Tick;
use kinepack_replay::{ReplayError, ReplayReader};

use crate::KpStatus;
use crate::columns::KpTarget;
use crate::handles::{Handles, lock};
use crate::memory::{self, check_out, give_text, put, slice};
use crate::schema::{KpSchema, SCHEMAS};
use crate::showing::{KpEvent, KpPlayback, Showing, Shows, Which, write_ids, write_numbers};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// A replay that is read.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpReplay {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static REPLAYS: Handles<Mutex<Replaying>> = Handles::new(17, "a replay");

/// A replay, and what it shows.
pub(crate) struct Replaying {
    reader: ReplayReader,
    showing: Showing,
}

impl Shows for Replaying {
    fn showing(&self) -> &Showing {
        &self.showing
    }
}

/// What a replay is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpReplayInfo {
    /// Ticks a second.
    pub rate_hz: f64,
    /// The first tick.
    pub first_tick: u32,
    /// The last tick.
    pub last_tick: u32,
    /// Number of markers.
    pub markers: u32,
    /// Not 0: its writer ended it. Else it is still written, or its writer was killed.
    pub is_complete: i32,
}

/// Opens a replay file, and keeps it open. The caller frees `*out` with `kp_replay_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_open(path: *const c_char, out: *mut KpReplay) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller lends a text, and `out`.
        unsafe { add(ReplayReader::open(memory::text(path)?), out) }
    })
}

/// Reads a replay from a copy of these bytes. The caller frees `*out` with `kp_replay_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_from_bytes(
    bytes: *const u8,
    size: usize,
    out: *mut KpReplay,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller lends `size` bytes, and `out`.
        unsafe {
            let bytes = slice(bytes, size)?.to_vec();
            add(ReplayReader::from_reader(Cursor::new(bytes)), out)
        }
    })
}

/// What a replay is. `KP_STATUS_NOTHING` if it has no snapshot.
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
        // SAFETY: `out` is the caller's.
        unsafe { put(out, described) }
    })
}

/// The schema of a replay's snapshots. The caller frees `*out` with `kp_schema_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_schema(replay: KpReplay, out: *mut KpSchema) -> KpStatus {
    call(|| {
        check_out(out)?;
        let replay = REPLAYS.get(replay.id)?;
        let schema = lock(&replay).reader.schema().clone();
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpSchema { id: SCHEMAS.add(schema) }) }
    })
}

/// The schema of a replay's events. `KP_STATUS_NOTHING` if it has none. The caller frees `*out` with
/// `kp_schema_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_event_schema(replay: KpReplay, out: *mut KpSchema) -> KpStatus {
    call(|| {
        check_out(out)?;
        let replay = REPLAYS.get(replay.id)?;
        let schema = lock(&replay).reader.events().map(|kinds| kinds.codec().schema().clone());
        let schema = schema.ok_or_else(|| Failure::nothing("the replay has no events"))?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpSchema { id: SCHEMAS.add(schema) }) }
    })
}

/// A marker: its tick, and its name with a zero at the end, of `*size` bytes if they are at most
/// `capacity`.
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
        // SAFETY: the caller lends `capacity` bytes, `size` and `tick`.
        unsafe {
            give_text(&marker.name, name, capacity, size)?;
            put(tick, marker.tick.0)
        }
    })
}

/// What the writer stored under a key, with a zero at the end: `*size` bytes, if they are at most
/// `capacity`. `KP_STATUS_NOTHING` if there is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_value(
    replay: KpReplay,
    key: *const c_char,
    value: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends a text, `capacity` bytes and `size`.
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

/// Copies the snapshot of a tick, or the one before it, into a snapshot of the same schema.
/// `KP_STATUS_NOTHING` if there is none.
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

/// Computes what to show at a moment, a tick with its fraction, for the functions that follow. Moments
/// may come in any order. Events are due if a moment follows the one before by at most 5 seconds.
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
        let Replaying { reader, showing } = &mut *lock(&replay);
        let shown = showing.show(&reader.playback(tick).map_err(refused)?.ok_or_else(nothing)?)?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, shown) }
    })
}

/// Jumps: the next moment shows no events before this tick.
#[unsafe(no_mangle)]
pub extern "C" fn kp_replay_seek(replay: KpReplay, tick: f64) -> KpStatus {
    call(|| {
        lock(&*REPLAYS.get(replay.id)?).reader.seek(tick);
        Ok(())
    })
}

/// Writes the ids of the entities of a kind that are shown, as `kp_receiver_ids` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_ids(
    replay: KpReplay,
    kind: u32,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller lends `capacity` numbers, and `count`.
    unsafe { write_ids((&REPLAYS, replay.id), Which::Shown, kind, ids, capacity, count) }
}

/// Writes the numbers of the entities of a kind that are shown, as `kp_receiver_read` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_read(
    replay: KpReplay,
    kind: u32,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    // SAFETY: the caller lends them, with memory for `capacity` entities at each.
    unsafe { write_numbers((&REPLAYS, replay.id), kind, capacity, targets, target_count) }
}

/// Takes the next event that is due at the moment of the last `kp_replay_play`. `KP_STATUS_NOTHING` if
/// there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_next_event(replay: KpReplay, out: *mut KpEvent) -> KpStatus {
    call(|| {
        check_out(out)?;
        let event = lock(&*REPLAYS.get(replay.id)?).showing.next_event()?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, event) }
    })
}

/// Writes the numbers of the event that `kp_replay_next_event` gave last, as `kp_receiver_read_event`
/// does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_read_event(
    replay: KpReplay,
    kind: u32,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends them, with memory for an event.
        unsafe {
            let targets = slice(targets, target_count)?;
            lock(&*REPLAYS.get(replay.id)?).showing.write_event(kind, targets)
        }
    })
}

/// Frees a replay, and closes its file.
#[unsafe(no_mangle)]
pub extern "C" fn kp_replay_free(replay: KpReplay) -> KpStatus {
    call(|| REPLAYS.remove(replay.id))
}

/// Adds a reader.
///
/// # Safety
/// As for [`put`].
unsafe fn add(
    reader: Result<ReplayReader, ReplayError>,
    out: *mut KpReplay,
) -> Result<(), Failure> {
    let reader = reader.map_err(refused)?;
    let showing = Showing::new(reader.schema(), reader.events());
    let replaying = Mutex::new(Replaying { reader, showing });
    // SAFETY: as for this function.
    unsafe { put(out, KpReplay { id: REPLAYS.add(replaying) }) }
}

fn nothing() -> Failure {
    Failure::nothing("the replay has no snapshot there")
}

/// An error of a replay that is read or written.
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
