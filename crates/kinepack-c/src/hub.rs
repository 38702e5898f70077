//! Hubs, which send one world to many receivers over a transport of the caller.

use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::{Arc, Mutex};

use kinepack::EntityId;
use kinepack_net::{
    Audience, Hub, HubConfig, KindOptions, NetError, Priority, ReceiverId, ReceiverOptions, Worlds,
};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::columns::{KpColumn, World};
use crate::datagrams::{Next, channel};
use crate::events::{KpEvents, events_of};
use crate::handles::{Handles, lock};
use crate::memory::{self, check_out, milliseconds, optional, or_default, put, slice, time};
use crate::shown::Shown;
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// Sends one world to many receivers. A hub has no sockets and no clock: the caller passes in
/// datagrams and the time, and polls datagrams to send. The transport must deliver a datagram
/// unaltered or not at all. Use an encrypted or authenticated transport, because an altered
/// datagram is often another valid one.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpHub {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static HUBS: Handles<Mutex<Sending>> = Handles::new(8, "a hub");

/// A hub, the weights of entities, the event that is being emitted, the datagram that the caller
/// takes next, and what the last rewind found.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) hub: Hub,
    weights: HashMap<ReceiverId, Vec<(EntityId, f32)>>,
    event: Option<World>,
    next: Next<ReceiverId>,
    pub(crate) past: Shown,
    /// The ids of the last rewind, to reuse their memory.
    pub(crate) past_ids: Vec<EntityId>,
}

/// The settings of a hub. A number of 0 selects the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpHubOptions {
    /// The largest datagram that the transport carries, without its own headers. Default: 1,200.
    pub datagram_bytes: u32,
    /// The channel of this hub, which distinguishes hubs on one connection. Its receivers need the
    /// same channel.
    pub channel: u32,
    /// The number of bytes that the transport adds to each datagram. Budgets include them. Default:
    /// 28.
    pub overhead_bytes: u32,
    /// The maximum number of datagrams for a receiver in a tick. Default: 4.
    pub datagrams_per_tick: u32,
    /// The kinds of events, or zero for no events.
    pub events: KpEvents,
}

/// The hub's view of a connection to a receiver.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpHubStatus {
    /// Not 0 if the receiver's hello was accepted.
    pub joined: i32,
    /// The number of datagrams sent.
    pub sent: u64,
    /// The number of sent datagrams that were acknowledged.
    pub acknowledged: u64,
    /// The number of sent datagrams that were overtaken or not acknowledged in time.
    pub lost: u64,
    /// The number of bytes sent, without the transport's headers.
    pub bytes: u64,
    /// The smoothed time from sending a datagram to its acknowledgement. It is negative before the
    /// first acknowledgement.
    pub round_trip_ms: f64,
    /// The number of entities that should have been sent in the last tick but did not fit.
    pub waiting: u64,
    /// The number of events that have not been sent yet.
    pub waiting_events: u64,
    /// The number of events that must arrive but never will, because too many were waiting. If it
    /// is not 0, remove the receiver.
    pub refused_events: u64,
}

/// Creates a hub. `options` may be null. The caller frees `*out` with `kp_hub_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_new(
    codec: KpCodec,
    options: *const KpHubOptions,
    out: *mut KpHub,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let mut config = HubConfig::default();
        let mut events = None;
        // SAFETY: the caller guarantees that `options` is null or readable until this call returns.
        if let Some(options) = unsafe { optional(options)? } {
            let HubConfig { datagram_bytes, overhead_bytes, datagrams_per_tick, .. } = &mut config;
            *datagram_bytes = or_default(options.datagram_bytes as usize, *datagram_bytes);
            *overhead_bytes = or_default(options.overhead_bytes as usize, *overhead_bytes);
            *datagrams_per_tick = or_default(options.datagrams_per_tick, *datagrams_per_tick);
            config.channel = channel(options.channel)?;
            events = events_of(options.events)?;
        }
        let codec = CODECS.get(codec.id)?;
        let mut hub = Hub::new(&codec, config).map_err(Failure::argument)?;
        if let Some(events) = &events {
            hub = hub.with_events(events);
        }
        let event = events.map(|events| World::new(events.codec().schema()));
        let sending = Sending {
            hub,
            weights: HashMap::new(),
            event,
            next: Next::default(),
            past: Shown::new(codec.schema(), None),
            past_ids: Vec::new(),
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpHub { id: HUBS.add(Mutex::new(sending)) }) }
    })
}

/// Sets how the entities of a kind are sent. Changes of these entities are sent in every `every`th
/// tick (1, 2, 4 or 8). `weight`, at least 0, is how much these entities matter if not everything
/// fits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_set_kind(
    hub: KpHub,
    name: *const c_char,
    every: u32,
    weight: f32,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this
        // call returns.
        let name = unsafe { memory::text(name)? };
        let set =
            lock(&*HUBS.get(hub.id)?).hub.set_kind(name, KindOptions { every, priority: weight });
        set.map_err(Failure::argument)
    })
}

