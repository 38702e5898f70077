//! What a server counts.

/// Counters of what a server did, and what it refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerStats {
    /// The number of ticks that the server made.
    pub ticks: u64,
    /// The number of states that the server quantized, because their entities were new or had
    /// changed.
    pub quantized: u64,
    /// The number of datagrams for clients.
    pub sent: u64,
    /// The bytes of the datagrams for clients.
    pub sent_bytes: u64,
    /// The number of datagrams from clients, or parts of such datagrams, that the server refused. A
    /// refused datagram changes nothing.
    pub refused: u64,
    /// The number of states that the server did not send, because a value was not a number or out
    /// of range. An existing entity keeps its last state, and a new entity does not appear.
    pub refused_values: u64,
    /// The number of events that the hub refused to send.
    pub refused_events: u64,
    /// How many times an entity got no id in a tick, because all ids are in use.
    pub without_id: u64,
    /// The number of [`Moving`](super::Moving) entities that clients do not see, as of the last
    /// tick. These do not have the components of any registered kind, or got no id.
    pub unseen: usize,
    /// The number of entities that got a new id because a spawn field changed.
    pub replaced: u64,
    /// The number of ticks that did not reach all clients. The log contains the reason for each
    /// client. [Disconnect](super::MotionServer::disconnect) a client that stays unreachable.
    pub failed_ticks: u64,
    /// The number of viewpoints that had no effect in the last tick: the client is not connected
    /// or has another viewpoint, or the place is not known.
    pub unused_viewpoints: usize,
}
