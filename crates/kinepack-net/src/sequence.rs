//! Sequence numbers that wrap. See `spec/NET.md`, section 1.

use core::ops::RangeInclusive;

use kinepack::Tick;

/// A missing datagram may just be late if it is at most this many sequences before a datagram that
/// arrived. If the distance is larger, the datagram counts as lost. TCP uses 3, but on wireless
/// links a packet may be overtaken by more than three others.
pub(crate) const REORDERED: i32 = 6;

/// If a receiver is added again with the same id, its new session begins this many sequences later.
pub(crate) const OTHER_SESSION: u16 = 0x4000;
/// The distances from the newest sequence at which a sequence belongs to the same session, unless
/// it is too old to be acknowledged. At four keep-alives a second, the end of the range is half an
/// hour of silence.
pub(crate) const SAME_SESSION: RangeInclusive<i32> = -32..=0x2000;

/// A datagram's number: 16 bits that wrap from 65,535 to 0. Two sequences have no order, only a
/// distance.
///
/// ```
/// use kinepack_net::Sequence;
///
/// let newest = Sequence(65_534).after(4);
/// assert_eq!(newest, Sequence(2));
/// assert_eq!(newest.since(Sequence(65_534)), 4);
/// assert_eq!(Sequence(65_534).since(newest), -4);
/// assert_eq!(newest.before(4), Sequence(65_534));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequence(pub u16);

impl Sequence {
    /// The sequence `distance` after this one.
    #[must_use]
    pub fn after(self, distance: u16) -> Self {
        Self(self.0.wrapping_add(distance))
    }

    /// The sequence that is `distance` before this sequence.
    #[must_use]
    pub fn before(self, distance: u16) -> Self {
        Self(self.0.wrapping_sub(distance))
    }

    /// How far this sequence is after `other`; negative if it is before `other`. Correct for
    /// distances up to half the number space.
    pub fn since(self, other: Self) -> i32 {
        i32::from(self.0.wrapping_sub(other.0) as i16)
    }
}

/// The number of a tick's record in a stream: the tick modulo 2¹⁶.
impl From<Tick> for Sequence {
    fn from(tick: Tick) -> Self {
        Self(tick.0 as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_wrap() {
        assert_eq!(Sequence(2).since(Sequence(65_534)), 4);
        assert_eq!(Sequence(65_534).since(Sequence(2)), -4);
        assert_eq!(Sequence(65_535).after(1), Sequence(0));
        assert_eq!(Sequence(3).before(5), Sequence(65_534));
    }
}
