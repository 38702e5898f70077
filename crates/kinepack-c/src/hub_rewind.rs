//! What a player saw when he made an input: a hub rewinds to the stamp of the input.
//!
//! The past is stored as a shown state, so the functions that read what a receiver shows read it
//! too: ids, numbers, places in the world, and poses of figures for hit boxes. A rewind copies the
//! two states of each entity that is asked for. It cannot lend them, because the caller may call
//! the hub in between. Shots have few candidates, so `kp_hub_rewind` takes a list of ids and copies
//! no others.

use kinepack::EntityId;
use kinepack_net::{Past, ReceiverId, RewindConfig, RewindError};

use crate::KpStatus;
use crate::handles::lock;
use crate::hub::{HUBS, KpHub, Sending, unknown};
use crate::memory::{check_out, duration, optional, or_default, put, required, slice};
use crate::seen::KpSeen;
use crate::shown::KpShown;
use crate::status::{Failure, call};

/// How receivers show the world, and how far back players may reach.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpRewindOptions {
    /// The ticks per second, as in `kp_receiver_new`.
    pub tick_hz: u32,
    /// The `longest_blend_ms` of the receivers. 0 selects the default: 250.
    pub longest_blend_ms: u32,
    /// How long ago a player may have seen what he acts on, at most 250 ticks. What he saw is as
    /// old as the round trip, his playout delay, and the time that his input waits on both sides
    /// together. The longer this is, the longer a player may be hit by one with a bad connection
    /// after he has taken cover. 0 selects the default: 500.
    pub longest_ms: u32,
}

/// Makes a hub keep what it sends for long enough to rewind. `options` may be null, which ends
/// that. Call this function before the first receiver joins, because what was sent before may be
/// missing.
///
/// The hub keeps the views of the time to rewind, which receivers share if they get the same. For
/// receivers that do not get everything, because of a budget, kinds or rings, it keeps those of
/// the last 255 datagrams.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_set_rewind(
    hub: KpHub,
    options: *const KpRewindOptions,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `options` is null or readable until this call returns.
        let options = unsafe { optional(options)? };
        let config = options.map(|options| {
            let mut config = RewindConfig::at_hz(options.tick_hz);
            let RewindConfig { longest_blend, longest, .. } = &mut config;
            *longest_blend = or_default(duration(options.longest_blend_ms), *longest_blend);
            *longest = or_default(duration(options.longest_ms), *longest);
            config
        });
        let set = lock(&*HUBS.get(hub.id)?).hub.set_rewind(config);
        set.map_err(Failure::argument)
    })
}

/// Finds what a receiver showed of some entities when its player made an input with the stamp
/// `seen`: the very numbers that it read, whatever was lost, late or left out. Writes the tick of
/// that moment, with its fraction. Read the entities through `kp_hub_past`, until the next rewind.
/// `ids` are in increasing order. Entities that were not shown are left out, and so are those of
/// which the receiver should have got a newer state longer ago than `longest_ms`. The past has no
/// events, and no entities that were added, removed or cut.
///
/// Pass on the stamps of all inputs in order, with a `count` of 0 if there is nothing to find. Then
/// a client cannot choose among moments. Cost: a list of at most 255 snapshots, and a few searches
/// for each entity.
///
/// - `KP_STATUS_NOTHING`: the player was shown nothing yet, or too long ago. Refuse his shot, or
///   use the present world. A forged stamp of the future is too old as well, because moments wrap
///   after 256 ticks.
/// - `KP_STATUS_DATA`: the stamp is of a state that was not sent yet, or goes back behind an
///   earlier stamp of the player. The client cheats, or the record is late: see `is_late` of
///   `KpRecord`.
/// - `KP_STATUS_ARGUMENT`: the hub does not rewind, or has no such receiver; or the ids do not
///   increase; or no receiver writes such a stamp.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_rewind(
    hub: KpHub,
    receiver: u64,
    seen: *const KpSeen,
    ids: *const u32,
    count: usize,
    tick: *mut f64,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `ids` has `count` readable values until this call
        // returns.
        let ids = unsafe { slice(ids, count)? };
        if !ids.is_sorted_by(|one, next| one < next) {
            return Err(Failure::argument("the ids do not increase"));
        }
        // SAFETY: the caller guarantees that `seen` is readable and `tick` is writable, until this
        // call returns.
        unsafe {
            rewind(hub, receiver, seen, tick, |_, to| to.extend(ids.iter().map(|id| EntityId(*id))))
        }
    })
}

/// Like `kp_hub_rewind`, but finds all entities that the receiver showed. Cost: a few searches for
/// each entity that it got in the last 128 snapshots.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_rewind_all(
    hub: KpHub,
    receiver: u64,
    seen: *const KpSeen,
    tick: *mut f64,
) -> KpStatus {
    // SAFETY: the caller guarantees that `seen` is readable and `tick` is writable, until this call
    // returns.
    call(|| unsafe { rewind(hub, receiver, seen, tick, |past, to| to.extend(past.ids())) })
}

/// Returns what the last `kp_hub_rewind` or `kp_hub_rewind_all` found. The handle stays the same
/// until `kp_hub_free`, which frees it too. The state is empty at first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_past(hub: KpHub, out: *mut KpShown) -> KpStatus {
    call(|| {
        let past = lock(&*HUBS.get(hub.id)?).past.handle();
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, past) }
    })
}

/// Stores the past of the entities that `select` adds to a list.
///
/// # Safety
/// `seen` is null or points to a stamp, and `tick` is null or writable.
unsafe fn rewind(
    hub: KpHub,
    receiver: u64,
    seen: *const KpSeen,
    tick: *mut f64,
    select: impl FnOnce(&Past<'_>, &mut Vec<EntityId>),
) -> Result<(), Failure> {
    check_out(tick)?;
    // SAFETY: the caller guarantees that `seen` is readable until this call returns.
    let seen = unsafe { required(seen)? }.seen()?;
    let hub = HUBS.get(hub.id)?;
    let mut hub = lock(&hub);
    let Sending { hub, past, past_ids, .. } = &mut *hub;
    let seen = seen.ok_or_else(|| {
        Failure::nothing("the player was shown nothing yet when he made this input")
    })?;
    let found = hub.rewind(ReceiverId(receiver), seen).map_err(|error| refused(error, receiver))?;
    past_ids.clear();
    select(&found, past_ids);
    past.show_past(&found, past_ids)?;
    // SAFETY: the caller guarantees that `tick` is writable until this call returns.
    unsafe { put(tick, found.tick) }
}

/// The status of a refused stamp, and what to do.
fn refused(error: RewindError, receiver: u64) -> Failure {
    let (status, advice) = match &error {
        RewindError::UnknownReceiver => return unknown(receiver),
        RewindError::Disabled => {
            let text = "the hub does not rewind; call kp_hub_set_rewind before receivers join";
            return Failure::argument(text);
        }
        RewindError::TooOld { .. } => {
            (KpStatus::Nothing, "use the present world, or set a greater longest_ms")
        }
        RewindError::Ahead => (KpStatus::Data, "an honest client sends no such stamp"),
        RewindError::RunsBack => {
            (KpStatus::Data, "give the stamps in order, without those of late records")
        }
        _ => (KpStatus::Nothing, "use the present world"),
    };
    Failure::new(status, format!("{error}; {advice}"))
}
