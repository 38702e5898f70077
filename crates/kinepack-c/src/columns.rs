//! Columns of numbers in the caller's memory. The library reads them into the rows of a snapshot,
//! and writes them from rows.

use std::ffi::c_void;

use kinepack::schema::{Field, FieldKind};
use kinepack::values::{Column, ColumnsError, Number, Quantizer, Values};
use kinepack::{EncodeError, EntityId, Schema, Snapshot, Tick};

use crate::KpStatus;
use crate::memory::{self, check_rows, slice};
use crate::schema::one_of;
use crate::status::Failure;

/// The type of a number in the caller's memory.
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
    /// `uint8_t`, and flags of one byte, such as C's `bool`
    U8 = 6,
    /// `uint16_t`
    U16 = 7,
    /// `uint32_t`
    U32 = 8,
    /// `uint64_t`
    U64 = 9,
}

/// The numbers of a field in the caller's memory, which the library reads. The numbers of one
/// entity are adjacent, and entities are `stride` bytes apart. Numbers need no alignment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpColumn {
    /// The address of the first number of the first entity.
    pub data: *const c_void,
    /// The number of bytes from one entity to the next. With 0, all entities have the same numbers.
    pub stride: usize,
    /// The type of the numbers: a `KpNumber`. Real numbers and rotations need `KP_NUMBER_F32` or
    /// `KP_NUMBER_F64`, and all other fields need integers.
    pub number: i32,
    /// If not 0, values out of range are clamped instead of refused.
    pub clamp: i32,
}

/// The numbers of a field in the caller's memory, to which the library writes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTarget {
    /// The address of the first number of the first entity. If it is null, the field is not
    /// written.
    pub data: *mut c_void,
    /// The number of bytes from one entity to the next.
    pub stride: usize,
    /// The type of the numbers: a `KpNumber` that can hold every value of the field.
    pub number: i32,
}

/// A snapshot, and the quantizer that fills it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
    quantizer: Quantizer,
}

impl World {
    pub(crate) fn new(schema: &Schema) -> Self {
        Self { snapshot: Snapshot::new(schema, Tick(0)), quantizer: Quantizer::new(schema) }
    }

    /// The schemas of the kinds.
    pub(crate) fn kinds(&self) -> &[Schema] {
        self.quantizer.kinds()
    }

