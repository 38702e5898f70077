//! The errors of this crate: one flat enum each for setup, encoding and decoding.

use core::fmt;

/// Why limits, a schema, a profile or a codec cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SetupError {
    /// A range ends before it begins, or an end is not finite.
    EmptyRange,
    /// A precision that is not a positive finite number, or is wider than the range.
    BadPrecision,
    /// A bit count that the quantizer does not accept.
    BitCount {
        /// The requested bits.
        bits: u32,
        /// The largest bit count that is possible.
        max_bits: u32,
    },
    /// The range holds more than 2³² (floats) or 2⁶⁴ (integers) steps.
    TooManySteps,
    /// Parts of limits whose largest code or highest value does not follow from range and step.
    PartsDiffer,
    /// The step is finer than `f32` can resolve at the far end of the range.
    FinerThanFloat,
    /// A profile that was made for another schema.
    ProfileMismatch,
    /// Bytes that are not a profile, or a damaged profile.
    BadProfileFile,
    /// A profile in a newer format, written by a later version of this library.
    ProfileVersion {
        /// The file's version.
        version: u8,
        /// The newest version that this library reads.
        newest: u8,
    },
    /// Bytes that are not a schema file, or a damaged one.
    BadSchemaFile,
    /// A schema in a newer format, written by a later version of this library.
    SchemaVersion {
        /// The file's version.
        version: u8,
        /// The newest version that this library reads.
        newest: u8,
    },
    /// The profile's model does not fit the schema, or does not have the form that `spec/CODEC.md`
    /// requires.
    BadModel,
    /// A field's classes, code lengths or context do not have the form that `spec/CODEC.md`
    /// requires.
    BadFieldCode {
        /// Index of the field in the schema.
        field: usize,
    },
    /// A time precision whose numbers are not positive and finite, that is too long for the ticks,
    /// or whose field cannot have one.
    BadTimePrecision {
        /// Index of the field in the schema.
        field: usize,
    },
    /// A condition that does not name an earlier flag, choice or one-lane integer; one with an
    /// empty range of values; or a chain of more than 64 selectors.
    BadCondition {
        /// Index of the field in the schema.
        field: usize,
    },
    /// The index code's widths or lengths do not have the form that `spec/CODEC.md` requires.
    BadGapCode,
    /// A codec that takes more memory than the caller allows.
    CodecTooLarge {
        /// The bytes that the codec takes.
        memory_bytes: usize,
        /// The caller's limit.
        max_memory_bytes: usize,
    },
    /// Code lengths that are not a complete prefix code of at most 8 bits.
    BadPrefixCode,
    /// A schema without lanes, which has nothing to send.
    NoLanes,
    /// A schema with no kinds, or with more than [`MAX_KINDS`](crate::schema::MAX_KINDS).
    KindCount {
        /// The number of kinds.
        kinds: usize,
    },
    /// An entity kind without a name, or with the name or type of an earlier kind.
    BadKind {
        /// Index of the kind in the schema.
        kind: usize,
    },
    /// A schema with several kinds, used where all entities or records must be of one kind.
    SeveralKinds,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyRange => write!(f, "the range is empty or not finite"),
            Self::BadPrecision => {
                write!(f, "the precision must be positive and no wider than the range")
            }
            Self::BitCount { bits, max_bits } => {
                write!(f, "{bits} bits were requested, but at most {max_bits} are possible")
            }
            Self::TooManySteps => write!(f, "the range holds too many steps"),
            Self::PartsDiffer => {
                write!(
                    f,
                    "the largest code or the highest value does not follow from the range and the \
                     step"
                )
            }
            Self::FinerThanFloat => {
                write!(f, "the step is finer than f32 can hold at the end of the range")
            }
            Self::ProfileMismatch => write!(f, "the profile was made for another schema"),
            Self::BadProfileFile => write!(f, "this is not a profile, or the profile is damaged"),
            Self::ProfileVersion { version, newest } => {
                write!(
                    f,
                    "the profile has version {version}; this library reads versions up to {newest}"
                )
            }
            Self::BadSchemaFile => write!(f, "this is not a schema file, or it is damaged"),
            Self::SchemaVersion { version, newest } => {
                write!(
                    f,
                    "the schema has version {version}; this library reads versions up to {newest}"
                )
            }
            Self::BadModel => write!(f, "the profile's model does not fit the schema"),
            Self::BadFieldCode { field } => {
                write!(f, "the profile's code for field {field} is malformed")
            }
            Self::BadTimePrecision { field } => {
                write!(f, "field {field} cannot have its time precision")
            }
            Self::BadCondition { field } => {
                write!(
                    f,
                    "the condition of field {field} must name an earlier flag, choice or integer, \
                     and a range of its values, with at most 64 selectors in a row"
                )
            }
            Self::BadGapCode => write!(f, "the profile's index code is malformed"),
            Self::CodecTooLarge { memory_bytes, max_memory_bytes } => {
                write!(f, "the codec takes {memory_bytes} bytes; the limit is {max_memory_bytes}")
            }
            Self::BadPrefixCode => write!(f, "the code lengths are not a complete prefix code"),
            Self::NoLanes => write!(f, "the schema has no lanes: there is nothing to send"),
            Self::KindCount { kinds } => {
                let most = crate::schema::MAX_KINDS;
                write!(f, "a schema has 1 to {most} kinds of entities, not {kinds}")
            }
            Self::BadKind { kind } => {
                write!(
                    f,
                    "kind {kind} of the schema must have a name, and neither the name nor the \
                     type of an earlier kind"
                )
            }
            Self::SeveralKinds => {
                write!(f, "the schema has several kinds of entities; this takes only one")
            }
        }
    }
}

