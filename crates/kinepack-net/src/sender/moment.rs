//! The inputs of a tick, which all receivers share.

use std::time::Duration;

use kinepack::Tick;

use super::config::{HubConfig, Priority};
use super::rings::Sources;

/// The inputs of every receiver's turn in a tick.
pub(super) struct Moment<'a> {
    pub(super) now: Duration,
    pub(super) tick: Tick,
    pub(super) interval_ticks: u8,
    pub(super) config: &'a HubConfig,
    pub(super) priority: Option<Priority<'a>>,
    /// The worlds that the values of entities come from.
    pub(super) sources: &'a Sources<'a>,
}
