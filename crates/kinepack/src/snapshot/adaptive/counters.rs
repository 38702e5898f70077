//! Where counters stand, and how they tell contexts apart. `spec/CODEC.md`, section 12.8.

use crate::entropy::{Counter, MANTISSAS, Signed};

/// Where the counters of each part begin. The parts follow each other without gaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    any: usize,
    changed: usize,
    flags: usize,
    largest: usize,
    second: usize,
    third: usize,
    choices: usize,
    residuals: usize,
    /// Number of counters.
    pub(super) len: usize,
}

impl Layout {
    /// The layout for `fields` that are not of a body, `choices` counters of choices, and `groups`
    /// of residuals.
    pub(super) fn new(fields: usize, choices: usize, groups: usize) -> Self {
        let mut layout = Self::default();
        let parts = [
            (&mut layout.any, 1),
            (&mut layout.changed, CHANGED),
            (&mut layout.flags, FLAGS * (1 + fields)),
            (&mut layout.largest, LARGEST),
            (&mut layout.second, SECOND),
            (&mut layout.third, 1),
            (&mut layout.choices, choices),
            (&mut layout.residuals, RESIDUAL * groups),
        ];
        for (begin, size) in parts {
            *begin = layout.len;
            layout.len += size;
        }
        layout
    }
}

/// The counters of a packet.
pub(super) struct Counters<'a> {
    counters: &'a mut [Counter],
    at: &'a Layout,
}

impl<'a> Counters<'a> {
    pub(super) fn new(counters: &'a mut [Counter], at: &'a Layout) -> Self {
        Self { counters, at }
    }

    /// That anything changed.
    pub(super) fn any(&mut self) -> &mut Counter {
        &mut self.counters[self.at.any]
    }

    /// That an entity changed, with [`changed_context`].
    #[inline]
    pub(super) fn changed(&mut self, context: usize) -> &mut Counter {
        &mut self.counters[self.at.changed + context]
    }

    /// That a body changed.
    #[inline]
    pub(super) fn body_flag(&mut self, context: usize) -> &mut Counter {
        &mut self.counters[self.at.flags + context]
    }

    /// That the `nth` of the other fields changed, with [`flag_context`].
    #[inline]
    pub(super) fn field_flag(&mut self, nth: usize, context: usize) -> &mut Counter {
        &mut self.counters[self.at.flags + (1 + nth) * FLAGS + context]
    }

    /// That a rotation's largest component is not the predicted one, by the gap to the next and by
    /// errors nearby.
    #[inline]
    pub(super) fn largest(&mut self, gap: usize, error: usize) -> &mut Counter {
        &mut self.counters[self.at.largest + gap * GAP_ERRORS + error]
    }

    /// Nor the next one, by the gap behind that.
    #[inline]
    pub(super) fn second(&mut self, gap: usize) -> &mut Counter {
        &mut self.counters[self.at.second + gap]
    }

    /// Nor the one after that.
    #[inline]
    pub(super) fn third(&mut self) -> &mut Counter {
        &mut self.counters[self.at.third]
    }

    /// The upper bits of a choice, from `tree` on among those of choices.
    #[inline]
    pub(super) fn tree(&mut self, tree: usize, bits: u32) -> &mut [Counter] {
        &mut self.counters[self.at.choices + tree..][..1 << bits]
    }

    /// A residual of the size 2^`scale_log2`, which is not below [`MIN_SCALE_LOG2`].
    #[inline]
    pub(super) fn residual(
        &mut self,
        group: usize,
        coarse: usize,
        scale_log2: i32,
        sign: usize,
    ) -> Signed<'_> {
        // In thirds of an octave.
        let scale = (((scale_log2 - MIN_SCALE_LOG2) * 3) >> 8) as usize;
        let context = coarse * SCALES + scale;
        let begin = self.at.residuals + group * RESIDUAL;
        let (zero, rest) = self.counters[begin..][..RESIDUAL].split_at_mut(COARSE * SCALES);
        let (signs, rest) = rest.split_at_mut(SIGNS);
        let (exponents, mantissas) = rest.split_at_mut(COARSE * SCALES * EXPONENTS);
        Signed {
            zero: &mut zero[context],
            sign: &mut signs[sign],
            exponents: &mut exponents[context * EXPONENTS..][..EXPONENTS],
            mantissas,
        }
    }
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
const NEARNESSES: usize = 8;

/// Contexts of the flag of change: by motion, touch, nearness, and the two flags before.
/// Section 12.5.
const CHANGED: usize = 1024;

/// The context of the flag that an entity changed: `moved` in 0..4, as are the two flags before it
/// as a number.
#[inline]
pub(super) fn changed_context(
    moved: usize,
    is_touched: bool,
    nearness: u8,
    flags_before: usize,
) -> usize {
    ((moved << 1 | usize::from(is_touched)) * NEARNESSES + usize::from(nearness)) * 4 + flags_before
}

/// Contexts of a field's flag: by rest, the field before, nearness, and the field's class.
/// Section 12.5.
const FLAGS: usize = 256;

/// The context of the flag that a field changed: `rested` in 0..3, `class` in 0..4.
#[inline]
pub(super) fn flag_context(
    rested: usize,
    is_after_change: bool,
    nearness: u8,
    class: usize,
) -> usize {
    ((rested * 2 + usize::from(is_after_change)) * NEARNESSES + usize::from(nearness)) * 4 + class
}

/// How many classes there are of the gap between the two largest components, and of the errors
/// nearby. Section 12.6.
pub(super) const GAPS: usize = 21;
pub(super) const GAP_ERRORS: usize = 16;
/// Contexts of the largest component.
const LARGEST: usize = GAPS * GAP_ERRORS;
/// Contexts of the second guess of it.
pub(super) const SECOND: usize = 32;

/// log₂ of the smallest size that has counters of its own, in 1/256: −1.5 octaves. Section 12.3.
pub(super) const MIN_SCALE_LOG2: i32 = -384;
/// log₂ of the largest: 8 octaves.
pub(super) const MAX_SCALE_LOG2: i32 = 8 << 8;
/// How many scales have counters of their own: one for each third of an octave.
const SCALES: usize = 29;
/// Classes that have counters of their own.
const COARSE: usize = 4;
/// Unary steps of the exponent that have counters of their own.
const EXPONENTS: usize = 14;
/// Contexts of a sign.
const SIGNS: usize = 16 * 4;

/// Counters of one kind of residual: of zero, of signs, of exponents, of mantissas.
const RESIDUAL: usize = COARSE * SCALES + SIGNS + COARSE * SCALES * EXPONENTS + MANTISSAS;
