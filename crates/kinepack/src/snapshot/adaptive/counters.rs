//! Lays out the counters, and computes the contexts that select them. See `spec/CODEC.md`, section
//! 12.8.

use core::ops::Range;

use crate::entropy::{Coder, Counter, Decision, MANTISSAS, Signed, decide_signed, decide_tree};
use crate::snapshot::status::{MOVED, MOVED_BEFORE, NEW};

/// The index of the first counter of each part. The parts follow one another without gaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    kinds: usize,
    any: usize,
    changed: usize,
    flags: usize,
    largest: usize,
    second: usize,
    third: usize,
    choices: usize,
    residuals: usize,
    /// The first counter of added entities. Profile files of version 1 and 2 have only the counters
    /// before it.
    pub(super) newcomers: usize,
    /// The total number of counters.
    pub(super) len: usize,
}

impl Layout {
    /// Makes a layout for `kinds` kinds of entities with `fields` fields outside their bodies,
    /// `choices` counters of choices, `groups` groups of residuals, and `newcomers` counters of
    /// added entities.
    pub(super) fn new(
        kinds: usize,
        fields: usize,
        choices: usize,
        groups: usize,
        newcomers: usize,
    ) -> Self {
        let mut layout = Self { kinds, ..Self::default() };
        let parts = [
            (&mut layout.any, 1),
            (&mut layout.changed, CHANGED * kinds),
            (&mut layout.flags, FLAGS * (kinds + fields)),
            (&mut layout.largest, LARGEST),
            (&mut layout.second, SECOND),
            (&mut layout.third, 1),
            (&mut layout.choices, choices),
            (&mut layout.residuals, RESIDUAL * groups),
            (&mut layout.newcomers, newcomers),
        ];
        for (begin, size) in parts {
            *begin = layout.len;
            layout.len += size;
        }
        layout
    }

    /// Returns the counters that do not depend on the schema.
    pub(super) fn common(&self) -> [Range<usize>; 2] {
        [self.any..self.changed, self.largest..self.choices]
    }

    /// Returns the counters of a kind's entities and of their bodies.
    pub(super) fn kind(&self, kind: usize) -> [Range<usize>; 2] {
        [at(self.changed, kind..kind + 1, CHANGED), at(self.flags, kind..kind + 1, FLAGS)]
    }

    /// Returns the counters of the flags of the `nth` field outside bodies.
    pub(super) fn field_flags(&self, nth: usize) -> Range<usize> {
        at(self.flags + self.kinds * FLAGS, nth..nth + 1, FLAGS)
    }

    /// Returns the counters of a choice's upper bits, which begin at `tree` among the counters of
    /// all choices.
    pub(super) fn tree(&self, tree: usize, bits: u32) -> Range<usize> {
        at(self.choices + tree, 0..1 << bits, 1)
    }

    /// Returns the counters of these groups of residuals.
    pub(super) fn residuals_of(&self, groups: Range<usize>) -> Range<usize> {
        at(self.residuals, groups, RESIDUAL)
    }
}

/// Returns the range of these items in a list that begins at `first`, if each item takes `size`
/// elements.
fn at(first: usize, items: Range<usize>, size: usize) -> Range<usize> {
    first + items.start * size..first + items.end * size
}

/// The adaptive decisions with which a packet is coded.
pub(super) struct Counters<'a, D: Decision> {
    /// The decisions of all entities except the added ones.
    pub(super) decisions: &'a mut [D],
    pub(super) rule: D::Rule,
    /// The counters that code added entities of all kinds.
    pub(super) newcomers: &'a mut [Counter],
    pub(super) layout: &'a Layout,
}

