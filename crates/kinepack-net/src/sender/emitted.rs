//! The events that were emitted since the last tick.

use kinepack::{Snapshot, Tick};

use super::audience::OwnedAudience;
use crate::events::EventKinds;

/// The hub's state for events: the kinds, and the events emitted since the last tick.
#[derive(Debug)]
pub(super) struct EmittedEvents {
    pub(super) kinds: EventKinds,
    /// The event that is being quantized.
    pub(super) scratch: Snapshot,
    /// The events for the next tick, each with its kind, lanes and audience.
    pub(super) of_tick: Vec<(usize, Box<[u32]>, OwnedAudience)>,
    /// The [key](crate::events::Emitted::key) of the next event.
    pub(super) next_key: u64,
}

impl EmittedEvents {
    /// A state without events.
    pub(super) fn new(kinds: &EventKinds) -> Self {
        Self {
            kinds: kinds.clone(),
            scratch: Snapshot::new(kinds.codec().schema(), Tick(0)),
            of_tick: Vec::new(),
            next_key: 0,
        }
    }
}
