//! Finds the entities that were added and removed between two playback calls.
//!
//! Compares the ids that are shown now with those of the previous call. Memory: three lists of at
//! most one state's ids, reused in each call.

use kinepack::EntityId;

/// The entities of the last playback call, and how they differ from the previous call.
#[derive(Debug, Default)]
pub(super) struct Presence {
    /// Sorted.
    shown: Vec<EntityId>,
    /// Sorted.
    added: Vec<EntityId>,
    /// Sorted.
    removed: Vec<EntityId>,
}

impl Presence {
    /// Notes that the sorted `ids` are shown now.
    ///
    /// Cost: a comparison of the ids, and a copy if they differ.
    pub(super) fn update(&mut self, ids: &[EntityId]) {
        self.added.clear();
        self.removed.clear();
        if self.shown == ids {
            return;
        }
        let mut before = self.shown.iter().copied().peekable();
        for &id in ids {
            while let Some(removed) = before.next_if(|other| *other < id) {
                self.removed.push(removed);
            }
            if before.next_if_eq(&id).is_none() {
                self.added.push(id);
            }
        }
        self.removed.extend(before);
        self.shown.clear();
        self.shown.extend_from_slice(ids);
    }

    pub(super) fn added(&self) -> &[EntityId] {
        &self.added
    }

    pub(super) fn removed(&self) -> &[EntityId] {
        &self.removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_the_difference_of_two_calls() {
        let mut presence = Presence::default();
        let ids = |ids: &[u32]| ids.iter().copied().map(EntityId).collect::<Vec<_>>();
        for (shown, added, removed) in [
            (&[2, 4, 6][..], &[2, 4, 6][..], &[][..]),
            (&[2, 4, 6], &[], &[]),
            (&[1, 4, 7, 8], &[1, 7, 8], &[2, 6]),
            (&[], &[], &[1, 4, 7, 8]),
            (&[9], &[9], &[]),
        ] {
            presence.update(&ids(shown));
            assert_eq!(presence.added(), ids(added));
            assert_eq!(presence.removed(), ids(removed));
        }
    }
}
