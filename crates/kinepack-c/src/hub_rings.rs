//! Rings of a hub: what a receiver sees by distance, and in which of a tick's worlds.

use std::ffi::c_char;
use std::sync::MutexGuard;

use kinepack::{EntityId, Snapshot};
use kinepack_net::{ReceiverId, Ring, Rings, Worlds};

use crate::KpStatus;
use crate::columns::World;
use crate::handles::lock;
use crate::hub::{HUBS, KpHub, tick};
use crate::memory::{self, optional, or_default, slice};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// A ring around a viewpoint: the entities that are within a distance of it, and not in a nearer
/// ring.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpRing {
    /// An entity that comes closer than this belongs to the ring, in the unit of the position.
    pub within: f64,
    /// An entity of the ring leaves it when it is farther than this, which is at least `within`.
    /// The difference keeps an entity at the edge from changing its ring in every tick. Choose at
    /// least the cell's length if viewpoints move to and fro between cells.
    pub leave: f64,
    /// The ring's entities are sent in every n-th tick, from 1 to 255. 0 selects 1. Each entity has
    /// its own turn, so about as many are sent in each tick. Until its next turn, an entity keeps
    /// its values, and playback blends from one turn to the next, with a delay that is longer by as
    /// many ticks.
    pub every: u32,
    /// The tier in which the ring's entities are sent: the index of one of the worlds that
    /// `kp_hub_tick_tiers` gets, from 0 to 254. If there are fewer worlds, the last one counts.
    pub tier: u32,
    /// By how many bits the fields that may be coarser are coarser in this ring, from 0 to 31, or
    /// by as many as they allow. Such fields take fewer bits while their entity moves.
    pub coarser: u32,
}

/// What receivers see by distance from their viewpoints. A tier is a world in another precision.
/// Each receiver gets each entity from the world that the entity's ring names.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpRings {
    /// The names of the fields that hold positions, each after its kind's name if the kind has one:
    /// `ship.position`. A position is a field of two or three real numbers that do not wrap. An
    /// entity that has no such field is always seen, in tier 0. Positions are those of the first
    /// world.
    pub positions: *const *const c_char,
    /// The number of `positions`.
    pub position_count: usize,
    /// The names of fields whose changes do not wait for the entity's turn, such as `ship.health`.
    /// An entity that is new, or moves farther than `cell` in a tick, does not wait either.
    pub urgent: *const *const c_char,
    /// The number of `urgent`.
    pub urgent_count: usize,
    /// The rings, from the smallest to the largest.
    pub rings: *const KpRing,
    /// The number of `rings`, from 1 to 254.
    pub ring_count: usize,
    /// The edge length of the cells into which space is divided, in the unit of the position.
    /// Distances are measured from the nearest point of the viewpoint's cell, so receivers in the
    /// same cell see the same and share their snapshots. Each receiver sees a little more than the
    /// rings say, by at most the cell's diagonal and a fifth.
    pub cell: f64,
    /// The tier of the entities beyond all rings, which are sent in every tick. A negative number
    /// hides them.
    pub beyond: i32,
    /// After how many ticks without a change of its coarser fields an entity is sent exactly, in
    /// rings that are coarser. 0: never. An entity that has never moved is exact.
    pub exact_after: u32,
}

/// Sets what receivers with a viewpoint see by distance: how often and how precisely far entities
/// are sent, and which entities are not sent at all. Of the entities that are relevant, a receiver
/// sees those in its rings, and those that it always sees. An entity that comes into sight is added
/// at the receiver, and one that leaves it is removed. `rings` may be null, which removes the rings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_set_rings(hub: KpHub, rings: *const KpRings) -> KpStatus {
    call(|| {
        let hub = HUBS.get(hub.id)?;
        // SAFETY: the caller guarantees that `rings` is null, or readable with the lists and texts
        // that it points to, until this call returns.
        let rings = unsafe { optional(rings)?.map(|rings| rings_of(rings)).transpose()? };
        let set = lock(&hub).hub.set_rings(rings.as_ref());
        set.map_err(Failure::argument)
    })
}

