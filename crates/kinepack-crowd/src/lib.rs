//! Shows one world to thousands of viewers: a publisher encodes each snapshot once, and
//! general-purpose relays pass the bytes on. `spec/CROWD.md` defines the format.
//!
//! Each player has a connection to the server, and acknowledges what it receives
//! ([`kinepack_net`]). Viewers acknowledge nothing, so the publisher's work does not depend on
//! their number. The publisher offers the world in [tiers](Tier). A tier may have every snapshot or
//! one in three, and all entities or only those of a region. A tier may be made for the fewest bits
//! or for the least delay. A viewer shows the world with the same
//! [`Playback`](kinepack_net::Playback) as a player, and changes tiers without a break.
//!
//! The core has no sockets. Each tier is a track of groups and datagrams, as Media over QUIC
//! carries them. Any other transport that has groups and datagrams can be used too. With the
//! feature `moq`, the module `moq` connects both sides to relays of Media over QUIC.
//!
//! Reading order: [`Tier`], [`Catalogue`], [`Publisher`], [`Viewer`].

#![forbid(unsafe_code)]

mod catalogue;
mod datagram;
mod error;
mod history;
#[cfg(feature = "moq")]
pub mod moq;
mod publisher;
mod viewer;
mod watched;

pub use catalogue::{CATALOGUE, Carry, Catalogue, Tier, Track};
pub use error::{CrowdError, Refused};
pub use publisher::{Carried, Piece, Publisher};
pub use viewer::{Viewer, ViewerConfig, ViewerStats};
