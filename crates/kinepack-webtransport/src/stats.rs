//! The counters of a server.

/// Counters since the start, and the current number of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebStats {
    /// The number of clients connected now.
    pub clients: usize,
    /// The number of datagrams that the server received from clients.
    pub datagrams_in: u64,
    /// The bytes of the received datagrams, without the transport's headers.
    pub bytes_in: u64,
    /// The number of datagrams that the server sent to clients.
    pub datagrams_out: u64,
    /// The bytes of the sent datagrams, without the transport's headers.
    pub bytes_out: u64,
    /// The number of visitors that the server refused because of a wrong origin, path or token, or
    /// because the server was full.
    pub refused: u64,
    /// The number of visitors and datagrams that exceeded a limit.
    pub limited: u64,
    /// The number of datagrams that the server dropped because the game polled too seldom.
    pub overflowed: u64,
    /// The number of datagrams that the transport did not accept, because they were too long for
    /// the path or a queue was full. The queue of a client holds 64 KiB over WebTransport, and 32
    /// datagrams over a WebSocket.
    pub unsent: u64,
    /// The number of visitors that did not become clients, because the connection broke, or because
    /// the request and its answer took longer than 5 seconds.
    pub abandoned: u64,
}
