//! Sends one world to many receivers: connects the peers, the plans and the transport.

mod events;
mod settings;
mod tick;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use kinepack::level::Changed;
use kinepack::{Codec, Schema, Snapshot, Tick};

use super::config::{HubConfig, Priority, ReceiverOptions};
use super::emitted::EmittedEvents;
use super::peer::{Peer, PeerStatus};
use super::receiver_id::ReceiverId;
use super::rewind::{RewindConfig, kept_ticks};
use super::rings::Sights;
use super::sending::Sending;
use super::sharing::Overdrawn;
use super::uplink::Uplink;
use super::view::SentView;
use super::visibility::Visibility;
use super::work::Work;
use super::worlds::Worlds;
use crate::extrapolation::Extrapolations;
use crate::handshake::{check_initial, check_schema, hello, reference_zero};
use crate::packet::{Hello, Mismatch, Upstream, first_difference, outline};
use crate::sequence::OTHER_SESSION;
use crate::trace::event;
use crate::{Acknowledgement, Cost, NetError, Refused, Sequence};

/// The number of removed receivers that a hub remembers.
const MOST_REMOVED: usize = 1_024;

/// What a datagram from a receiver contained.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::Handled;
/// # use kinepack::schema::{Field, FieldKind};
/// # use kinepack::{Codec, Level, Profile, Schema};
/// # use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
/// # let schema = Schema::new(vec![Field::new("health", FieldKind::Raw { lanes: 1 })]);
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut hub = Hub::new(&codec, HubConfig::default())?;
/// # let (client, now) = (ReceiverId(7), Duration::ZERO);
/// # hub.add(client, &ReceiverOptions::default(), now)?;
/// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// # let hello = receiver.poll_transmit(now).ok_or("no hello")?;
///
/// let mut players = 0;
/// match hub.handle(client, now, hello)? {
///     Handled::Joined => players += 1, // spawn the player's avatar
///     Handled::Anew => eprintln!("receiver {} had another state", client.0),
///     _ => {}
/// }
/// assert_eq!(players, 1);
/// assert_eq!(hub.handle(client, now, hello)?, Handled::HelloAgain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handled {
    /// The datagram was a hello with matching hashes. Snapshots start with the next tick.
    Joined,
    /// The datagram was a hello that was accepted before.
    HelloAgain,
    /// The datagram was an acknowledgement.
    Acknowledged,
    /// The views of the receiver are wrong or missing. The receiver gets the state anew from the
    /// next tick on.
    Anew,
}

