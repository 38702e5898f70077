//! Broadcasts for spectators, through relays of Media over QUIC. `kinepack-lab broadcast` runs
//! publisher, relay and spectators on one machine. `serve` and `publish` send to a relay. `watch`
//! shows a broadcast in the terminal or in a page. Without the feature `broadcast`, these commands
//! explain how to build the program with it.

#[cfg(not(feature = "broadcast"))]
mod absent;
mod error;
#[cfg(feature = "broadcast")]
mod local;
mod options;
#[cfg(feature = "broadcast")]
mod outgoing;
#[cfg(feature = "broadcast")]
mod page;
mod published;
#[cfg(feature = "broadcast")]
mod regions;
#[cfg(feature = "broadcast")]
mod relay;
#[cfg(feature = "broadcast")]
mod spectator;
#[cfg(feature = "broadcast")]
mod terminal;
#[cfg(feature = "broadcast")]
mod watch;

#[cfg(not(feature = "broadcast"))]
pub use absent::{Outgoing, run, watch};
pub use error::BroadcastError;
#[cfg(feature = "broadcast")]
pub use local::run;
pub use options::{Arguments, PublishOptions, RelayOptions, WatchOptions};
#[cfg(feature = "broadcast")]
pub use outgoing::Outgoing;
pub use published::{Published, REST_FOLLOWS};
#[cfg(feature = "broadcast")]
pub use watch::watch;
