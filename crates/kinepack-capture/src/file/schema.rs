//! Reads and writes schemas as JSON documents, with the ticks per second. See `spec/CAPTURE.md`,
//! section 3.
//!
//! ```
//! use kinepack::Schema;
//! use kinepack::schema::{Field, FieldKind};
//! use kinepack_capture::schema_document;
//!
//! let schema = Schema::new(vec![Field::new("lit", FieldKind::Bool)]);
//! let json = schema_document::to_json(&schema, 60.0)?;
//! let (read, rate_hz) = schema_document::from_json(&json)?;
//! assert_eq!((read.hash(), rate_hz), (schema.hash(), 60.0));
//! # Ok::<(), schema_document::SchemaError>(())
//! ```

use kinepack::quantize::{FloatLimits, FloatParts, IntegerLimits, SmallestThree};
use kinepack::schema::{Coarser, Condition, Field, FieldKind, Role, TimePrecision};
use kinepack::schema::{EntityKind, SchemaBuilder};
use kinepack::{Schema, SetupError, Tick};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::kinds;

/// The maximum size of a document, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The maximum number of lanes in a stream.
pub(crate) const MAX_LANES: usize = 4096;
/// The maximum number of bytes of the name of a stream, and of its entities' type.
pub(crate) const MAX_NAME_BYTES: usize = 65_535;
/// The maximum number of bytes and lanes of all documents of a file. This limit is needed because
/// documents compress well: 10 kB could become a million fields.
const MAX_ALL_BYTES: usize = 16 << 20;
const MAX_ALL_LANES: usize = 1 << 16;
/// The maximum number of bytes of the names of kinds. A name counts once for each field of its
/// kind, because the display name of the field begins with it.
const MAX_KIND_NAMES_BYTES: usize = 16 << 20;
/// The valid range of ticks per second.
pub(crate) const RATES_HZ: std::ops::RangeInclusive<f64> = 0.001..=1_000_000.0;

/// The encoding of an MCAP schema that holds a document.
pub const ENCODING: &str = "kinepack-schema-json";

/// The version of a document of one kind without a name.
const VERSION: u32 = 1;
/// The version of a document with named kinds.
const KINDS_VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    rate_hz: f64,
    hash: String,
    /// The kinds, which only documents of [`KINDS_VERSION`] have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kinds: Option<Vec<KindDocument>>,
    /// The fields of all kinds, one kind after another. A reader that knows only [`VERSION`] needs
    /// this list before it can check the version.
    fields: Vec<FieldDocument>,
}

/// A kind of entities in a document.
#[derive(Serialize, Deserialize)]
struct KindDocument {
    name: String,
    /// The number of the kind's fields.
    fields: usize,
}

