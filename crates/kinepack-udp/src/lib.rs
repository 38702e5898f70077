//! Encrypted UDP connections for a game server and its clients.
//!
//! `kinepack-net` has no sockets; this crate provides them. [`UdpServer`] serves up to 1,024
//! clients from one socket, and [`UdpClient`] is one connection. `renetcode` (the netcode 1.02
//! standard) provides the handshake, encryption and protection against replay. This crate adds what
//! a server on the open Internet needs:
//!
//! - a thread that reads the socket and drops everything that cannot be a client's packet,
//! - limits on what each client, and all unknown addresses together, may send,
//! - on Linux a filter in the kernel for addresses that flood the server with junk,
//! - an upper bound on the work of each poll, no matter what arrives,
//! - a shared [`Secret`], from a file or a passphrase.
//!
//! ```text
//! socket ─ reader thread: gate (screen, limits) ─ inbox ─ UdpServer::poll ─ events
//! UdpServer::send ─ encryption ─ outbox (only what must wait) ─ socket
//! ```
//!
//! The network may lose and reorder payloads. Each payload arrives at most once, and unaltered.
//!
//! If the socket is full, a payload waits in memory, in order per client. Many clients at once can
//! also overflow a queue that reports nothing, such as that of the network interface on Linux.
//! [`ServerOptions::pace`] spreads a tick's datagrams against this.
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
mod link;
mod options;
mod protocol;
mod reader;
mod screen;
mod secret;
mod server;
mod silence;
mod socket;
mod stats;
#[cfg(test)]
mod tests;

pub use client::{ClientOptions, ClientState, ClientStats, LostReason, UdpClient};
pub use error::{SendError, SetupError};
pub use limit::{Bucket, RateLimit, Sources, source};
pub use options::ServerOptions;
pub use protocol::{MAX_OVERHEAD_BYTES, MAX_PAYLOAD_BYTES, header_bytes};
pub use secret::{Secret, SecretError, SecretFile};
pub use server::{DisconnectReason, ServerEvent, UdpServer};
pub use socket::{open_socket, receive_buffer_bytes};
pub use stats::UdpStats;
