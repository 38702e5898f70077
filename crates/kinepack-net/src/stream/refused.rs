//! Every reason for which an end of a stream says no.

use core::fmt;

use kinepack::DecodeError;

use crate::Sequence;

/// Why a datagram of a stream was refused. Nothing has changed but a counter, and for
/// [`Malformed`](Self::Malformed) the sender's credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamRefused {
    /// Shorter or longer than its kind asks for.
    Length {
        /// Bytes that came.
        bytes: usize,
    },
    /// No kind of datagram that this side takes, or bits that must be 0 are not.
    Kind {
        /// The first byte.
        first_byte: u8,
    },
    /// A base among the packet's own records.
    BadBack {
        /// How far back it is.
        back: u8,
        /// Records of the packet.
        count: u8,
    },
    /// The packet is of another codec: the two sides cannot understand each other.
    Mismatch {
        /// [`StreamCodec::hash`](kinepack::stream::StreamCodec::hash) of this side.
        ours: u64,
        /// That of the packet.
        theirs: u64,
    },
    /// A packet of this number was taken before.
    Duplicate,
    /// A packet that is behind the newest by the ring's length or more.
    TooOld,
    /// A number farther ahead than can have been sent.
    TooFarAhead {
        /// How far it may be.
        limit: u16,
    },
    /// Relative to a packet that this side has not taken, or does not hold any more: the packet is
    /// lost.
    NoBase {
        /// The number of the missing one.
        base: Sequence,
    },
    /// More records than the rate allows.
    Limited,
    /// The records in it are no valid ones.
    Malformed(DecodeError),
    /// An acknowledgement of a packet that was never sent.
    NeverSent,
    /// An acknowledgement of a packet that the ring does not hold any more.
    LongAgo,
}

impl fmt::Display for StreamRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { bytes } => {
                write!(f, "a datagram of {bytes} bytes is too short or too long for its kind")
            }
            Self::Kind { first_byte } => {
                write!(f, "no kind of datagram for this side: first byte {first_byte:#04x}")
            }
            Self::BadBack { back, count } => {
                write!(f, "a base {back} back, in a packet of {count} records")
            }
            Self::Mismatch { ours, theirs } => {
                write!(
                    f,
                    "the two sides have different stream codecs: {ours:016x} here, {theirs:016x} there"
                )
            }
            Self::Duplicate => write!(f, "a packet that was taken before"),
            Self::TooOld => write!(f, "a packet too far behind the newest"),
            Self::TooFarAhead { limit } => {
                write!(f, "a packet more than {limit} ahead of the newest")
            }
            Self::NoBase { base } => write!(f, "relative to packet {}, which is not held", base.0),
            Self::Limited => write!(f, "more records than the rate allows"),
            Self::Malformed(error) => write!(f, "the records in it are not valid: {error}"),
            Self::NeverSent => write!(f, "an acknowledgement of a packet that was never sent"),
            Self::LongAgo => write!(f, "an acknowledgement of a packet sent too long ago"),
        }
    }
}

impl core::error::Error for StreamRefused {}
