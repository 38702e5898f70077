//! Streams, which send records such as inputs and calls from a client to a server.

use std::ffi::c_char;
use std::sync::Mutex;

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{EncodeError, Schema};
use kinepack_net::{Sequence, StreamConfig, StreamReceiver, StreamSender};

use crate::KpStatus;
use crate::columns::{KpColumn, KpTarget, World, write_rows};
use crate::datagrams::{Next, channel};
use crate::handles::{Handles, lock};
use crate::memory::{
    self, check_out, duration, give, give_list, optional, or_default, put, slice, time,
};
use crate::schema::{KpSchema, SCHEMAS};
use crate::status::{Failure, call};

/// Sends the records of a client. A sender has no socket and no clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpStreamSender {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static SENDERS: Handles<Mutex<Sender>> = Handles::new(11, "a sender of a stream");

/// Receives the records of one client.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpStreamReceiver {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static STREAM_RECEIVERS: Handles<Mutex<Received>> =
    Handles::new(12, "a receiver of a stream");

/// A sender, the quantizer of its records, and the datagram that the caller takes next.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) sender: StreamSender,
    records: World,
    next: Next<()>,
}

/// A receiver, and the records of the last datagram.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) receiver: StreamReceiver,
    pub(crate) schema: Schema,
    records: Vec<KpRecord>,
    /// The lanes of the records of the last datagram, one record after another.
    lanes: Vec<u32>,
}

/// The settings of a stream. Both ends need the same options. A number of 0 selects the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpStreamOptions {
    /// The longest round trip without extra cost. Default: 500.
    pub longest_round_trip_ms: u32,
    /// How many earlier records each packet repeats, up to 15. Default: 1. A negative number means
    /// no repeats.
    pub repeats: i32,
    /// The maximum number of records that a receiver accepts at once, at least 16. Default: 64.
    pub burst_records: u32,
    /// The channel of the stream, which distinguishes streams on one connection.
    pub channel: u32,
    /// The largest datagram that the transport carries. Default: 1,200.
    pub datagram_bytes: u32,
    /// The number of the first record.
    pub first_number: u16,
}

/// A record that has arrived.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpRecord {
    /// The number that `kp_stream_push` returned to the sender.
    pub number: u16,
    /// Not 0 if the record arrived as a repeat, because its own packet is missing.
    pub is_repeated: u8,
    /// Not 0 if a newer record arrived before this one.
    pub is_late: u8,
}

/// Creates a sender of records of a schema with one kind, at most `rate_hz` a second. `level` is
/// "packed" or "adaptive". `options` may be null. The caller frees `*out` with
/// `kp_stream_sender_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_sender_new(
    schema: KpSchema,
    level: *const c_char,
    rate_hz: u32,
    options: *const KpStreamOptions,
    out: *mut KpStreamSender,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `level` points to a zero-terminated text and `options`
        // is null or readable, until this call returns.
        let (codec, config) = unsafe { described(schema, level, rate_hz, options)? };
        let sender = StreamSender::new(&codec, config).map_err(Failure::argument)?;
        let records = World::new(codec.schema());
        let sending = Sender { sender, records, next: Next::default() };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpStreamSender { id: SENDERS.add(Mutex::new(sending)) }) }
    })
}

/// Adds a record, with a column of one record for each field, and writes its number. `number` may
/// be null. After an error, no record was added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_push(
    sender: KpStreamSender,
    columns: *const KpColumn,
    column_count: usize,
    number: *mut u16,
) -> KpStatus {
    call(|| {
        if !number.is_null() {
            check_out(number)?;
        }
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and each
        // column has one readable record, until this call returns.
        let pushed = unsafe { push(sender, columns, column_count, StreamSender::push_lanes)? };
        if number.is_null() {
            return Ok(());
        }
        // SAFETY: the caller guarantees that `number` is writable until this call returns.
        unsafe { put(number, pushed.0) }
    })
}