impl core::error::Error for SetupError {}

/// Why views cannot be [`Baselines`](crate::Baselines).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselinesError {
    /// There is no view.
    None,
    /// More than one baseline and [`Baselines::OLDER`](crate::Baselines::OLDER) older views.
    TooMany,
    /// A view that is not older than the view before it in the list.
    NotOlder {
        /// The view's tick.
        tick: u32,
        /// The tick of the view before it in the list.
        newer: u32,
    },
}

impl fmt::Display for BaselinesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(
                f,
                "there is no view to code against; both sides can begin with an empty view"
            ),
            Self::TooMany => {
                write!(f, "more than {} views to code against", 1 + crate::Baselines::OLDER)
            }
            Self::NotOlder { tick, newer } => {
                write!(f, "the view of tick {tick} follows that of tick {newer}, but is not older")
            }
        }
    }
}

impl core::error::Error for BaselinesError {}

/// Why a value or a snapshot cannot be encoded.
///
/// ```
/// use kinepack::{EncodeError, Pack};
///
/// #[derive(Pack)]
/// struct Hull {
///     #[pack(max = 200)]
///     strength: u16,
/// }
///
/// let mut lanes = [0; Hull::LANES];
/// let error = Hull { strength: 300 }.quantize(&mut lanes).unwrap_err();
/// assert_eq!(error, EncodeError::OutOfRange { id: None, field: "strength", value: 300.0 });
/// assert_eq!(error.to_string(), "field `strength`: 300 is outside of its limits");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A value that is not a number, or a quaternion without a direction.
    NotANumber {
        /// The entity's id, if the value belongs to an entity of a snapshot.
        id: Option<u32>,
        /// The field, or an empty string for a value without a field.
        field: &'static str,
    },
    /// A value outside of its limits, if the caller did not ask for clamping.
    OutOfRange {
        /// The entity's id, if the value belongs to an entity of a snapshot.
        id: Option<u32>,
        /// The field, or an empty string for a value without a field.
        field: &'static str,
        /// The value, rounded to `f64`.
        value: f64,
    },
    /// The caller's buffer is too short.
    BufferFull {
        /// Bytes that the encoding takes.
        needed_bytes: usize,
        /// Length of the caller's buffer, in bytes.
        buffer_bytes: usize,
    },
    /// An entity was pushed with an id that is not above the previous one.
    IdsNotIncreasing {
        /// The refused id.
        id: u32,
    },
    /// An id that entities of two different kinds share.
    SharedId {
        /// The id.
        id: u32,
    },
    /// A kind that the schema does not have.
    NoSuchKind {
        /// The index of the kind.
        kind: usize,
        /// Number of kinds.
        kinds: usize,
    },
    /// An entity whose kind is not the kind of the given type.
    AnotherKind {
        /// The entity.
        id: u32,
    },
    /// A state whose lane count differs from that of its kind.
    LaneCount {
        /// Lanes that the schema has.
        expected_lanes: usize,
        /// Lanes that were given.
        lanes: usize,
    },
    /// A snapshot whose schema is not the codec's.
    SchemaMismatch {
        /// [`Schema::hash`](crate::Schema::hash) of the codec's schema.
        expected_hash: u64,
        /// The hash of the snapshot's schema.
        hash: u64,
    },
    /// Views that a snapshot cannot be coded against.
    Baselines(BaselinesError),
    /// A stream's base with the learned state of another codec.
    ForeignLearned,
    /// Only some of the changes were requested, but the snapshots do not have the same entities.
    EntitiesDiffer,
    /// Indices of entities that do not increase, or are beyond the last entity.
    BadIndices {
        /// The first index that is not above the one before it, or is beyond the last entity.
        index: u32,
    },
    /// An index at which the snapshot has no entity.
    IndexOutOfRange {
        /// The refused index.
        index: usize,
        /// Number of entities.
        entities: usize,
    },
    /// A lane above its maximum in the schema, or not 0 although its field is absent.
    LaneOutOfRange {
        /// The entity's id, if the value belongs to an entity of a snapshot.
        id: Option<u32>,
        /// Index of the lane in the schema.
        lane: usize,
        /// The refused value.
        value: u32,
    },
    /// A value whose type does not have the schema of the snapshot, of one of its kinds, or of the
    /// stream. The number of lanes may still agree.
    TypeMismatch {
        /// The entity's id, if the value belongs to an entity of a snapshot.
        id: Option<u32>,
        /// [`Schema::hash`](crate::Schema::hash) of the snapshot's or the stream's schema.
        expected_hash: u64,
        /// The hash of the type's schema.
        hash: u64,
    },
}

