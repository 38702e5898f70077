//! Receivers, which decode, buffer and interpolate the world of a hub.

use std::sync::Mutex;

use kinepack::EntityId;
use kinepack_net::{Receiver, ReceiverConfig};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::datagrams::{Next, channel};
use crate::events::{KpEvents, events_of};
use crate::handles::{Handles, lock};
use crate::memory::{
    self, check_out, duration, milliseconds, optional, or_default, put, slice, time,
};
use crate::seen::KpSeen;
use crate::shown::{KpPlayback, KpShown, Shown, nothing_yet};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// Receives the world of a hub. A receiver has no socket and no clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpReceiver {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static RECEIVERS: Handles<Mutex<Receiving>> = Handles::new(9, "a receiver");

/// A receiver, the state that it shows, and the datagram that the caller takes next.
#[derive(Debug)]
pub(crate) struct Receiving {
    pub(crate) receiver: Receiver,
    pub(crate) shown: Shown,
    next: Next<()>,
}

/// The settings of a receiver. A number of 0 selects the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpReceiverOptions {
    /// The channel of the hub, which distinguishes hubs on one connection.
    pub channel: u32,
    /// The shortest delay of the shown state. By default, it depends on the network alone.
    pub min_delay_ms: u32,
    /// The longest delay of the shown state. Default: 500.
    pub max_delay_ms: u32,
    /// The longest time over which an entity's motion is blended. If an entity was not refreshed
    /// for longer than this, its motion takes this time and ends in the newest state. Playback does
    /// not wait for entities whose turns, as in `KpRing`, are longer than this. Default: 250.
    pub longest_blend_ms: u32,
    /// The maximum memory for views and states, in bytes. Default: 128 MiB.
    pub max_memory_bytes: u64,
    /// The kinds of events of the hub, or zero for no events.
    pub events: KpEvents,
}

/// The receiver's view of its connection.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpReceiverStatus {
    /// Not 0 if a snapshot was accepted.
    pub joined: i32,
    /// The number of datagrams accepted.
    pub received: u64,
    /// The number of datagrams refused, including duplicates.
    pub refused: u64,
    /// The number of missing datagrams of the hub.
    pub lost: u64,
    /// The number of bytes of all datagrams.
    pub bytes: u64,
    /// The smoothed time from sending an acknowledgement to the first snapshot that builds on it.
    /// Negative before the first such snapshot.
    pub round_trip_ms: f64,
    /// The fractional tick that the server simulates now. It is negative while it is unknown.
    pub server_tick: f64,
}

/// Creates a receiver for a hub with `tick_hz` ticks per second. `options` may be null. The caller
/// frees `*out` with `kp_receiver_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_new(
    codec: KpCodec,
    tick_hz: u32,
    options: *const KpReceiverOptions,
    out: *mut KpReceiver,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let codec = CODECS.get(codec.id)?;
        let mut config = ReceiverConfig::at_hz(tick_hz);
        let mut events = None;
        // SAFETY: the caller guarantees that `options` is null or readable until this call returns.
        if let Some(options) = unsafe { optional(options)? } {
            config.channel = channel(options.channel)?;
            let ReceiverConfig { playout, longest_blend, max_memory_bytes, .. } = &mut config;
            playout.min_delay = or_default(duration(options.min_delay_ms), playout.min_delay);
            playout.max_delay = or_default(duration(options.max_delay_ms), playout.max_delay);
            *longest_blend = or_default(duration(options.longest_blend_ms), *longest_blend);
            *max_memory_bytes =
                or_default(memory::size(options.max_memory_bytes), *max_memory_bytes);
            events = events_of(options.events)?;
        }
        let mut receiver = Receiver::new(&codec, config).map_err(Failure::argument)?;
        if let Some(events) = &events {
            receiver = receiver.with_events(events);
        }
        let shown = Shown::new(codec.schema(), events.as_ref());
        let receiving = Receiving { receiver, shown, next: Next::default() };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpReceiver { id: RECEIVERS.add(Mutex::new(receiving)) }) }
    })
}

/// Handles a datagram from the hub. Returns `KP_STATUS_DATA` for a refused datagram, such as a
/// duplicate, which changes only counters. All times are nanoseconds since any fixed moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_handle(
    receiver: KpReceiver,
    now_ns: u64,
    datagram: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `datagram` has `size` readable bytes until this call
        // returns.
        let datagram = unsafe { slice(datagram, size)? };
        let receiver = RECEIVERS.get(receiver.id)?;
        let handled = lock(&receiver).receiver.handle(time(now_ns), datagram);
        handled.map(drop).map_err(Failure::data)
    })
}

