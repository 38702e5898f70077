//! Errors of setup.

use core::fmt;

use crate::limits::MAX_KINDS;

/// The reason why limits, a schema, a profile or a codec cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SetupError {
    /// A range ends before it begins, or an end is not finite.
    EmptyRange,
    /// The precision is not a positive finite number, or is wider than the range.
    BadPrecision,
    /// The quantizer does not accept the bit count.
    BitCount {
        /// The requested number of bits.
        bits: u32,
        /// The largest possible number of bits.
        max_bits: u32,
    },
    /// The range holds more than 2³² (floats) or 2⁶⁴ (integers) steps.
    TooManySteps,
    /// The largest code or the highest value of the limits does not follow from the range and the
    /// step.
    PartsDiffer,
    /// The step is finer than `f32` can resolve at the far end of the range.
    FinerThanFloat,
    /// The profile was made for another schema.
    ProfileMismatch,
    /// The bytes are not a profile, or the profile is damaged.
    BadProfileFile,
    /// The profile is in a newer format, written by a later version of this library.
    ProfileVersion {
        /// The version of the file.
        version: u8,
        /// The newest version that this library reads.
        newest: u8,
    },
    /// The bytes are not a schema file, or the file is damaged.
    BadSchemaFile,
    /// The schema is in a newer format, written by a later version of this library.
    SchemaVersion {
        /// The version of the file.
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
        /// The index of the field in the schema.
        field: usize,
    },
    /// The numbers of a time precision are not positive and finite, its time is too long for the
    /// ticks, or its field cannot have one.
    BadTimePrecision {
        /// The index of the field in the schema.
        field: usize,
    },
    /// A condition does not name an earlier flag, choice or one-lane integer, has an empty range of
    /// values, or ends a chain of more than 64 selectors.
    BadCondition {
        /// The index of the field in the schema.
        field: usize,
    },
    /// A field that may be coarser does not name an earlier integer of up to 31 that is not a spawn
    /// field, allows 0 or more than 31 bits, or is neither numbers that do not wrap nor a rotation.
    /// Or the condition of a field names the coarseness of another one.
    BadCoarseness {
        /// The index of the field in the schema.
        field: usize,
    },
    /// A field that is relative to a frame names no id of an entity with the role `Frame`, names
    /// another one than an earlier field, or is neither a rotation nor three numbers that do not
    /// wrap and are always present.
    BadFrame {
        /// The index of the field in the schema.
        field: usize,
    },
    /// The index code's widths or lengths do not have the form that `spec/CODEC.md` requires.
    BadGapCode,
    /// The codec takes more memory than the caller allows.
    CodecTooLarge {
        /// The memory that the codec takes, in bytes.
        memory_bytes: usize,
        /// The caller's limit on that memory, in bytes.
        max_memory_bytes: usize,
    },
    /// The code lengths are not a complete prefix code of at most 8 bits.
    BadPrefixCode,
    /// The schema has no lanes, so there is nothing to send.
    NoLanes,
    /// The schema has no kinds, or more than [`MAX_KINDS`](crate::schema::MAX_KINDS).
    KindCount {
        /// The number of kinds in the schema.
        kinds: usize,
    },
    /// An entity kind has no name, or the name or type of an earlier kind.
    BadKind {
        /// The index of the kind in the schema.
        kind: usize,
    },
    /// The schema has several kinds, but all entities or records must be of one kind.
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
            Self::BadCoarseness { field } => {
                write!(
                    f,
                    "field {field} may be coarser, so it must be a rotation or numbers that do not \
                     wrap, allow 1 to 31 bits, and name an earlier integer of at most 31; or its \
                     condition names a coarseness, which no condition may"
                )
            }
            Self::BadFrame { field } => {
                write!(
                    f,
                    "field {field} is relative to a frame, so it must be a rotation or three numbers \
                     that do not wrap, always present, and name the one field of its kind that has \
                     the role `frame` and holds an entity's id; or it is the velocity of a field \
                     that is not relative to the same frame"
                )
            }
            Self::BadGapCode => write!(f, "the profile's index code is malformed"),
            Self::CodecTooLarge { memory_bytes, max_memory_bytes } => {
                write!(f, "the codec takes {memory_bytes} bytes; the limit is {max_memory_bytes}")
            }
            Self::BadPrefixCode => write!(f, "the code lengths are not a complete prefix code"),
            Self::NoLanes => write!(f, "the schema has no lanes: there is nothing to send"),
            Self::KindCount { kinds } => {
                write!(f, "a schema has 1 to {MAX_KINDS} kinds of entities, not {kinds}")
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