/// Sends one world to many receivers.
///
/// A receiver's hello contains the hash of its codec, which selects one of the codecs that the hub
/// [offers](Self::offer). The choice holds until the receiver is removed. To change to another
/// codec, for example to another level, [`remove`](Self::remove) the receiver and
/// [`add`](Self::add) it again. The new session also needs a new endpoint on the other side and a
/// new transport connection. Otherwise a hub or a receiver could take a delayed datagram of the old
/// session for a datagram of the new session.
///
/// In each tick, call [`handle`](Self::handle) for each datagram that arrived, then
/// [`tick`](Self::tick) once with the state of the world, then
/// [`poll_transmit`](Self::poll_transmit) until it returns `None`. The caller supplies the time,
/// from any clock that does not run backwards. Call `tick` as often as you want to send snapshots,
/// 10 to 60 times per second. The world may step more often.
///
/// **Ids and ticks increase.** Push the entities of each kind in increasing order of their ids:
/// [`Snapshot::push`] refuses any other order. Ticks increase for as long as the hub lives; at 60
/// Hz, 32 bits last for two years. When your world restarts, for example for the next match, you
/// may keep counting ticks. To begin at tick 0, you need a new hub, new
/// [`Receiver`](crate::Receiver)s and new transport connections, so that no old datagram reaches
/// the new endpoints.
///
/// **Several hubs on one connection.** Give each hub a [`Channel`](crate::Channel) of its own.
///
/// If the codec has a time precision, receivers get coarser values of moving entities, as
/// [`Encoder::coarse`](kinepack::Encoder::coarse) makes them. The hub calls this method for you.
/// When entities come to rest, the hub refines their values until they are exact.
///
/// Cost of a tick: one encoding for each distinct combination of baseline, visible state and codec,
/// and a copy of the result for each receiver. Whatever receivers acknowledge, there are at most
/// [`HubConfig::encodings_per_tick`] encodings for each codec and visible state. With a time
/// precision, add a pass over the visible state for each encoding. Values made coarse against
/// different baselines differ, so receivers that lost different datagrams share less. Until moving
/// entities come to rest, each such receiver has its own views and baselines, and each of these is
/// a copy of the visible state.
///
/// ```
/// use std::time::Duration;
/// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
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
/// let (client, now) = (ReceiverId(7), Duration::ZERO);
/// hub.add(client, &ReceiverOptions::default(), now)?;
/// let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// let hello = receiver.poll_transmit(now).ok_or("no hello")?;
/// hub.handle(client, now, hello)?; // over your transport
///
/// let mut world = Snapshot::new(&schema, Tick(1));
/// world.push(EntityId(3), &Unit { health: 80 })?;
/// world.push(EntityId(5), &Unit { health: 100 })?; // ids increase
/// hub.tick(now, &world)?;
/// let (to, datagram) = hub.poll_transmit().ok_or("no snapshot")?;
/// assert_eq!(to, client);
/// receiver.handle(now, datagram)?; // over your transport
/// assert_eq!(receiver.newest(), Some(&world));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Hub {
    config: HubConfig,
    schema: Schema,
    /// The hub's own hello, with the hash of the first codec.
    hello: Hello,
    /// The outline of the schema.
    outline: Vec<u32>,
    initial: Arc<SentView>,
    pub(in crate::sender) peers: BTreeMap<ReceiverId, Peer>,
    sending: Sending,
    pub(in crate::sender) last_tick: Option<(Duration, Tick)>,
    /// The entities, with their spawn fields, that were in every world since the last accepted one.
    /// `None` unless a world was refused.
    spawned: Option<Snapshot>,
    /// The last removed receivers, each with its next sequence. If such a receiver is added again,
    /// its new session begins far from that sequence, so that the receiver recognizes the session
    /// as new.
    removed: VecDeque<(ReceiverId, Sequence)>,
    /// How much the outliers exceeded their credits; see [`sharing`](super::sharing).
    overdrawn: Overdrawn,
    /// What all receivers together may get. `None` without a limit.
    uplink: Option<Uplink>,
    /// `None` without events.
    events: Option<EmittedEvents>,
    /// What is seen by distance. `None` without rings.
    sights: Option<Sights>,
    /// `None` unless the hub tells what receivers showed.
    pub(in crate::sender) rewind: Option<RewindConfig>,
    /// What receivers show of entities that wait for a state.
    pub(in crate::sender) extrapolations: Extrapolations,
}

impl Hub {
    /// Makes a hub for snapshots of `codec` that starts from the empty state. If the first state
    /// does not fit one datagram, the hub sends it as a full state.
    ///
    /// # Errors
    /// Returns the errors of [`HubConfig::validate`], and [`NetError::LevelWithoutBaseline`].
    pub fn new(codec: &Codec, config: HubConfig) -> Result<Self, NetError> {
        Self::with_initial(codec, config, &Snapshot::new(codec.schema(), Tick(0)))
    }

    /// Makes a hub for receivers that already know the `initial` state, for example a level that
    /// both sides loaded. The tick of `initial` does not matter.
    ///
    /// # Errors
    /// Returns the errors of [`HubConfig::validate`], [`NetError::LevelWithoutBaseline`],
    /// [`NetError::SchemaMismatch`] and [`NetError::SharedId`].
    pub fn with_initial(
        codec: &Codec,
        config: HubConfig,
        initial: &Snapshot,
    ) -> Result<Self, NetError> {
        config.validate()?;
        check_initial(codec, initial)?;
        let channel = config.channel;
        // The bytes of a datagram after its channel.
        let datagram_bytes = config.datagram_bytes - channel.bytes();
        let mut hub = Self {
            config: HubConfig { datagram_bytes, ..config },
            schema: codec.schema().clone(),
            hello: hello(codec, initial),
            outline: outline(codec.schema()),
            initial: Arc::new(SentView::new(0, None, false, reference_zero(initial), None)),
            peers: BTreeMap::new(),
            sending: Sending::new(codec.schema(), channel),
            last_tick: None,
            spawned: None,
            removed: VecDeque::new(),
            overdrawn: Overdrawn::default(),
            uplink: None,
            events: None,
            sights: None,
            rewind: None,
            extrapolations: Extrapolations::default(),
        };
        hub.offer(codec)?;
        Ok(hub)
    }

