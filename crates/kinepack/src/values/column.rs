//! Quantizes columns of numbers, in memory of any layout, into a snapshot.

use alloc::vec::Vec;
use core::fmt;

use super::Values;
use crate::schema::columns::{float_columns, rotation_columns, with_row};
use crate::schema::{Columns, Field, FieldKind, derived};
use crate::{EncodeError, EntityId, Schema, Snapshot};

/// The number of rows that are quantized together.
const BLOCK: usize = 64;

/// The type of a number, in the byte order of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Number {
    /// The numbers are `f32`.
    F32,
    /// The numbers are `f64`.
    F64,
    /// The numbers are `i8`.
    I8,
    /// The numbers are `i16`.
    I16,
    /// The numbers are `i32`.
    I32,
    /// The numbers are `i64`.
    I64,
    /// The numbers are `u8` or `bool`.
    U8,
    /// The numbers are `u16`.
    U16,
    /// The numbers are `u32`.
    U32,
    /// The numbers are `u64`.
    U64,
}

impl Number {
    /// The size of one number, in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

/// The numbers of a field, in memory with a fixed stride. The numbers of one entity are contiguous,
/// and the distance from one entity to the next is constant. So a column can be part of an array of
/// structs, or a separate array. [`Quantizer`] has an example.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    bytes: &'a [u8],
    stride: usize,
    number: Number,
    clamps: bool,
}

impl<'a> Column<'a> {
    /// Makes a column that begins at the first of `bytes`. `stride` is the number of bytes from one
    /// entity to the next. With a stride of 0, all entities have the same numbers.
    pub fn new(bytes: &'a [u8], stride: usize, number: Number) -> Self {
        Self { bytes, stride, number, clamps: false }
    }

    /// Clamps values out of range to the nearest end, instead of causing an error.
    #[must_use]
    pub fn clamped(self) -> Self {
        Self { clamps: true, ..self }
    }

    /// Returns the number of bytes that a column needs for `count` entities with `numbers` numbers
    /// each. Returns `None` if that number overflows `usize`.
    pub fn needed_bytes(
        count: usize,
        numbers: usize,
        stride: usize,
        number: Number,
    ) -> Option<usize> {
        let Some(last) = count.checked_sub(1) else { return Some(0) };
        last.checked_mul(stride)?.checked_add(numbers.checked_mul(number.bytes())?)
    }

    fn entity_bytes(&self, row: usize) -> &'a [u8] {
        &self.bytes[row * self.stride..]
    }

    /// Returns the first `N` real numbers of an entity.
    #[inline]
    fn floats<const N: usize, T: Real>(&self, row: usize) -> [T; N] {
        let bytes = self.entity_bytes(row);
        core::array::from_fn(|index| T::read(&bytes[index * size_of::<T>()..]))
    }

    fn float(&self, row: usize, index: usize) -> f64 {
        let bytes = &self.entity_bytes(row)[index * self.number.bytes()..];
        if self.number == Number::F32 { f32::read(bytes).into() } else { f64::read(bytes) }
    }

    fn integer(&self, row: usize, index: usize) -> i128 {
        let bytes = &self.entity_bytes(row)[index * self.number.bytes()..];
        macro_rules! read {
            ($type:ty) => {
                bytes.first_chunk().map_or(0, |bytes| <$type>::from_ne_bytes(*bytes).into())
            };
        }
        match self.number {
            Number::I8 => read!(i8),
            Number::I16 => read!(i16),
            Number::I32 => read!(i32),
            Number::I64 => read!(i64),
            Number::U8 => read!(u8),
            Number::U16 => read!(u16),
            Number::U32 => read!(u32),
            Number::U64 => read!(u64),
            Number::F32 | Number::F64 => 0,
        }
    }
}

/// Either `f32` or `f64`.
trait Real: Copy {
    const ZERO: Self;

    fn read(bytes: &[u8]) -> Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        bytes.first_chunk().map_or(0.0, |bytes| Self::from_ne_bytes(*bytes))
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        bytes.first_chunk().map_or(0.0, |bytes| Self::from_ne_bytes(*bytes))
    }
}

/// The reason why columns cannot be quantized.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnsError {
    /// The number of columns differs from the number of the kind's fields.
    Count {
        /// The number of the kind's fields.
        fields: usize,
        /// The number of columns that were given.
        columns: usize,
    },
    /// A column has a number type that its field does not accept. Real numbers and rotations take
    /// `f32` and `f64`; all other fields take integers.
    Number {
        /// The index of the field.
        field: usize,
        /// The type of the column's numbers.
        number: Number,
    },
    /// A column has too few bytes.
    Length {
        /// The index of the field.
        field: usize,
        /// The number of bytes that the column needs; `None` if that overflows `usize`.
        needed_bytes: Option<usize>,
        /// The number of bytes that the column has.
        bytes: usize,
    },
    /// A value cannot be quantized.
    Value {
        /// The index of the field.
        field: usize,
        /// The error, which names the entity.
        error: EncodeError,
    },
    /// The entities cannot be added, for example because their ids do not increase.
    Entities(EncodeError),
}

