//! Encrypted UDP connections for a game server and its clients.
//!
//! `kinepack-net` has no sockets; this crate gives it some. [`UdpServer`] serves up to 1,024
//! clients from one socket, and [`UdpClient`] is one connection. `renetcode` (the netcode 1.02
//! standard) does handshake, encryption and protection against replay. Around it, this crate adds
//! what a server on the open Internet needs:
//!
//! - a thread that reads the socket and drops everything that cannot be a client's packet,
//! - limits on what each client, and all unknown addresses together, may send,
//! - on Linux a filter in the kernel for addresses that flood the server with junk,
//! - an upper bound on the work of each poll, no matter what arrives,
//! - a shared [`Secret`], from a file or a passphrase.
//!
//! ```text
//! socket ─ reader thread: gate (screen, limits) ─ inbox ─ UdpServer::poll ─ events
//! ```
//!
//! The network may lose and reorder payloads. Each payload arrives at most once, and unaltered.
//!
//! ```
//! use std::time::Duration;
//! use kinepack_udp::{ClientOptions, ClientState, Secret, ServerEvent, ServerOptions};
//! use kinepack_udp::{UdpClient, UdpServer};
//!
//! const MY_GAME: u64 = u64::from_le_bytes(*b"my game ");
//! let secret = Secret::parse("a passphrase of your own")?;
//! let address = "127.0.0.1:0".parse()?;
//! let mut server = UdpServer::bind(address, &secret, ServerOptions::new(MY_GAME))?;
//! let options = ClientOptions::new(MY_GAME);
//! let mut client = UdpClient::connect(server.local_addr(), &secret, options)?;
//!
//! // In your game's loop, on both sides:
//! let mut events = Vec::new();
//! let mut heard = Vec::new();
//! while heard.is_empty() {
//!     client.poll(&mut |payload| println!("the server sent {payload:?}"));
//!     if client.state() == ClientState::Connected {
//!         client.send(b"hello")?;
//!     }
//!     events.clear();
//!     server.poll(&mut events);
//!     for event in &events {
//!         if let ServerEvent::Datagram { payload, .. } = event {
//!             heard = server.payload(payload).to_vec();
//!         }
//!     }
//!     client.wait(Duration::from_millis(1));
//! }
//! assert_eq!(heard, b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod client;
mod error;
#[cfg(test)]
mod flood;
mod gate;
mod limit;
mod reader;
mod screen;
mod secret;
mod server;
mod silence;
mod socket;
#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

pub use client::{ClientOptions, ClientState, ClientStats, LostReason, UdpClient};
pub use error::{SendError, SetupError};
pub use limit::{Bucket, RateLimit, Sources, source};
pub use secret::{Secret, SecretError, SecretFile};
pub use server::{DisconnectReason, ServerEvent, ServerOptions, UdpServer, UdpStats};
pub use socket::{open_socket, receive_buffer_bytes};

/// The longest payload that [`UdpServer::send`] and [`UdpClient::send`] take.
pub const MAX_PAYLOAD_BYTES: usize = renetcode::NETCODE_MAX_PAYLOAD_BYTES;

/// The most bytes that a connection adds to a payload: 1 for the type, up to 8 for the packet's
/// number, 16 for authentication.
///
/// The number drops its leading zero bytes: it takes 3 after 18 minutes of 60 packets a second. IP
/// and UDP add [`header_bytes`].
pub const MAX_OVERHEAD_BYTES: usize = 1 + 8 + 16;

/// The bytes that IP and UDP add to a datagram to or from `address`: 28 for IPv4, 48 for IPv6.
pub fn header_bytes(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(_) => 20 + 8,
        SocketAddr::V6(_) => 40 + 8,
    }
}

/// How often each side repeats its goodbye. The other side does not acknowledge it.
const GOODBYES: usize = 4;

/// The longest time in which a server sends nothing to a client.
const KEEP_ALIVE: Duration = Duration::from_millis(250);

/// The address in every token.
///
/// Netcode's tokens list the servers' addresses that they are valid for. A server does not know by
/// which address its clients reach it (a name, a forwarded port, any of its interfaces). Whoever
/// can make a token could put any address into it, so the list protects nothing here. Both sides
/// use this address.
const TOKEN_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 1);
