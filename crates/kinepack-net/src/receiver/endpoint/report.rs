//! A receiver's reports: the contents of a datagram, and counters of all datagrams.

use kinepack::Tick;

/// The contents of a datagram.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::Received;
/// # use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// # use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
/// # #[derive(Pack)]
/// # struct Unit {
/// #     health: u8,
/// # }
/// # let schema = Schema::of::<Unit>();
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut hub = Hub::new(&codec, HubConfig::default())?;
/// # let (client, now) = (ReceiverId(7), Duration::ZERO);
/// # hub.add(client, &ReceiverOptions::default(), now)?;
/// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// # hub.handle(client, now, receiver.poll_transmit(now).ok_or("no hello")?)?;
/// # let mut world = Snapshot::new(&schema, Tick(1));
/// # world.push(EntityId(3), &Unit { health: 80 })?;
/// # hub.tick(now, &world)?;
/// # let (_, datagram) = hub.poll_transmit().ok_or("no snapshot")?;
///
/// match receiver.handle(now, datagram)? {
///     Received::Snapshot { tick, left_out, late } => {
///         assert_eq!((tick, left_out, late), (Tick(1), false, false));
///     }
///     Received::FullState { tick } => println!("the whole world at tick {}", tick.0),
///     Received::Fragment => {
///         if let Some((received, all)) = receiver.full_state_progress() {
///             println!("loading: {received} of {all} fragments");
///         }
///     }
///     _ => {}
/// }
/// assert_eq!(receiver.newest(), Some(&world));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received {
    /// The datagram has a state of the world.
    Snapshot {
        /// The tick of the state.
        tick: Tick,
        /// Whether the sender skipped some changes.
        left_out: bool,
        /// Whether a newer snapshot had already arrived.
        late: bool,
    },
    /// The datagram has events without a snapshot.
    Events {
        /// The tick in which the events were sent.
        tick: Tick,
    },
    /// The datagram is a fragment of an incomplete full state.
    Fragment,
    /// The datagram is the last missing fragment of a full state, which is now complete.
    FullState {
        /// The tick of the state.
        tick: Tick,
    },
}

/// Counters of a receiver.
///
/// ```
/// use std::time::Duration;
/// # use kinepack::schema::{Field, FieldKind};
/// # use kinepack::{Codec, Level, Profile, Schema};
/// # use kinepack_net::{Receiver, ReceiverConfig};
/// # let schema = Schema::new(vec![Field::new("health", FieldKind::Raw { lanes: 1 })]);
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// let before = receiver.stats();
/// let _ = receiver.handle(Duration::ZERO, b"noise"); // and other datagrams, for a second
/// let stats = receiver.stats();
/// assert_eq!(stats.bytes - before.bytes, 5); // for a graph of bytes per second
/// assert_eq!(stats.refused - before.refused, 1);
/// assert!(stats.mismatches == 0 && stats.unmerged == 0); // worth a line in the log if not
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// The number of datagrams that the receiver accepted.
    pub received: u64,
    /// The number of datagrams that the receiver refused, including duplicates.
    pub refused: u64,
    /// The number of datagrams that the receiver refused because they had arrived before.
    pub duplicates: u64,
    /// The number of bytes of all datagrams.
    pub bytes: u64,
    /// The number of snapshots that arrived too late to be shown.
    pub late: u64,
    /// The number of full states that the receiver completed.
    pub full_states: u64,
    /// The number of views that the receiver dropped although they could still be baselines,
    /// because of [`ReceiverConfig::max_memory_bytes`](crate::ReceiverConfig::max_memory_bytes).
    pub dropped_views: u64,
    /// The number of snapshots and fragments that the receiver refused because the state exceeds
    /// this side's limits. The sender cannot know the limits, so it sends such datagrams again.
    /// [`Receiver::too_large`](crate::Receiver::too_large) returns the exceeded limit.
    pub too_large: u64,
    /// The number of sessions that began anew because the sender had forgotten this receiver.
    /// Reliable events of the previous session may have been lost.
    pub begun_anew: u64,
    /// The number of states that the receiver dropped before it showed them, because of
    /// [`ReceiverConfig::max_memory_bytes`](crate::ReceiverConfig::max_memory_bytes).
    pub dropped_states: u64,
    /// The number of snapshots that the receiver accepted as baselines but could not merge into the
    /// shown state. This is 0, unless this library has a bug.
    pub unmerged: u64,
    /// The number of snapshots with a state check.
    pub checked: u64,
    /// The number of snapshots whose state check failed, so that the two sides hold different
    /// states. Either the checks of the view differed, or the snapshot could not be decoded. The
    /// receiver then drops its views and asks for the state anew. Until the new state arrives,
    /// [`Receiver::newest`](crate::Receiver::newest) does not change.
    pub mismatches: u64,
    /// The number of views that the receiver holds as baselines.
    pub views: usize,
    /// The number of events that playback has reached.
    pub events: u64,
    /// The number of events that arrived after playback had passed their tick.
    pub late_events: u64,
}