/// Writes the packet of the newest records. Each packet is returned once. Returns
/// `KP_STATUS_NOTHING` if there is no packet now. If `capacity` is too small, only `*size` is
/// written, and the packet is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_poll(
    sender: KpStreamSender,
    datagram: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let sender = SENDERS.get(sender.id)?;
        let mut sender = lock(&sender);
        let Sender { sender, next, .. } = &mut *sender;
        let poll = || sender.poll_transmit().map(|bytes| ((), bytes.to_vec()));
        // SAFETY: the caller guarantees that `datagram` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { next.give(poll, datagram, capacity, size) }
    })
}

/// Handles an acknowledgement. Returns `KP_STATUS_DATA` for an invalid acknowledgement, which
/// changes only a counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_sender_handle(
    sender: KpStreamSender,
    datagram: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `datagram` has `size` readable bytes until this call
        // returns.
        let datagram = unsafe { slice(datagram, size)? };
        lock(&*SENDERS.get(sender.id)?).sender.handle(datagram).map(drop).map_err(Failure::data)
    })
}

/// Frees a sender of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn kp_stream_sender_free(sender: KpStreamSender) -> KpStatus {
    call(|| SENDERS.remove(sender.id))
}

/// Creates a receiver for the records of one client, with the same arguments as its sender.
/// `options` may be null. The caller frees `*out` with `kp_stream_receiver_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_receiver_new(
    schema: KpSchema,
    level: *const c_char,
    rate_hz: u32,
    options: *const KpStreamOptions,
    out: *mut KpStreamReceiver,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `level` points to a zero-terminated text and `options`
        // is null or readable, until this call returns.
        let (codec, config) = unsafe { described(schema, level, rate_hz, options)? };
        let receiver = StreamReceiver::new(&codec, config).map_err(Failure::argument)?;
        let schema = codec.schema().clone();
        let received = Received { receiver, schema, records: Vec::new(), lanes: Vec::new() };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpStreamReceiver { id: STREAM_RECEIVERS.add(Mutex::new(received)) }) }
    })
}

/// Handles a packet, and writes the number of its new records, at most 16, to `*count`. Read these
/// records with `kp_stream_read`, oldest first. Returns `KP_STATUS_DATA` for a refused packet, such
/// as a duplicate, which changes only a counter. Times are nanoseconds since any fixed moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_receiver_handle(
    receiver: KpStreamReceiver,
    now_ns: u64,
    datagram: *const u8,
    size: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        check_out(count)?;
        // SAFETY: the caller guarantees that `datagram` has `size` readable bytes until this call
        // returns.
        let datagram = unsafe { slice(datagram, size)? };
        let received = STREAM_RECEIVERS.get(receiver.id)?;
        let mut received = lock(&received);
        let Received { receiver, records, lanes, .. } = &mut *received;
        let handled = receiver.handle(time(now_ns), datagram).map_err(Failure::data)?;
        records.clear();
        lanes.clear();
        for record in handled.records() {
            let Sequence(number) = record.number;
            let [is_repeated, is_late] = [record.repeated, record.late].map(u8::from);
            records.push(KpRecord { number, is_repeated, is_late });
            lanes.extend(record.lanes);
        }
        // SAFETY: the caller guarantees that `count` is writable until this call returns.
        unsafe { put(count, records.len()) }
    })
}

/// Writes the records of the last packet: `*count` records to `records`, if they fit into
/// `capacity`. Writes the numbers of these records to a target for each field. `records` may be
/// null if `capacity` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_read(
    receiver: KpStreamReceiver,
    records: *mut KpRecord,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        let received = STREAM_RECEIVERS.get(receiver.id)?;
        let received = lock(&received);
        let Received { schema, records: given, lanes, .. } = &*received;
        let of_record = |row: usize, words: &mut [u64]| {
            schema.reconstruct_raw(&lanes[row * words.len()..][..words.len()], words)
        };
        // SAFETY: the caller guarantees that `targets` has `target_count` valid targets, `records`
        // has `capacity` writable values, `count` is writable and each target has writable memory
        // for `capacity` records, until this call returns.
        unsafe {
            let targets = slice(targets, target_count)?;
            give_list(given.iter().copied(), records, capacity, count)?;
            write_rows(schema.fields(), targets, given.len(), capacity, of_record)
        }
    })
}

