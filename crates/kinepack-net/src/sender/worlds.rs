//! The worlds of a tick, one for each tier.

use std::sync::Arc;

use kinepack::{Snapshot, View};

use crate::NetError;
use crate::handshake::check_schema;

/// The state of the world in a tick: one snapshot, or one for each tier of
/// [`Rings`](crate::Rings), from the finest to the coarsest.
///
/// All snapshots have the same entities with the same spawn fields. Their other values may differ.
/// The tick is that of the first snapshot. `Worlds` are made from a reference to a snapshot, or to
/// an array of such references.
#[derive(Clone, Copy, Debug)]
pub struct Worlds<'a> {
    finest: &'a Snapshot,
    coarser: &'a [&'a Snapshot],
}

impl<'a> Worlds<'a> {
    /// Returns the world of tier 0 and those of the next tiers, if their number is known only when
    /// the program runs. Worlds beyond tier 254 are not sent.
    pub fn new(finest: &'a Snapshot, coarser: &'a [&'a Snapshot]) -> Self {
        Self { finest, coarser }
    }

    /// The world of tier 0.
    pub(super) fn finest(self) -> &'a Snapshot {
        self.finest
    }

    /// The tier of the coarsest world.
    pub(super) fn coarsest(self) -> u8 {
        self.coarser.len().min(usize::from(u8::MAX - 1)) as u8
    }

    /// The world of a tier, which is at most the coarsest one.
    pub(super) fn of_tier(self, tier: u8) -> &'a Snapshot {
        match usize::from(tier).checked_sub(1) {
            None => self.finest,
            Some(tier) => self.coarser[tier],
        }
    }

    /// Checks that all worlds have the schema with this hash, and the same entities.
    pub(super) fn check(self, schema_hash: u64) -> Result<(), NetError> {
        check_schema(schema_hash, self.finest.schema_hash())?;
        for (nth, world) in self.coarser.iter().enumerate() {
            check_schema(schema_hash, world.schema_hash())?;
            if !self.finest.has_same_entities(world) {
                return Err(NetError::TierDiffers { tier: nth + 1 });
            }
        }
        match self.finest.shared_id() {
            Some(id) => Err(NetError::SharedId { id }),
            None => Ok(()),
        }
    }
}

impl<'a> From<&'a Snapshot> for Worlds<'a> {
    fn from(world: &'a Snapshot) -> Self {
        Self { finest: world, coarser: &[] }
    }
}

impl<'a> From<&'a mut Snapshot> for Worlds<'a> {
    fn from(world: &'a mut Snapshot) -> Self {
        Self::from(&*world)
    }
}

impl<'a> From<&'a Arc<Snapshot>> for Worlds<'a> {
    fn from(world: &'a Arc<Snapshot>) -> Self {
        Self::from(&**world)
    }
}

impl<'a> From<&'a Box<Snapshot>> for Worlds<'a> {
    fn from(world: &'a Box<Snapshot>) -> Self {
        Self::from(&**world)
    }
}

impl<'a> From<&'a View> for Worlds<'a> {
    fn from(view: &'a View) -> Self {
        Self::from(&**view.snapshot())
    }
}

impl<'a, const N: usize> From<&'a [&'a Snapshot; N]> for Worlds<'a> {
    /// # Panics
    /// If there are no worlds. Such a program does not compile.
    fn from(worlds: &'a [&'a Snapshot; N]) -> Self {
        const { assert!(N > 0, "a tick needs a world") };
        Self::new(worlds[0], &worlds[1..])
    }
}
