//! Publishes to relays of Media over QUIC, such as `moq-relay`, and watches through them.
//!
//! A [`Publication`] gives the pieces of a [`Publisher`](crate::Publisher) to a relay. A
//! [`Watching`] keeps a [`Viewer`](crate::Viewer) fed with the tracks that it wants. Both connect
//! again by themselves when the relay was away. They run in tokio; the calls of your program's loop
//! do not wait.
//!
//! A [`LocalRelay`] is a relay inside of the program, for one machine and for tests.

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
