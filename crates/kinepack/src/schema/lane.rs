//! A lane: one of the integers that a field becomes.

use crate::bits::bits_for;

/// One integer of an entity's state: 0 to `max`.
///
/// ```
/// use kinepack::schema::{Lane, LaneArithmetic};
///
/// let heading = Lane { max: 359, arithmetic: LaneArithmetic::Cyclic };
/// assert_eq!(heading.bits(), 9);
/// assert_eq!(heading.difference(350, 10), 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The largest value of the lane.
    pub max: u32,
    /// What a difference of two values means.
    pub arithmetic: LaneArithmetic,
}

impl Lane {
    /// Returns the number of bits that hold every value.
    pub const fn bits(&self) -> u32 {
        bits_for(self.max as u64)
    }

    /// Returns the number of steps from `base` to `value`, the short way round if the lane is
    /// cyclic.
    #[inline]
    pub fn difference(&self, base: u32, value: u32) -> i64 {
        self.shorter(i64::from(value) - i64::from(base))
    }

    /// Returns the difference `steps`, the short way round if the lane is cyclic.
    #[inline]
    pub(crate) fn shorter(&self, steps: i64) -> i64 {
        let codes = i64::from(self.max) + 1;
        // Most differences are short already, and a division is slow. The processor also predicts
        // this branch better than a branch on the kind of arithmetic.
        let is_short = ((2 * steps + codes - 1) as u64) < 2 * codes as u64;
        if is_short || self.arithmetic != LaneArithmetic::Cyclic {
            return steps;
        }
        let steps = steps.rem_euclid(codes);
        if 2 * steps > codes { steps - codes } else { steps }
    }

    /// Returns the value `steps` after `base`, or `None` if that is outside of the lane.
    #[inline]
    pub(crate) fn offset(&self, base: u32, steps: i64) -> Option<u32> {
        let value = i64::from(base) + steps;
        if (0..=i64::from(self.max)).contains(&value) {
            return Some(value as u32);
        }
        let is_cyclic = self.arithmetic == LaneArithmetic::Cyclic;
        is_cyclic.then(|| value.rem_euclid(i64::from(self.max) + 1) as u32)
    }

    /// Returns the value `steps` after `base`, clamped to the lane's range.
    #[inline]
    pub(crate) fn held_offset(&self, base: u32, steps: i64) -> u32 {
        self.offset(base, steps).unwrap_or(if steps < 0 { 0 } else { self.max })
    }
}

/// The meaning of a difference between two values of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneArithmetic {
    /// The values are numbers.
    Linear,
    /// The values are numbers that wrap around to 0 after the maximum.
    Cyclic,
    /// The values are names: two values are only equal or different.
    Category,
}

/// Splits a code into its lanes, the lower half first.
#[inline]
pub(super) fn store_wide(lanes: &mut [u32], code: u64) {
    lanes[0] = code as u32;
    if let Some(upper) = lanes.get_mut(1) {
        *upper = (code >> 32) as u32;
    }
}

/// Joins a code from its lanes.
#[inline]
pub(super) fn load_wide(lanes: &[u32]) -> u64 {
    u64::from(lanes[0]) | lanes.get(1).map_or(0, |upper| u64::from(*upper) << 32)
}
