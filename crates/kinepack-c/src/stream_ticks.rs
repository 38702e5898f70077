//! Records for the ticks of a server: the client numbers its inputs by ticks, and the server reads
//! the input of each tick.

use kinepack::Tick;

use crate::KpStatus;
use crate::columns::{KpColumn, KpTarget, write_rows};
use crate::handles::lock;
use crate::memory::{check_out, put, slice, time};
use crate::status::call;
use crate::stream::{KpStreamReceiver, KpStreamSender, Received, STREAM_RECEIVERS, push};

/// A receiver's view of its stream.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpStreamReceiverStatus {
    /// The number of packets accepted.
    pub packets: u64,
    /// The number of packets refused, including duplicates.
    pub refused: u64,
    /// The bytes of the accepted packets.
    pub bytes: u64,
    /// The number of records that arrived, each once.
    pub records: u64,
    /// How many of these arrived as repeats, because their own packet is missing.
    pub recovered: u64,
    /// The number of ticks whose record had arrived in time for `kp_stream_read_for_tick`.
    pub in_time: u64,
    /// The number of ticks without a record, because it was lost or late.
    pub missed: u64,
}

/// Like `kp_stream_push`, but adds the record of a tick of the server, as `kp_input_clock_ticks`
/// asks for it. The record's number is the tick modulo 65,536. Ticks that the clock skipped have no
/// record. If the tick is not after that of the newest record, or 32,768 or more after it, the
/// sender forgets all records and begins anew.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_push_for_tick(
    sender: KpStreamSender,
    tick: u32,
    columns: *const KpColumn,
    column_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and each
        // column has one readable record, until this call returns.
        let pushed = unsafe {
            push(sender, columns, column_count, |sender, lanes| {
                sender.push_lanes_for_tick(Tick(tick), lanes)
            })
        };
        pushed.map(drop)
    })
}

/// Reads the record for a tick, which the server simulates at `now_ns`, to a target for each field.
/// If the record did not arrive in time, writes no numbers, and 0 to `*in_time`. Most games then
/// repeat the last input, so let the targets be where that is. `in_time` may be null.
///
/// Call this function once for each tick, in order, instead of `kp_stream_read`. From then on,
/// acknowledgements tell the client's `KpInputClock` how early its records arrive. Send one after
/// each tick, because the clock follows the network only as fast as they arrive.
/// `longest_round_trip_ms` must be at least the time from sending a record until its tick.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_read_for_tick(
    receiver: KpStreamReceiver,
    now_ns: u64,
    tick: u32,
    targets: *const KpTarget,
    target_count: usize,
    in_time: *mut i32,
) -> KpStatus {
    call(|| {
        if !in_time.is_null() {
            check_out(in_time)?;
        }
        let received = STREAM_RECEIVERS.get(receiver.id)?;
        let mut received = lock(&received);
        let Received { receiver, schema, .. } = &mut *received;
        let tick = Tick(tick);
        let record = receiver.record(tick.into());
        let is_in_time = record.is_some();
        let of_record = |_: usize, words: &mut [u64]| {
            record.map_or(Ok(()), |lanes| schema.reconstruct_raw(lanes, words))
        };
        // SAFETY: the caller guarantees that `targets` has `target_count` valid targets and each
        // target has writable memory for a record, until this call returns.
        unsafe {
            let targets = slice(targets, target_count)?;
            write_rows(schema.fields(), targets, is_in_time.into(), 1, of_record)?;
        }
        // The tick counts only after all arguments were accepted.
        receiver.record_for_tick(time(now_ns), tick);
        if in_time.is_null() {
            return Ok(());
        }
        // SAFETY: the caller guarantees that `in_time` is writable until this call returns.
        unsafe { put(in_time, is_in_time.into()) }
    })
}

/// Writes a receiver's view of its stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_stream_receiver_status(
    receiver: KpStreamReceiver,
    out: *mut KpStreamReceiverStatus,
) -> KpStatus {
    call(|| {
        let stats = lock(&*STREAM_RECEIVERS.get(receiver.id)?).receiver.stats();
        let described = KpStreamReceiverStatus {
            packets: stats.packets,
            refused: stats.refused(),
            bytes: stats.bytes,
            records: stats.records,
            recovered: stats.recovered,
            in_time: stats.in_time,
            missed: stats.missed,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}