    /// Adds entities of a kind. After an error, the snapshot is unchanged.
    ///
    /// # Safety
    /// Each column has the numbers of `ids.len()` entities.
    pub(crate) unsafe fn add(
        &mut self,
        kind: u32,
        ids: &[EntityId],
        columns: &[KpColumn],
    ) -> Result<(), Failure> {
        let Self { snapshot, quantizer } = self;
        let fields = one_of(quantizer.kinds(), kind)?.fields();
        let given = fields.iter().zip(columns).map(|(field, column)| {
            let number = number_of(column.number)?;
            let numbers = Values::per_entity(field);
            let needed = Column::needed_bytes(ids.len(), numbers, column.stride, number);
            let needed = needed.ok_or_else(|| Failure::argument("a stride is too large"))?;
            // SAFETY: the caller of this function guarantees that the column has readable numbers
            // for each id, at this stride.
            let bytes = unsafe { slice(column.data.cast::<u8>(), needed)? };
            let read = Column::new(bytes, column.stride, number);
            Ok(if column.clamp != 0 { read.clamped() } else { read })
        });
        let mut given: Vec<Column<'_>> = given.collect::<Result<_, Failure>>()?;
        // The count does not change, so that `extend` refuses a wrong one with its own error.
        given.resize(columns.len(), Column::new(&[], 0, Number::U8));
        quantizer.extend(snapshot, kind as usize, ids, &given).map_err(|error| {
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
    }

    /// Replaces all entities by one record of a kind, such as an event or an input. The record
    /// becomes row 0.
    ///
    /// # Safety
    /// Each column has the numbers of one record.
    pub(crate) unsafe fn set_record(
        &mut self,
        kind: u32,
        columns: &[KpColumn],
    ) -> Result<(), Failure> {
        self.snapshot.clear(Tick(0));
        // SAFETY: the caller guarantees that each column has the numbers of one record until this
        // call returns. The record is the only entity.
        unsafe { self.add(kind, &[EntityId(0)], columns) }
    }

    /// Replaces all entities by those of the only kind. The ids increase.
    ///
    /// # Safety
    /// Each column has the numbers of `ids.len()` entities.
    pub(crate) unsafe fn set_rows(
        &mut self,
        ids: &[EntityId],
        columns: &[KpColumn],
    ) -> Result<(), Failure> {
        self.snapshot.clear(Tick(0));
        // SAFETY: the caller guarantees that each column has the numbers of these entities until
        // this function returns.
        unsafe { self.add(0, ids, columns) }
    }

    /// Replaces all entities by the one of the row `row` of the columns.
    ///
    /// # Safety
    /// Each column has the numbers of more than `row` entities, and their addresses do not overflow.
    pub(crate) unsafe fn set_row(
        &mut self,
        id: EntityId,
        columns: &[KpColumn],
        row: usize,
    ) -> Result<(), Failure> {
        let of_row = columns.iter().map(|column| {
            // The addresses do not overflow, so neither does the product.
            KpColumn { data: column.data.wrapping_byte_add(row * column.stride), ..*column }
        });
        let of_row: Vec<KpColumn> = of_row.collect();
        // SAFETY: the caller guarantees that each column has the numbers of the row.
        unsafe { self.set_rows(&[id], &of_row) }
    }

    /// Copies the lanes of the entity `index` of the only kind.
    pub(crate) fn copy_row(&self, index: usize, lanes: &mut [u32]) {
        let row = self.snapshot.lanes_at(index);
        lanes.iter_mut().zip(row).for_each(|(lane, value)| *lane = value);
    }

    /// Checks that columns can have the numbers of `rows` entities of the only kind. Does not read
    /// the numbers.
    pub(crate) fn check_columns(
        &mut self,
        columns: &[KpColumn],
        rows: usize,
    ) -> Result<(), Failure> {
        // SAFETY: no entities have no numbers.
        unsafe { self.set_rows(&[], columns)? };
        for (field, column) in one_of(self.kinds(), 0)?.fields().iter().zip(columns) {
            let bytes = Values::per_entity(field) * number_of(column.number)?.bytes();
            check_rows(column.data.cast(), rows, column.stride, bytes)?;
        }
        Ok(())
    }

    /// Checks that the snapshot can hold states of the schema with the hash `hash`. `of` names the
    /// owner of the schema.
    pub(crate) fn check_schema(&self, hash: u64, of: &str) -> Result<(), Failure> {
        if hash == self.snapshot.schema_hash() {
            return Ok(());
        }
        Err(Failure::argument(format!("the snapshot is of another schema than the {of}")))
    }
}

/// Writes `rows` entities to targets. `read` returns the raw words of an entity.
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
    if rows > capacity {
        return Err(memory::too_many(rows, capacity));
    }
    // All checks precede the first write, so that an error changes nothing.
    let writers = writers(fields, targets, rows)?;
    let mut words = vec![0; writers.iter().map(|(_, lanes)| lanes).sum()];
    for row in 0..rows {
        read(row, &mut words).map_err(Failure::argument)?;
        let mut rest = &words[..];
        for (writer, lanes) in &writers {
            let (of_field, after) = rest.split_at(*lanes);
            rest = after;
            // SAFETY: `Writer::new` has checked the pointer and the rows. The caller of this
            // function guarantees memory for `capacity` entities at each target, and `row` is below
            // `rows`.
            unsafe { writer.write(row, of_field) };
        }
    }
    Ok(())
}

/// Checks that targets can take the values of `rows` entities.
pub(crate) fn check_targets(
    fields: &[Field],
    targets: &[KpTarget],
    rows: usize,
) -> Result<(), Failure> {
    writers(fields, targets, rows).map(drop)
}

/// The writers of all fields, each with its number of lanes.
fn writers(
    fields: &[Field],
    targets: &[KpTarget],
    rows: usize,
) -> Result<Vec<(Writer, usize)>, Failure> {
    if targets.len() != fields.len() {
        let text = format!("{} targets for {} fields", targets.len(), fields.len());
        return Err(Failure::argument(text));
    }
    let of_fields = fields.iter().zip(targets);
    of_fields
        .map(|(field, target)| Ok((Writer::new(field, target, rows)?, field.lanes().len())))
        .collect()
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
    /// The first number. It is null if the field is not written.
    data: *mut u8,
    stride: usize,
    number: Number,
    numbers: usize,
}

impl Writer {
    /// Checks that a target can take the values of `field` for `rows` entities.
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
        check_rows(data, rows, stride, numbers * number.bytes())?;
        Ok(writer)
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
            // SAFETY: `new` has checked that the rows do not overflow. The caller guarantees that
            // the target has memory for `row`, which nothing else uses. The write needs no
            // alignment.
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

/// The largest value of a field with lanes that are not quantized.
fn most_of(field: &Field) -> u32 {
    match field.kind {
        FieldKind::Bool => 1,
        FieldKind::Choice { max } => max,
        FieldKind::Bytes { .. } => u8::MAX.into(),
        _ => u32::MAX,
    }
}

/// The smallest and the largest integer of a type.
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
