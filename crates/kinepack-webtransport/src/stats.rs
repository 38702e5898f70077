//! The counters of a server.

/// Counters since the start, and the present number of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebStats {
    /// Clients connected now.
    pub clients: usize,
    /// Datagrams of clients.
    pub datagrams_in: u64,
    /// Bytes of these datagrams, without the transport's headers.
    pub bytes_in: u64,
    /// Datagrams for clients.
    pub datagrams_out: u64,
    /// Bytes of these datagrams, without the transport's headers.
    pub bytes_out: u64,
    /// Visitors that were refused, because of a wrong origin, path or token, or because the server
    /// was full.
    pub refused: u64,
    /// Visitors and datagrams above a limit.
    pub limited: u64,
    /// Datagrams dropped because the game polled too seldom.
    pub overflowed: u64,
    /// Datagrams that the transport did not take: too long for the path, or a queue was full. The
    /// queue of a client holds 64 KiB over WebTransport, and 32 datagrams over a WebSocket.
    pub unsent: u64,
    /// Visitors that did not become clients: the connection broke, or the request and its answer
    /// took longer than 5 seconds.
    pub abandoned: u64,
}
