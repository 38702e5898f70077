//! Which entities of a kind changed, in blocks. `spec/CODEC.md`, section 12.5.

use super::counters::changed_context;
use super::movers::FAR;
use crate::entropy::{Coder, Decision};

/// Consecutive entities of a block.
pub(super) const BLOCK: usize = 16;

/// The context of a body that rests, that nothing touches, and that is far from all movers. It is
/// *quiet*, as is an entity without a body that rests, whose context is 0.
pub(super) const IS_FAR: u16 = changed_context(0, FAR);

/// Instead of a context, that of an entity that has no flag, because it is added.
pub(super) const IS_ADDED: u16 = u16::MAX;

/// The first counter of quiet entities, among those of a kind's flags: of the flag that any of a
/// block's changed, by that flag of the two blocks before.
const QUIET: usize = 256;
/// From there on, those of a quiet entity's flag: by the number of entities that are left, if none
/// of the block changed so far, and after these by the two flags before.
const FIRST: usize = QUIET + 4;
const AFTER_FIRST: usize = FIRST + BLOCK;

/// The flags of a kind.
pub(super) struct ChangedFlags<'a, D: Decision> {
    decisions: &'a mut [D],
    rule: &'a mut D::Rule,
    /// The context of a quiet entity.
    quiet: u16,
    /// The last two flags of single entities, and of blocks of quiet ones.
    last: usize,
    last_blocks: usize,
}

impl<'a, D: Decision> ChangedFlags<'a, D> {
    pub(super) fn new((decisions, rule): (&'a mut [D], &'a mut D::Rule), quiet: u16) -> Self {
        Self { decisions, rule, quiet, last: 0, last_blocks: 0 }
    }

    /// Codes a block of entities with these contexts. `has_changed` has a bit for each that an
    /// encoder is to write. Returns which are in the packet.
    pub(super) fn code(
        &mut self,
        coder: &mut impl Coder,
        contexts: &[u16],
        has_changed: u32,
    ) -> u32 {
        let quiet = self.quiet;
        // Without a branch for each entity.
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
                self.last = then(self.last, now);
                now
            };
            is_changed |= u32::from(now) << nth;
        }
        is_changed | self.code_quiet(coder, are_quiet, has_changed & are_quiet)
    }

    /// Codes the quiet entities of a block. If any changed, the last one has no flag where it must
    /// be the one.
    fn code_quiet(&mut self, coder: &mut impl Coder, are_quiet: u32, has_changed: u32) -> u32 {
        if are_quiet == 0 {
            return 0;
        }
        let flag = &mut self.decisions[QUIET + self.last_blocks];
        let is_any_changed = flag.decide(coder, has_changed != 0, self.rule);
        self.last_blocks = then(self.last_blocks, is_any_changed);
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
            last = then(last, now);
            is_changed |= if now { bit } else { 0 };
            left &= left - 1;
        }
        is_changed
    }
}

/// The last two flags, after one more.
fn then(last: usize, flag: bool) -> usize {
    (last << 1 | usize::from(flag)) & 3
}
