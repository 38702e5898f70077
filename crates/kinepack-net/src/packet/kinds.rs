//! The first byte of a datagram: its kind in the low three bits, and flags above. See
//! `spec/NET.md`, section 2. These constants have a file of their own so that all headers can use
//! them without depending on each other.

pub(crate) const SNAPSHOT: u8 = 0;
pub(crate) const FRAGMENT: u8 = 1;
pub(super) const REFUSAL: u8 = 2;
pub(crate) const SNAPSHOT_WITH_OLDER: u8 = 3;
pub(super) const HELLO: u8 = 4;
pub(crate) const ACKNOWLEDGEMENT: u8 = 5;
pub(crate) const STREAM_PACKET: u8 = 6;
pub(crate) const STREAM_ACKNOWLEDGEMENT: u8 = 7;
pub(crate) const KIND_MASK: u8 = 0b111;
pub(super) const LEFT_OUT: u8 = 1 << 3;
pub(super) const MERGE: u8 = 1 << 4;
pub(super) const STRIDE_SHIFT: u32 = 5;
/// A state check, in front of a snapshot.
pub(crate) const CHECK: u8 = REFUSAL | 1 << 3;
/// Events in front of a snapshot.
pub(crate) const EVENTS_IN_FRONT: u8 = REFUSAL | 1 << 3 | 1 << 4;
/// How long values may rest, in front of a snapshot.
pub(super) const TURNS: u8 = REFUSAL | 1 << 3 | 1 << 6;
/// Events without a snapshot.
pub(crate) const EVENTS_ALONE: u8 = REFUSAL | 1 << 3 | 1 << 5;
pub(super) const ANEW: u8 = HELLO | 1 << 3;
/// A channel's number in front of any datagram, in the bits from [`CHANNEL_SHIFT`] on.
pub(crate) const CHANNEL: u8 = REFUSAL;
pub(crate) const CHANNEL_SHIFT: u32 = 4;
/// Set in the byte of an older view if another older view follows. The other bits are the distance.
pub(super) const MORE_OLDER: u8 = 1 << 7;
