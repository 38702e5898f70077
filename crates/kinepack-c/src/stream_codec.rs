//! Codecs of streams. They convert records to packets and back, without headers, for custom
//! protocols.

use std::ffi::c_char;
use std::sync::Mutex;

use kinepack::EntityId;
use kinepack::stream::{Learned, StreamBase, StreamCodec};

use crate::KpStatus;
use crate::columns::{KpColumn, KpTarget, World, write_rows};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give, put, slice};
use crate::schema::KpSchema;
use crate::status::{Failure, call};
use crate::stream::codec_of;

/// The maximum number of records per packet that this interface writes or reads.
const MAX_RECORDS: usize = 4096;

/// A codec of streams. Both sides need the same codec.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpStreamCodec {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static STREAM_CODECS: Handles<Coding> = Handles::new(22, "a codec of streams");

/// The base that a packet is coded against. It contains a record that both sides hold, and the
/// model trained up to that record. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpStreamBase {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static BASES: Handles<Base> = Handles::new(23, "a base of a stream");

/// A codec, and scratch memory for encoding.
#[derive(Debug)]
pub(crate) struct Coding {
    codec: StreamCodec,
    scratch: Mutex<Scratch>,
}

#[derive(Debug)]
struct Scratch {
    records: World,
    lanes: Vec<u32>,
    packet: Vec<u8>,
}

/// The lanes of a record, and the model trained up to that record. The base before the first record
/// has no lanes.
#[derive(Debug)]
pub(crate) struct Base {
    codec_hash: u64,
    record: Option<Vec<u32>>,
    learned: Learned,
}

/// Creates a codec for records of a schema with one kind. `level` is "packed" or "adaptive". The
/// caller frees `*out` with `kp_stream_codec_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_codec_new(
    schema: KpSchema,
    level: *const c_char,
    out: *mut KpStreamCodec,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `level` points to a zero-terminated text until this
        // call returns.
        let codec = unsafe { codec_of(schema, level)? };
        let records = World::new(codec.schema());
        let scratch = Mutex::new(Scratch { records, lanes: Vec::new(), packet: Vec::new() });
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpStreamCodec { id: STREAM_CODECS.add(Coding { codec, scratch }) }) }
    })
}

/// Writes a hash of the schema and the level. If two sides have equal hashes, they have the same
/// codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_codec_hash(codec: KpStreamCodec, hash: *mut u64) -> KpStatus {
    call(|| {
        let value = STREAM_CODECS.get(codec.id)?.codec.hash();
        // SAFETY: the caller guarantees that `hash` is writable until this call returns.
        unsafe { put(hash, value) }
    })
}

/// Frees a codec of streams. Bases made with the codec remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn kp_stream_codec_free(codec: KpStreamCodec) -> KpStatus {
    call(|| STREAM_CODECS.remove(codec.id))
}

/// Creates the base before the first record. A packet that is coded against this base needs no
/// earlier packet. The caller frees `*out` with `kp_stream_base_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_base_new(
    codec: KpStreamCodec,
    out: *mut KpStreamBase,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let codec = &STREAM_CODECS.get(codec.id)?.codec;
        let learned = codec.nothing_learned();
        let base = Base { codec_hash: codec.hash(), record: None, learned };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpStreamBase { id: BASES.add(base) }) }
    })
}

/// Frees a base of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn kp_stream_base_free(base: KpStreamBase) -> KpStatus {
    call(|| BASES.remove(base.id))
}

