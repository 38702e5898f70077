//! Snapshots: the state of all entities at one tick.

use std::ffi::c_void;
use std::sync::Mutex;

use kinepack::schema::{Field, FieldKind};
use kinepack::values::{Column, ColumnsError, Number, Quantizer, Values};
use kinepack::{EncodeError, EntityId, Snapshot, Tick};

use crate::KpStatus;
use crate::handles::{Handles, lock};
use crate::memory::{check_out, put, slice, slice_mut};
use crate::schema::{KpSchema, SCHEMAS, one_of};
use crate::status::{Failure, call};

/// The state of all entities at one tick.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpSnapshot {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static SNAPSHOTS: Handles<Mutex<World>> = Handles::new(4, "a snapshot");

/// A snapshot, and what fills it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
    quantizer: Quantizer,
}

/// The type of a number in memory of the caller.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpNumber {
    /// `float`
    F32 = 0,
    /// `double`
    F64 = 1,
    /// `int8_t`
    I8 = 2,
    /// `int16_t`
    I16 = 3,
    /// `int32_t`
    I32 = 4,
    /// `int64_t`
    I64 = 5,
    /// `uint8_t`, and `bool`
    U8 = 6,
    /// `uint16_t`
    U16 = 7,
    /// `uint32_t`
    U32 = 8,
    /// `uint64_t`
    U64 = 9,
}

/// The numbers of a field in memory of the caller, to read from: those of one entity are next to
/// each other, and from one entity to the next it is `stride` bytes. They need no alignment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpColumn {
    /// The first number of the first entity.
    pub data: *const c_void,
    /// Bytes from one entity to the next. With 0, all entities have the same numbers.
    pub stride: usize,
    /// A `KpNumber`. Real numbers and rotations take `KP_NUMBER_F32` and `KP_NUMBER_F64`, all other
    /// fields integers.
    pub number: i32,
    /// Not 0: values out of range become the nearest end instead of an error.
    pub clamp: i32,
}

/// The numbers of a field in memory of the caller, to write to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTarget {
    /// The first number of the first entity. If it is null, the field is left out.
    pub data: *mut c_void,
    /// Bytes from one entity to the next.
    pub stride: usize,
    /// A `KpNumber` that can hold every value of the field.
    pub number: i32,
}

/// A snapshot without entities. The caller frees `*out` with `kp_snapshot_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_new(schema: KpSchema, out: *mut KpSnapshot) -> KpStatus {
    call(|| {
        check_out(out)?;
        let schema = SCHEMAS.get(schema.id)?;
        let snapshot = Snapshot::new(&schema, Tick(0));
        let world = World { snapshot, quantizer: Quantizer::new(&schema) };
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpSnapshot { id: SNAPSHOTS.add(Mutex::new(world)) }) }
    })
}

/// Removes all entities, and sets the tick. Memory is kept for the next ones.
#[unsafe(no_mangle)]
pub extern "C" fn kp_snapshot_clear(snapshot: KpSnapshot, tick: u32) -> KpStatus {
    call(|| {
        lock(&*SNAPSHOTS.get(snapshot.id)?).snapshot.clear(Tick(tick));
        Ok(())
    })
}

/// Adds `count` entities of a kind: their ids, which increase and are above those of the kind before,
/// and a column for each field of the kind. Numbers are quantized. The column of a field that is
/// absent for an entity is not read there. After an error the snapshot is as before.
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
        // SAFETY: the caller lends both.
        let (ids, columns) = unsafe { (slice(ids, count)?, slice(columns, column_count)?) };
        let world = SNAPSHOTS.get(snapshot.id)?;
        let mut world = lock(&world);
        let World { snapshot, quantizer } = &mut *world;
        let fields = one_of(quantizer.kinds(), kind)?.fields();
        let given = fields.iter().zip(columns).map(|(field, column)| {
            let number = number_of(column.number)?;
            let numbers = Values::per_entity(field);
            let needed = Column::needed_bytes(count, numbers, column.stride, number);
            let needed = needed.ok_or_else(|| Failure::argument("a stride is too large"))?;
            // SAFETY: the caller lends the column, `count` entities with this stride.
            let bytes = unsafe { slice(column.data.cast::<u8>(), needed)? };
            let read = Column::new(bytes, column.stride, number);
            Ok(if column.clamp != 0 { read.clamped() } else { read })
        });
        let mut given: Vec<Column<'_>> = given.collect::<Result<_, Failure>>()?;
        // The library says what is wrong with other counts.
        given.resize(columns.len(), Column::new(&[], 0, Number::U8));
        let ids: Vec<EntityId> = ids.iter().map(|id| EntityId(*id)).collect();
        quantizer.extend(snapshot, kind as usize, &ids, &given).map_err(|error| {
            let status = match error {
                ColumnsError::Value { .. } => KpStatus::Value,
                _ => KpStatus::Argument,
            };
            let text = match &error {
                ColumnsError::Value { field, error } => {
                    format!("{}: {error}", fields[*field].name)
                }
                other => other.to_string(),
            };
            Failure::new(status, text)
        })
    })
}

