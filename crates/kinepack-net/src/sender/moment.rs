//! The moment of a tick.

use std::time::Duration;

use kinepack::Tick;

use super::config::{HubConfig, Priority};

/// What the peers need to know about a tick.
pub(super) struct Moment<'a> {
    pub(super) now: Duration,
    pub(super) tick: Tick,
    pub(super) interval_ticks: u8,
    pub(super) config: &'a HubConfig,
    pub(super) priority: Option<Priority<'a>>,
}
