//! Publishers, which publish one world for any number of viewers over a transport of the caller.

use std::collections::VecDeque;
use std::sync::Mutex;

use kinepack::{EntityId, Tick};
use kinepack_crowd::{Carried, CrowdError, Piece, Publisher};

use crate::KpStatus;
use crate::catalogue::{CATALOGUES, KpCatalogue, no_tier, track_to};
use crate::datagrams::Next;
use crate::handles::{Handles, lock};
use crate::memory::{check_out, optional, put, slice};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// Publishes one world for any number of viewers. It encodes each snapshot once for each tier,
/// however many viewers watch. A publisher has no sockets: it produces objects and datagrams, which
/// relays or your servers forward.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpPublisher {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static PUBLISHERS: Handles<Mutex<Publishing>> = Handles::new(25, "a publisher");

/// The largest number of a first group. Transports count groups to 2^62, and half of that range is
/// enough for every broadcast.
const MAX_FIRST_GROUP: u64 = 1 << 61;

/// A publisher, and the pieces that the caller has not taken yet.
pub(crate) struct Publishing {
    publisher: Publisher,
    schema_hash: u64,
    tiers: usize,
    pieces: VecDeque<Piece>,
    next: Next<KpPiece>,
}

/// The settings of a publisher.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPublisherOptions {
    /// The number of the first group, below 2^61. After a restart, use a number above all previous
    /// ones, such as the seconds since 1970. Then relays and viewers do not mix the two runs.
    pub first_group: u64,
    /// The number of ticks by which pieces are delayed. A delay protects against players who watch
    /// their own match. After the last world, `kp_publisher_drain` releases the pieces that still
    /// wait.
    pub delay_ticks: u32,
}

/// A unit for the transport: an object of a group, or a datagram.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPiece {
    /// The number of the piece's group in the track.
    pub group: u64,
    /// The number of the object in its group. Object 0 begins a group, and ends the previous group.
    pub object: u64,
    /// The number of the tier.
    pub tier: u32,
    /// The type of the track: a `KpTrackKind`.
    pub track: i32,
    /// Not 0 if the piece is a datagram. A datagram has no `object`, and viewers do not need its
    /// `group`.
    pub is_datagram: i32,
    /// The tick of the piece's last snapshot. Viewers do not need it.
    pub tick: u32,
}

/// Creates a publisher of the tiers of a catalogue. `options` may be null. The caller frees `*out`
/// with `kp_publisher_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_publisher_new(
    catalogue: KpCatalogue,
    options: *const KpPublisherOptions,
    out: *mut KpPublisher,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `options` is null or readable until this call returns.
        let options = unsafe { optional(options)? };
        let catalogue = CATALOGUES.get(catalogue.id)?;
        let first_group = options.map_or(0, |options| options.first_group);
        if first_group >= MAX_FIRST_GROUP {
            return Err(Failure::argument("the number of the first group is 2^61 or more"));
        }
        let publisher = Publisher::starting_at(&catalogue, first_group)
            .with_delay(options.map_or(0, |options| options.delay_ticks));
        let publishing = Publishing {
            publisher,
            schema_hash: catalogue.tiers()[0].codec.schema().hash(),
            tiers: catalogue.tiers().len(),
            pieces: VecDeque::new(),
            next: Next::default(),
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpPublisher { id: PUBLISHERS.add(Mutex::new(publishing)) }) }
    })
}

/// Restricts a tier to certain entities, such as the entities of a region. `ids` are in increasing
/// order. With a `count` of 0, the tier has no entities. Initially, a tier has all entities. For a
/// region, call this before each tick.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_publisher_set_entities(
    publisher: KpPublisher,
    tier: u32,
    ids: *const u32,
    count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `ids` has `count` readable values until this call
        // returns.
        let ids = unsafe { slice(ids, count)? };
        if !ids.is_sorted_by(|one, next| one < next) {
            return Err(Failure::argument("the ids do not increase"));
        }
        let ids: Box<[EntityId]> = ids.iter().map(|id| EntityId(*id)).collect();
        let publishing = PUBLISHERS.get(publisher.id)?;
        let selected = lock(&publishing).publisher.select(tier as usize, move |world, index| {
            ids.binary_search(&world.ids()[index]).is_ok()
        });
        selected.map_err(Failure::argument)
    })
}

/// Removes the restriction of a tier. Then the tier has all entities again.
#[unsafe(no_mangle)]
pub extern "C" fn kp_publisher_set_all_entities(publisher: KpPublisher, tier: u32) -> KpStatus {
    call(|| {
        let publishing = PUBLISHERS.get(publisher.id)?;
        let selected = lock(&publishing).publisher.select(tier as usize, |_, _| true);
        selected.map_err(Failure::argument)
    })
}

