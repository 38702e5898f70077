//! Streams: inputs and calls from a client to a server, one record after another at a high rate,
//! against what the server is known to have. Another one may go the other way over the same
//! connection.
//!
//! [`sender`] numbers what is pushed and codes each packet against the newest one that was
//! acknowledged; [`receiver`] takes, refuses and hands on. Both keep a [`ring`] of the last
//! records; [`packet`] has the headers, [`limit`] says how much one client may send. `spec/NET.md`,
//! section 8.
//!
//! ```text
//! client: push ─► ring ─► packet against an acknowledged one ─► … ─► ring ─► fresh records :server
//!                  ▲                                                  │
//!                  └────────────── number of the newest packet ◄──────┘
//! ```
//!
//! Cost: a header of 4 bytes a packet, 3 bytes a datagram of the other direction; on both sides a
//! ring of [`ring_packets`] records. After construction nothing allocates.

mod config;
mod limit;
mod packet;
mod receiver;
mod refused;
mod ring;
mod sender;
mod stats;

pub use config::{StreamConfig, StreamError, ring_packets};
pub use packet::StreamAcknowledgement;
pub use receiver::{StreamHandled, StreamReceiver, StreamRecord};
pub use refused::StreamRefused;
pub use sender::StreamSender;
pub use stats::{StreamReceiverStats, StreamSenderStats};
