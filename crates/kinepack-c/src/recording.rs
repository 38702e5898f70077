//! Writes replays to a file, or keeps the last seconds in memory.

use std::ffi::c_char;
use std::sync::Mutex;
use std::time::Duration;

use kinepack::Tick;
use kinepack_net::EventKinds;
use kinepack_replay::{KillCam, ReplayError, ReplayOptions, ReplayWriter};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::columns::{KpColumn, World};
use crate::events::{KpEvents, events_of};
use crate::handles::{Handles, lock};
use crate::memory::{self, check_out, give, put, slice};
use crate::replay::refused;
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// Writes a replay file.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpReplayWriter {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static WRITERS: Handles<Mutex<Writing<ReplayWriter>>> =
    Handles::new(18, "a writer of a replay");

/// Keeps the last seconds of a world in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpKillCam {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static KILL_CAMS: Handles<Mutex<Writing<KillCam>>> = Handles::new(19, "a kill cam");

/// A writer unless it has ended, the event that is being emitted, and the replay that was cut last.
pub(crate) struct Writing<T> {
    writer: Option<T>,
    event: Option<World>,
    cut: Vec<u8>,
}

/// The size of a replay file.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpReplaySummary {
    /// The number of snapshots.
    pub frames: u64,
    /// The number of groups, each a second long.
    pub groups: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// Begins a replay file, and replaces an existing one. The world has `rate_hz` ticks per second.
/// Pass a zero `events` if it has no events. The caller ends `*out` with `kp_replay_writer_finish`
/// and frees it with `kp_replay_writer_free`. If the process is killed, the file lacks at most the
/// last second.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_writer_new(
    path: *const c_char,
    codec: KpCodec,
    events: KpEvents,
    rate_hz: f64,
    out: *mut KpReplayWriter,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `path` points to a zero-terminated text until this
        // call returns.
        let path = unsafe { memory::text(path)? };
        let options = options_of(events, rate_hz)?;
        let codec = CODECS.get(codec.id)?;
        let writer = ReplayWriter::create(path, &codec, &options).map_err(refused)?;
        let id = WRITERS.add(Mutex::new(Writing::new(writer, options.events.as_ref())));
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpReplayWriter { id }) }
    })
}

/// Adds a snapshot. Its tick must be above the tick of the previous snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn kp_replay_writer_write(writer: KpReplayWriter, world: KpSnapshot) -> KpStatus {
    call(|| {
        let (writing, world) = (WRITERS.get(writer.id)?, SNAPSHOTS.get(world.id)?);
        let (mut writing, world) = (lock(&writing), lock(&world));
        writing.writer()?.write(&world.snapshot).map_err(refused)
    })
}

/// Adds an event to the snapshot that is written next, with a column of one record for each field
/// of its kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_writer_emit(
    writer: KpReplayWriter,
    kind: u32,
    columns: *const KpColumn,
    column_count: usize,
) -> KpStatus {
    call(|| {
        let writing = WRITERS.get(writer.id)?;
        let mut writing = lock(&writing);
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and each
        // column has one readable record, until this call returns.
        let (writer, event) = unsafe { writing.with_event(kind, slice(columns, column_count)?)? };
        writer.emit_row(&event.snapshot, 0).map_err(refused)
    })
}

/// Gives the tick `tick` the name `name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_writer_mark(
    writer: KpReplayWriter,
    tick: u32,
    name: *const c_char,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this
        // call returns.
        let name = unsafe { memory::text(name)? };
        lock(&*WRITERS.get(writer.id)?).writer()?.mark(Tick(tick), name).map_err(refused)
    })
}

/// Stores the text `value` under the text `key`. The caller chooses both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_writer_note(
    writer: KpReplayWriter,
    key: *const c_char,
    value: *const c_char,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `key` points to a zero-terminated text and `value`
        // points to a zero-terminated text, until this call returns.
        let (key, value) = unsafe { (memory::text(key)?, memory::text(value)?) };
        lock(&*WRITERS.get(writer.id)?).writer()?.note(key, value).map_err(refused)
    })
}

