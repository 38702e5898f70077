//! The events that were emitted since the last tick.

use kinepack::{Snapshot, Tick};

use super::audience::OwnedAudience;
use crate::events::EventKinds;

/// The hub's state for events: their kinds, and those emitted since the last tick.
#[derive(Debug)]
pub(super) struct EmittedEvents {
    pub(super) kinds: EventKinds,
    /// The event that is being quantized.
    pub(super) scratch: Snapshot,
    /// The events for the next tick: kind, lanes and audience.
    pub(super) of_tick: Vec<(usize, Box<[u32]>, OwnedAudience)>,
    /// The [key](crate::events::Emitted::key) of the next event.
    pub(super) next_key: u64,
}

impl EmittedEvents {
    /// No events yet.
    pub(super) fn new(kinds: &EventKinds) -> Self {
        Self {
            kinds: kinds.clone(),
            scratch: Snapshot::new(kinds.codec().schema(), Tick(0)),
            of_tick: Vec::new(),
            next_key: 0,
        }
    }
}
