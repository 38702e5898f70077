//! Replaces broadcasts in a program that was built without them.

use std::convert::Infallible;
use std::time::Duration;

use command_kit::interrupt::Interrupt;
use kinepack::{Codec, Snapshot};

use super::{Arguments, BroadcastError, PublishOptions, Published, WatchOptions};
use crate::watch::PageOptions;

/// A type without values, because this program cannot publish.
pub struct Outgoing(Infallible);

pub fn run(_: &Arguments) -> Result<(), BroadcastError> {
    Err(BroadcastError::Absent)
}

pub fn watch(
    _: &str,
    _: &WatchOptions,
    _: &PageOptions,
    _: &Interrupt,
) -> Result<(), BroadcastError> {
    Err(BroadcastError::Absent)
}

impl PublishOptions {
    pub fn begin(&self, _: &Codec, _: u16, _: f64) -> Result<Option<Outgoing>, BroadcastError> {
        if self.publish.is_some() { Err(BroadcastError::Absent) } else { Ok(None) }
    }
}

impl Outgoing {
    pub fn write(&mut self, _: &Snapshot) -> Result<Option<String>, BroadcastError> {
        match self.0 {}
    }

    pub fn wait_for_relay(&self, _: Duration, _: &Interrupt) -> Result<(), BroadcastError> {
        match self.0 {}
    }

    pub fn holds_back(&self, _: &Interrupt) -> bool {
        match self.0 {}
    }

    pub fn finish(self, _: &Interrupt) -> Result<Published, BroadcastError> {
        match self.0 {}
    }
}
