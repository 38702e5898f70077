//! Streams of inputs and calls from a client to a server. A stream sends one record after another
//! at a high rate, coded against what the server has acknowledged. Another stream may use the other
//! direction of the same connection.
//!
//! [`sender`] numbers the pushed records and codes each packet against the newest acknowledged one.
//! [`receiver`] accepts or refuses packets and hands on their records. Both keep a [`ring`] of the
//! last records. [`packet`] reads and writes the headers, and [`limit`] limits how much one client
//! may send. [`acknowledgement`] is what goes back. See `spec/NET.md`, section 8.
//!
//! ```text
//! client: push ─► ring ─► packet against an acknowledged one ─► … ─► ring ─► fresh records :server
//!                  ▲                                                  │
//!                  └────────────── number of the newest packet ◄──────┘
//! ```
//!
//! If the records are inputs for a server's ticks, acknowledgements also say how early they arrive,
//! for an [`InputClock`](crate::InputClock).
//!
//! Cost: a header of 4 bytes in each packet, and 3 or 5 bytes in each datagram of the other
//! direction. Each side keeps a ring of [`ring_packets`] records. Nothing allocates after
//! construction.

mod acknowledgement;
mod config;
mod limit;
mod packet;
mod receiver;
mod refused;
mod ring;
mod sender;
mod stats;

pub(crate) use acknowledgement::{PARTS, TIMED_RECORDS, acknowledgement_bytes};
pub use acknowledgement::{StreamAcknowledgement, StreamTiming};
pub use config::{StreamConfig, StreamError, ring_packets};
pub use receiver::{StreamHandled, StreamReceiver, StreamRecord};
pub use refused::StreamRefused;
pub use sender::StreamSender;
pub use stats::{StreamReceiverStats, StreamSenderStats};
