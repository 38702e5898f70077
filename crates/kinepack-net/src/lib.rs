//! Sends snapshots over lossy networks. The crate does no input or output.
//!
//! A [`Hub`] sends one world to many receivers, each of which chooses one of the hub's codecs. A
//! [`Receiver`] shows that world. Both are state machines: datagrams and the time go in, datagrams
//! and states come out. So the same code runs over UDP, in QUIC datagrams, in a browser, or under a
//! virtual clock. The hub codes each snapshot against a view that its receiver has acknowledged.
//! The hub never sends a lost snapshot again, and the two sides never drift apart.
//!
//! ```
//! use std::time::Duration;
//! use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
//! use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
//!
//! #[derive(Pack)]
//! struct Ball {
//!     #[pack(range = -100.0..100.0, precision = 0.01)]
//!     position: [f32; 3],
//! }
//!
//! let schema = Schema::of::<Ball>();
//! let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
//! let mut hub = Hub::new(&codec, HubConfig::default())?;
//! let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
//! let player = ReceiverId(1);
//! hub.add(player, &ReceiverOptions::default(), Duration::ZERO)?;
//!
//! let mut world = Snapshot::new(&schema, Tick(0));
//! for tick in 1..=60 {
//!     let now = Duration::from_secs(1) * tick / 60;
//!     while let Some(datagram) = receiver.poll_transmit(now) {
//!         hub.handle(player, now, datagram)?; // over your transport
//!     }
//!     world.clear(Tick(tick));
//!     world.push(EntityId(7), &Ball { position: [tick as f32 * 0.1, 0.0, 1.0] })?;
//!     hub.tick(now, &world)?;
//!     while let Some((_, datagram)) = hub.poll_transmit() {
//!         receiver.handle(now, datagram)?; // over your transport
//!     }
//!     assert!(tick < 2 || receiver.newest() == Some(&world));
//! }
//! let playback = receiver.playback(Duration::from_secs(1)).ok_or("nothing came")?;
//! let ball: Ball = playback.samples().next().ok_or("no entity")?.state()?;
//! assert!((ball.position[0] - playback.tick as f32 * 0.1).abs() < 0.011);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **The transport must guarantee integrity.** A datagram must arrive unaltered or not at all.
//! Datagrams have no checksum, and an endpoint accepts many altered datagrams as other valid ones.
//! UDP's 16-bit checksum is weak. Use an authenticated transport, such as renetcode, QUIC datagrams
//! or DTLS. If no attacker can reach the network, a checksum of at least 32 bits is enough. An
//! altered snapshot gives wrong values and entities. They stay wrong in each view that is coded
//! against the altered view. The error ends once the sender codes the affected entities against a
//! newer, correct view, or once a state check finds the error ([`HubConfig::check_every_bytes`]).
//! An altered datagram can cause neither a panic nor an allocation beyond the limits.
//!
//! **Several hubs on one connection.** If two hubs, or two streams of the same direction, share a
//! connection, give each a [`Channel`]. The first byte of each datagram then holds the channel's
//! number.
//!
//! **Ids increase.** Push the entities of a snapshot in increasing order of their ids;
//! [`Snapshot::push`](kinepack::Snapshot::push) refuses any other order. Ticks increase too, from
//! one [`Hub::tick`] to the next.
//!
//! Events, such as hits and sounds, travel with the snapshots: [`Hub::emit`] and
//! [`Playback::events`]. A receiver gets each event once, in order, when playback shows the event's
//! tick.
//!
//! Inputs and calls go the other way: a client has a [`StreamSender`], and the server has a
//! [`StreamReceiver`] for each client. An [`InputClock`] tells the client which tick to simulate,
//! so that its inputs arrive just in time. [`Predicted`] shows their effect at once.
//!
//! The feature `tracing` reports connections, full states, failed state checks, dropped views,
//! refused datagrams and starved budgets as events of the crate `tracing`. The feature is off by
//! default.
//!
//! Read the items in this order: [`Hub`], [`Receiver`], [`Playback`], [`JitterBuffer`];
//! [`EventKinds`]; [`StreamSender`], [`StreamReceiver`], [`InputClock`], [`Predicted`];
//! [`split_datagram`]. [`Link`] simulates a bad network. The normative format is in `spec/NET.md`.

#![forbid(unsafe_code)]

mod baseline;
mod channel;
mod congestion;
mod cost;
mod error;
mod events;
mod extrapolation;
mod fade;
mod handshake;
mod input_clock;
mod link;
mod model;
mod packet;
mod playout;
mod predict;
mod receiver;
mod round_trip;
mod seen;
mod sender;
mod sequence;
mod sorted_window;
mod split;
mod stream;
mod trace;

pub use channel::Channel;
pub use congestion::{CongestionControl, LinkLimit, LinkStatus};
pub use cost::Cost;
pub use error::{NetError, Refused};
pub use events::{Event, EventKinds};
pub use extrapolation::Extrapolation;
pub use input_clock::{InputClock, InputClockConfig, InputClockError, InputClockStats};
pub use link::{
    HEADER_BYTES, Link, LinkConfig, LinkError, LinkPreset, LinkStats, LinkTrace, LinkTraceError,
    Loss, PRESETS, Tally,
};
pub use packet::{Acknowledgement, Mismatch, VERSION};
pub use playout::{
    Entry, JitterBuffer, Playout, PlayoutConfig, PlayoutError, PlayoutStats, Pushed,
};
pub use predict::{
    Correction, Outcome, Own, OwnLanes, PredictConfig, PredictError, PredictStats, Predicted,
    PredictedLanes, Repair, TakenStates,
};
pub use receiver::{
    FramePlayer, Playback, Received, Receiver, ReceiverConfig, ReceiverStats, ReceiverStatus,
    Sample, Smoother, WordSmoother,
};
pub use seen::Seen;
pub use sender::{
    Audience, Budget, Handled, Hub, HubConfig, KindOptions, Past, PeerStatus, Priority, ReceiverId,
    ReceiverOptions, RewindConfig, RewindError, Ring, Rings, Work, Worlds,
};
pub use sequence::Sequence;
pub use split::{DatagramKind, datagram_kind, datagram_sequence, split_datagram};
pub use stream::{
    StreamAcknowledgement, StreamConfig, StreamError, StreamHandled, StreamReceiver,
    StreamReceiverStats, StreamRecord, StreamRefused, StreamSender, StreamSenderStats,
    StreamTiming, ring_packets,
};
