//! The inputs of a tick, which all receivers share.

use std::time::Duration;

use kinepack::{Snapshot, Tick};

use super::config::{HubConfig, Priority};

/// The inputs of every receiver's turn in a tick.
pub(super) struct Moment<'a> {
    pub(super) now: Duration,
    pub(super) tick: Tick,
    pub(super) interval_ticks: u8,
    pub(super) config: &'a HubConfig,
    pub(super) priority: Option<Priority<'a>>,
    /// The worlds that the values of entities come from, by the numbers in a
    /// [`Sight`](super::rings::Sight). Empty without rings.
    pub(super) sources: &'a [&'a Snapshot],
}
