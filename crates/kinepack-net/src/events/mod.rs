//! Events happen at a tick, and each is delivered once and in order, alongside the snapshots. See
//! `spec/NET.md`, section 10.

mod incoming;
mod kinds;
mod list;
mod outgoing;

pub use incoming::Event;
pub(crate) use incoming::{Incoming, Played, Taken};
pub(crate) use kinds::Emitted;
pub use kinds::EventKinds;
pub(crate) use list::EventWriter;
pub(crate) use outgoing::{Carried, EventList, Outgoing};