/// Adds a receiver with a unique number. All times are nanoseconds since any fixed moment.
/// `budget_bytes_per_s` limits the data sent to the receiver. It is at least 256, or 0 for no limit.
/// `kp_hub_set_budget` sets a budget that follows the link.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_add(
    hub: KpHub,
    receiver: u64,
    budget_bytes_per_s: u32,
    now_ns: u64,
) -> KpStatus {
    call(|| {
        let budget_bytes_per_s = Some(budget_bytes_per_s).filter(|budget| *budget > 0);
        let options =
            ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
        let hub = HUBS.get(hub.id)?;
        let added = lock(&hub).hub.add(ReceiverId(receiver), &options, time(now_ns));
        added.map_err(Failure::argument)
    })
}

/// Removes a receiver.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_remove(hub: KpHub, receiver: u64) -> KpStatus {
    call(|| {
        let hub = HUBS.get(hub.id)?;
        let mut hub = lock(&hub);
        hub.weights.remove(&ReceiverId(receiver));
        if hub.hub.remove(ReceiverId(receiver)) { Ok(()) } else { Err(unknown(receiver)) }
    })
}

/// Sets which entities a receiver may see, as ids in increasing order. With a `count` of 0, it sees
/// no entity. At first, a receiver may see all entities.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_set_relevant(
    hub: KpHub,
    receiver: u64,
    ids: *const u32,
    count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `ids` has `count` readable values until this call
        // returns.
        let relevant = unsafe { slice(ids, count)? }.iter().map(|id| EntityId(*id)).collect();
        set_relevant(hub, receiver, Some(relevant))
    })
}

/// Lets a receiver see all entities again.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_set_all_relevant(hub: KpHub, receiver: u64) -> KpStatus {
    call(|| set_relevant(hub, receiver, None))
}

/// Sets the weights of entities for a receiver, which are used if not everything fits. `ids` are in
/// increasing order, and `weights` has a weight for each. All other entities weigh 1. The weights
/// apply until they are set again. A `count` of 0 removes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_set_weights(
    hub: KpHub,
    receiver: u64,
    ids: *const u32,
    weights: *const f32,
    count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `ids` has `count` readable values and `weights` has
        // `count` readable values, until this call returns.
        let (ids, weights) = unsafe { (slice(ids, count)?, slice(weights, count)?) };
        if !ids.is_sorted_by(|one, next| one < next) {
            return Err(Failure::argument("the ids do not increase"));
        }
        let hub = HUBS.get(hub.id)?;
        let mut hub = lock(&hub);
        let receiver = ReceiverId(receiver);
        if hub.hub.status(receiver).is_none() {
            return Err(unknown(receiver.0));
        }
        let set = ids.iter().zip(weights).map(|(id, weight)| (EntityId(*id), *weight));
        match count {
            0 => hub.weights.remove(&receiver),
            _ => hub.weights.insert(receiver, set.collect()),
        };
        Ok(())
    })
}

/// Writes the hub's view of a connection to a receiver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_status(
    hub: KpHub,
    receiver: u64,
    out: *mut KpHubStatus,
) -> KpStatus {
    call(|| {
        let status = lock(&*HUBS.get(hub.id)?).hub.status(ReceiverId(receiver));
        let status = status.ok_or_else(|| unknown(receiver))?;
        let described = KpHubStatus {
            joined: status.joined.into(),
            sent: status.sent,
            acknowledged: status.acknowledged,
            lost: status.lost,
            bytes: status.bytes,
            round_trip_ms: milliseconds(status.round_trip),
            waiting: status.waiting as u64,
            waiting_events: status.waiting_events as u64,
            refused_events: status.refused_events,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Adds an event to the next tick, with a column of one record for each field of its kind. All
/// joined receivers get the event exactly once, in the order of these calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_emit(
    hub: KpHub,
    kind: u32,
    columns: *const KpColumn,
    column_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and each
        // column has one readable record, until this call returns.
        unsafe { emit(hub, kind, slice(columns, column_count)?, Audience::All) }
    })
}

/// Like `kp_hub_emit`, but only for the receivers in `receivers`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_emit_to(
    hub: KpHub,
    kind: u32,
    columns: *const KpColumn,
    column_count: usize,
    receivers: *const u64,
    receiver_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and
        // `receivers` has `receiver_count` readable values, until this call returns.
        let (columns, list) =
            unsafe { (slice(columns, column_count)?, slice(receivers, receiver_count)?) };
        let list: Vec<ReceiverId> = list.iter().map(|id| ReceiverId(*id)).collect();
        // SAFETY: the caller guarantees that `columns` are valid columns and each column has one
        // readable record, until this call returns.
        unsafe { emit(hub, kind, columns, Audience::Only(&list)) }
    })
}