#[derive(Serialize, Deserialize)]
struct FieldDocument {
    name: String,
    role: RoleName,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    velocity_of: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_precision: Option<Precision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<PresentIf>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    spawn: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coarser: Option<CoarserBy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frame: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct CoarserBy {
    coarseness: String,
    most_bits: u8,
}

#[derive(Serialize, Deserialize)]
struct PresentIf {
    selector: String,
    first: u32,
    last: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RoleName {
    Plain,
    Velocity,
    Body,
    Touched,
    Mover,
    Clock,
    Cut,
    Frame,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Floats(Vec<Axis>),
    Integer { min: i128, max: i128, step: u64 },
    Rotation { component_bits: u32 },
    Bool,
    Choice { max: u32 },
    Raw { lanes: u8 },
    Bytes { len: u8 },
}

#[derive(Serialize, Deserialize)]
struct Axis {
    min: f64,
    max: f64,
    highest: f64,
    step: f64,
    max_code: u32,
    wraps: bool,
    single: bool,
}

#[derive(Serialize, Deserialize)]
struct Precision {
    time_precision_ms: f64,
    ticks_per_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_step: Option<f64>,
}

/// Makes the document of a schema and its ticks per second.
///
/// # Errors
/// [`SchemaError`] if the format does not allow the rate or the number of lanes, or if the document
/// would be too long.
pub fn to_json(schema: &Schema, rate_hz: f64) -> Result<Vec<u8>, SchemaError> {
    check_rate(rate_hz)?;
    check_lanes(schema.fields().iter().map(|field| field.lanes().len().max(1)).sum())?;
    let fields = schema.fields().iter().map(FieldDocument::from_field).collect::<Result<_, _>>()?;
    let kinds = kinds::are_named(schema).then(|| {
        let kind = |kind: &EntityKind| KindDocument {
            name: kind.name().to_owned(),
            fields: kind.fields().len(),
        };
        schema.kinds().iter().map(kind).collect::<Vec<_>>()
    });
    check_names(kinds.as_deref().unwrap_or_default())?;
    let version = if kinds.is_some() { KINDS_VERSION } else { VERSION };
    let document = Document { version, rate_hz, hash: digits(schema.hash()), kinds, fields };
    let json = serde_json::to_vec(&document)
        .map_err(|error| SchemaError::NoDocument { reason: error.to_string() })?;
    if json.len() > MAX_BYTES { Err(SchemaError::TooLong { bytes: json.len() }) } else { Ok(json) }
}

/// Reads the schema of a document, and its ticks per second.
///
/// # Errors
/// [`SchemaError`] if the bytes are not a valid document.
pub fn from_json(json: &[u8]) -> Result<(Schema, f64), SchemaError> {
    if json.len() > MAX_BYTES {
        return Err(SchemaError::TooLong { bytes: json.len() });
    }
    let document: Document =
        serde_json::from_slice(json).map_err(|error| no_document(json, &error))?;
    let Document { version, rate_hz, hash, kinds, fields } = document;
    let kinds = match version {
        VERSION => None,
        KINDS_VERSION => Some(kinds.ok_or_else(|| SchemaError::NoDocument {
            reason: format!("missing field `kinds`, which version {KINDS_VERSION} has"),
        })?),
        version => return Err(SchemaError::Version { version }),
    };
    check_rate(rate_hz)?;
    // Lanes are counted first, because a few bytes can declare many lanes. A field without lanes
    // counts as one lane, because it takes memory too.
    check_lanes(fields.iter().map(|field| field.kind.lanes().max(1)).sum())?;
    check_names(kinds.as_deref().unwrap_or_default())?;
    let names = names(kinds.as_deref().unwrap_or_default(), &fields);
    let fields = fields.into_iter().zip(&names);
    let fields: Vec<Field> =
        fields.map(|(field, name)| field.into_field(name)).collect::<Result<_, _>>()?;
    let made = match kinds {
        None => Schema::try_new(fields),
        Some(kinds) => with_kinds(kinds, fields)?.build(),
    };
    let schema = made.map_err(|error| match error {
        SetupError::BadCondition { field } => SchemaError::Field {
            name: names[field].clone(),
            reason: "its condition names no earlier flag, choice or integer".into(),
        },
        SetupError::BadCoarseness { field } => {
            SchemaError::Field { name: names[field].clone(), reason: error.to_string() }
        }
        error => SchemaError::NoDocument { reason: error.to_string() },
    })?;
    check_lanes(schema.lanes().len())?;
    let remade = digits(schema.hash());
    if hash != remade {
        Err(SchemaError::OtherHash { hash, remade })
    } else {
        Ok((schema, rate_hz))
    }
}

/// Makes the error of bytes that are not a document. If a field is wrong, the error names the
/// field.
fn no_document(json: &[u8], error: &serde_json::Error) -> SchemaError {
    #[derive(Deserialize)]
    struct Fields {
        fields: Vec<serde_json::Value>,
    }

    let fields = serde_json::from_slice(json).map_or(Vec::new(), |Fields { fields }| fields);
    for (index, field) in fields.into_iter().enumerate() {
        let name = field.get("name").and_then(|name| name.as_str());
        let name = name.map_or_else(|| format!("number {index}"), str::to_owned);
        if let Err(error) = serde_json::from_value::<FieldDocument>(field) {
            return SchemaError::Field { name, reason: error.to_string() };
        }
    }
    SchemaError::NoDocument { reason: error.to_string() }
}

fn check_names(kinds: &[KindDocument]) -> Result<(), SchemaError> {
    let of_kind = |kind: &KindDocument| kind.name.len().saturating_mul(kind.fields);
    let bytes = kinds.iter().fold(0_usize, |sum, kind| sum.saturating_add(of_kind(kind)));
    if bytes > MAX_KIND_NAMES_BYTES {
        let reason = "the names of its kinds are too long for so many fields".to_owned();
        return Err(SchemaError::NoDocument { reason });
    }
    Ok(())
}

/// Returns the display names of the fields. If there are several kinds, the name of the kind
/// precedes that of the field.
fn names(kinds: &[KindDocument], fields: &[FieldDocument]) -> Vec<String> {
    let mut prefixes = Vec::new();
    for kind in kinds.iter().filter(|_| kinds.len() > 1) {
        let of_kind = kind.fields.min(fields.len() - prefixes.len());
        prefixes.extend(std::iter::repeat_n(format!("{}.", kind.name), of_kind));
    }
    let prefixes = prefixes.into_iter().chain(std::iter::repeat(String::new()));
    fields.iter().zip(prefixes).map(|(field, prefix)| prefix + &field.name).collect()
}

/// Makes a builder of a schema with these kinds, given the fields of all kinds in order.
fn with_kinds(kinds: Vec<KindDocument>, fields: Vec<Field>) -> Result<SchemaBuilder, SchemaError> {
    let declared = kinds.iter().fold(0_usize, |sum, kind| sum.saturating_add(kind.fields));
    if declared != fields.len() {
        return Err(SchemaError::FieldCount { declared, fields: fields.len() });
    }
    let mut fields = fields.into_iter();
    Ok(kinds.into_iter().fold(Schema::builder(), |builder, kind| {
        builder.kind_of_fields(kind.name, fields.by_ref().take(kind.fields).collect())
    }))
}

/// The total number of bytes and of lanes of a file's documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    bytes: usize,
    lanes: usize,
}

impl Totals {
    /// Counts the bytes of a document. If there are too many, this changes nothing and returns the
    /// reason.
    pub(crate) fn add_bytes(&mut self, bytes: usize) -> Result<(), String> {
        let all = self.bytes + bytes;
        if all > MAX_ALL_BYTES {
            return Err(format!("the schemas of all streams have more than {MAX_ALL_BYTES} bytes"));
        }
        self.bytes = all;
        Ok(())
    }