impl<D: Decision> Counters<'_, D> {
    /// Codes whether any entity changed.
    pub(super) fn code_any(&mut self, coder: &mut impl Coder, bit: bool) -> bool {
        self.code(coder, self.layout.any, bit)
    }

    /// Returns the decisions for the changed flags of a kind's entities, indexed by
    /// [`changed_context`].
    #[inline]
    pub(super) fn changed(&mut self, kind: usize) -> (&mut [D], &mut D::Rule) {
        D::select(&mut self.rule, 0);
        let begin = self.layout.changed + kind * CHANGED;
        (&mut self.decisions[begin..][..CHANGED], &mut self.rule)
    }

    /// Codes whether the body of an entity of a kind changed.
    #[inline]
    pub(super) fn code_body_flag(
        &mut self,
        coder: &mut impl Coder,
        (kind, context): (usize, usize),
        bit: bool,
    ) -> bool {
        self.code(coder, self.layout.flags + kind * FLAGS + context, bit)
    }

    /// Codes whether the `nth` field outside bodies, counted over all kinds, changed. `context` is
    /// a [`flag_context`].
    #[inline]
    pub(super) fn code_field_flag(
        &mut self,
        coder: &mut impl Coder,
        (nth, context): (usize, usize),
        bit: bool,
    ) -> bool {
        let at = self.layout.flags + (self.layout.kinds + nth) * FLAGS + context;
        self.code(coder, at, bit)
    }

    /// Codes whether a rotation's largest component differs from the predicted one. The gap between
    /// the two largest predicted components and the errors of neighbours select the counter.
    #[inline]
    pub(super) fn code_largest(
        &mut self,
        coder: &mut impl Coder,
        (gap, error): (usize, usize),
        bit: bool,
    ) -> bool {
        self.code(coder, self.layout.largest + gap * GAP_ERRORS + error, bit)
    }

    /// Codes whether the largest component also differs from the second largest predicted
    /// component. The gap between the second and the third largest selects the counter.
    #[inline]
    pub(super) fn code_second(&mut self, coder: &mut impl Coder, gap: usize, bit: bool) -> bool {
        self.code(coder, self.layout.second + gap, bit)
    }

    /// Codes whether the largest component also differs from the third largest predicted component.
    #[inline]
    pub(super) fn code_third(&mut self, coder: &mut impl Coder, bit: bool) -> bool {
        self.code(coder, self.layout.third, bit)
    }

    /// Codes the upper `bits` bits of a choice, whose counters begin at `tree` among the counters
    /// of all choices.
    #[inline]
    pub(super) fn code_tree(
        &mut self,
        coder: &mut impl Coder,
        (tree, bits): (usize, u32),
        value: u32,
    ) -> u32 {
        D::select(&mut self.rule, 0);
        let decisions = &mut self.decisions[self.layout.tree(tree, bits)];
        decide_tree(coder, decisions, value, bits, &mut self.rule)
    }

    /// Codes a residual whose expected size is 2^`scale_log2`, with the logarithm in 1/256.
    /// `scale_log2` must be at least [`MIN_SCALE_LOG2`].
    #[inline]
    pub(super) fn code_residual(
        &mut self,
        coder: &mut impl Coder,
        Residuals { group, coarse_class }: Residuals,
        scale_log2: i32,
        sign: usize,
        residual: i64,
    ) -> i64 {
        // The scale is in thirds of an octave.
        let scale = (((scale_log2 - MIN_SCALE_LOG2) * 3) >> 8) as usize;
        let context = coarse_class * SCALES + scale;
        let begin = self.layout.residuals + group * RESIDUAL;
        let (zero, rest) = self.decisions[begin..][..RESIDUAL].split_at_mut(COARSE * SCALES);
        let (signs, rest) = rest.split_at_mut(SIGNS);
        let (exponents, mantissas) = rest.split_at_mut(COARSE * SCALES * EXPONENTS);
        let model = Signed {
            zero: &mut zero[context],
            sign: &mut signs[sign],
            exponents: &mut exponents[context * EXPONENTS..][..EXPONENTS],
            mantissas,
        };
        D::select(&mut self.rule, 1 + group);
        decide_signed(coder, residual, model, &mut self.rule)
    }

    #[inline]
    fn code(&mut self, coder: &mut impl Coder, at: usize, bit: bool) -> bool {
        D::select(&mut self.rule, 0);
        self.decisions[at].decide(coder, bit, &mut self.rule)
    }
}

/// Selects the counters of a residual.
#[derive(Clone, Copy)]
pub(super) struct Residuals {
    pub(super) group: usize,
    /// The coarse class: one of the few classes of lanes that have separate counters.
    pub(super) coarse_class: usize,
}