impl EncodeError {
    /// The same error, with the name of the field that it happened in.
    #[must_use]
    pub fn in_field(self, name: &'static str) -> Self {
        match self {
            Self::NotANumber { id, .. } => Self::NotANumber { id, field: name },
            Self::OutOfRange { id, value, .. } => Self::OutOfRange { id, field: name, value },
            other => other,
        }
    }

    /// The same error, with the entity that it happened in.
    pub(crate) fn in_entity(self, entity: u32) -> Self {
        let id = Some(entity);
        match self {
            Self::NotANumber { field, .. } => Self::NotANumber { id, field },
            Self::OutOfRange { field, value, .. } => Self::OutOfRange { id, field, value },
            other => other,
        }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber { id, field: "" } => {
                entity(f, *id)?;
                write!(f, "the value is not a number")
            }
            Self::NotANumber { id, field } => {
                entity(f, *id)?;
                write!(f, "field `{field}` is not a number")
            }
            Self::OutOfRange { id, field: "", value } => {
                entity(f, *id)?;
                write!(f, "the value {value} is outside of its limits")
            }
            Self::OutOfRange { id, field, value } => {
                entity(f, *id)?;
                write!(f, "field `{field}`: {value} is outside of its limits")
            }
            Self::BufferFull { needed_bytes, buffer_bytes } => {
                write!(f, "the buffer has {buffer_bytes} bytes, {needed_bytes} are needed")
            }
            Self::IdsNotIncreasing { id } => {
                write!(f, "entity {id} is not above the entity pushed before it")
            }
            Self::SharedId { id } => write!(f, "entity {id} is there twice, as two kinds"),
            Self::NoSuchKind { kind, kinds } => {
                write!(f, "there is no kind {kind}: the schema has {kinds}")
            }
            Self::AnotherKind { id } => {
                write!(f, "entity {id} is of another kind than the requested type")
            }
            Self::LaneCount { expected_lanes, lanes } => {
                write!(f, "{lanes} lanes given, the schema has {expected_lanes}")
            }
            Self::SchemaMismatch { expected_hash, hash } => {
                write!(
                    f,
                    "the snapshot's schema is {hash:016x}, the codec's is {expected_hash:016x}"
                )
            }
            Self::Baselines(error) => error.fmt(f),
            Self::ForeignLearned => write!(f, "the learned state belongs to another codec"),
            Self::EntitiesDiffer => write!(f, "the two snapshots do not have the same entities"),
            Self::BadIndices { index } => {
                write!(
                    f,
                    "index {index} is not above the one before it, or is beyond the last entity"
                )
            }
            Self::IndexOutOfRange { index, entities } => {
                write!(f, "there is no entity at index {index}: the snapshot has {entities}")
            }
            Self::LaneOutOfRange { id, lane, value } => {
                entity(f, *id)?;
                write!(
                    f,
                    "lane {lane}: {value} is above its maximum, which is 0 if its field is absent"
                )
            }
            Self::TypeMismatch { id, expected_hash, hash } => {
                entity(f, *id)?;
                write!(f, "{}", OtherType { expected_hash: *expected_hash, hash: *hash })
            }
        }
    }
}