    /// Counts the lanes of a document, in the way of [`add_bytes`](Self::add_bytes).
    pub(crate) fn add_lanes(&mut self, schema: &Schema) -> Result<(), String> {
        let lanes = schema.fields().iter().map(|field| field.lanes().len().max(1));
        let all = self.lanes + lanes.sum::<usize>();
        if all > MAX_ALL_LANES {
            return Err(format!("the schemas of all streams have more than {MAX_ALL_LANES} lanes"));
        }
        self.lanes = all;
        Ok(())
    }
}

fn digits(hash: u64) -> String {
    format!("{hash:016x}")
}

fn check_rate(rate_hz: f64) -> Result<(), SchemaError> {
    if RATES_HZ.contains(&rate_hz) { Ok(()) } else { Err(SchemaError::Rate { rate_hz }) }
}

fn check_lanes(lanes: usize) -> Result<(), SchemaError> {
    if lanes <= MAX_LANES { Ok(()) } else { Err(SchemaError::TooManyLanes { lanes }) }
}

impl FieldDocument {
    fn from_field(field: &Field) -> Result<Self, SchemaError> {
        let unknown = || SchemaError::Field {
            name: field.name.clone(),
            reason: "it needs a later version of the format".into(),
        };
        let role = match field.role {
            Role::Plain => RoleName::Plain,
            Role::Velocity => RoleName::Velocity,
            Role::Body => RoleName::Body,
            Role::Touched => RoleName::Touched,
            Role::Mover => RoleName::Mover,
            Role::Clock => RoleName::Clock,
            Role::Cut => RoleName::Cut,
            Role::Frame => RoleName::Frame,
            _ => return Err(unknown()),
        };
        let kind = match &field.kind {
            FieldKind::Floats(axes) => Kind::Floats(axes.iter().map(Axis::from_limits).collect()),
            FieldKind::Integer(limits) => {
                Kind::Integer { min: limits.min(), max: limits.max(), step: limits.step() }
            }
            FieldKind::Rotation(rotation) => {
                Kind::Rotation { component_bits: rotation.component_bits() }
            }
            FieldKind::Bool => Kind::Bool,
            FieldKind::Choice { max } => Kind::Choice { max: *max },
            FieldKind::Raw { lanes } => Kind::Raw { lanes: *lanes },
            FieldKind::Bytes { len } => Kind::Bytes { len: *len },
            _ => return Err(unknown()),
        };
        let time_precision = field.time_precision.map(|precision| {
            let TimePrecision { time_precision_ms, ticks_per_s, max_step } = precision;
            Precision { time_precision_ms, ticks_per_s, max_step }
        });
        Ok(Self {
            name: field.name.clone(),
            role,
            kind,
            velocity_of: field.velocity_of.clone(),
            time_precision,
            condition: field.condition.as_ref().map(|condition| PresentIf {
                selector: condition.selector.clone(),
                first: *condition.values.start(),
                last: *condition.values.end(),
            }),
            spawn: field.is_spawn,
            coarser: field
                .coarser
                .clone()
                .map(|Coarser { coarseness, most_bits }| CoarserBy { coarseness, most_bits }),
            frame: field.frame.clone(),
        })
    }