impl fmt::Display for ColumnsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { fields, columns } => {
                write!(f, "{columns} columns for the {fields} fields of the kind")
            }
            Self::Number { field, number } => {
                write!(f, "field {field} does not take numbers of the type {number:?}")
            }
            Self::Length { field, needed_bytes: Some(needed), bytes } => {
                write!(f, "the column of field {field} has {bytes} bytes, but needs {needed}")
            }
            Self::Length { field, needed_bytes: None, .. } => {
                write!(f, "the column of field {field} would be larger than memory")
            }
            Self::Value { field, error } => write!(f, "field {field}: {error}"),
            Self::Entities(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ColumnsError {}

/// Quantizes columns of numbers into snapshots of one schema.
///
/// ```
/// use kinepack::values::{Column, Number, Quantizer};
/// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
///
/// #[derive(Pack, Debug, PartialEq)]
/// struct Ball {
///     #[pack(range = -50.0..=50.0, precision = 0.01)]
///     position: [f32; 3],
///     bounces: u8,
/// }
///
/// // The structs of another language have a position, a number and three bytes of padding.
/// let mut memory = Vec::new();
/// for id in [2_u8, 5] {
///     [1.0_f32, 2.0, id.into()].map(|axis| memory.extend(axis.to_ne_bytes()));
///     memory.extend([id, 0, 0, 0]);
/// }
/// let columns =
///     [Column::new(&memory, 16, Number::F32), Column::new(&memory[12..], 16, Number::U8)];
/// let schema = Schema::of::<Ball>();
/// let mut world = Snapshot::new(&schema, Tick(0));
/// Quantizer::new(&schema).extend(&mut world, 0, &[EntityId(2), EntityId(5)], &columns)?;
/// assert_eq!(world.get(EntityId(5))?, Some(Ball { position: [1.0, 2.0, 5.0], bounces: 5 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Quantizer {
    schema_hash: u64,
    /// For each kind, a schema of that kind alone.
    kinds: Vec<Schema>,
}

impl Quantizer {
    /// Makes a quantizer for snapshots of `schema`.
    pub fn new(schema: &Schema) -> Self {
        let kinds = (0..schema.kinds().len()).map(|kind| schema.of_kind(kind));
        Self { kinds: kinds.collect(), schema_hash: schema.hash() }
    }

    /// For each kind, a schema of that kind alone, as [`Schema::of_kind`] makes it.
    pub fn kinds(&self) -> &[Schema] {
        &self.kinds
    }

    /// Appends entities of a kind, with one column for each field of the kind, in order. Values are
    /// quantized as [`Snapshot::push`] does. If an entity lacks a field, the field's column is not
    /// read for that entity.
    ///
    /// For vectors of up to four axes and rotations the cost is that of [`Snapshot::extend`]. For
    /// other fields and for optional fields the cost is about that of [`Snapshot::push`].
    ///
    /// # Errors
    /// [`ColumnsError`] if the columns do not fit the kind's fields, or a value cannot be
    /// quantized. After an error the snapshot is unchanged.
    pub fn extend(
        &self,
        snapshot: &mut Snapshot,
        kind: usize,
        ids: &[EntityId],
        columns: &[Column<'_>],
    ) -> Result<(), ColumnsError> {
        let (expected_hash, hash) = (self.schema_hash, snapshot.schema_hash());
        if hash != expected_hash {
            let error = EncodeError::SchemaMismatch { expected_hash, hash };
            return Err(ColumnsError::Entities(error));
        }
        let kinds = self.kinds.len();
        let no_kind = ColumnsError::Entities(EncodeError::NoSuchKind { kind, kinds });
        let fields = self.kinds.get(kind).ok_or(no_kind)?.fields();
        if columns.len() != fields.len() {
            return Err(ColumnsError::Count { fields: fields.len(), columns: columns.len() });
        }
        for (index, (field, column)) in fields.iter().zip(columns).enumerate() {
            column.check(index, field, ids.len())?;
        }
        let fill = |lanes: &mut [Vec<u32>], begin: usize| {
            for (index, (field, column)) in fields.iter().zip(columns).enumerate() {
                fill_field(field, column, lanes, begin).map_err(|(row, error)| {
                    ColumnsError::Value { field: index, error: error.in_entity(ids[row].0) }
                })?;
            }
            Ok(())
        };
        snapshot.extend_filled(kind, ids, fill, ColumnsError::Entities)
    }
}

impl Column<'_> {
    /// Checks that a field accepts this column for `count` entities.
    fn check(&self, index: usize, field: &Field, count: usize) -> Result<(), ColumnsError> {
        let takes_floats = matches!(field.kind, FieldKind::Floats(_) | FieldKind::Rotation(_));
        if takes_floats != self.number.is_float() {
            return Err(ColumnsError::Number { field: index, number: self.number });
        }
        let (numbers, bytes) = (Values::per_entity(field), self.bytes.len());
        let needed_bytes = Self::needed_bytes(count, numbers, self.stride, self.number);
        if needed_bytes.is_none_or(|needed| needed > bytes) {
            return Err(ColumnsError::Length { field: index, needed_bytes, bytes });
        }
        Ok(())
    }
}

