//! The worlds that the values of a tick's entities come from.

use kinepack::Snapshot;

/// The worlds of a tick, with what is known of their changes.
#[derive(Debug, Default)]
pub(in crate::sender) struct Sources<'a> {
    /// The worlds, by the numbers in a [`Sight`](super::Sight). Empty without rings.
    pub(in crate::sender) worlds: Vec<&'a Snapshot>,
    /// For each world, a bit for each entity that may differ from the last tick. `None` if all may.
    pub(super) fresh: Vec<Option<&'a [u64]>>,
    /// Whether the entities are those of the last tick, and each number is that of the same world.
    pub(in crate::sender) is_steady: bool,
}

impl Sources<'_> {
    /// Whether the values of the entity at an index may differ from those of the last tick, in the
    /// world with this number.
    pub(in crate::sender) fn may_differ(&self, index: u32, source: u8) -> bool {
        let is_fresh = |fresh: &[u64]| fresh[index as usize / 64] >> (index % 64) & 1 == 1;
        self.fresh[usize::from(source)].is_none_or(is_fresh)
    }
}