    /// Lets receivers choose another codec of the same schema, for example one of another level. If
    /// the hub already offers `codec`, nothing changes. Receivers with different codecs share
    /// visible states but no encodings. Each codec has its own encoder, which costs nothing until a
    /// receiver chooses the codec.
    ///
    /// # Errors
    /// Returns [`NetError::SchemaMismatch`], and [`NetError::LevelWithoutBaseline`] for a level
    /// that sends every entity each time. With such a level, a world larger than a datagram could
    /// arrive only in full states.
    pub fn offer(&mut self, codec: &Codec) -> Result<(), NetError> {
        check_schema(self.hello.schema_hash, codec.schema().hash())?;
        if codec.level().changed() == Changed::All {
            return Err(NetError::LevelWithoutBaseline { row: codec.level().row() });
        }
        if self.sending.offered(codec.hash()).is_none() {
            let older_views = self.config.older_views.unwrap_or(codec.older_views() as u8);
            self.sending.offer(codec, older_views, self.config.count_costs);
        }
        Ok(())
    }

    /// Adds a receiver. The hub sends it nothing until its hello arrives.
    ///
    /// # Errors
    /// Returns [`NetError::ReceiverTaken`] or [`NetError::BudgetTooSmall`].
    pub fn add(
        &mut self,
        id: ReceiverId,
        options: &ReceiverOptions,
        now: Duration,
    ) -> Result<(), NetError> {
        options.validate()?;
        if self.peers.contains_key(&id) {
            return Err(NetError::ReceiverTaken);
        }
        let groups = self.sending.visible.groups.len();
        let visibility = self.sending.visible.register(Visibility::new(groups));
        let mut options = *options;
        if let Some(at) = self.removed.iter().position(|(removed, _)| *removed == id)
            && let Some((_, next)) = self.removed.remove(at)
            && options.first_sequence == Sequence::default()
        {
            options.first_sequence = next.after(OTHER_SESSION);
        }
        let mut peer = Peer::new(id, &options, &self.config, &self.initial, visibility, now);
        peer.keep_shown(kept_ticks(self.rewind));
        self.peers.insert(id, peer);
        Ok(())
    }

    /// Changes the options of a receiver while it plays, for example to a smaller budget on a bad
    /// connection. The first sequence does not change. A larger budget has no immediate effect,
    /// because it only makes the bucket fill faster.
    ///
    /// # Errors
    /// Returns [`NetError::UnknownReceiver`] or [`NetError::BudgetTooSmall`]; then nothing has
    /// changed.
    pub fn set_options(
        &mut self,
        id: ReceiverId,
        options: &ReceiverOptions,
        now: Duration,
    ) -> Result<(), NetError> {
        options.validate()?;
        let peer = self.peers.get_mut(&id).ok_or(NetError::UnknownReceiver)?;
        peer.set_budget(options.budget, now);
        Ok(())
    }

    /// Removes a receiver and all that the hub kept for it. Returns false if there was no such
    /// receiver.
    ///
    /// If the same id is [added](Self::add) again, the old [`Receiver`](crate::Receiver) on that
    /// connection starts over: after a second without datagrams, it sends hellos again. Reliable
    /// events of the old session that had not arrived are lost.
    pub fn remove(&mut self, id: ReceiverId) -> bool {
        self.sending.outbox.forget(id);
        let Some(peer) = self.peers.remove(&id) else { return false };
        if self.removed.len() == MOST_REMOVED {
            self.removed.pop_front();
        }
        self.removed.push_back((id, peer.next_sequence()));
        true
    }

    /// The ids of the receivers, in increasing order.
    pub fn receivers(&self) -> impl Iterator<Item = ReceiverId> {
        self.peers.keys().copied()
    }

