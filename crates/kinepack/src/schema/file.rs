//! Codes schemas as bytes, for programs that cannot derive them: other languages, browsers, tools.
//! `spec/CODEC.md`, section 5.8, defines the format.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Coarser, Condition, Field, FieldKind, Role, Schema, TimePrecision};
use crate::SetupError;
use crate::file_numbers::{Reader, Writer, hash_of};
use crate::limits::MAX_KINDS;
use crate::quantize::{FloatLimits, FloatParts, IntegerLimits, SmallestThree};

/// The first bytes of a schema file.
const MAGIC: [u8; 4] = *b"KSCH";
const VERSION: u8 = 1;
/// The maximum size of a file in bytes.
const MOST_BYTES: usize = 1 << 20;

/// The roles, indexed by their numbers in a file.
const ROLES: [Role; 8] = [
    Role::Plain,
    Role::Velocity,
    Role::Body,
    Role::Touched,
    Role::Mover,
    Role::Clock,
    Role::Cut,
    Role::Frame,
];

/// The bit that marks a spawn field, and the other bits of a field's flags.
const SPAWN: u8 = 1;
const CONDITION: u8 = 1 << 1;
const VELOCITY_OF: u8 = 1 << 2;
const TIME_PRECISION: u8 = 1 << 3;
const MAX_STEP: u8 = 1 << 4;
const COARSER: u8 = 1 << 5;
const FRAME: u8 = 1 << 6;
const FLAGS: u8 = (1 << 7) - 1;

/// The bit for limits that wrap, and the other bits of an axis's flags.
const WRAPS: u8 = 1;
const SINGLE: u8 = 1 << 1;

impl Schema {
    /// The maximum number of lanes, and of fields, of a schema that is read from a file.
    pub const MOST_LANES_IN_FILE: usize = 4096;

    /// Encodes the schema as the bytes of a file. Equal schemas have equal bytes.
    ///
    /// ```
    /// use kinepack::{Pack, Schema};
    ///
    /// #[derive(Pack)]
    /// struct Door {
    ///     #[pack(range = 0.0..=90.0, precision = 1.0)]
    ///     angle_deg: f32,
    ///     locked: bool,
    /// }
    ///
    /// let schema = Schema::of::<Door>();
    /// let read = Schema::from_bytes(&schema.to_bytes())?;
    /// assert_eq!((read.fields(), read.hash()), (schema.fields(), schema.hash()));
    /// # Ok::<(), kinepack::SetupError>(())
    /// ```
    ///
    /// A file of a schema with more than [`MOST_LANES_IN_FILE`](Self::MOST_LANES_IN_FILE) lanes
    /// cannot be read.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &[VERSION], &self.hash().to_le_bytes()].concat();
        let mut writer = Writer(&mut bytes);
        writer.number(self.kinds().len() as u64);
        for kind in self.kinds() {
            writer.list(kind.name().as_bytes());
            let fields = &self.fields()[kind.fields()];
            writer.number(fields.len() as u64);
            fields.iter().for_each(|field| write_field(field, &mut writer));
        }
        bytes.extend_from_slice(&hash_of(&bytes).to_le_bytes());
        bytes
    }

    /// Decodes a schema from the bytes of a file.
    ///
    /// Decoding takes less than 2 kB of memory for each field. A file has at most 1 MiB.
    ///
    /// # Errors
    /// [`SetupError::BadSchemaFile`] if the bytes are not a schema file or are damaged.
    /// [`SetupError::SchemaVersion`] if a later version of this library wrote them. The other
    /// [`SetupError`]s report limits and conditions that a schema cannot have.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SetupError> {
        Self::read(bytes).map_err(|error| match error {
            // Profiles share the reader of numbers, which reports every bad file as this error.
            SetupError::BadProfileFile => SetupError::BadSchemaFile,
            error => error,
        })
    }

    fn read(bytes: &[u8]) -> Result<Self, SetupError> {
        let (body, checksum) = bytes.split_last_chunk().ok_or(SetupError::BadSchemaFile)?;
        if bytes.len() > MOST_BYTES {
            return Err(SetupError::BadSchemaFile);
        }
        let mut reader = Reader(body);
        if reader.bytes(MAGIC.len())? != MAGIC {
            return Err(SetupError::BadSchemaFile);
        }
        let version = reader.byte()?;
        if version != VERSION {
            return Err(SetupError::SchemaVersion { version, newest: VERSION });
        }
        if hash_of(body) != u64::from_le_bytes(*checksum) {
            return Err(SetupError::BadSchemaFile);
        }
        let hash = reader.bytes(8)?;
        let mut most_fields = Schema::MOST_LANES_IN_FILE;
        let kinds = reader.many(MAX_KINDS, |reader| {
            let (name, fields) = (text(reader)?, reader.many(most_fields, read_field)?);
            most_fields -= fields.len();
            Ok((name, fields))
        })?;
        if !reader.0.is_empty() || kinds.is_empty() {
            return Err(SetupError::BadSchemaFile);
        }
        // The lanes are counted before a schema is made, because a few bytes can declare many
        // lanes.
        let mut lanes = Vec::new();
        for field in kinds.iter().flat_map(|(_, fields)| fields) {
            field.kind.append_lanes(&mut lanes);
            if lanes.len() > Schema::MOST_LANES_IN_FILE {
                return Err(SetupError::BadSchemaFile);
            }
        }
        let is_plain = kinds.len() == 1 && kinds[0].0.is_empty();
        let schema = if is_plain {
            let (_, fields) = kinds.into_iter().next().ok_or(SetupError::BadSchemaFile)?;
            Self::try_new(fields)?
        } else {
            let add = |builder: super::SchemaBuilder, (name, fields): (String, Vec<Field>)| {
                builder.kind_of_fields(name, fields)
            };
            kinds.into_iter().fold(Self::builder(), add).build()?
        };
        if schema.hash().to_le_bytes() == *hash {
            Ok(schema)
        } else {
            Err(SetupError::BadSchemaFile)
        }
    }
}