/// The number of observations after which a counter's rate of adaptation stays constant.
pub(super) const LIMIT: u8 = 250;

/// The largest count of a trained counter in a model, so that the counter still adapts to other
/// data.
pub(super) const MAX_TRAINED_COUNT: u8 = 15;

/// An untrained counter.
pub(super) const EVEN: Counter = Counter::new(1 << 15, 0);
/// An untrained counter of added entities. There are many such counters, each with few
/// observations, so a count of 2 makes them learn less from their first observations.
pub(super) const START: Counter = Counter::new(1 << 15, 2);

/// The groups of a body's residuals: one for the level axes, one for the axis up, and one for
/// rotations.
pub(super) mod body_group {
    pub(crate) const LEVEL: usize = 0;
    pub(crate) const UP: usize = 1;
    pub(crate) const ROTATION: usize = 2;
    pub(crate) const COUNT: usize = 3;
}

/// The number of classes of nearness to a mover. See `spec/CODEC.md`, section 12.5.
const NEARNESSES: usize = 8;
/// The nearness of a mover itself, and of a body far from all movers.
pub(super) const IS_MOVER: u8 = 7;
pub(super) const FAR: u8 = 6;

/// The number of contexts of an entity's changed flag: by motion, touch, nearness, and the two
/// previous flags. See `spec/CODEC.md`, section 12.5.
const CHANGED: usize = 1024;

/// Computes the context of an untouched entity's changed flag, from the entity's
/// [status](crate::snapshot::status) and nearness. The caller adds the number formed by the two
/// previous flags.
#[inline]
pub(super) const fn changed_context(status: u8, nearness: u8) -> u16 {
    let moved = status & (MOVED | MOVED_BEFORE) | if status & NEW != 0 { 2 } else { 0 };
    (moved as u16) << 6 | (nearness as u16) << 2
}

/// The bit that is added to the [`changed_context`] of a touched body.
pub(super) const IS_TOUCHED: u16 = 1 << 5;

/// The number of contexts of a field's changed flag: by rest, the previous field, nearness, and the
/// field's class. See `spec/CODEC.md`, section 12.5.
const FLAGS: usize = 256;

/// Computes the context of a field's changed flag. `rested` is from 0 to 2, `class` from 0 to 3.
#[inline]
pub(super) fn flag_context(
    rested: usize,
    is_after_change: bool,
    nearness: u8,
    class: usize,
) -> usize {
    ((rested * 2 + usize::from(is_after_change)) * NEARNESSES + usize::from(nearness)) * 4 + class
}

/// The number of classes of the gap between the two largest components, and that of the errors of
/// neighbours. See `spec/CODEC.md`, section 12.6.
pub(super) const GAPS: usize = 21;
pub(super) const GAP_ERRORS: usize = 16;
/// The number of contexts of the flag for whether the largest component differs from the predicted
/// one.
const LARGEST: usize = GAPS * GAP_ERRORS;
/// The number of contexts of the flag for whether the largest component differs from the second
/// largest predicted one.
pub(super) const SECOND: usize = 32;

/// log₂ of the smallest size with separate counters, in 1/256: −1.5 octaves. See `spec/CODEC.md`,
/// section 12.3.
pub(super) const MIN_SCALE_LOG2: i32 = -384;
/// log₂ of the largest size with separate counters, in 1/256: 8 octaves.
pub(super) const MAX_SCALE_LOG2: i32 = 8 << 8;
/// The number of scales with separate counters: one for each third of an octave.
const SCALES: usize = 29;
/// The number of classes of lanes with separate counters.
const COARSE: usize = 4;
/// The number of unary steps of the exponent with separate counters.
const EXPONENTS: usize = 14;
/// The number of contexts of a sign.
const SIGNS: usize = 16 * 4;

/// The number of counters of one group of residuals: of zero, of signs, of exponents, of mantissas.
const RESIDUAL: usize = COARSE * SCALES + SIGNS + COARSE * SCALES * EXPONENTS + MANTISSAS;
