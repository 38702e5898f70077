//! Codecs of streams: records to packets and back, without headers, for a protocol of your own.

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

/// The most records of a packet that this interface writes or reads.
const MAX_RECORDS: usize = 4096;

/// A codec of streams. Both sides need the same.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpStreamCodec {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static STREAM_CODECS: Handles<Coding> = Handles::new(22, "a codec of streams");

/// What a packet is coded against: a record that both sides hold, and what was learned up to it. It does
/// not change.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpStreamBase {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static BASES: Handles<Base> = Handles::new(23, "a base of a stream");

/// A codec, and memory for the records to encode.
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

/// The lanes of a record, none before the first one, and what was learned with them.
#[derive(Debug)]
pub(crate) struct Base {
    codec_hash: u64,
    record: Option<Vec<u32>>,
    learned: Learned,
}

/// A codec of records of a schema with one kind, at a level ("packed" or "adaptive"). The caller frees
/// `*out` with `kp_stream_codec_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_codec_new(
    schema: KpSchema,
    level: *const c_char,
    out: *mut KpStreamCodec,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller lends a text.
        let codec = unsafe { codec_of(schema, level)? };
        let records = World::new(codec.schema());
        let scratch = Mutex::new(Scratch { records, lanes: Vec::new(), packet: Vec::new() });
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpStreamCodec { id: STREAM_CODECS.add(Coding { codec, scratch }) }) }
    })
}

/// A hash of the schema and the level: two sides with equal hashes have the same codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_codec_hash(codec: KpStreamCodec, hash: *mut u64) -> KpStatus {
    call(|| {
        let value = STREAM_CODECS.get(codec.id)?.codec.hash();
        // SAFETY: `hash` is the caller's.
        unsafe { put(hash, value) }
    })
}

/// Frees a codec of streams. Bases that were made with it live on.
#[unsafe(no_mangle)]
pub extern "C" fn kp_stream_codec_free(codec: KpStreamCodec) -> KpStatus {
    call(|| STREAM_CODECS.remove(codec.id))
}

/// The base before the first record: a packet against it needs no earlier one. The caller frees `*out`
/// with `kp_stream_base_free`.
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
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpStreamBase { id: BASES.add(base) }) }
    })
}

/// Frees a base of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn kp_stream_base_free(base: KpStreamBase) -> KpStatus {
    call(|| BASES.remove(base.id))
}

/// Encodes records, the oldest first: a column for each field, with 1 to 4,096 records. They are coded
/// against a base that the other side holds. `lag` says how many records later than the base the first
/// of them is, from 1; before the first record it does not matter. The other side needs the number of
/// records, the base and the lag too, since the packet has none of them.
///
/// Writes the packet, of `*size` bytes, and gives the base that its last record is. If `capacity` is too
/// small, only `*size` is written. The caller frees `*last` with `kp_stream_base_free`; `last` may be
/// null.
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
        // SAFETY: the caller lends the columns, which have `record_count` records.
        unsafe { records.add(0, &ids, slice(columns, column_count)?)? };
        lanes.clear();
        for row in 0..record_count {
            lanes.extend(records.snapshot.lanes_at(row));
        }
        bytes.clear();
        let mut learned = coding.codec.nothing_learned();
        coding.codec.encode(known, lanes, &mut learned, bytes).map_err(Failure::argument)?;
        // SAFETY: the caller lends `capacity` bytes and `size`.
        unsafe { give(bytes, packet, capacity, size)? };
        if last.is_null() {
            return Ok(());
        }
        let base = Base::after(&coding.codec, lanes, learned);
        // SAFETY: `last` is the caller's.
        unsafe { put(last, KpStreamBase { id: BASES.add(base) }) }
    })
}

/// Decodes a packet of 1 to 4,096 records that was encoded against the same base, with the same lag.
/// Writes the numbers of the records, the oldest first: a target for each field, with room for
/// `record_count` records. Gives the base that its last record is; the caller frees `*last` with
/// `kp_stream_base_free`. Any bytes are refused or are valid records.
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
        // SAFETY: the caller lends the packet and the targets.
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
        // SAFETY: the caller lends memory for `record_count` records at each target.
        unsafe { write_rows(schema.fields(), targets, record_count, record_count, read)? };
        let base = Base::after(codec, &lanes, learned);
        // SAFETY: `last` is the caller's.
        unsafe { put(last, KpStreamBase { id: BASES.add(base) }) }
    })
}

impl Base {
    /// The last of some records.
    fn after(codec: &StreamCodec, lanes: &[u32], learned: Learned) -> Self {
        let record = lanes[lanes.len() - codec.lanes()..].to_vec();
        Self { codec_hash: codec.hash(), record: Some(record), learned }
    }

    /// The base of a packet, once all arguments are checked.
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