/// Writes the acknowledgement for the sender: `*size` bytes, at most 6, if they fit into
/// `capacity`. Send it a few times within the longest round trip, alone or in front of another
/// datagram. If you put it in front of a hub's datagrams, reduce `datagram_bytes` of the hub by 6.
/// Returns `KP_STATUS_NOTHING` before the first packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_acknowledgement(
    receiver: KpStreamReceiver,
    datagram: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let mut bytes = Vec::new();
        let received = STREAM_RECEIVERS.get(receiver.id)?;
        if !lock(&received).receiver.write_acknowledgement(&mut bytes) {
            return Err(Failure::nothing("no packet has arrived yet"));
        }
        // SAFETY: the caller guarantees that `datagram` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&bytes, datagram, capacity, size) }
    })
}

/// Frees a receiver of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn kp_stream_receiver_free(receiver: KpStreamReceiver) -> KpStatus {
    call(|| STREAM_RECEIVERS.remove(receiver.id))
}

/// Adds a record with `push_lanes`, and returns its number.
///
/// # Safety
/// `columns` has `column_count` valid columns, and each column has one readable record.
pub(crate) unsafe fn push(
    sender: KpStreamSender,
    columns: *const KpColumn,
    column_count: usize,
    push_lanes: impl FnOnce(&mut StreamSender, &[u32]) -> Result<Sequence, EncodeError>,
) -> Result<Sequence, Failure> {
    let sender = SENDERS.get(sender.id)?;
    let mut sender = lock(&sender);
    let Sender { sender, records, .. } = &mut *sender;
    // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and each column
    // has one readable record, until this call returns.
    unsafe { records.set_record(0, slice(columns, column_count)?)? };
    let lanes: Vec<u32> = records.snapshot.lanes_at(0).collect();
    push_lanes(sender, &lanes).map_err(Failure::argument)
}

/// Makes the codec and the configuration of a stream.
///
/// # Safety
/// `level` points to a zero-terminated text, and `options` is null or points to options.
unsafe fn described(
    schema: KpSchema,
    level: *const c_char,
    rate_hz: u32,
    options: *const KpStreamOptions,
) -> Result<(StreamCodec, StreamConfig), Failure> {
    // SAFETY: the caller guarantees that `level` points to a zero-terminated text and `options` is
    // null or readable, until this call returns.
    let (codec, options) = unsafe { (codec_of(schema, level)?, optional(options)?) };
    let mut config = StreamConfig::at_hz(rate_hz);
    if let Some(options) = options {
        let StreamConfig { longest_round_trip, datagram_bytes, .. } = &mut config;
        *longest_round_trip =
            or_default(duration(options.longest_round_trip_ms), *longest_round_trip);
        *datagram_bytes = or_default(options.datagram_bytes as usize, *datagram_bytes);
        if options.repeats != 0 {
            let repeats = u8::try_from(options.repeats.max(0));
            config.repeats = repeats.map_err(|_| Failure::argument("more than 15 repeats"))?;
        }
        if options.burst_records != 0 {
            let burst = u16::try_from(options.burst_records);
            config.burst_records = burst.map_err(|_| Failure::argument("too large a burst"))?;
        }
        config.channel = channel(options.channel)?;
        config.first_number = Sequence(options.first_number);
    }
    Ok((codec, config))
}

/// Makes the codec of a stream.
///
/// # Safety
/// `level` points to a zero-terminated text.
pub(crate) unsafe fn codec_of(
    schema: KpSchema,
    level: *const c_char,
) -> Result<StreamCodec, Failure> {
    // SAFETY: the caller guarantees that `level` points to a zero-terminated text until this call
    // returns.
    let level = unsafe { memory::text(level)? };
    let level = StreamLevel::named(level).ok_or_else(|| {
        let levels = "use packed or adaptive";
        Failure::argument(format!("no level of a stream is named {level:?}; {levels}"))
    })?;
    let schema = Schema::clone(&*SCHEMAS.get(schema.id)?);
    StreamCodec::new(schema, level).map_err(Failure::argument)
}
