//! Codes which entities of a kind changed, in blocks. `spec/CODEC.md`, section 12.5, defines the
//! blocks.

use super::counters::{FAR, changed_context};
use crate::entropy::{Coder, Decision};

/// The number of consecutive entities in a block.
pub(super) const BLOCK: usize = 16;

/// The context of a *quiet* body, which is at rest, untouched, and far from all movers. An entity
/// without a body is quiet if it is at rest; its context is 0.
pub(super) const IS_FAR: u16 = changed_context(0, FAR);

/// Stored in place of a context for an added entity. An added entity has always changed, so it has
/// no flag.
pub(super) const IS_ADDED: u16 = u16::MAX;

/// The index of the first counter of quiet entities among a kind's counters. Four counters code the
/// flag that tells whether any quiet entity of a block changed. The values of this flag in the two
/// previous blocks select one of the four.
const QUIET: usize = 256;
/// The index of the first counter of the flag of a single quiet entity. Until an entity of the
/// block has changed, the number of remaining entities selects the counter. After that, the two
/// previous flags select the counter.
const FIRST: usize = QUIET + 4;
const AFTER_FIRST: usize = FIRST + BLOCK;

/// Codes the changed flags of a kind's entities.
pub(super) struct ChangedFlags<'a, D: Decision> {
    decisions: &'a mut [D],
    rule: &'a mut D::Rule,
    /// The context of a quiet entity.
    quiet: u16,
    /// The last two flags of entities that are not quiet, then those of blocks of quiet entities.
    last: usize,
    last_blocks: usize,
}

impl<'a, D: Decision> ChangedFlags<'a, D> {
    pub(super) fn new((decisions, rule): (&'a mut [D], &'a mut D::Rule), quiet: u16) -> Self {
        Self { decisions, rule, quiet, last: 0, last_blocks: 0 }
    }

    /// Codes the flags of a block of entities with these contexts. In an encoder, `has_changed` has
    /// a bit for each entity to send. Returns a bit for each entity that the packet holds.
    pub(super) fn code(
        &mut self,
        coder: &mut impl Coder,
        contexts: &[u16],
        has_changed: u32,
    ) -> u32 {
        let quiet = self.quiet;
        // A fold replaces `all`, to avoid a branch for each entity.
        if contexts.iter().fold(true, |all, context| all & (*context == quiet)) {
            return self.code_quiet(coder, (1 << contexts.len()) - 1, has_changed);
        }
        let (mut is_changed, mut are_quiet) = (0, 0);
        for (nth, &context) in contexts.iter().enumerate() {
            let now = if context == quiet {
                are_quiet |= 1 << nth;
                false
            } else if context == IS_ADDED {
                true
            } else {
                let flag = &mut self.decisions[usize::from(context) | self.last];
                let now = flag.decide(coder, has_changed >> nth & 1 != 0, self.rule);
                self.last = push_flag(self.last, now);
                now
            };
            is_changed |= u32::from(now) << nth;
        }
        is_changed | self.code_quiet(coder, are_quiet, has_changed & are_quiet)
    }

    /// Codes the quiet entities of a block. If some quiet entity changed and all but the last did
    /// not, the last one must have changed and needs no flag.
    fn code_quiet(&mut self, coder: &mut impl Coder, are_quiet: u32, has_changed: u32) -> u32 {
        if are_quiet == 0 {
            return 0;
        }
        let flag = &mut self.decisions[QUIET + self.last_blocks];
        let is_any_changed = flag.decide(coder, has_changed != 0, self.rule);
        self.last_blocks = push_flag(self.last_blocks, is_any_changed);
        if !is_any_changed {
            return 0;
        }
        let (mut left, mut is_changed, mut last) = (are_quiet, 0, 0);
        while left != 0 {
            let bit = left & left.wrapping_neg();
            let context = match is_changed {
                0 => FIRST + left.count_ones() as usize - 1,
                _ => AFTER_FIRST + last,
            };
            let now = is_changed == 0 && left == bit
                || self.decisions[context].decide(coder, has_changed & bit != 0, self.rule);
            last = push_flag(last, now);
            is_changed |= if now { bit } else { 0 };
            left &= left - 1;
        }
        is_changed
    }
}

/// Returns the last two flags after `flag` is added to them.
fn push_flag(last: usize, flag: bool) -> usize {
    (last << 1 | usize::from(flag)) & 3
}