/// The tick of a snapshot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_tick(snapshot: KpSnapshot, tick: *mut u32) -> KpStatus {
    call(|| {
        let value = lock(&*SNAPSHOTS.get(snapshot.id)?).snapshot.tick.0;
        // SAFETY: `tick` is the caller's.
        unsafe { put(tick, value) }
    })
}

/// The number of entities of a kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_count(
    snapshot: KpSnapshot,
    kind: u32,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        let world = SNAPSHOTS.get(snapshot.id)?;
        let world = lock(&world);
        one_of(world.quantizer.kinds(), kind)?;
        let value = world.snapshot.of_kind(kind as usize).len();
        // SAFETY: `count` is the caller's.
        unsafe { put(count, value) }
    })
}

/// Writes the ids of the entities of a kind, which increase: `*count` of them, if they are at most
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
        one_of(world.quantizer.kinds(), kind)?;
        let of_kind = &world.snapshot.ids()[world.snapshot.of_kind(kind as usize)];
        // SAFETY: the caller lends `capacity` numbers, and `count`.
        unsafe { write_ids(of_kind.iter().map(|id| id.0), ids, capacity, count) }
    })
}

/// Writes the numbers of the entities of a kind, in the order of their ids: a target for each field,
/// with room for `capacity` entities. Numbers of a field that is absent for an entity are 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_read(
    snapshot: KpSnapshot,
    kind: u32,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends them.
        let targets = unsafe { slice(targets, target_count)? };
        let world = SNAPSHOTS.get(snapshot.id)?;
        let world = lock(&world);
        let of_kind = one_of(world.quantizer.kinds(), kind)?;
        let snapshot = &world.snapshot;
        let first = snapshot.of_kind(kind as usize).start;
        let rows = snapshot.of_kind(kind as usize).len();
        let mut lanes = Vec::new();
        let read = |row: usize, words: &mut [u64]| {
            lanes.clear();
            lanes.extend(snapshot.lanes_at(first + row));
            of_kind.reconstruct_raw(&lanes, words)
        };
        // SAFETY: the caller lends memory for `capacity` entities at each target.
        unsafe { write_rows(of_kind.fields(), targets, rows, capacity, read) }
    })
}

/// A hash of the entities and their lanes, without the tick: equal states have equal hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_snapshot_hash(snapshot: KpSnapshot, hash: *mut u64) -> KpStatus {
    call(|| {
        let value = lock(&*SNAPSHOTS.get(snapshot.id)?).snapshot.state_hash();
        // SAFETY: `hash` is the caller's.
        unsafe { put(hash, value) }
    })
}

/// Frees a snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn kp_snapshot_free(snapshot: KpSnapshot) -> KpStatus {
    call(|| SNAPSHOTS.remove(snapshot.id))
}

/// Writes `rows` entities to targets. `read` gives the raw words of each.
///
/// # Safety
/// Each target has memory for `capacity` entities, which nothing else uses.
pub(crate) unsafe fn write_rows(
    fields: &[Field],
    targets: &[KpTarget],
    rows: usize,
    capacity: usize,
    mut read: impl FnMut(usize, &mut [u64]) -> Result<(), EncodeError>,
) -> Result<(), Failure> {
    if targets.len() != fields.len() {
        let text = format!("{} targets for {} fields", targets.len(), fields.len());
        return Err(Failure::argument(text));
    }
    if rows > capacity {
        return Err(too_few(rows, capacity));
    }
    // All checks come before the first write.
    let writers = fields
        .iter()
        .zip(targets)
        .map(|(field, target)| Ok((Writer::new(field, target, rows)?, field.lanes().len())));
    let writers: Vec<(Writer, usize)> = writers.collect::<Result<_, Failure>>()?;
    let mut words = vec![0; writers.iter().map(|(_, lanes)| lanes).sum()];
    for row in 0..rows {
        read(row, &mut words).map_err(Failure::argument)?;
        let mut rest = &words[..];
        for (writer, lanes) in &writers {
            let (of_field, after) = rest.split_at(*lanes);
            rest = after;
            // SAFETY: `Writer::new` has checked the pointer; the caller promises the memory.
            unsafe { writer.write(row, of_field) };
        }
    }
    Ok(())
}

