//! A server's limits.

use std::time::Duration;

use super::limit::RateLimit;

/// A server's limits.
///
/// ```
/// use std::time::Duration;
/// use kinepack_udp::{Secret, ServerOptions, UdpServer};
///
/// let options = ServerOptions {
///     max_clients: 16,
///     timeout: Duration::from_secs(10),
///     ..ServerOptions::new(u64::from_le_bytes(*b"my game "))
/// };
/// assert_eq!(options.per_client.per_second, 500);
/// let server = UdpServer::bind("127.0.0.1:0".parse()?, &Secret::insecure(), options)?;
/// assert_ne!(server.local_addr().port(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// The maximum number of clients, 1 to [`ServerOptions::MAX_CLIENTS`].
    pub max_clients: usize,
    /// The number of your program. The server does not answer clients with another number.
    pub protocol_id: u64,
    /// The server drops a client that is silent for longer than this.
    pub timeout: Duration,
    /// The rate at which one client may send datagrams. The server drops datagrams above this rate.
    pub per_client: RateLimit,
    /// The maximum number of bytes that wait for one client if the socket takes no more. Beyond it,
    /// the server drops the client's oldest datagrams. 0 lets nothing wait.
    pub queue_bytes: usize,
    /// How long a datagram may wait, in addition to [`pace`](Self::pace). The server drops older
    /// ones, because newer states follow. Choose more than the time between two polls. The buffers
    /// of the socket and the network add to this time.
    pub max_wait: Duration,
    /// Spreads the datagrams of a tick over this time, in bursts, so that they do not overflow the
    /// queue of a network interface or a switch. Half of the time between two ticks is a good
    /// choice. Up to 20 KiB are sent immediately, and at least as much in each millisecond, so a
    /// few clients notice no delay.
    ///
    /// Call [`UdpServer::flush`](crate::UdpServer::flush) between ticks. Without these calls, the
    /// rest waits until the next send or poll. `None` sends everything immediately.
    pub pace: Option<Duration>,
}

impl ServerOptions {
    /// The maximum number of clients that a server can have.
    pub const MAX_CLIENTS: usize = 1024;

    /// Options for 64 clients, each with up to 500 datagrams per second (four streams of 120 Hz),
    /// and a time-out of five seconds. 256 KiB may wait for each client, and for up to 100 ms.
    /// There is no pace.
    pub fn new(protocol_id: u64) -> Self {
        let per_client = RateLimit { per_second: 500, burst: 200 };
        Self {
            max_clients: 64,
            protocol_id,
            timeout: Duration::from_secs(5),
            per_client,
            queue_bytes: 256 << 10,
            max_wait: Duration::from_millis(100),
            pace: None,
        }
    }
}
