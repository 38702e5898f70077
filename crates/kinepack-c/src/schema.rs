//! Schemas, which list the fields of an entity's state.

use std::ffi::c_char;

use kinepack::schema::{Field, FieldKind};
use kinepack::values::Values;
use kinepack::{EntityId, Schema};

use crate::KpStatus;
use crate::columns::{KpColumn, KpTarget, World, write_rows};
use crate::handles::Handles;
use crate::memory::{self, check_out, give, give_text, put, slice};
use crate::status::{Failure, call};

/// A schema. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpSchema {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static SCHEMAS: Handles<Schema> = Handles::new(1, "a schema");

/// The type of a field.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpFieldKind {
    /// Real numbers with limits.
    Floats = 0,
    /// An integer with limits.
    Integer = 1,
    /// A rotation x, y, z, w.
    Rotation = 2,
    /// A flag, 0 or 1.
    Bool = 3,
    /// One of several alternatives.
    Choice = 4,
    /// Bit patterns of 32 bits.
    Raw = 5,
    /// Opaque bytes.
    Bytes = 6,
}

/// A field of a kind of entities.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpField {
    /// The type of the field.
    pub kind: KpFieldKind,
    /// The number of column values per entity: 3 for a position, 4 for a rotation.
    pub numbers: u32,
    /// The number of lanes of the field.
    pub lanes: u32,
    /// The index of the field's first lane among the lanes of its kind.
    pub first_lane: u32,
}

/// Reads a schema file, as written by `kp_schema_to_bytes` and Rust's `Schema::to_bytes`. The
/// caller frees `*out` with `kp_schema_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_from_bytes(
    bytes: *const u8,
    size: usize,
    out: *mut KpSchema,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes until this call
        // returns.
        let bytes = unsafe { slice(bytes, size)? };
        let schema = Schema::from_bytes(bytes).map_err(Failure::data)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSchema { id: SCHEMAS.add(schema) }) }
    })
}

/// Writes a schema file: `*size` bytes, if they fit into `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_to_bytes(
    schema: KpSchema,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let file = SCHEMAS.get(schema.id)?.to_bytes();
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&file, bytes, capacity, size) }
    })
}

/// Writes the hash of a schema. Two sides with the same hash have the same schema.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_hash(schema: KpSchema, hash: *mut u64) -> KpStatus {
    call(|| {
        let value = SCHEMAS.get(schema.id)?.hash();
        // SAFETY: the caller guarantees that `hash` is writable until this call returns.
        unsafe { put(hash, value) }
    })
}

/// Writes the number of kinds of a schema.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_kinds(schema: KpSchema, kinds: *mut u32) -> KpStatus {
    call(|| {
        let value = SCHEMAS.get(schema.id)?.kinds().len() as u32;
        // SAFETY: the caller guarantees that `kinds` is writable until this call returns.
        unsafe { put(kinds, value) }
    })
}

/// Writes the number of fields of a kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_fields(
    schema: KpSchema,
    kind: u32,
    fields: *mut u32,
) -> KpStatus {
    call(|| {
        let schema = SCHEMAS.get(schema.id)?;
        let value = one_of(schema.kinds(), kind)?.fields().len() as u32;
        // SAFETY: the caller guarantees that `fields` is writable until this call returns.
        unsafe { put(fields, value) }
    })
}