fn entity(f: &mut fmt::Formatter<'_>, id: Option<u32>) -> fmt::Result {
    id.map_or(Ok(()), |id| write!(f, "entity {id}, "))
}

/// The message that [`EncodeError`] and [`DecodeError`] share for a type of another schema.
struct OtherType {
    expected_hash: u64,
    hash: u64,
}

impl fmt::Display for OtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected_hash, hash } = self;
        write!(
            f,
            "the type's schema is {hash:016x}, but {expected_hash:016x} is expected; use the type \
             that the schema was made from"
        )
    }
}

impl core::error::Error for EncodeError {}

impl From<BaselinesError> for EncodeError {
    fn from(error: BaselinesError) -> Self {
        Self::Baselines(error)
    }
}

/// Why bytes are not a valid value or snapshot. A function that returns one of these errors changes
/// nothing, unless its documentation says otherwise.
///
/// ```
/// use kinepack::DecodeError;
/// use kinepack::bits::BitReader;
///
/// let error = BitReader::new(&[7]).read(9).unwrap_err();
/// assert_eq!(error, DecodeError::EndOfData { at_bit: 0, wanted_bits: 9, left_bits: 8 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The data ended within a value.
    EndOfData {
        /// Where the value began.
        at_bit: u64,
        /// Bits that the value takes.
        wanted_bits: u32,
        /// Bits that are left.
        left_bits: u32,
    },
    /// Bytes after the last value.
    TrailingData {
        /// Bits that are left.
        left_bits: u64,
    },
    /// Padding bits that are not zero.
    Padding,
    /// A code above the maximum of its limits or lane, or a difference that leads there.
    OutOfRange {
        /// Where the code ended.
        at_bit: u64,
    },
    /// An entity set that is not sorted, removes an entity that the baseline lacks, or adds one
    /// that the baseline has.
    BadEntitySet {
        /// The position at which the error was detected.
        at_bit: u64,
    },
    /// More entities than the caller's limit.
    TooManyEntities {
        /// A lower bound of the number of entities that the data ask for.
        count: u64,
        /// The caller's limit.
        limit: u32,
    },
    /// A run of length 0.
    EmptyRun {
        /// Where the run begins.
        at_bit: u64,
    },
    /// More bytes than the caller's limit.
    TooManyBytes {
        /// The caller's limit.
        limit_bytes: usize,
    },
    /// A buffer or a base whose number of lanes is not the schema's.
    LaneCount {
        /// Lanes that the schema has.
        expected_lanes: usize,
        /// Lanes that were given.
        lanes: usize,
    },
    /// The packet resumes from the learned state of its baseline, but no learned state of this
    /// codec was given.
    NothingLearned,
    /// Views that a snapshot cannot be coded against.
    Baselines(BaselinesError),
    /// A packet that decodes to a state other than the sender's: a view, the tick or the arithmetic
    /// was wrong.
    WrongState {
        /// The sender's [state check](crate::View::check).
        theirs: u16,
        /// The state check of the decoded view.
        ours: u16,
    },
    /// A view whose schema is not the codec's.
    SchemaMismatch {
        /// [`Schema::hash`](crate::Schema::hash) of the codec's schema.
        expected_hash: u64,
        /// The hash of the snapshot's schema.
        hash: u64,
    },
    /// A bad lane of the base, or of a record being read. The lane is above its maximum in the
    /// schema, or not 0 although its field is absent.
    LaneOutOfRange {
        /// Index of the lane in the schema.
        lane: usize,
        /// The refused value.
        value: u32,
    },
    /// A type whose schema is not the stream's.
    TypeMismatch {
        /// [`Schema::hash`](crate::Schema::hash) of the stream's schema.
        expected_hash: u64,
        /// The hash of the type's schema.
        hash: u64,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfData { at_bit, wanted_bits, left_bits } => {
                write!(
                    f,
                    "the data end at bit {at_bit}: {wanted_bits} bits wanted, {left_bits} left"
                )
            }
            Self::TrailingData { left_bits } => {
                write!(f, "{left_bits} bits are left after the last value")
            }
            Self::Padding => write!(f, "padding bits are not zero"),
            Self::Baselines(error) => error.fmt(f),
            Self::WrongState { theirs, ours } => {
                write!(
                    f,
                    "the decoded view differs from the sender's: its state check is {theirs:04x}, \
                     ours is {ours:04x}"
                )
            }
            Self::NothingLearned => write!(f, "the baseline's learned state is missing"),
            Self::OutOfRange { at_bit } => {
                write!(f, "a value before bit {at_bit} is outside of its limits")
            }
            Self::BadEntitySet { at_bit } => {
                write!(f, "the entity set before bit {at_bit} is inconsistent")
            }
            Self::TooManyEntities { count, limit } => {
                write!(f, "{count} entities, the limit is {limit}")
            }
            Self::EmptyRun { at_bit } => write!(f, "the run at bit {at_bit} has no bytes"),
            Self::TooManyBytes { limit_bytes } => write!(f, "more than {limit_bytes} bytes"),
            Self::LaneCount { expected_lanes, lanes } => {
                write!(f, "{lanes} lanes given, the schema has {expected_lanes}")
            }
            Self::SchemaMismatch { expected_hash, hash } => {
                write!(
                    f,
                    "the snapshot's schema is {hash:016x}, the codec's is {expected_hash:016x}"
                )
            }
            Self::LaneOutOfRange { lane, value } => {
                write!(
                    f,
                    "lane {lane}: {value} is above its maximum, which is 0 if its field is absent"
                )
            }
            Self::TypeMismatch { expected_hash, hash } => {
                write!(f, "{}", OtherType { expected_hash: *expected_hash, hash: *hash })
            }
        }
    }
}

impl core::error::Error for DecodeError {}

impl From<BaselinesError> for DecodeError {
    fn from(error: BaselinesError) -> Self {
        Self::Baselines(error)
    }
}
