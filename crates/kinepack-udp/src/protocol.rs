//! Sizes and times that a server and its clients have in common.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The longest payload that [`UdpServer::send`](crate::UdpServer::send) and [`UdpClient::send`](crate::UdpClient::send) take.
pub const MAX_PAYLOAD_BYTES: usize = renetcode::NETCODE_MAX_PAYLOAD_BYTES;

/// The maximum number of bytes that a connection adds to a payload: 1 byte for the type, up to 8
/// for the packet's number, and 16 for authentication.
///
/// The packet's number is sent without its leading zero bytes: it takes 3 bytes after 18 minutes of
/// 60 packets per second. IP and UDP add [`header_bytes`].
pub const MAX_OVERHEAD_BYTES: usize = 1 + 8 + 16;

/// The bytes that IP and UDP add to a datagram to or from `address`: 28 for IPv4, 48 for IPv6.
pub fn header_bytes(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(_) => 20 + 8,
        SocketAddr::V6(_) => 40 + 8,
    }
}

/// How many times each side sends its goodbye. A side repeats the goodbye because the other side
/// does not acknowledge it.
pub(crate) const GOODBYES: usize = 4;

/// The longest time in which a server sends nothing to a client.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_millis(250);

/// The address in every token.
///
/// Netcode's tokens list the server addresses that they are valid for. A server does not know by
/// which address its clients reach it (a name, a forwarded port, any of its interfaces). Anyone who
/// can make a token could put any address into it, so the list protects nothing here. Both sides
/// use this address.
pub(crate) const TOKEN_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 1);