/// Encodes 1 to 4,096 records, oldest first, with a column for each field. The records are coded
/// against a base that the other side holds. `lag` is the distance in records from the base to the
/// first record, at least 1. If the base is the one before the first record, `lag` is ignored. The
/// other side also needs the number of records, the base and the lag, because the packet does not
/// contain them.
///
/// Writes the packet, of `*size` bytes, and returns the base of its last record in `*last`. If
/// `capacity` is too small, only `*size` is written. The caller frees `*last` with
/// `kp_stream_base_free`. `last` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_encode(
    codec: KpStreamCodec,
    base: KpStreamBase,
    lag: u16,
    columns: *const KpColumn,
    column_count: usize,
    record_count: usize,
    packet: *mut u8,
    capacity: usize,
    size: *mut usize,
    last: *mut KpStreamBase,
) -> KpStatus {
    call(|| {
        if !last.is_null() {
            check_out(last)?;
        }
        let (coding, base) = (STREAM_CODECS.get(codec.id)?, BASES.get(base.id)?);
        let known = base.of(&coding.codec, lag, record_count)?;
        let ids: Vec<EntityId> = (0..record_count as u32).map(EntityId).collect();
        let Scratch { records, lanes, packet: bytes } = &mut *lock(&coding.scratch);
        records.snapshot.clear(records.snapshot.tick);
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and each
        // column has `record_count` readable records, until this call returns.
        unsafe { records.add(0, &ids, slice(columns, column_count)?)? };
        lanes.clear();
        for row in 0..record_count {
            lanes.extend(records.snapshot.lanes_at(row));
        }
        bytes.clear();
        let mut learned = coding.codec.nothing_learned();
        coding.codec.encode(known, lanes, &mut learned, bytes).map_err(Failure::argument)?;
        // SAFETY: the caller guarantees that `packet` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(bytes, packet, capacity, size)? };
        if last.is_null() {
            return Ok(());
        }
        let base = Base::after(&coding.codec, lanes, learned);
        // SAFETY: the caller guarantees that `last` is writable until this call returns.
        unsafe { put(last, KpStreamBase { id: BASES.add(base) }) }
    })
}

/// Decodes a packet of 1 to 4,096 records that was encoded against the same base, with the same
/// lag. Writes the numbers of the records, oldest first, to a target for each field, with room for
/// `record_count` records. Returns the base of the last record in `*last`, which the caller frees
/// with `kp_stream_base_free`. Any bytes are either refused or decoded to valid records.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_decode(
    codec: KpStreamCodec,
    base: KpStreamBase,
    lag: u16,
    packet: *const u8,
    size: usize,
    record_count: usize,
    targets: *const KpTarget,
    target_count: usize,
    last: *mut KpStreamBase,
) -> KpStatus {
    call(|| {
        check_out(last)?;
        // SAFETY: the caller guarantees that `packet` has `size` readable bytes and `targets` has
        // `target_count` valid targets, until this call returns.
        let (packet, targets) = unsafe { (slice(packet, size)?, slice(targets, target_count)?) };
        let (coding, base) = (STREAM_CODECS.get(codec.id)?, BASES.get(base.id)?);
        let codec = &coding.codec;
        let known = base.of(codec, lag, record_count)?;
        let mut lanes = vec![0; record_count * codec.lanes()];
        let mut learned = codec.nothing_learned();
        codec.decode(known, &mut lanes, &mut learned, packet).map_err(Failure::data)?;
        let schema = codec.schema();
        let read = |row: usize, words: &mut [u64]| {
            schema.reconstruct_raw(&lanes[row * words.len()..][..words.len()], words)
        };
        // SAFETY: the caller guarantees that each target has writable memory for `record_count`
        // records until this call returns.
        unsafe { write_rows(schema.fields(), targets, record_count, record_count, read)? };
        let base = Base::after(codec, &lanes, learned);
        // SAFETY: the caller guarantees that `last` is writable until this call returns.
        unsafe { put(last, KpStreamBase { id: BASES.add(base) }) }
    })
}

impl Base {
    /// The base at the last of the records in `lanes`.
    fn after(codec: &StreamCodec, lanes: &[u32], learned: Learned) -> Self {
        let record = lanes[lanes.len() - codec.lanes()..].to_vec();
        Self { codec_hash: codec.hash(), record: Some(record), learned }
    }

    /// The base of a packet, after all arguments are checked.
    fn of(
        &self,
        codec: &StreamCodec,
        lag: u16,
        record_count: usize,
    ) -> Result<Option<StreamBase<'_>>, Failure> {
        if record_count == 0 {
            return Err(Failure::argument("a packet has at least one record"));
        }
        if record_count > MAX_RECORDS {
            return Err(Failure::argument(format!(
                "{record_count} records; a packet has at most {MAX_RECORDS}"
            )));
        }
        if self.codec_hash != codec.hash() {
            return Err(Failure::argument("the base is of another codec"));
        }
        let Some(lanes) = &self.record else { return Ok(None) };
        if lag == 0 {
            return Err(Failure::argument("a record is at least 1 later than its base"));
        }
        Ok(Some(StreamBase { lanes, learned: &self.learned, lag }))
    }
}