/// Ends the file, and writes its size to `*out`. `out` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_replay_writer_finish(
    writer: KpReplayWriter,
    out: *mut KpReplaySummary,
) -> KpStatus {
    call(|| {
        if !out.is_null() {
            check_out(out)?;
        }
        let writer = lock(&*WRITERS.get(writer.id)?).writer.take().ok_or_else(finished)?;
        let summary = writer.finish().map_err(refused)?;
        if out.is_null() {
            return Ok(());
        }
        let described = KpReplaySummary {
            frames: summary.frames,
            groups: summary.groups,
            bytes: summary.bytes,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Frees a writer. A file that was not finished lacks its last second and its index, but can still
/// be read.
#[unsafe(no_mangle)]
pub extern "C" fn kp_replay_writer_free(writer: KpReplayWriter) -> KpStatus {
    call(|| WRITERS.remove(writer.id))
}

/// Creates a kill cam, which keeps the last `seconds` of a world with `rate_hz` ticks per second.
/// Pass a zero `events` if the world has no events. The caller frees `*out` with
/// `kp_kill_cam_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_kill_cam_new(
    codec: KpCodec,
    events: KpEvents,
    rate_hz: f64,
    seconds: f64,
    out: *mut KpKillCam,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let options = options_of(events, rate_hz)?;
        if !(0.001..=1e6).contains(&rate_hz) {
            return Err(Failure::argument("the rate is not between 0.001 and 1,000,000"));
        }
        let length = Duration::try_from_secs_f64(seconds).map_err(Failure::argument)?;
        let kill_cam = KillCam::new(&*CODECS.get(codec.id)?, &options, length);
        let id = KILL_CAMS.add(Mutex::new(Writing::new(kill_cam, options.events.as_ref())));
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpKillCam { id }) }
    })
}

/// Adds a snapshot. Its tick must be above the tick of the previous snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn kp_kill_cam_write(kill_cam: KpKillCam, world: KpSnapshot) -> KpStatus {
    call(|| {
        let (writing, world) = (KILL_CAMS.get(kill_cam.id)?, SNAPSHOTS.get(world.id)?);
        let (mut writing, world) = (lock(&writing), lock(&world));
        writing.writer()?.write(&world.snapshot).map_err(refused)
    })
}

/// Adds an event to the snapshot that is written next, like `kp_replay_writer_emit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_kill_cam_emit(
    kill_cam: KpKillCam,
    kind: u32,
    columns: *const KpColumn,
    column_count: usize,
) -> KpStatus {
    call(|| {
        let writing = KILL_CAMS.get(kill_cam.id)?;
        let mut writing = lock(&writing);
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and each
        // column has one readable record, until this call returns.
        let (kill_cam, event) = unsafe { writing.with_event(kind, slice(columns, column_count)?)? };
        kill_cam.emit_row(&event.snapshot, 0).map_err(refused)
    })
}

/// Cuts the ticks from `from_tick` to `to_tick`, both included, as a replay file for
/// `kp_kill_cam_take`. Writes the size of the file to `*size`. Returns `KP_STATUS_ARGUMENT` if
/// there is no snapshot between the two ticks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_kill_cam_cut(
    kill_cam: KpKillCam,
    from_tick: u32,
    to_tick: u32,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        check_out(size)?;
        let writing = KILL_CAMS.get(kill_cam.id)?;
        let mut writing = lock(&writing);
        let mut cut = Vec::new();
        let kill_cam = writing.writer()?;
        kill_cam.cut(Tick(from_tick), Tick(to_tick), &mut cut).map_err(refused)?;
        writing.cut = cut;
        // SAFETY: the caller guarantees that `size` is writable until this call returns.
        unsafe { put(size, writing.cut.len()) }
    })
}

/// Takes the replay file that was cut last: `*size` bytes, if they fit into `capacity`. A file can
/// be taken only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_kill_cam_take(
    kill_cam: KpKillCam,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let writing = KILL_CAMS.get(kill_cam.id)?;
        let mut writing = lock(&writing);
        if writing.cut.is_empty() {
            return Err(Failure::nothing("nothing was cut"));
        }
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&writing.cut, bytes, capacity, size)? };
        writing.cut = Vec::new();
        Ok(())
    })
}

/// Frees a kill cam.
#[unsafe(no_mangle)]
pub extern "C" fn kp_kill_cam_free(kill_cam: KpKillCam) -> KpStatus {
    call(|| KILL_CAMS.remove(kill_cam.id))
}

impl<T> Writing<T> {
    fn new(writer: T, events: Option<&EventKinds>) -> Self {
        let event = events.map(|events| World::new(events.codec().schema()));
        Self { writer: Some(writer), event, cut: Vec::new() }
    }

    fn writer(&mut self) -> Result<&mut T, Failure> {
        self.writer.as_mut().ok_or_else(finished)
    }

    /// Stores one record as the next event, and returns the writer with that event.
    ///
    /// # Safety
    /// Each column has one record.
    unsafe fn with_event(
        &mut self,
        kind: u32,
        columns: &[KpColumn],
    ) -> Result<(&mut T, &World), Failure> {
        let event = self.event.as_mut().ok_or_else(|| Failure::argument(ReplayError::NoEvents))?;
        // SAFETY: the caller guarantees that each column has the numbers of one record until this
        // call returns.
        unsafe { event.set_record(kind, columns)? };
        Ok((self.writer.as_mut().ok_or_else(finished)?, event))
    }
}

fn options_of(events: KpEvents, rate_hz: f64) -> Result<ReplayOptions, Failure> {
    Ok(ReplayOptions { events: events_of(events)?, ..ReplayOptions::at_hz(rate_hz) })
}

fn finished() -> Failure {
    Failure::nothing("the replay is finished")
}