    /// Makes the field. `name` is the field's display name.
    fn into_field(self, name: &str) -> Result<Field, SchemaError> {
        let role = match self.role {
            RoleName::Plain => Role::Plain,
            RoleName::Velocity => Role::Velocity,
            RoleName::Body => Role::Body,
            RoleName::Touched => Role::Touched,
            RoleName::Mover => Role::Mover,
            RoleName::Clock => Role::Clock,
            RoleName::Cut => Role::Cut,
            RoleName::Frame => Role::Frame,
        };
        let refused = |reason: String| SchemaError::Field { name: name.to_owned(), reason };
        let setup = |error: SetupError| refused(error.to_string());
        let kind = match self.kind {
            // The schema's hash has only one byte for the number of axes.
            Kind::Floats(axes) if axes.len() > 255 => {
                return Err(refused("it has more than 255 axes".into()));
            }
            Kind::Floats(axes) => {
                let axis = |(index, axis): (usize, &Axis)| {
                    axis.limits().map_err(|reason| match axes.len() {
                        1 => reason,
                        _ => format!("axis {index}: {reason}"),
                    })
                };
                let limits = axes.iter().enumerate().map(axis).collect::<Result<_, _>>();
                FieldKind::Floats(limits.map_err(refused)?)
            }
            Kind::Integer { min, max, step } => {
                FieldKind::Integer(IntegerLimits::new(min, max, step).map_err(setup)?)
            }
            Kind::Rotation { component_bits } => {
                FieldKind::Rotation(SmallestThree::new(component_bits).map_err(setup)?)
            }
            Kind::Bool => FieldKind::Bool,
            Kind::Choice { max } => FieldKind::Choice { max },
            Kind::Raw { lanes } => FieldKind::Raw { lanes },
            Kind::Bytes { len } => FieldKind::Bytes { len },
        };
        let mut field = Field::new(self.name, kind).with_role(role);
        field.velocity_of = self.velocity_of;
        field.is_spawn = self.spawn;
        field.frame = self.frame;
        field.time_precision = self.time_precision.map(|precision| {
            let Precision { time_precision_ms, ticks_per_s, max_step } = precision;
            TimePrecision { time_precision_ms, ticks_per_s, max_step }
        });
        field.condition = self
            .condition
            .map(|PresentIf { selector, first, last }| Condition::new(selector, first..=last));
        field.coarser = self
            .coarser
            .map(|CoarserBy { coarseness, most_bits }| Coarser::new(coarseness, most_bits));
        Ok(field)
    }
}

impl Kind {
    /// Returns a lower bound on the number of lanes. An integer counts as one lane, but may have
    /// two.
    fn lanes(&self) -> usize {
        match self {
            Self::Floats(axes) => axes.len(),
            Self::Rotation { .. } => 4,
            Self::Integer { .. } | Self::Bool | Self::Choice { .. } => 1,
            Self::Raw { lanes } => usize::from(*lanes),
            Self::Bytes { len } => usize::from(*len),
        }
    }
}

impl Axis {
    fn from_limits(limits: &FloatLimits) -> Self {
        let FloatParts { min, max, highest, step, max_code, wraps, single } = limits.parts();
        Self { min, max, highest, step, max_code, wraps, single }
    }