/// Writes ids, if they fit.
///
/// # Safety
/// As for [`slice_mut`] and [`put`].
pub(crate) unsafe fn write_ids(
    from: impl ExactSizeIterator<Item = u32>,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: as for this function.
    unsafe { put(count, from.len())? };
    if from.len() > capacity {
        return Err(too_few(from.len(), capacity));
    }
    // SAFETY: as for this function.
    let ids = unsafe { slice_mut(ids, from.len())? };
    ids.iter_mut().zip(from).for_each(|(to, id)| *to = id);
    Ok(())
}

fn too_few(needed: usize, capacity: usize) -> Failure {
    Failure::new(KpStatus::Size, format!("{needed} entities do not fit into {capacity}"))
}

fn number_of(number: i32) -> Result<Number, Failure> {
    Ok(match number {
        0 => Number::F32,
        1 => Number::F64,
        2 => Number::I8,
        3 => Number::I16,
        4 => Number::I32,
        5 => Number::I64,
        6 => Number::U8,
        7 => Number::U16,
        8 => Number::U32,
        9 => Number::U64,
        _ => return Err(Failure::argument(format!("no KpNumber is {number}"))),
    })
}

/// Writes the numbers of a field.
struct Writer {
    /// Null: the field is left out.
    data: *mut u8,
    stride: usize,
    number: Number,
    numbers: usize,
}

impl Writer {
    /// Checks that a target can take the values of a field for this number of entities.
    fn new(field: &Field, target: &KpTarget, rows: usize) -> Result<Self, Failure> {
        let (number, numbers) = (number_of(target.number)?, Values::per_entity(field));
        let (data, stride) = (target.data.cast::<u8>(), target.stride);
        let writer = Self { data, stride, number, numbers };
        if data.is_null() {
            return Ok(writer);
        }
        let is_float = matches!(number, Number::F32 | Number::F64);
        let fits = match &field.kind {
            FieldKind::Floats(_) | FieldKind::Rotation(_) => is_float,
            FieldKind::Integer(limits) => {
                let (least, most) = limits_of(number);
                !is_float && limits.min() >= least && limits.max() <= most
            }
            _ => !is_float && i128::from(most_of(field)) <= limits_of(number).1,
        };
        if !fits {
            let text = format!("{}: a {number:?} does not hold all its values", field.name);
            return Err(Failure::argument(text));
        }
        let needed = Column::needed_bytes(rows, numbers, stride, number);
        let end = needed.and_then(|needed| data.addr().checked_add(needed));
        match end.filter(|_| needed.is_some_and(|needed| needed <= isize::MAX as usize)) {
            Some(_) => Ok(writer),
            None => Err(Failure::argument("a stride is too large")),
        }
    }

    /// Writes the numbers of an entity.
    ///
    /// # Safety
    /// The target has memory for more than `row` entities.
    unsafe fn write(&self, row: usize, words: &[u64]) {
        if self.data.is_null() {
            return;
        }
        for (nth, word) in words.iter().take(self.numbers).enumerate() {
            // SAFETY: `new` has checked that this is within one object of the caller, and the caller
            // that nothing else uses it. The write needs no alignment.
            unsafe {
                let to = self.data.add(row * self.stride + nth * self.number.bytes());
                match self.number {
                    Number::F32 => to.cast::<f32>().write_unaligned(f64::from_bits(*word) as f32),
                    Number::F64 => to.cast::<f64>().write_unaligned(f64::from_bits(*word)),
                    Number::I8 | Number::U8 => to.write(*word as u8),
                    Number::I16 | Number::U16 => to.cast::<u16>().write_unaligned(*word as u16),
                    Number::I32 | Number::U32 => to.cast::<u32>().write_unaligned(*word as u32),
                    _ => to.cast::<u64>().write_unaligned(*word),
                }
            }
        }
    }
}

/// The largest value of a field of lanes that are not quantized.
fn most_of(field: &Field) -> u32 {
    match field.kind {
        FieldKind::Bool => 1,
        FieldKind::Choice { max } => max,
        FieldKind::Bytes { .. } => u8::MAX.into(),
        _ => u32::MAX,
    }
}

/// The least and the largest integer of a type.
fn limits_of(number: Number) -> (i128, i128) {
    match number {
        Number::I8 => (i8::MIN.into(), i8::MAX.into()),
        Number::I16 => (i16::MIN.into(), i16::MAX.into()),
        Number::I32 => (i32::MIN.into(), i32::MAX.into()),
        Number::I64 => (i64::MIN.into(), i64::MAX.into()),
        Number::U8 => (0, u8::MAX.into()),
        Number::U16 => (0, u16::MAX.into()),
        Number::U32 => (0, u32::MAX.into()),
        Number::U64 => (0, u64::MAX.into()),
        _ => (0, -1),
    }
}
