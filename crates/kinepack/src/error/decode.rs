//! Errors of decoding.

use core::fmt;

use super::{BaselinesError, OtherType};

/// The reason why bytes are not a valid value or snapshot. A function that returns one of these
/// errors changes nothing, unless its documentation says otherwise.
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
        /// The position of the bit at which the value begins.
        at_bit: u64,
        /// The number of bits that the value takes.
        wanted_bits: u32,
        /// The number of bits left in the data.
        left_bits: u32,
    },
    /// There are bytes after the last value.
    TrailingData {
        /// The number of bits left in the data.
        left_bits: u64,
    },
    /// Padding bits are not zero.
    Padding,
    /// A code is above the maximum of its limits or lane, or the result of a difference is out of
    /// range.
    OutOfRange {
        /// The position after the code.
        at_bit: u64,
    },
    /// An entity set is not sorted, removes an entity that the baseline lacks, or adds one that the
    /// baseline has.
    BadEntitySet {
        /// The position at which the error was detected.
        at_bit: u64,
    },
    /// There are more entities than the caller's limit.
    TooManyEntities {
        /// A lower bound on the number of entities that the data announce.
        count: u64,
        /// The caller's limit on the number of entities.
        limit: u32,
    },
    /// A run has length 0.
    EmptyRun {
        /// The position at which the run begins.
        at_bit: u64,
    },
    /// There are more bytes than the caller's limit.
    TooManyBytes {
        /// The caller's limit on the number of bytes.
        limit_bytes: usize,
    },
    /// A buffer or a base does not have the schema's number of lanes.
    LaneCount {
        /// The number of lanes that the schema has.
        expected_lanes: usize,
        /// The number of lanes that were given.
        lanes: usize,
    },
    /// The packet resumes from the learned state of its baseline, but the given baseline has no
    /// learned state of this codec.
    NothingLearned,
    /// A snapshot cannot be coded against the views.
    Baselines(BaselinesError),
    /// The packet decodes to a state other than the sender's, because a view, the tick or the
    /// arithmetic was wrong.
    WrongState {
        /// The sender's [state check](crate::View::check).
        theirs: u16,
        /// The state check of the decoded view.
        ours: u16,
    },
    /// The schema of a view is not the codec's.
    SchemaMismatch {
        /// [`Schema::hash`](crate::Schema::hash) of the codec's schema.
        expected_hash: u64,
        /// The hash of the snapshot's schema.
        hash: u64,
    },
    /// A lane of the base, or of a record being read, is above its maximum in the schema, or is not
    /// 0 although its field is absent.
    LaneOutOfRange {
        /// The index of the lane in the schema.
        lane: usize,
        /// The refused value.
        value: u32,
    },
    /// The schema of a type is not the stream's.
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
