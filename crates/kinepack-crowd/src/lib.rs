//! One world for thousands of viewers: a publisher encodes each snapshot once, and relays that know
//! nothing of it pass the bytes on. `spec/CROWD.md` defines the format.
//!
//! Players each have a connection to the server, and acknowledge what they receive
//! ([`kinepack_net`]). Viewers acknowledge nothing, so the publisher's work does not depend on
//! their number. The world is offered in [tiers](Tier): every snapshot or one in three, all
//! entities or those of a region, with the fewest bits or with the least delay. A viewer shows it
//! with the [`Playback`](kinepack_net::Playback) that a player has, and changes tiers without a
//! break.
//!
//! Its core has no sockets. Each tier is a track of groups and datagrams, which is what Media over
//! QUIC carries; any other transport with these can be put beneath. With the feature `moq`, the
//! module `moq` connects both sides to relays of Media over QUIC.
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
