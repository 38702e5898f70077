//! Snapshots, which store the state of all entities at one tick.

use std::sync::Mutex;

use kinepack::{EntityId, Tick};

use crate::KpStatus;
use crate::columns::{KpColumn, KpTarget, World, write_rows};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give_list, put, slice};
use crate::schema::{KpSchema, SCHEMAS, one_of};
use crate::status::call;

/// The state of all entities at one tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpSnapshot {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static SNAPSHOTS: Handles<Mutex<World>> = Handles::new(4, "a snapshot");

/// Creates a snapshot without entities. The caller frees `*out` with `kp_snapshot_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_new(schema: KpSchema, out: *mut KpSnapshot) -> KpStatus {
    call(|| {
        check_out(out)?;
        let schema = SCHEMAS.get(schema.id)?;
        let world = World::new(&schema);
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSnapshot { id: SNAPSHOTS.add(Mutex::new(world)) }) }
    })
}

/// Removes all entities, and sets the tick. Keeps the memory for reuse.
#[unsafe(no_mangle)]
pub extern "C" fn kp_snapshot_clear(snapshot: KpSnapshot, tick: u32) -> KpStatus {
    call(|| {
        lock(&*SNAPSHOTS.get(snapshot.id)?).snapshot.clear(Tick(tick));
        Ok(())
    })
}

/// Adds `count` entities of a kind, with a column for each field of the kind. The ids must
/// increase, and be above the ids of the previous kind. Numbers are quantized. If a field is absent
/// for an entity, the entity's numbers in that column are not read. After an error, the snapshot is
/// unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_add(
    snapshot: KpSnapshot,
    kind: u32,
    ids: *const u32,
    count: usize,
    columns: *const KpColumn,
    column_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `ids` has `count` readable values and `columns` has
        // `column_count` valid columns, until this call returns.
        let (ids, columns) = unsafe { (slice(ids, count)?, slice(columns, column_count)?) };
        let ids: Vec<EntityId> = ids.iter().map(|id| EntityId(*id)).collect();
        // SAFETY: the caller guarantees that each column has `count` readable entities until this
        // call returns.
        unsafe { lock(&*SNAPSHOTS.get(snapshot.id)?).add(kind, &ids, columns) }
    })
}

/// Writes the tick of a snapshot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_tick(snapshot: KpSnapshot, tick: *mut u32) -> KpStatus {
    call(|| {
        let value = lock(&*SNAPSHOTS.get(snapshot.id)?).snapshot.tick.0;
        // SAFETY: the caller guarantees that `tick` is writable until this call returns.
        unsafe { put(tick, value) }
    })
}

/// Writes the number of entities of a kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_count(
    snapshot: KpSnapshot,
    kind: u32,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        let world = SNAPSHOTS.get(snapshot.id)?;
        let world = lock(&world);
        one_of(world.kinds(), kind)?;
        let value = world.snapshot.of_kind(kind as usize).len();
        // SAFETY: the caller guarantees that `count` is writable until this call returns.
        unsafe { put(count, value) }
    })
}

/// Writes the ids of a kind's entities, in increasing order: `*count` ids, if they fit into
/// `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_ids(
    snapshot: KpSnapshot,
    kind: u32,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        let world = SNAPSHOTS.get(snapshot.id)?;
        let world = lock(&world);
        one_of(world.kinds(), kind)?;
        let of_kind = &world.snapshot.ids()[world.snapshot.of_kind(kind as usize)];
        // SAFETY: the caller guarantees that `ids` has `capacity` writable values and `count` is
        // writable, until this call returns.
        unsafe { give_list(of_kind.iter().map(|id| id.0), ids, capacity, count) }
    })
}

/// Writes the numbers of a kind's entities, in the order of their ids. There is a target for each
/// field, with room for `capacity` entities. If a field is absent for an entity, its numbers are 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_read(
    snapshot: KpSnapshot,
    kind: u32,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `targets` has `target_count` valid targets until this
        // call returns.
        let targets = unsafe { slice(targets, target_count)? };
        let world = SNAPSHOTS.get(snapshot.id)?;
        let world = lock(&world);
        let of_kind = one_of(world.kinds(), kind)?;
        let snapshot = &world.snapshot;
        let first = snapshot.of_kind(kind as usize).start;
        let rows = snapshot.of_kind(kind as usize).len();
        let mut lanes = Vec::new();
        let read = |row: usize, words: &mut [u64]| {
            lanes.clear();
            lanes.extend(snapshot.lanes_at(first + row));
            of_kind.reconstruct_raw(&lanes, words)
        };
        // SAFETY: the caller guarantees that each target has writable memory for `capacity`
        // entities until this call returns.
        unsafe { write_rows(of_kind.fields(), targets, rows, capacity, read) }
    })
}

/// Writes a hash of the entities and their lanes, without the tick. Equal states have equal hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_hash(snapshot: KpSnapshot, hash: *mut u64) -> KpStatus {
    call(|| {
        let value = lock(&*SNAPSHOTS.get(snapshot.id)?).snapshot.state_hash();
        // SAFETY: the caller guarantees that `hash` is writable until this call returns.
        unsafe { put(hash, value) }
    })
}

/// Frees a snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn kp_snapshot_free(snapshot: KpSnapshot) -> KpStatus {
    call(|| SNAPSHOTS.remove(snapshot.id))
}