fn write_field(field: &Field, writer: &mut Writer<'_>) {
    writer.list(field.name.as_bytes());
    let role = ROLES.iter().position(|role| *role == field.role).unwrap_or(0);
    let max_step = field.time_precision.and_then(|precision| precision.max_step);
    let flags = [
        (field.is_spawn, SPAWN),
        (field.condition.is_some(), CONDITION),
        (field.velocity_of.is_some(), VELOCITY_OF),
        (field.time_precision.is_some(), TIME_PRECISION),
        (max_step.is_some(), MAX_STEP),
        (field.coarser.is_some(), COARSER),
        (field.frame.is_some(), FRAME),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
    writer.0.extend([role as u8, flags]);
    write_kind(&field.kind, writer);
    if let Some(Condition { selector, values }) = &field.condition {
        writer.list(selector.as_bytes());
        writer.number((*values.start()).into());
        writer.number((*values.end()).into());
    }
    if let Some(name) = &field.velocity_of {
        writer.list(name.as_bytes());
    }
    if let Some(TimePrecision { time_precision_ms, ticks_per_s, .. }) = field.time_precision {
        for number in [time_precision_ms, ticks_per_s].into_iter().chain(max_step) {
            writer.0.extend_from_slice(&number.to_le_bytes());
        }
    }
    if let Some(Coarser { coarseness, most_bits }) = &field.coarser {
        writer.list(coarseness.as_bytes());
        writer.0.push(*most_bits);
    }
    if let Some(name) = &field.frame {
        writer.list(name.as_bytes());
    }
}

fn write_kind(kind: &FieldKind, writer: &mut Writer<'_>) {
    match kind {
        FieldKind::Floats(axes) => {
            writer.0.extend([0, axes.len() as u8]);
            for axis in axes {
                let FloatParts { min, max, highest, step, max_code, wraps, single } = axis.parts();
                for number in [min, max, highest, step] {
                    writer.0.extend_from_slice(&number.to_le_bytes());
                }
                writer.number(max_code.into());
                let wraps = if wraps { WRAPS } else { 0 };
                writer.0.push(wraps | if single { SINGLE } else { 0 });
            }
        }
        FieldKind::Integer(limits) => {
            writer.0.push(1);
            writer.0.extend_from_slice(&limits.min().to_le_bytes());
            writer.0.extend_from_slice(&limits.max().to_le_bytes());
            writer.0.extend_from_slice(&limits.step().to_le_bytes());
        }
        FieldKind::Rotation(rotation) => writer.0.extend([2, rotation.component_bits() as u8]),
        FieldKind::Bool => writer.0.push(3),
        FieldKind::Choice { max } => {
            writer.0.push(4);
            writer.number((*max).into());
        }
        FieldKind::Raw { lanes } => writer.0.extend([5, *lanes]),
        FieldKind::Bytes { len } => writer.0.extend([6, *len]),
    }
}

fn read_field(reader: &mut Reader<'_>) -> Result<Field, SetupError> {
    let name = text(reader)?;
    let role = ROLES.get(usize::from(reader.byte()?)).ok_or(SetupError::BadSchemaFile)?;
    let flags = reader.byte()?;
    let has = |flag: u8| flags & flag != 0;
    if flags > FLAGS || (has(MAX_STEP) && !has(TIME_PRECISION)) {
        return Err(SetupError::BadSchemaFile);
    }
    let mut field = Field::new(name, read_kind(reader)?).with_role(*role);
    if has(SPAWN) {
        field = field.with_spawn();
    }
    if has(CONDITION) {
        let (selector, first, last) = (text(reader)?, reader.number()?, reader.number()?);
        field = field.with_condition(Condition { selector, values: first..=last });
    }
    if has(VELOCITY_OF) {
        field = field.with_velocity_of(text(reader)?);
    }
    if has(TIME_PRECISION) {
        let positive = |number: f64| {
            let is_right = number.is_finite() && number > 0.0;
            is_right.then_some(number).ok_or(SetupError::BadSchemaFile)
        };
        let mut precision =
            TimePrecision::new(positive(float(reader)?)?, positive(float(reader)?)?);
        if has(MAX_STEP) {
            precision = precision.with_max_step(positive(float(reader)?)?);
        }
        field = field.with_time_precision(precision);
    }
    if has(COARSER) {
        field = field.with_coarser(Coarser::new(text(reader)?, reader.byte()?));
    }
    if has(FRAME) {
        field = field.with_frame(text(reader)?);
    }
    Ok(field)
}

fn read_kind(reader: &mut Reader<'_>) -> Result<FieldKind, SetupError> {
    Ok(match reader.byte()? {
        0 => {
            let count = reader.byte()?;
            let axis = |_| {
                let [min, max] = [float(reader)?, float(reader)?];
                let [highest, step] = [float(reader)?, float(reader)?];
                let (max_code, flags) = (reader.number()?, reader.byte()?);
                if flags > WRAPS | SINGLE {
                    return Err(SetupError::BadSchemaFile);
                }
                let (wraps, single) = (flags & WRAPS != 0, flags & SINGLE != 0);
                FloatLimits::from_parts(FloatParts {
                    min,
                    max,
                    highest,
                    step,
                    max_code,
                    wraps,
                    single,
                })
            };
            FieldKind::Floats((0..count).map(axis).collect::<Result<_, _>>()?)
        }
        1 => {
            let min = i128::from_le_bytes(array(reader)?);
            let max = i128::from_le_bytes(array(reader)?);
            let step = u64::from_le_bytes(array(reader)?);
            FieldKind::Integer(IntegerLimits::new(min, max, step)?)
        }
        2 => FieldKind::Rotation(SmallestThree::new(reader.byte()?.into())?),
        3 => FieldKind::Bool,
        4 => FieldKind::Choice { max: reader.number()? },
        5 => FieldKind::Raw { lanes: reader.byte()? },
        6 => FieldKind::Bytes { len: reader.byte()? },
        _ => return Err(SetupError::BadSchemaFile),
    })
}

fn text(reader: &mut Reader<'_>) -> Result<String, SetupError> {
    let text = core::str::from_utf8(reader.list()?).map_err(|_| SetupError::BadSchemaFile)?;
    Ok(text.to_owned())
}

fn float(reader: &mut Reader<'_>) -> Result<f64, SetupError> {
    array(reader).map(f64::from_le_bytes)
}

fn array<const N: usize>(reader: &mut Reader<'_>) -> Result<[u8; N], SetupError> {
    reader.bytes(N)?.try_into().map_err(|_| SetupError::BadSchemaFile)
}