/// Fills the lanes of a field from the row `begin` on. `lanes` holds the columns of all lanes of
/// the kind. An error is returned with its row, counted from `begin`.
fn fill_field(
    field: &Field,
    column: &Column<'_>,
    lanes: &mut [Vec<u32>],
    begin: usize,
) -> Result<(), (usize, EncodeError)> {
    let of_field = field.lanes();
    let count = lanes[of_field.start].len() - begin;
    let is_optional = !field.conditions().is_empty();
    if !is_optional && fill_blocks(field, column, &mut lanes[of_field.clone()], begin) {
        return Ok(());
    }
    with_row(of_field.len(), |row_lanes| {
        for row in 0..count {
            if is_optional && !field.conditions().hold(|lane| lanes[lane][begin + row]) {
                row_lanes.fill(0);
            } else {
                quantize(field, column, row, row_lanes).map_err(|error| (row, error))?;
            }
            for (lane, value) in lanes[of_field.clone()].iter_mut().zip(&*row_lanes) {
                lane[begin + row] = *value;
            }
        }
        Ok(())
    })
}

/// Fills the lanes of a field block by block. Returns false after an error, and for fields that
/// cannot be filled in blocks.
fn fill_blocks(field: &Field, column: &Column<'_>, lanes: &mut [Vec<u32>], begin: usize) -> bool {
    let is_single = column.number == Number::F32;
    match &field.kind {
        FieldKind::Floats(axes) => {
            let clamps = column.clamps;
            macro_rules! fill {
                ($axes:literal, $type:ty) => {
                    blocks::<$axes, $type>(column, lanes, begin, |values, part| {
                        float_columns(values.iter(), axes, clamps, part)
                    })
                };
            }
            match (axes.len(), is_single) {
                (1, true) => fill!(1, f32),
                (2, true) => fill!(2, f32),
                (3, true) => fill!(3, f32),
                (4, true) => fill!(4, f32),
                (1, false) => fill!(1, f64),
                (2, false) => fill!(2, f64),
                (3, false) => fill!(3, f64),
                (4, false) => fill!(4, f64),
                _ => false,
            }
        }
        FieldKind::Rotation(rotation) if is_single => {
            blocks::<4, f32>(column, lanes, begin, |values, part| {
                rotation_columns(values.iter(), rotation, part)
            })
        }
        FieldKind::Rotation(rotation) => blocks::<4, f64>(column, lanes, begin, |values, part| {
            rotation_columns(values.iter(), rotation, part)
        }),
        // Flags and choices of one byte each are copied, and then checked together.
        FieldKind::Bool | FieldKind::Choice { .. } if column.number == Number::U8 => {
            let max = field.kind.plain_max();
            lanes[0][begin..].iter_mut().enumerate().fold(true, |are_right, (row, lane)| {
                *lane = column.entity_bytes(row)[0].into();
                are_right && *lane <= max
            })
        }
        _ => false,
    }
}

/// Reads numbers block by block, and calls `fill` to quantize each block.
fn blocks<const N: usize, T: Real>(
    column: &Column<'_>,
    lanes: &mut [Vec<u32>],
    begin: usize,
    fill: impl Fn(&[[T; N]], Columns<'_>) -> bool,
) -> bool {
    let mut block = [[T::ZERO; N]; BLOCK];
    let count = lanes[0].len() - begin;
    (0..count).step_by(BLOCK).all(|first| {
        let rows = first..count.min(first + BLOCK);
        for (value, row) in block.iter_mut().zip(rows.clone()) {
            *value = column.floats(row);
        }
        let part = Columns::with_rows(lanes, begin + rows.start..begin + rows.end);
        fill(&block[..rows.len()], part)
    })
}

/// Quantizes the value of one entity.
fn quantize(
    field: &Field,
    column: &Column<'_>,
    row: usize,
    lanes: &mut [u32],
) -> Result<(), EncodeError> {
    let clamps = column.clamps;
    match &field.kind {
        FieldKind::Floats(axes) => {
            for (index, (axis, lane)) in axes.iter().zip(lanes).enumerate() {
                let value = column.float(row, index);
                *lane = if clamps { axis.quantize_clamped(value)? } else { axis.quantize(value)? };
            }
        }
        FieldKind::Rotation(rotation) => {
            let xyzw = core::array::from_fn(|index| column.float(row, index) as f32);
            lanes.copy_from_slice(&rotation.quantize(xyzw)?);
        }
        FieldKind::Integer(limits) => {
            derived::quantize_integer(column.integer(row, 0), limits, clamps, "", lanes)?;
        }
        kind => {
            let max = kind.plain_max();
            for (index, lane) in lanes.iter_mut().enumerate() {
                let value = column.integer(row, index);
                let nearest = value.clamp(0, max.into());
                if nearest != value && !clamps {
                    let value = value as f64;
                    return Err(EncodeError::OutOfRange { id: None, field: "", value });
                }
                *lane = nearest as u32;
            }
        }
    }
    Ok(())
}