/// Writes a description of a field of a kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_field(
    schema: KpSchema,
    kind: u32,
    field: u32,
    out: *mut KpField,
) -> KpStatus {
    call(|| {
        let schema = SCHEMAS.get(schema.id)?;
        let of_kind = one_of(schema.kinds(), kind)?;
        let of = field_of(&schema, kind, field)?;
        let described = KpField {
            kind: match of.kind {
                FieldKind::Floats(_) => KpFieldKind::Floats,
                FieldKind::Integer(_) => KpFieldKind::Integer,
                FieldKind::Rotation(_) => KpFieldKind::Rotation,
                FieldKind::Bool => KpFieldKind::Bool,
                FieldKind::Choice { .. } => KpFieldKind::Choice,
                FieldKind::Raw { .. } => KpFieldKind::Raw,
                _ => KpFieldKind::Bytes,
            },
            numbers: Values::per_entity(of) as u32,
            lanes: of.lanes().len() as u32,
            first_lane: (of.lanes().start - of_kind.lanes().start) as u32,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Writes the name of a kind, with a terminating zero: `*size` bytes including the zero, if they
/// fit into `capacity`. If a schema has only one kind, its name may be empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_kind_name(
    schema: KpSchema,
    kind: u32,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let schema = SCHEMAS.get(schema.id)?;
        let stored = one_of(schema.kinds(), kind)?.name();
        // SAFETY: the caller guarantees that `name` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give_text(stored, name, capacity, size) }
    })
}

/// Writes the name of a field, like `kp_schema_kind_name` for a kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_field_name(
    schema: KpSchema,
    kind: u32,
    field: u32,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let schema = SCHEMAS.get(schema.id)?;
        // SAFETY: the caller guarantees that `name` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give_text(&field_of(&schema, kind, field)?.name, name, capacity, size) }
    })
}

/// Finds the field of a kind with the name `name`. Returns `KP_STATUS_NOTHING` if there is no such
/// field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_find(
    schema: KpSchema,
    kind: u32,
    name: *const c_char,
    field: *mut u32,
) -> KpStatus {
    call(|| {
        let schema = SCHEMAS.get(schema.id)?;
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text and `field` is
        // writable, until this call returns.
        unsafe {
            let name = memory::text(name)?;
            let fields = &schema.fields()[one_of(schema.kinds(), kind)?.fields()];
            let found = fields.iter().position(|field| field.name == name);
            let nothing = || Failure::nothing("no field of the kind has this name");
            put(field, found.ok_or_else(nothing)? as u32)
        }
    })
}

fn field_of(schema: &Schema, kind: u32, field: u32) -> Result<&Field, Failure> {
    let fields = &schema.fields()[one_of(schema.kinds(), kind)?.fields()];
    fields.get(field as usize).ok_or_else(|| {
        Failure::argument(format!("kind {kind} has no field {field}; it has {}", fields.len()))
    })
}

/// The item for a kind, from a list with one item per kind.
pub(crate) fn one_of<T>(kinds: &[T], kind: u32) -> Result<&T, Failure> {
    kinds.get(kind as usize).ok_or_else(|| {
        Failure::argument(format!("the schema has no kind {kind}; it has {}", kinds.len()))
    })
}

/// Rounds states of a kind as the other side gets them: reads `count` entities from a column for each
/// field, and writes them to a target for each field, which may be the same numbers. A server that
/// simulates entities which clients predict rounds them after each step: see `KpPrediction`. Returns
/// `KP_STATUS_VALUE` if a value cannot be quantized; then nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_rounded(
    schema: KpSchema,
    kind: u32,
    count: usize,
    columns: *const KpColumn,
    column_count: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `columns` has `column_count` valid columns and
        // `targets` has `target_count` valid targets, until this call returns.
        let (columns, targets) =
            unsafe { (slice(columns, column_count)?, slice(targets, target_count)?) };
        let schema = SCHEMAS.get(schema.id)?;
        one_of(schema.kinds(), kind)?;
        let of_kind = schema.of_kind(kind as usize);
        let last = u32::try_from(count).map_err(|_| Failure::argument("too many entities"))?;
        let ids: Vec<EntityId> = (0..last).map(EntityId).collect();
        let mut rounded = World::new(&of_kind);
        let mut lanes = vec![0; of_kind.lanes().len()];
        // SAFETY: the caller guarantees that each column has `count` readable entities and each
        // target has writable memory for `count` entities, until this call returns. All columns are
        // read before the first target is written.
        unsafe {
            rounded.set_rows(&ids, columns)?;
            write_rows(of_kind.fields(), targets, count, count, |row, words| {
                rounded.copy_row(row, &mut lanes);
                of_kind.reconstruct_raw(&lanes, words)
            })
        }
    })
}

/// Frees a schema. Objects made with the schema remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn kp_schema_free(schema: KpSchema) -> KpStatus {
    call(|| SCHEMAS.remove(schema.id))
}
