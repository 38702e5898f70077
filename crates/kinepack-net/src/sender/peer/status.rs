//! A hub's report about a receiver's connection.

use std::time::Duration;

use kinepack::Level;

use crate::LinkStatus;
use crate::receiver::lost_ratio;

/// The state of one receiver's connection.
///
/// ```
/// use std::time::Duration;
/// use kinepack::{Codec, Level, Pack, Profile, Schema};
/// use kinepack_net::{Hub, HubConfig, ReceiverId, ReceiverOptions};
///
/// #[derive(Pack)]
/// struct Unit {
///     #[pack(max = 100)]
///     health: u8,
/// }
///
/// let schema = Schema::of::<Unit>();
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let mut hub = Hub::new(&codec, HubConfig::default())?;
/// hub.add(ReceiverId(1), &ReceiverOptions::default(), Duration::ZERO)?;
/// let status = hub.status(ReceiverId(1)).ok_or("no such receiver")?;
/// assert!(!status.joined && status.round_trip.is_none());
/// assert_eq!((status.waiting, status.lost_ratio()), (0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeerStatus {
    /// Whether the receiver's hello was accepted.
    pub joined: bool,
    /// The level of the codec that the receiver chose by its hello.
    pub level: Option<Level>,
    /// The [`hash`](kinepack::Codec::hash) of that codec.
    pub codec_hash: Option<u64>,
    /// The smoothed time from sending a datagram to its acknowledgement.
    pub round_trip: Option<Duration>,
    /// The number of datagrams from the current baseline to the next datagram.
    pub baseline_age: Option<u16>,
    /// The number of datagrams sent.
    pub sent: u64,
    /// How many of the sent datagrams were acknowledged.
    pub acknowledged: u64,
    /// How many of the sent datagrams count as lost: a datagram more than six sequences newer was
    /// acknowledged first, or no acknowledgement came in time. Some of them may still have arrived.
    pub lost: u64,
    /// The number of payload bytes that the hub sent, including this protocol's headers.
    pub bytes: u64,
    /// If a full state is being sent, how many of its fragments were acknowledged, and how many
    /// there are.
    pub full_state: Option<(usize, usize)>,
    /// The number of entities that should have been sent in the last tick but did not fit.
    pub waiting: usize,
    /// How many times a priority that is not a number was used as 0.
    pub bad_priorities: u64,
    /// The number of ticks in which the receiver got nothing because the hub had reached
    /// [`HubConfig::encodings_per_tick`](crate::HubConfig::encodings_per_tick).
    pub postponed: u64,
    /// How many times the state was sent anew. The hub does this if a state check failed at the
    /// receiver, or if the receiver lacked the memory for a view that the hub used.
    pub sent_anew: u64,
    /// The number of events that are not known to have arrived.
    pub unfinished_events: usize,
    /// The number of events that the hub gave up because they became too old, or because too many
    /// waited. The hub gives up only [droppable](crate::EventKinds::droppable) events.
    pub dropped_events: u64,
    /// How many of the unfinished events were never sent. The hub keeps at most 4,096 such events.
    pub waiting_events: usize,
    /// The number of events that had to arrive but never will, because too many were waiting. If
    /// this is above 0, the receiver has missed an event forever, so remove it.
    pub refused_events: u64,
    /// What is known of the link, for [`Budget::Auto`](crate::Budget::Auto).
    pub link: Option<LinkStatus>,
}

impl PeerStatus {
    /// The share of datagrams lost, from 0 to 1. A datagram that arrived after it was counted as
    /// lost does not count.
    pub fn lost_ratio(&self) -> f64 {
        lost_ratio(self.sent, self.acknowledged, self.lost)
    }
}
