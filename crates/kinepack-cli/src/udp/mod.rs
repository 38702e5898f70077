//! The transport of `serve` and `join`: datagrams over UDP, with `renetcode` (netcode 1.02) for
//! connections, encryption and protection against replay.
//!
//! ```text
//! socket ─ reader thread: gate (screen, limits) ─ inbox ─ UdpServer::poll ─ events
//! ```
//!
//! What cannot be a packet of a client never reaches the thread that ticks. What does reach it is
//! bounded for each poll, so that its cost stays bounded too, whoever sends. Payloads may be lost,
//! repeated by nobody, and reordered.

mod client;
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

pub(crate) use client::{ClientOptions, ClientState, ClientStats, LostReason, UdpClient};
pub(crate) use secret::{Secret, SecretArguments, SecretError};
pub(crate) use server::{DisconnectReason, ServerEvent, ServerOptions, UdpServer, UdpStats};

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The longest payload that `send` takes.
pub(crate) const MAX_PAYLOAD_BYTES: usize = renetcode::NETCODE_MAX_PAYLOAD_BYTES;

/// What a payload grows by at most: 1 byte of type, the packet's number without its leading zero
/// bytes (0 to 8 bytes: 3 after 18 minutes of 60 packets a second), 16 bytes of authentication. UDP
/// and IPv4 add 28 more.
pub(crate) const MAX_OVERHEAD_BYTES: usize = 1 + 8 + 16;

/// What the program speaks, whatever its version: that differs is said by those who understand each
/// other so far.
pub(crate) const PROTOCOL_ID: u64 = u64::from_le_bytes(*b"kinepack");

/// What IP and UDP add to a datagram that goes to `address` or comes from it.
pub(crate) fn header_bytes(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(_) => 20 + 8,
        SocketAddr::V6(_) => 40 + 8,
    }
}

/// How often a goodbye is said: nobody acknowledges it.
const GOODBYES: usize = 4;

/// How long a server may leave its side silent.
const KEEP_ALIVE: Duration = Duration::from_millis(250);

/// Netcode's tokens list the addresses of the servers that they are good for. A server does not
/// know the address that its clients use for it (a name, a forwarded port, any of its interfaces),
/// and who can make a token can write any address into it, so both sides agree on this one and the
/// sockets know better.
const TOKEN_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 1);

/// Why a payload was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendError {
    /// Longer than [`MAX_PAYLOAD_BYTES`].
    TooLong { bytes: usize },
    /// An empty payload means "I am connected" between the two ends and is never delivered.
    Empty,
    /// There is no such connection (any more, or yet).
    NotConnected,
}

impl SendError {
    fn check(payload: &[u8]) -> Result<(), Self> {
        match payload.len() {
            0 => Err(Self::Empty),
            1..=MAX_PAYLOAD_BYTES => Ok(()),
            bytes => Err(Self::TooLong { bytes }),
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => {
                write!(
                    f,
                    "a payload of {bytes} bytes; a datagram carries {MAX_PAYLOAD_BYTES} at most"
                )
            }
            Self::Empty => f.write_str("an empty payload"),
            Self::NotConnected => f.write_str("not connected"),
        }
    }
}

impl std::error::Error for SendError {}