/// Sets the place from which a receiver's rings are measured: three numbers in the unit of the
/// positions. For positions of two axes, the third number does not matter. `viewpoint` may be null:
/// as at first, the receiver then sees everything, in tier 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_set_viewpoint(
    hub: KpHub,
    receiver: u64,
    viewpoint: *const f64,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `viewpoint` is null, or has three readable numbers
        // until this call returns. An array of numbers is aligned like a number.
        let viewpoint = unsafe { optional(viewpoint.cast::<[f64; 3]>())? };
        let hub = HUBS.get(hub.id)?;
        let set = lock(&hub).hub.set_viewpoint(ReceiverId(receiver), viewpoint.copied());
        set.map_err(Failure::argument)
    })
}

/// Sets which entities a receiver sees at any distance from its viewpoint, such as the other members
/// of a team, as ids in increasing order. Beyond all rings, they are sent as in the farthest ring
/// that is seen. Entities that are not relevant stay hidden. A `count` of 0 removes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_set_always_seen(
    hub: KpHub,
    receiver: u64,
    ids: *const u32,
    count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `ids` has `count` readable values until this call
        // returns.
        let always = unsafe { slice(ids, count)? }.iter().map(|id| EntityId(*id)).collect();
        let hub = HUBS.get(hub.id)?;
        let set = lock(&hub).hub.set_always_seen(ReceiverId(receiver), always);
        set.map_err(Failure::argument)
    })
}

/// Like `kp_hub_tick`, but takes a world for each tier, from the finest to the coarsest. All worlds
/// have the same entities, and the tick is that of the first one. A snapshot may be given for
/// several tiers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_hub_tick_tiers(
    hub: KpHub,
    now_ns: u64,
    worlds: *const KpSnapshot,
    count: usize,
) -> KpStatus {
    call(|| {
        let hub = HUBS.get(hub.id)?;
        // SAFETY: the caller guarantees that `worlds` has `count` readable handles until this call
        // returns.
        let ids: Vec<u64> = unsafe { slice(worlds, count)? }.iter().map(|world| world.id).collect();
        // Each snapshot is locked once, and in the order of their ids. So two calls never wait for
        // each other's snapshots.
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let held: Vec<_> = sorted.iter().map(|id| SNAPSHOTS.get(*id)).collect::<Result<_, _>>()?;
        let mut hub = lock(&hub);
        let locked: Vec<MutexGuard<'_, World>> = held.iter().map(|world| lock(world)).collect();
        let place = |id: &u64| sorted.partition_point(|before| before < id);
        let list: Vec<&Snapshot> = ids.iter().map(|id| &locked[place(id)].snapshot).collect();
        let Some((finest, coarser)) = list.split_first() else {
            return Err(Failure::argument("a tick needs a world"));
        };
        tick(&mut hub, now_ns, Worlds::new(finest, coarser))
    })
}

/// Reads the rings.
///
/// # Safety
/// The lists and texts that the rings point to are readable.
unsafe fn rings_of(rings: &KpRings) -> Result<Rings, Failure> {
    // SAFETY: the caller of this function guarantees that each list has its count of readable
    // values.
    let (positions, urgent, list) = unsafe {
        (
            slice(rings.positions, rings.position_count)?,
            slice(rings.urgent, rings.urgent_count)?,
            slice(rings.rings, rings.ring_count)?,
        )
    };
    let name = |field: &*const c_char| {
        // SAFETY: the caller of this function guarantees that each name points to a
        // zero-terminated text until this function returns.
        unsafe { memory::text(*field) }.map(str::to_owned)
    };
    let ring = |of: &KpRing| Ring {
        within: of.within,
        leave: of.leave,
        every: or_default(of.every, 1),
        tier: of.tier as usize,
        // A number that is too large is refused, and so is this one.
        coarser: u8::try_from(of.coarser).unwrap_or(u8::MAX),
    };
    Ok(Rings {
        positions: positions.iter().map(name).collect::<Result<_, _>>()?,
        urgent: urgent.iter().map(name).collect::<Result<_, _>>()?,
        rings: list.iter().map(ring).collect(),
        beyond: usize::try_from(rings.beyond).ok(),
        cell: rings.cell,
        exact_after: (rings.exact_after > 0).then_some(rings.exact_after),
    })
}
