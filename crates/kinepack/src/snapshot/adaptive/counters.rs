//! Where counters stand, and how they tell contexts apart. `spec/CODEC.md`, section 12.8.

use crate::entropy::{Counter, MANTISSAS};

/// Where the counters of each part begin, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// That anything changed.
    pub(super) any: usize,
    /// That an entity changed.
    pub(super) changed: usize,
    /// That a body changed, and that each of the other fields did.
    pub(super) flags: usize,
    /// That the largest component is the predicted one, that it is the next, and the one after that.
    pub(super) largest: usize,
    pub(super) second: usize,
    pub(super) third: usize,
    /// Residuals, group by group.
    pub(super) residuals: usize,
}

/// Observations after which a counter's rate stays.
pub(super) const LIMIT: u8 = 250;

/// A counter that knows nothing.
pub(super) const EVEN: Counter = Counter::new(1 << 15, 0);

/// Groups of residuals of a body: of level axes, of the axis up, of rotations.
pub(super) mod body_group {
    pub(crate) const LEVEL: usize = 0;
    pub(crate) const UP: usize = 1;
    pub(crate) const ROTATION: usize = 2;
    pub(crate) const COUNT: usize = 3;
}

/// Classes of nearness to a mover. Section 12.5.
pub(super) const NEARNESSES: usize = 8;

/// Contexts of the flag of change: by motion, touch, nearness, and the two flags before. Section 12.5.
pub(super) const CHANGED: usize = 1024;

/// The context of the flag that an entity changed: `moved` in 0..4, as are the two flags before it as a number.
#[inline]
pub(super) fn changed_context(moved: usize, is_touched: bool, nearness: u8, flags_before: usize) -> usize {
    ((moved << 1 | usize::from(is_touched)) * NEARNESSES + usize::from(nearness)) * 4 + flags_before
}

/// Contexts of a field's flag: by rest, the field before, nearness, and the field's class. Section 12.5.
pub(super) const FLAGS: usize = 256;

/// The context of the flag that a field changed: `rested` in 0..3, `class` in 0..4.
#[inline]
pub(super) fn flag_context(rested: usize, is_after_change: bool, nearness: u8, class: usize) -> usize {
    ((rested * 2 + usize::from(is_after_change)) * NEARNESSES + usize::from(nearness)) * 4 + class
}

/// Widths of the gap between the two largest components that are told apart, and sizes of errors nearby. Section 12.6.
pub(super) const GAPS: usize = 21;
pub(super) const GAP_ERRORS: usize = 16;
/// Contexts of the largest component.
pub(super) const LARGEST: usize = GAPS * GAP_ERRORS;
/// Contexts of the second guess of it.
pub(super) const SECOND: usize = 32;

/// log₂ of the least size that is told apart, in 1/256: −1.5 octaves. Section 12.3.
pub(super) const MIN_SCALE_LOG2: i32 = -384;
/// log₂ of the largest: 8 octaves.
pub(super) const MAX_SCALE_LOG2: i32 = 8 << 8;
/// Scales are told apart in thirds of an octave.
pub(super) const SCALES: usize = 29;
/// Classes that have counters of their own.
pub(super) const COARSE: usize = 4;
/// Unary steps of the exponent that have counters of their own.
pub(super) const EXPONENTS: usize = 14;
/// Contexts of a sign.
pub(super) const SIGNS: usize = 16 * 4;

/// Counters of one kind of residual: of zero, of signs, of exponents, of mantissas.
pub(super) const RESIDUAL: usize = COARSE * SCALES + SIGNS + COARSE * SCALES * EXPONENTS + MANTISSAS;
