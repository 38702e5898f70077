//! Publishes to relays of Media over QUIC, such as `moq-relay`, and watches through them.
//!
//! A [`Publication`] passes the pieces of a [`Publisher`](crate::Publisher) to a relay. A
//! [`Watching`] passes the tracks that a [`Viewer`](crate::Viewer) wants to that viewer. Both
//! reconnect automatically after the relay was unreachable. Both run in tokio, so calls from your
//! program's main loop never block.
//!
//! A [`LocalRelay`] runs inside the program, for one machine and for tests.

mod address;
mod connector;
mod error;
mod local_relay;
mod publication;
mod watching;

pub use moq_net;

pub use address::Address;
pub use connector::{Connection, Connector, Traffic, Trust};
pub use error::MoqError;
pub use local_relay::{Identity, LocalRelay};
pub use publication::Publication;
pub use watching::{Link, Watching};
