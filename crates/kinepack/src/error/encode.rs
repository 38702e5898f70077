//! Errors of encoding.

use core::fmt;

use super::{BaselinesError, OtherType};

/// The reason why a value or a snapshot cannot be encoded.
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
    /// A value is not a number, or a quaternion has no direction.
    NotANumber {
        /// The entity's id, if the value belongs to an entity of a snapshot.
        id: Option<u32>,
        /// The name of the field, or an empty string if the value does not belong to a field.
        field: &'static str,
    },
    /// A value is outside of its limits, and the caller did not ask for clamping.
    OutOfRange {
        /// The entity's id, if the value belongs to an entity of a snapshot.
        id: Option<u32>,
        /// The name of the field, or an empty string if the value does not belong to a field.
        field: &'static str,
        /// The refused value, rounded to `f64`.
        value: f64,
    },
    /// The encoding does not fit into the caller's buffer.
    BufferFull {
        /// The number of bytes that the encoding takes.
        needed_bytes: usize,
        /// The length of the caller's buffer, in bytes.
        buffer_bytes: usize,
    },
    /// An entity was pushed with an id that is not above the previous one.
    IdsNotIncreasing {
        /// The refused id.
        id: u32,
    },
    /// Entities of two kinds share an id.
    SharedId {
        /// The shared id.
        id: u32,
    },
    /// The schema does not have a kind with the given index.
    NoSuchKind {
        /// The given index.
        kind: usize,
        /// The number of kinds in the schema.
        kinds: usize,
    },
    /// The entity's kind is not the kind of the given type.
    AnotherKind {
        /// The entity's id.
        id: u32,
    },
    /// The number of lanes of a state differs from that of its kind.
    LaneCount {
        /// The number of lanes that the schema has.
        expected_lanes: usize,
        /// The number of lanes that were given.
        lanes: usize,
    },
    /// The schema of a snapshot is not the codec's.
    SchemaMismatch {
        /// [`Schema::hash`](crate::Schema::hash) of the codec's schema.
        expected_hash: u64,
        /// The hash of the snapshot's schema.
        hash: u64,
    },
    /// A snapshot cannot be coded against the views.
    Baselines(BaselinesError),
    /// The learned state of a stream's base is from another codec.
    ForeignLearned,
    /// The caller requested only some of the changes, but the snapshots do not have the same
    /// entities.
    EntitiesDiffer,
    /// The caller's indices of entities do not increase, or one is beyond the last entity.
    BadIndices {
        /// The first index that is not above the previous one, or is beyond the last entity.
        index: u32,
    },
    /// The snapshot has no entity at this index.
    IndexOutOfRange {
        /// The refused index.
        index: usize,
        /// The number of entities in the snapshot.
        entities: usize,
    },
    /// A lane is above its maximum in the schema, or is not 0 although its field is absent.
    LaneOutOfRange {
        /// The entity's id, if the value belongs to an entity of a snapshot.
        id: Option<u32>,
        /// The index of the lane in the schema.
        lane: usize,
        /// The refused value.
        value: u32,
    },
    /// A value's type does not have the schema of the snapshot, of one of its kinds, or of the
    /// stream. The numbers of lanes may still agree.
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
    /// Returns the same error, with the name of the field in which it occurred.
    #[must_use]
    pub fn in_field(self, name: &'static str) -> Self {
        match self {
            Self::NotANumber { id, .. } => Self::NotANumber { id, field: name },
            Self::OutOfRange { id, value, .. } => Self::OutOfRange { id, field: name, value },
            other => other,
        }
    }

    /// Returns the same error, with the entity in which it occurred.
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

impl core::error::Error for EncodeError {}

impl From<BaselinesError> for EncodeError {
    fn from(error: BaselinesError) -> Self {
        Self::Baselines(error)
    }
}
