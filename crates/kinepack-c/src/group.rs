//! Groups, which are runs of snapshots for files and reliable connections. Each snapshot is coded
//! against the previous ones.

use std::sync::Mutex;

use kinepack::View;
use kinepack::group::{GroupReader, GroupWriter};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::coding::{KpView, VIEWS};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give, put, slice};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// Writes groups.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpGroupWriter {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static GROUP_WRITERS: Handles<Mutex<Writing>> = Handles::new(20, "a writer of groups");

/// Reads groups.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpGroupReader {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static GROUP_READERS: Handles<Mutex<Reading>> = Handles::new(21, "a reader of groups");

/// A writer, and the frames that the caller has not taken yet.
#[derive(Debug)]
pub(crate) struct Writing {
    writer: GroupWriter,
    bytes: Vec<u8>,
}

/// A reader, and the hash of its schema.
#[derive(Debug)]
pub(crate) struct Reading {
    reader: GroupReader,
    schema_hash: u64,
}

/// Creates a writer at the beginning of a group. The caller frees `*out` with
/// `kp_group_writer_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_group_writer_new(codec: KpCodec, out: *mut KpGroupWriter) -> KpStatus {
    call(|| {
        check_out(out)?;
        let writer = GroupWriter::new(&*CODECS.get(codec.id)?);
        let writing = Mutex::new(Writing { writer, bytes: Vec::new() });
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpGroupWriter { id: GROUP_WRITERS.add(writing) }) }
    })
}

/// Begins the next group. `given` is a view that the reader will be given too. If it is zero, the
/// group does not depend on anything before it.
#[unsafe(no_mangle)]
pub extern "C" fn kp_group_writer_begin(writer: KpGroupWriter, given: KpView) -> KpStatus {
    call(|| {
        let given = view_of(given)?;
        lock(&*GROUP_WRITERS.get(writer.id)?).writer.begin(given);
        Ok(())
    })
}

/// Adds a frame. Its tick must be above the tick of the previous frame.
#[unsafe(no_mangle)]
pub extern "C" fn kp_group_write(writer: KpGroupWriter, world: KpSnapshot) -> KpStatus {
    call(|| {
        let (writing, world) = (GROUP_WRITERS.get(writer.id)?, SNAPSHOTS.get(world.id)?);
        let Writing { writer, bytes } = &mut *lock(&writing);
        writer.write(&lock(&world).snapshot, bytes).map_err(Failure::argument)?;
        Ok(())
    })
}

/// Takes the frames added since the last call: `*size` bytes, if they fit into `capacity`.
/// Otherwise the frames are kept. Returns `KP_STATUS_NOTHING` if no frames were added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_group_take(
    writer: KpGroupWriter,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let writing = GROUP_WRITERS.get(writer.id)?;
        let Writing { bytes: written, .. } = &mut *lock(&writing);
        if written.is_empty() {
            return Err(Failure::nothing("no frame was added"));
        }
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(written, bytes, capacity, size)? };
        written.clear();
        Ok(())
    })
}

/// Frees a writer of groups.
#[unsafe(no_mangle)]
pub extern "C" fn kp_group_writer_free(writer: KpGroupWriter) -> KpStatus {
    call(|| GROUP_WRITERS.remove(writer.id))
}

/// Creates a reader at the beginning of a group. The caller frees `*out` with
/// `kp_group_reader_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_group_reader_new(codec: KpCodec, out: *mut KpGroupReader) -> KpStatus {
    call(|| {
        check_out(out)?;
        let codec = CODECS.get(codec.id)?;
        let (reader, schema_hash) = (GroupReader::new(&codec), codec.schema().hash());
        let reading = Mutex::new(Reading { reader, schema_hash });
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpGroupReader { id: GROUP_READERS.add(reading) }) }
    })
}

/// Begins the next group, with the view that the group's writer was given, or with zero.
#[unsafe(no_mangle)]
pub extern "C" fn kp_group_reader_begin(reader: KpGroupReader, given: KpView) -> KpStatus {
    call(|| {
        let given = view_of(given)?;
        lock(&*GROUP_READERS.get(reader.id)?).reader.begin(given);
        Ok(())
    })
}

/// Reads the frame at the beginning of `bytes` into a snapshot of the same schema, and writes the
/// frame's length to `*used`. Returns `KP_STATUS_NOTHING` if `size` is 0. Returns `KP_STATUS_DATA`
/// for an invalid or incomplete frame. In both cases, nothing changes. The connection or the file
/// must guarantee that the bytes are unaltered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_group_read(
    reader: KpGroupReader,
    bytes: *const u8,
    size: usize,
    snapshot: KpSnapshot,
    used: *mut usize,
) -> KpStatus {
    call(|| {
        check_out(used)?;
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes until this call
        // returns.
        let mut rest = unsafe { slice(bytes, size)? };
        let (reading, world) = (GROUP_READERS.get(reader.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut reading, mut world) = (lock(&reading), lock(&world));
        let Reading { reader, schema_hash } = &mut *reading;
        world.check_schema(*schema_hash, "group")?;
        let view = reader.read(&mut rest).map_err(Failure::data)?;
        let view = view.ok_or_else(|| Failure::nothing("there is no further frame"))?;
        world.snapshot.copy_from(view.snapshot());
        // SAFETY: the caller guarantees that `used` is writable until this call returns.
        unsafe { put(used, size - rest.len()) }
    })
}

/// Frees a reader of groups.
#[unsafe(no_mangle)]
pub extern "C" fn kp_group_reader_free(reader: KpGroupReader) -> KpStatus {
    call(|| GROUP_READERS.remove(reader.id))
}

fn view_of(given: KpView) -> Result<Option<View>, Failure> {
    match given.id {
        0 => Ok(None),
        id => Ok(Some(View::clone(&*VIEWS.get(id)?))),
    }
}