/// Takes the world of a tick, and encodes it for all tiers that are due. The tick must be above the
/// previous tick. `kp_publisher_poll` returns the pieces. Take all pieces in each tick, because
/// they are kept in memory until then.
///
/// If a world needs more datagrams than a viewer can reassemble, the result is `KP_STATUS_ARGUMENT`
/// too. Other tiers may have encoded the world by then, and the tick is used up, so publish the
/// next one.
#[unsafe(no_mangle)]
pub extern "C" fn kp_publisher_publish(publisher: KpPublisher, world: KpSnapshot) -> KpStatus {
    call(|| {
        let (publishing, world) = (PUBLISHERS.get(publisher.id)?, SNAPSHOTS.get(world.id)?);
        let (mut publishing, world) = (lock(&publishing), lock(&world));
        let Publishing { publisher, schema_hash, pieces, .. } = &mut *publishing;
        world.check_schema(*schema_hash, "publisher")?;
        let refused = |error: CrowdError| Failure::argument(error);
        let taken = publisher.publish(&world.snapshot).map(drop);
        pieces.extend(publisher.pieces().iter().cloned());
        taken.map_err(refused)
    })
}

/// Releases, after the last world, the pieces to carry at `tick`, which is the last world's tick or
/// a later one. These are the pieces that wait for the delay, and objects that have fewer snapshots
/// than their tier allows. `kp_publisher_poll` returns them. Call this at each tick until
/// `*is_drained` is not 0, or the end of the broadcast is lost. It is not 0 once no piece waits for
/// a later tick. Nothing is encoded. Calls between worlds make objects smaller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_publisher_drain(
    publisher: KpPublisher,
    tick: u32,
    is_drained: *mut i32,
) -> KpStatus {
    call(|| {
        check_out(is_drained)?;
        let publishing = PUBLISHERS.get(publisher.id)?;
        let Publishing { publisher, pieces, .. } = &mut *lock(&publishing);
        pieces.extend(publisher.drain(Tick(tick)).iter().cloned());
        let value = publisher.is_drained().into();
        // SAFETY: the caller guarantees that `is_drained` is writable until this call returns.
        unsafe { put(is_drained, value) }
    })
}

/// Writes the next piece for the transport. `*piece` describes it, and it has `*size` bytes, if
/// they fit into `capacity`. Returns `KP_STATUS_NOTHING` if there is no piece until the next tick.
/// If `capacity` is too small, only `*size` is written, and the piece is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_publisher_poll(
    publisher: KpPublisher,
    piece: *mut KpPiece,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        check_out(piece)?;
        let publishing = PUBLISHERS.get(publisher.id)?;
        let Publishing { pieces, next, .. } = &mut *lock(&publishing);
        let poll = || pieces.pop_front().map(described);
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes, `size` and
        // `piece` are writable, until this call returns.
        unsafe {
            let what = next.give(poll, bytes, capacity, size)?;
            put(piece, what)
        }
    })
}

/// Copies the last snapshot of a tier in groups, as its viewers decode it, into a snapshot of the
/// same schema. It lacks the entities that the tier omits, and has only the precision of the tier.
/// Returns `KP_STATUS_NOTHING` before the first snapshot, and for a tier in datagrams.
#[unsafe(no_mangle)]
pub extern "C" fn kp_publisher_last(
    publisher: KpPublisher,
    tier: u32,
    snapshot: KpSnapshot,
) -> KpStatus {
    call(|| {
        let (publishing, world) = (PUBLISHERS.get(publisher.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (publishing, mut world) = (lock(&publishing), lock(&world));
        if tier as usize >= publishing.tiers {
            return Err(no_tier(tier));
        }
        world.check_schema(publishing.schema_hash, "publisher")?;
        let nothing = || Failure::nothing("the tier has no snapshot in groups yet");
        let last = publishing.publisher.last_of(tier as usize).ok_or_else(nothing)?;
        world.snapshot.copy_from(last);
        Ok(())
    })
}

/// Frees a publisher.
#[unsafe(no_mangle)]
pub extern "C" fn kp_publisher_free(publisher: KpPublisher) -> KpStatus {
    call(|| PUBLISHERS.remove(publisher.id))
}

fn described(piece: Piece) -> (KpPiece, Vec<u8>) {
    let track = track_to(piece.track);
    let (object, is_datagram) = match piece.carried {
        Carried::Object(number) => (number, 0),
        Carried::Datagram => (0, 1),
    };
    let what = KpPiece {
        group: piece.group,
        object,
        tier: track.tier,
        track: track.kind,
        is_datagram,
        tick: piece.tick.0,
    };
    (what, piece.bytes)
}
