//! Receivers: the world of a hub, decoded, buffered and interpolated.

use std::sync::Mutex;
use std::time::Duration;

use kinepack::EntityId;
use kinepack_net::{Receiver, ReceiverConfig};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::columns::KpTarget;
use crate::datagrams::{Next, channel};
use crate::events::{KpEvents, events_of};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, milliseconds, optional, put, slice, time};
use crate::showing::{
    KpEvent, KpPlayback, Showing, Shows, Which, nothing_yet, write_ids, write_numbers,
};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// Receives the world of a hub. It has no socket and no clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpReceiver {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static RECEIVERS: Handles<Mutex<Receiving>> = Handles::new(9, "a receiver");

/// A receiver, what it shows, and the datagram that the caller takes next.
#[derive(Debug)]
pub(crate) struct Receiving {
    receiver: Receiver,
    showing: Showing,
    next: Next<()>,
}

impl Shows for Receiving {
    fn showing(&self) -> &Showing {
        &self.showing
    }
}

/// How a receiver works. A number of 0 takes the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpReceiverOptions {
    /// The number of the hub among those on one connection.
    pub channel: u32,
    /// The least delay of what is shown. Default: the network alone decides.
    pub min_delay_ms: u32,
    /// The largest delay of what is shown. Default: 500.
    pub max_delay_ms: u32,
    /// The most memory for views and states, in bytes. Default: 128 MiB.
    pub max_memory_bytes: u64,
    /// The kinds of events of the hub, or zero for none.
    pub events: KpEvents,
}

/// What a receiver knows of its connection.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpReceiverStatus {
    /// Not 0 once a snapshot was taken.
    pub joined: i32,
    /// Datagrams taken.
    pub received: u64,
    /// Datagrams refused, including duplicates.
    pub refused: u64,
    /// Datagrams of the hub that are missing.
    pub lost: u64,
    /// Bytes of all datagrams.
    pub bytes: u64,
    /// The smoothed time from sending an acknowledgement to the first snapshot that builds on it;
    /// negative before the first.
    pub round_trip_ms: f64,
    /// The tick that the server simulates now, with its fraction; negative while it is not known.
    pub server_tick: f64,
}

/// A receiver for a hub with this many ticks a second. `options` may be null. The caller frees `*out`
/// with `kp_receiver_free`.
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
        // SAFETY: the caller lends the options.
        if let Some(options) = unsafe { optional(options)? } {
            config.channel = channel(options.channel)?;
            let playout = &mut config.playout;
            for (delay, given) in [
                (&mut playout.min_delay, options.min_delay_ms),
                (&mut playout.max_delay, options.max_delay_ms),
            ] {
                if given != 0 {
                    *delay = Duration::from_millis(given.into());
                }
            }
            if options.max_memory_bytes != 0 {
                config.max_memory_bytes =
                    usize::try_from(options.max_memory_bytes).unwrap_or(usize::MAX);
            }
            events = events_of(options.events)?;
        }
        let mut receiver = Receiver::new(&codec, config).map_err(Failure::argument)?;
        if let Some(events) = &events {
            receiver = receiver.with_events(events);
        }
        let showing = Showing::new(codec.schema(), events.as_ref());
        let receiving = Receiving { receiver, showing, next: Next::default() };
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpReceiver { id: RECEIVERS.add(Mutex::new(receiving)) }) }
    })
}

/// Takes a datagram of the hub. One that is refused, such as a duplicate, is `KP_STATUS_DATA`; only
/// counters have changed then. All times are nanoseconds since any fixed moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_handle(
    receiver: KpReceiver,
    now_ns: u64,
    datagram: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends the datagram.
        let datagram = unsafe { slice(datagram, size)? };
        let receiver = RECEIVERS.get(receiver.id)?;
        let handled = lock(&receiver).receiver.handle(time(now_ns), datagram);
        handled.map(drop).map_err(Failure::data)
    })
}

/// The next datagram for the hub. `KP_STATUS_NOTHING` if there is none now. If `capacity` is too
/// small, only `*size` is written, and the datagram stays.
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
        // SAFETY: the caller lends `capacity` bytes and `size`.
        unsafe { next.give(poll, datagram, capacity, size) }
    })
}

/// Computes what to show now, for the functions that follow: a little in the past and interpolated.
/// `KP_STATUS_NOTHING` before the first state.
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
        let Receiving { receiver, showing, .. } = &mut *receiver;
        let playback = receiver.playback(time(now_ns)).ok_or_else(nothing_yet)?;
        let shown = showing.show(&playback)?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, shown) }
    })
}

/// Writes the ids of the entities of a kind that are shown, which increase: `*count` of them, if they
/// are at most `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_ids(
    receiver: KpReceiver,
    kind: u32,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller lends `capacity` numbers, and `count`.
    unsafe { write_ids((&RECEIVERS, receiver.id), Which::Shown, kind, ids, capacity, count) }
}

/// Writes the ids of the entities that are shown for the first time, of all kinds, as
/// `kp_receiver_ids` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_added(
    receiver: KpReceiver,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller lends `capacity` numbers, and `count`.
    unsafe { write_ids((&RECEIVERS, receiver.id), Which::Added, 0, ids, capacity, count) }
}

/// Writes the ids of the entities that are not shown any more, of all kinds, as `kp_receiver_ids`
/// does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_removed(
    receiver: KpReceiver,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller lends `capacity` numbers, and `count`.
    unsafe { write_ids((&RECEIVERS, receiver.id), Which::Removed, 0, ids, capacity, count) }
}

/// Writes the numbers of the entities of a kind that are shown, in the order of their ids, as
/// `kp_snapshot_read` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_read(
    receiver: KpReceiver,
    kind: u32,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    // SAFETY: the caller lends them, with memory for `capacity` entities at each.
    unsafe { write_numbers((&RECEIVERS, receiver.id), kind, capacity, targets, target_count) }
}

/// Makes all events due that have arrived, for a program that shows the newest state and does not play.
/// An event becomes due once: `kp_receiver_play` does not show it then.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_take_events(receiver: KpReceiver) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        let Receiving { receiver, showing, .. } = &mut *lock(&receiver);
        showing.set_events(receiver.take_events())
    })
}

/// Takes the next event that is due at the moment of the last `kp_receiver_play`.
/// `KP_STATUS_NOTHING` if there is none. The next moment drops events that were not taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_next_event(
    receiver: KpReceiver,
    out: *mut KpEvent,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let event = lock(&*RECEIVERS.get(receiver.id)?).showing.next_event()?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, event) }
    })
}

/// Writes the numbers of the event that `kp_receiver_next_event` gave last, which is of this kind: a
/// target for each field of the kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_read_event(
    receiver: KpReceiver,
    kind: u32,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends them, with memory for an event.
        unsafe {
            let targets = slice(targets, target_count)?;
            lock(&*RECEIVERS.get(receiver.id)?).showing.write_event(kind, targets)
        }
    })
}

/// What a receiver knows of its connection.
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
        // SAFETY: `out` is the caller's.
        unsafe { put(out, described) }
    })
}

/// Copies the newest state into a snapshot of the same schema, neither delayed nor interpolated.
/// `KP_STATUS_NOTHING` before the first state.
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

/// Changes a lane of an entity by one in the newest view, as a fault in memory would, so that the state
/// of this side is wrong. For tests and tools: state checks find it, and the hub sends the state again.
/// `KP_STATUS_NOTHING` if there is no such view, entity or lane, or if the lane has only one value.
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
