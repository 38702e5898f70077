//! Sequence numbers that wrap. `spec/NET.md`, section 1.

/// A datagram this many sequences or fewer before one that arrived may be late; one farther before
/// it counts as lost. TCP takes 3; packets on wireless links are overtaken by more.
pub(crate) const REORDERED: i32 = 6;

/// A datagram's number: 16 bits that wrap from 65,535 to 0. Sequences have no order, only a
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

    /// The sequence `distance` before this one.
    #[must_use]
    pub fn before(self, distance: u16) -> Self {
        Self(self.0.wrapping_sub(distance))
    }

    /// How far this is after `other`; negative if it is before. Correct for distances up to half of
    /// all numbers.
    pub fn since(self, other: Self) -> i32 {
        i32::from(self.0.wrapping_sub(other.0) as i16)
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