    /// Takes a datagram from a receiver.
    ///
    /// # Errors
    /// Returns [`Refused`]; then nothing has changed. On [`Refused::Mismatch`] the hub sends the
    /// receiver a refusal, and you may remove the receiver. The hub compares a hello with the
    /// offered codec of the same hash, or with the first codec if it offers no such codec. After
    /// the first accepted hello, the hub compares all later hellos with the chosen codec.
    pub fn handle(
        &mut self,
        from: ReceiverId,
        now: Duration,
        datagram: &[u8],
    ) -> Result<Handled, Refused> {
        let handled = self.take(from, now, datagram);
        match handled {
            Ok(Handled::Joined) => event!(info, receiver = from.0, "receiver connected"),
            Err(refused) => {
                event!(debug, receiver = from.0, reason = %refused, "datagram refused");
                return Err(refused);
            }
            Ok(_) => {}
        }
        handled
    }

    fn take(
        &mut self,
        from: ReceiverId,
        now: Duration,
        datagram: &[u8],
    ) -> Result<Handled, Refused> {
        let peer = self.peers.get_mut(&from).ok_or(Refused::UnknownReceiver)?;
        let channel = self.config.channel;
        let datagram = channel.strip(datagram).ok_or_else(|| Refused::channel(datagram))?;
        match Upstream::parse(datagram)? {
            Upstream::Acknowledgement(acknowledgement) => {
                peer.acknowledge(now, acknowledgement)?;
                Ok(Handled::Acknowledged)
            }
            Upstream::Anew(sequence) => {
                peer.begin_anew(now, sequence, &self.initial, &self.config)?;
                Ok(Handled::Anew)
            }
            Upstream::Hello(theirs, outline) => {
                let codec =
                    peer.codec.or_else(|| self.sending.offered(theirs.codec_hash)).unwrap_or(0);
                let offer = &self.sending.offers[codec];
                let ours = Hello { codec_hash: offer.hash, ..self.hello };
                if let Some(mut mismatch) = ours.mismatch(&theirs) {
                    if let Mismatch::Schema { part, .. } = &mut mismatch {
                        *part = first_difference(&self.outline, outline);
                    }
                    self.sending.outbox.push(from, |out| mismatch.write(out));
                    return Err(Refused::Mismatch(mismatch));
                }
                let joined = peer.join(now, codec, offer);
                Ok(if joined { Handled::Joined } else { Handled::HelloAgain })
            }
        }
    }

    /// Takes an acknowledgement that arrived in another kind of message.
    ///
    /// # Errors
    /// Returns the errors of [`handle`](Self::handle).
    pub fn acknowledge(
        &mut self,
        from: ReceiverId,
        now: Duration,
        received: Acknowledgement,
    ) -> Result<(), Refused> {
        let taken = self
            .peers
            .get_mut(&from)
            .ok_or(Refused::UnknownReceiver)
            .and_then(|peer| peer.acknowledge(now, received));
        if let Err(refused) = taken {
            event!(debug, receiver = from.0, reason = %refused, "acknowledgement refused");
            return Err(refused);
        }
        taken
    }