    /// Returns the limits, or the reason why there are no limits with these numbers.
    fn limits(&self) -> Result<FloatLimits, String> {
        let Self { min, max, highest, step, max_code, wraps, single } = *self;
        let parts = FloatParts { min, max, highest, step, max_code, wraps, single };
        FloatLimits::from_parts(parts).map_err(|error| {
            match (error, FloatLimits::new(min, max, step)) {
                (SetupError::PartsDiffer, Ok(limits)) if limits.max_code() != max_code => format!(
                    "the largest code is {max_code}, but {min} to {max} in steps of {step} have \
                     the largest code {}",
                    limits.max_code()
                ),
                (SetupError::PartsDiffer, _) => format!(
                    "highest is {highest}; it must be max, {max}, or up to a step of {step} above \
                     it"
                ),
                (error, _) => error.to_string(),
            }
        })
    }
}

/// Returns the time of a tick in MCAP files, in nanoseconds from tick 0. See `spec/CAPTURE.md`,
/// section 2.
pub fn tick_time_ns(tick: Tick, rate_hz: f64) -> u64 {
    // The cast saturates.
    (f64::from(tick.0) * 1e9 / rate_hz + 0.5) as u64
}

/// The reason why a document is not a schema, or why a schema has no document.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The bytes are not a document of the format.
    #[error("the schema is not a document of the format: {reason}")]
    NoDocument {
        /// What is wrong with the bytes.
        reason: String,
    },
    /// The document is too long.
    #[error("the schema takes {bytes} bytes, at most {MAX_BYTES} are allowed")]
    TooLong {
        /// The document's length in bytes.
        bytes: usize,
    },
    /// The document has a version that this library cannot read.
    #[error("the schema is of version {version}; the newest that can be read is {KINDS_VERSION}")]
    Version {
        /// The document's version.
        version: u32,
    },
    /// The number of ticks per second is out of range.
    #[error("{rate_hz} ticks a second are not within {} to {}", RATES_HZ.start(), RATES_HZ.end())]
    Rate {
        /// The number of ticks per second.
        rate_hz: f64,
    },
    /// The schema has too many lanes.
    #[error("{lanes} lanes, at most {MAX_LANES} are allowed")]
    TooManyLanes {
        /// The number of lanes.
        lanes: usize,
    },
    /// The format does not allow a field.
    #[error("field {name:?} of the schema: {reason}")]
    Field {
        /// The field's name.
        name: String,
        /// What is wrong with the field.
        reason: String,
    },
    /// The document lists a number of fields that differs from the sum over its kinds.
    #[error("the schema's kinds have {declared} fields, but {fields} are listed")]
    FieldCount {
        /// The sum of the fields over the kinds.
        declared: usize,
        /// The number of listed fields.
        fields: usize,
    },
    /// The hash in the document differs from that of the fields.
    #[error("the schema has the hash {hash:?}, but its fields have {remade}")]
    OtherHash {
        /// The hash in the document.
        hash: String,
        /// The hash of the fields.
        remade: String,
    },
}
