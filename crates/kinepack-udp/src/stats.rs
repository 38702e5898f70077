//! A server's counters.

/// Counters of a server since it was bound. The counters of bytes count the bytes of UDP payloads.
///
/// ```
/// use kinepack_udp::{Secret, ServerOptions, UdpServer};
/// # use std::time::Duration;
///
/// let address = "127.0.0.1:0".parse()?;
/// let server = UdpServer::bind(address, &Secret::insecure(), ServerOptions::new(1))?;
/// # std::net::UdpSocket::bind(address)?.send_to(b"junk", server.local_addr())?;
/// # while server.stats().datagrams_in == 0 || server.stats().junk == 0 {
/// #     std::thread::sleep(Duration::from_millis(1));
/// # }
/// let stats = server.stats(); // after somebody sent a datagram of 4 bytes of junk
/// assert_eq!((stats.datagrams_in, stats.bytes_in, stats.junk), (1, 4, 1));
/// assert_eq!(stats.overflowed, 0, "if not, poll more often");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpStats {
    /// The number of datagrams that the server received, of any content.
    pub datagrams_in: u64,
    /// The number of bytes that the server received.
    pub bytes_in: u64,
    /// The number of datagrams that the server sent.
    pub datagrams_out: u64,
    /// The number of bytes that the server sent.
    pub bytes_out: u64,
    /// The number of datagrams that the server dropped because they cannot be a packet, or are a
    /// packet that their sender may not send.
    pub junk: u64,
    /// The number of datagrams that the server dropped because their sender sent more than its
    /// limit.
    pub limited: u64,
    /// The number of datagrams that the server dropped because the inbox was full.
    pub overflowed: u64,
    /// How many times the server silenced a sender of junk for a second. The datagrams of that
    /// second are not counted anywhere.
    pub silenced: u64,
    /// The number of datagrams that the server refused because they were altered, repeated, or made
    /// with another secret.
    pub refused: u64,
    /// The number of datagrams that the system refused to send, or that waited too long for the
    /// socket, or had no room to wait. What the system drops after it took a datagram is not
    /// counted: Linux does not report it.
    pub unsent: u64,
}