    /// Makes the datagrams of this tick. `world` is the complete state, `&Snapshot`, or several
    /// states of different precision for [`Rings`](crate::Rings), `&[&Snapshot; N]`. Its tick must
    /// be above the tick of the previous call. `now` must not be earlier than in the previous call.
    ///
    /// # Errors
    /// After [`NetError::SchemaMismatch`], [`NetError::SharedId`], [`NetError::TierDiffers`],
    /// [`NetError::SpawnChanged`], [`NetError::TickNotRising`] and [`NetError::TimeRanBack`],
    /// nothing has changed. Other errors concern one receiver, and the other receivers get their
    /// datagrams. With [`NetError::Receiver`] and [`NetError::FullStateTooLarge`], that receiver
    /// gets nothing in this tick. With [`NetError::FullStateRefused`], it does not take its first
    /// state. With [`NetError::EventsWaiting`], it does not get all events. [`NetError::Several`]
    /// contains the errors of several receivers. [`NetError::receiver`] has an example.
    pub fn tick<'a>(
        &mut self,
        now: Duration,
        world: impl Into<Worlds<'a>>,
    ) -> Result<(), NetError> {
        self.tick_with(now, world, None)
    }

    /// Like [`tick`](Self::tick), but with a priority for each entity. If a receiver's datagram or
    /// budget is too small for all changes, the hub ranks the changed entities. An entity's rank is
    /// its priority times the ticks since it was last sent, and the entities with the highest ranks
    /// are sent first. Receivers do not share these snapshots. A priority that is not a number is
    /// used as 0 and counted in [`PeerStatus::bad_priorities`].
    ///
    /// # Errors
    /// Returns the errors of [`tick`](Self::tick).
    pub fn tick_with<'a>(
        &mut self,
        now: Duration,
        world: impl Into<Worlds<'a>>,
        priority: Option<Priority<'_>>,
    ) -> Result<(), NetError> {
        self.run_tick(now, world.into(), priority, None)
    }

    /// Like [`tick_with`](Self::tick_with), but encodes on the caller's threads, because the hub
    /// has no threads of its own. If the tick needs several encodings, the hub calls `threads`
    /// once. `threads` calls [`Work::run`] on as many threads as it likes, and returns when these
    /// calls have returned. Then the hub does the remaining work itself.
    ///
    /// ```
    /// use std::thread;
    /// use std::time::Duration;
    /// use kinepack::Snapshot;
    /// use kinepack_net::{Hub, NetError};
    ///
    /// fn tick(hub: &mut Hub, now: Duration, world: &Snapshot) -> Result<(), NetError> {
    ///     // A pool whose threads stay alive is faster. With `rayon`:
    ///     // `rayon::join(|| work.run(), || work.run())`.
    ///     hub.tick_on(now, world, None, |work| {
    ///         thread::scope(|scope| {
    ///             scope.spawn(|| work.run());
    ///             work.run();
    ///         });
    ///     })
    /// }
    /// ```
    ///
    /// The datagrams are the same as without threads.
    ///
    /// The rest of the tick is sequential: the choice of baselines, the schedule of
    /// [`HubConfig::encodings_per_tick`], parts for a budget, plans that depend on `priority`, and
    /// writing datagrams. A tick in which some kinds rest is sequential too.
    ///
    /// Cost: each thread keeps an encoder for each codec that it has used. If there are few
    /// receivers, or encodings take only microseconds, waking a thread costs more than it saves.
    ///
    /// # Errors
    /// Returns the errors of [`tick`](Self::tick).
    pub fn tick_on<'a>(
        &mut self,
        now: Duration,
        world: impl Into<Worlds<'a>>,
        priority: Option<Priority<'_>>,
        mut threads: impl FnMut(&Work<'_>),
    ) -> Result<(), NetError> {
        self.run_tick(now, world.into(), priority, Some(&mut threads))
    }

    /// The next datagram to send and its receiver. The datagram is valid until the next call.
    pub fn poll_transmit(&mut self) -> Option<(ReceiverId, &[u8])> {
        self.sending.outbox.pop()
    }

    /// The state of a receiver's connection. `None` if the hub has no such receiver.
    pub fn status(&self, id: ReceiverId) -> Option<PeerStatus> {
        let now = self.last_tick.map_or(Duration::ZERO, |(now, _)| now);
        Some(self.peers.get(&id)?.status(&self.sending.offers, now))
    }

    /// The view that a receiver holds after the snapshot with the sequence `sequence`, as long as
    /// this view can be a baseline. Use this method only in tests and tools.
    pub fn view(&self, id: ReceiverId, sequence: Sequence) -> Option<Snapshot> {
        self.peers.get(&id)?.view(sequence)
    }

    /// The bits of the snapshot with the sequence `sequence` by part and by entity, as long as the
    /// hub keeps the snapshot for the receiver. Use this method only in tools. `None` for a
    /// fragment of a full state, and if [`HubConfig::count_costs`] is off.
    pub fn cost(&self, id: ReceiverId, sequence: Sequence) -> Option<&Arc<Cost>> {
        self.peers.get(&id)?.cost(sequence)
    }

    /// How many snapshots were encoded in the last tick, for all receivers together.
    pub fn encoded(&self) -> usize {
        self.sending.encoded
    }
}
