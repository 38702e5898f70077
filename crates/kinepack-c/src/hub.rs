//! Hubs: one world for many receivers, over a transport of the caller.

use std::sync::Mutex;

use kinepack_net::{Hub, HubConfig, NetError, ReceiverId, ReceiverOptions};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give, put, slice, time};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// Sends one world to many receivers. It has no sockets and no clock: datagrams and the time go in,
/// datagrams come out.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpHub {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static HUBS: Handles<Mutex<Sending>> = Handles::new(8, "a hub");

/// A hub, and the datagram that the caller takes next.
#[derive(Debug)]
pub(crate) struct Sending {
    hub: Hub,
    next: Option<(ReceiverId, Vec<u8>)>,
}

/// A hub. Datagrams have at most `datagram_bytes`, or 1,200 if that is 0. The caller frees `*out` with
/// `kp_hub_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_new(
    codec: KpCodec,
    datagram_bytes: u32,
    out: *mut KpHub,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let mut config = HubConfig::default();
        if datagram_bytes != 0 {
            config.datagram_bytes = datagram_bytes as usize;
        }
        let hub = Hub::new(&*CODECS.get(codec.id)?, config).map_err(Failure::argument)?;
        let sending = Mutex::new(Sending { hub, next: None });
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpHub { id: HUBS.add(sending) }) }
    })
}

/// Adds a receiver with a number that no other has. All times are nanoseconds since any fixed moment.
/// `budget_bytes_per_s` bounds what it is sent; 0 does not.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_add(
    hub: KpHub,
    receiver: u64,
    budget_bytes_per_s: u32,
    now_ns: u64,
) -> KpStatus {
    call(|| {
        let budget_bytes_per_s = Some(budget_bytes_per_s).filter(|budget| *budget > 0);
        let options = ReceiverOptions { budget_bytes_per_s, ..ReceiverOptions::default() };
        let hub = HUBS.get(hub.id)?;
        let added = lock(&hub).hub.add(ReceiverId(receiver), &options, time(now_ns));
        added.map_err(Failure::argument)
    })
}

/// Removes a receiver.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_remove(hub: KpHub, receiver: u64) -> KpStatus {
    call(|| {
        if lock(&*HUBS.get(hub.id)?).hub.remove(ReceiverId(receiver)) {
            Ok(())
        } else {
            Err(Failure::argument(format!("the hub has no receiver {receiver}")))
        }
    })
}

/// Takes a datagram of a receiver. One that is not valid is `KP_STATUS_DATA`; only counters have
/// changed then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_handle(
    hub: KpHub,
    receiver: u64,
    now_ns: u64,
    datagram: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends the datagram.
        let datagram = unsafe { slice(datagram, size)? };
        let hub = HUBS.get(hub.id)?;
        let handled = lock(&hub).hub.handle(ReceiverId(receiver), time(now_ns), datagram);
        handled.map(drop).map_err(Failure::data)
    })
}

/// Takes the world of a tick, whose tick is above the one before, and encodes what each receiver
/// needs.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_tick(hub: KpHub, now_ns: u64, world: KpSnapshot) -> KpStatus {
    call(|| {
        let (hub, world) = (HUBS.get(hub.id)?, SNAPSHOTS.get(world.id)?);
        let (mut hub, world) = (lock(&hub), lock(&world));
        let refused = |error: NetError| Failure::argument(error);
        hub.hub.tick(time(now_ns), &world.snapshot).map_err(refused)
    })
}

/// The next datagram to send, and the receiver to send it to. `KP_STATUS_NOTHING` if there is none
/// until the next tick. If `capacity` is too small, only `*size` is written, and the datagram stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_poll(
    hub: KpHub,
    receiver: *mut u64,
    datagram: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        check_out(receiver)?;
        let hub = HUBS.get(hub.id)?;
        let mut hub = lock(&hub);
        let Sending { hub, next } = &mut *hub;
        if next.is_none() {
            *next = hub.poll_transmit().map(|(id, bytes)| (id, bytes.to_vec()));
        }
        let nothing = || Failure::new(KpStatus::Nothing, "there is no datagram now");
        let (id, bytes) = next.as_ref().ok_or_else(nothing)?;
        // SAFETY: the caller lends `capacity` bytes and `size`.
        unsafe { give(bytes, datagram, capacity, size)? };
        let id = id.0;
        *next = None;
        // SAFETY: `receiver` is the caller's.
        unsafe { put(receiver, id) }
    })
}

/// Frees a hub.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_free(hub: KpHub) -> KpStatus {
    call(|| HUBS.remove(hub.id))
}