/// Writes the next datagram for the hub. Returns `KP_STATUS_NOTHING` if there is no datagram now.
/// If `capacity` is too small, only `*size` is written, and the datagram is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_poll(
    receiver: KpReceiver,
    now_ns: u64,
    datagram: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        let mut receiver = lock(&receiver);
        let Receiving { receiver, next, .. } = &mut *receiver;
        let poll = || receiver.poll_transmit(time(now_ns)).map(|bytes| ((), bytes.to_vec()));
        // SAFETY: the caller guarantees that `datagram` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { next.give(poll, datagram, capacity, size) }
    })
}

/// Computes the state to show now, which is slightly delayed and interpolated. Read this state
/// through `kp_receiver_shown`. Returns `KP_STATUS_NOTHING` before the first state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_play(
    receiver: KpReceiver,
    now_ns: u64,
    out: *mut KpPlayback,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let receiver = RECEIVERS.get(receiver.id)?;
        let mut receiver = lock(&receiver);
        let Receiving { receiver, shown, .. } = &mut *receiver;
        let playback = receiver.playback(time(now_ns)).ok_or_else(nothing_yet)?;
        shown.begin(time(now_ns))?;
        let playback = shown.show(&playback)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, playback) }
    })
}

/// Returns the state that the receiver shows. The handle stays the same until `kp_receiver_free`,
/// which frees it too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_shown(receiver: KpReceiver, out: *mut KpShown) -> KpStatus {
    call(|| {
        let shown = lock(&*RECEIVERS.get(receiver.id)?).shown.handle();
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, shown) }
    })
}

/// Writes the stamp of what the last `kp_receiver_play` showed, for the inputs that the player
/// makes in view of it: see `kp_hub_rewind`. Before the first state, writes a stamp that says so,
/// and returns `KP_STATUS_NOTHING`. An input may have that stamp too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_seen(receiver: KpReceiver, out: *mut KpSeen) -> KpStatus {
    call(|| {
        let seen = lock(&*RECEIVERS.get(receiver.id)?).receiver.seen();
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSeen::of(seen)?)? };
        seen.map(drop).ok_or_else(nothing_yet)
    })
}

/// Makes all events due that have arrived, for programs that show the newest state and do not play.
/// An event becomes due only once, so `kp_receiver_play` will not show it again.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_take_events(receiver: KpReceiver) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        let Receiving { receiver, shown, .. } = &mut *lock(&receiver);
        shown.set_events(receiver.take_events())
    })
}

/// Writes the receiver's view of its connection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_status(
    receiver: KpReceiver,
    now_ns: u64,
    out: *mut KpReceiverStatus,
) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        let Receiving { receiver, .. } = &*lock(&receiver);
        let (status, stats) = (receiver.status(time(now_ns)), receiver.stats());
        let described = KpReceiverStatus {
            joined: status.joined.into(),
            received: stats.received,
            refused: stats.refused,
            lost: status.lost,
            bytes: stats.bytes,
            round_trip_ms: milliseconds(status.round_trip),
            server_tick: status.server_tick.unwrap_or(-1.0),
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Copies the newest state into a snapshot of the same schema, without delay or interpolation.
/// Returns `KP_STATUS_NOTHING` before the first state.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_newest(receiver: KpReceiver, snapshot: KpSnapshot) -> KpStatus {
    call(|| {
        let (receiver, world) = (RECEIVERS.get(receiver.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (receiver, mut world) = (lock(&receiver), lock(&world));
        let newest = receiver.receiver.newest().ok_or_else(nothing_yet)?;
        world.check_schema(newest.schema_hash(), "receiver")?;
        world.snapshot.copy_from(newest);
        Ok(())
    })
}

/// Changes a lane of an entity by one in the newest view, like a memory fault, so that this side's
/// state is wrong. Use this function only in tests and tools: state checks detect the fault, and
/// the hub sends the state again. Returns `KP_STATUS_NOTHING` if there is no such view, entity or
/// lane, or if the lane has only one value.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_inject_fault(
    receiver: KpReceiver,
    entity: u32,
    lane: u32,
) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        if lock(&receiver).receiver.inject_fault(EntityId(entity), lane as usize) {
            Ok(())
        } else {
            Err(Failure::nothing("there is no such lane in the newest view"))
        }
    })
}

/// Frees a receiver.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_free(receiver: KpReceiver) -> KpStatus {
    call(|| RECEIVERS.remove(receiver.id))
}