/// Like `kp_hub_emit`, but only for the receivers that may see the entity `entity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_emit_seeing(
    hub: KpHub,
    kind: u32,
    columns: *const KpColumn,
    column_count: usize,
    entity: u32,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and each
        // column has one readable record, until this call returns.
        unsafe {
            emit(hub, kind, slice(columns, column_count)?, Audience::Seeing(EntityId(entity)))
        }
    })
}

/// Handles a datagram from a receiver. Returns `KP_STATUS_DATA` for an invalid datagram, which
/// changes only counters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_handle(
    hub: KpHub,
    receiver: u64,
    now_ns: u64,
    datagram: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `datagram` has `size` readable bytes until this call
        // returns.
        let datagram = unsafe { slice(datagram, size)? };
        let hub = HUBS.get(hub.id)?;
        let handled = lock(&hub).hub.handle(ReceiverId(receiver), time(now_ns), datagram);
        handled.map(drop).map_err(Failure::data)
    })
}

/// Takes the world of a tick, and encodes what each receiver needs. The tick must be above the
/// previous tick. Returns `KP_STATUS_RECEIVERS` if some receivers do not get everything. The error
/// text lists the reasons. The other receivers get everything, so poll the datagrams then too.
/// After any other failure, nothing has changed.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_tick(hub: KpHub, now_ns: u64, world: KpSnapshot) -> KpStatus {
    call(|| {
        let (hub, world) = (HUBS.get(hub.id)?, SNAPSHOTS.get(world.id)?);
        let (mut hub, world) = (lock(&hub), lock(&world));
        tick(&mut hub, now_ns, Worlds::from(&world.snapshot))
    })
}

/// Writes the next datagram to send, and its receiver. Returns `KP_STATUS_NOTHING` if there is no
/// datagram until the next tick. If `capacity` is too small, only `*size` is written, and the
/// datagram is kept.
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
        let Sending { hub, next, .. } = &mut *hub;
        let poll = || hub.poll_transmit().map(|(id, bytes)| (id, bytes.to_vec()));
        // SAFETY: the caller guarantees that `datagram` has `capacity` writable bytes, `size` and
        // `receiver` are writable, until this call returns.
        unsafe {
            let id = next.give(poll, datagram, capacity, size)?;
            put(receiver, id.0)
        }
    })
}

/// Frees a hub.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_free(hub: KpHub) -> KpStatus {
    call(|| HUBS.remove(hub.id))
}

/// Encodes the worlds of a tick, with the weights that the caller has set.
pub(crate) fn tick(sending: &mut Sending, now_ns: u64, worlds: Worlds<'_>) -> Result<(), Failure> {
    let Sending { hub, weights, .. } = sending;
    let weight = |receiver: ReceiverId, entity: EntityId| {
        let of_receiver = weights.get(&receiver).map_or(&[][..], Vec::as_slice);
        let found = of_receiver.binary_search_by_key(&entity, |(id, _)| *id);
        found.map_or(1.0, |place| of_receiver[place].1)
    };
    let weight: Option<Priority<'_>> = if weights.is_empty() { None } else { Some(&weight) };
    hub.tick_with(time(now_ns), worlds, weight).map_err(|error| {
        match error.each().iter().all(|error| error.receiver().is_some()) {
            true => Failure::new(KpStatus::Receivers, error),
            false => Failure::argument(error),
        }
    })
}

/// Adds an event for the receivers in an audience.
///
/// # Safety
/// Each column has one record.
unsafe fn emit(
    hub: KpHub,
    kind: u32,
    columns: &[KpColumn],
    to: Audience<'_>,
) -> Result<(), Failure> {
    let hub = HUBS.get(hub.id)?;
    let mut hub = lock(&hub);
    let Sending { hub, event, .. } = &mut *hub;
    let event = event.as_mut().ok_or_else(|| Failure::argument(NetError::NoEvents))?;
    // SAFETY: the caller guarantees that each column has the numbers of one record until this call
    // returns.
    unsafe { event.set_record(kind, columns)? };
    hub.emit_row(&event.snapshot, 0, to).map_err(Failure::argument)
}

fn set_relevant(
    hub: KpHub,
    receiver: u64,
    relevant: Option<Arc<[EntityId]>>,
) -> Result<(), Failure> {
    let set = lock(&*HUBS.get(hub.id)?).hub.set_relevant(ReceiverId(receiver), relevant);
    set.map_err(Failure::argument)
}

pub(crate) fn unknown(receiver: u64) -> Failure {
    Failure::argument(format!("the hub has no receiver {receiver}"))
}
