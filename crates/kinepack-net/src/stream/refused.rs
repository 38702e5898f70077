//! Why an end of a stream refuses a datagram.

use core::fmt;

use kinepack::DecodeError;

use crate::{Channel, Refused, Sequence};

/// Why a datagram of a stream was refused. A refusal changes nothing except a counter. With
/// [`Malformed`](Self::Malformed), the packet has also used up credit of the sender's rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamRefused {
    /// The datagram is shorter or longer than its kind requires.
    Length {
        /// The datagram's length.
        bytes: usize,
    },
    /// The first byte is not of a kind that this side accepts, or has reserved bits that are not 0.
    Kind {
        /// The first byte.
        first_byte: u8,
    },
    /// The datagram belongs to a channel other than this endpoint's.
    Channel {
        /// The number of the datagram's channel.
        number: u8,
    },
    /// The base is among the packet's own records.
    BadBack {
        /// The distance from the packet to its base.
        back: u8,
        /// The number of records in the packet.
        count: u8,
    },
    /// The packet's codec differs from this side's, so the two sides cannot understand each other.
    Mismatch {
        /// This side's [`StreamCodec::hash`](kinepack::stream::StreamCodec::hash).
        ours: u64,
        /// The hash in the packet.
        theirs: u64,
    },
    /// A packet with this number was received before.
    Duplicate,
    /// The packet is a ring's length or more before the newest packet.
    TooOld,
    /// The packet's number is farther ahead of the newest than that of an honest sender can be.
    TooFarAhead {
        /// How far ahead the number may be.
        limit: u16,
    },
    /// The packet is coded against a packet that this side never accepted or no longer holds. So
    /// the refused packet counts as lost.
    NoBase {
        /// The missing packet's number.
        base: Sequence,
    },
    /// The packet has more records than the rate allows.
    Limited,
    /// The records in the packet are not valid.
    Malformed(DecodeError),
    /// The acknowledgement is for a packet that was never sent.
    NeverSent,
    /// The acknowledgement is for a packet that the ring no longer holds.
    LongAgo,
}

impl fmt::Display for StreamRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Errors that datagrams of snapshots also have get the same messages.
            Self::Length { bytes } => Refused::Length { bytes: *bytes }.fmt(f),
            Self::Kind { first_byte } => Refused::Kind { first_byte: *first_byte }.fmt(f),
            Self::Channel { number } => Refused::Channel { number: *number }.fmt(f),
            Self::BadBack { back, count } => {
                write!(f, "a base {back} back, in a packet of {count} records")
            }
            Self::Mismatch { ours, theirs } => {
                write!(
                    f,
                    "the two sides have different stream codecs: {ours:016x} here, {theirs:016x} \
                     there"
                )
            }
            Self::Duplicate => write!(f, "a packet that was received before"),
            Self::TooOld => write!(f, "a packet too far before the newest"),
            Self::TooFarAhead { limit } => {
                write!(f, "a packet more than {limit} ahead of the newest")
            }
            Self::NoBase { base } => {
                write!(f, "coded against packet {}, which is not held", base.0)
            }
            Self::Limited => write!(f, "more records than the rate allows"),
            Self::Malformed(error) => write!(f, "the records in it are not valid: {error}"),
            Self::NeverSent => write!(f, "an acknowledgement of a packet that was never sent"),
            Self::LongAgo => write!(f, "an acknowledgement of a packet sent too long ago"),
        }
    }
}

impl core::error::Error for StreamRefused {}

impl StreamRefused {
    /// The refusal of a datagram that belongs to a channel other than the endpoint's.
    pub(super) fn channel(datagram: &[u8]) -> Self {
        Self::Channel { number: Channel::from_datagram(datagram).number() }
    }
}
