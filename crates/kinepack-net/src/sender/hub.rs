//! Many receivers of one world.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Baselines, Changed, Codec, EntityId, Snapshot, Tick};

use super::cost::Cost;
use super::peer::{Moment, Peer, PeerStatus};
use super::sending::Sending;
use super::sharing::{self, Outliers, Overdrawn, RUN_CREDITS};
use super::view::SentView;
use crate::handshake::{check_schema, hello, reference_zero};
use crate::packet::{Hello, Upstream};
use crate::trace::event;
use crate::{Acknowledgement, NetError, Refused, Sequence};

/// Names a receiver; the caller chooses, such as the transport's number of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverId(pub u64);

/// What holds for all receivers of a hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubConfig {
    /// The largest datagram that the transport takes, without its own headers.
    pub datagram_bytes: usize,
    /// What the transport adds to each datagram; counted in budgets.
    pub overhead_bytes: usize,
    /// Time between snapshots where nothing changes or nobody answers.
    pub keep_alive: Duration,
    /// Without an answer for so long, a receiver only gets keep-alives.
    pub silence: Duration,
    /// The most datagrams that one receiver gets in a tick, where a snapshot or a block takes more
    /// than one.
    pub datagrams_per_tick: u32,
    /// How many views older than the baseline a snapshot may be coded against too, 0 to 3; `None`
    /// for as many as the receiver's codec has a use for ([`Codec::older_states`]). With 0 a time
    /// precision has no effect: everything is exact. Each takes a byte a snapshot; for a receiver
    /// with any, the hub keeps the last 72 datagrams before the newest that was acknowledged,
    /// instead of 40.
    pub older_views: Option<u8>,
    /// The most different encodings that a tick makes for receivers that could share them. If there
    /// are more receivers than that and most share, the others may at most double the number of
    /// encodings. If they want more, those that hold a young view together get a quarter of it, and
    /// the rest half an encoding a tick: they are moved to encodings that others share, or wait for
    /// a later tick. So a few receivers that acknowledge odd views can neither multiply the hub's
    /// work nor keep honest ones waiting. Each codec on offer and each relevant set counts by
    /// itself; receivers from whose views a budget left something out share nothing anyway, and do
    /// not count.
    pub encodings_per_tick: u32,
    /// The least bytes that the hub sends to a receiver from one [state
    /// check](kinepack::View::check) to the next. The check then comes with the next snapshot of a
    /// tick that makes checks: about one tick in eight, the same for all receivers. A check adds
    /// three bytes to a snapshot. `None` for no checks, 0 for one in each snapshot. A state of more
    /// than 32,768 values waits longer, one byte for every four values. The first snapshot is
    /// checked in any tick, the first after the state was sent anew, and the first of each tick in
    /// which a silent receiver gets one.
    ///
    /// A check finds what no acknowledgement tells: a wrong bit in one side's memory, or arithmetic
    /// that differs. The receiver then asks for the state anew, and the session goes on.
    pub check_every_bytes: Option<u32>,
    /// Whether to count what each snapshot cost, for [`Hub::cost`]. It takes time, and memory for
    /// as long as snapshots are kept; what is sent is the same.
    pub count_costs: bool,
}

impl Default for HubConfig {
    /// 1,200 bytes pass every path of the Internet in one piece (RFC 9000, section 14); 28 are the
    /// headers of IPv4 and UDP. Four keep-alives a second cost 1.2 kbit/s and notice a new round
    /// trip soon. One second of silence is many round trips. Four datagrams a tick at 60 Hz are 2.3
    /// Mbit/s, which a slow connection still carries for a moment. 32 encodings a tick serve all
    /// round trips up to half a second at 60 Hz, of any number of receivers. State checks every
    /// 8,192 bytes or later are at most 0.04 % of them.
    fn default() -> Self {
        Self {
            datagram_bytes: 1_200,
            overhead_bytes: 28,
            keep_alive: Duration::from_millis(250),
            silence: Duration::from_secs(1),
            datagrams_per_tick: 4,
            older_views: None,
            encodings_per_tick: 32,
            check_every_bytes: Some(8_192),
            count_costs: false,
        }
    }
}

impl HubConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`NetError::DatagramBytes`], [`NetError::NoTime`] and [`NetError::OlderViews`].
    pub fn validate(&self) -> Result<(), NetError> {
        if !(128..=65_507).contains(&self.datagram_bytes) {
            return Err(NetError::DatagramBytes { bytes: self.datagram_bytes });
        }
        if self.keep_alive.is_zero()
            || self.silence.is_zero()
            || self.datagrams_per_tick == 0
            || self.encodings_per_tick == 0
        {
            return Err(NetError::NoTime);
        }
        match self.older_views {
            Some(count) if usize::from(count) > Baselines::OLDER => {
                Err(NetError::OlderViews { count })
            }
            _ => Ok(()),
        }
    }
}

/// What holds for one receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverOptions {
    /// The most bytes a second, the transport's headers included; `None` for no limit but the
    /// datagram's size a tick.
    pub budget_bytes_per_s: Option<u32>,
    /// Where sequences begin. 0, but for tests of what happens when they wrap.
    pub first_sequence: Sequence,
}

/// A receiver's weight of an entity: how much it matters to it, 1 being usual, 0 never to send it
/// unless everything fits. Multiplied with the time since it was last sent.
pub type Weight<'a> = &'a dyn Fn(ReceiverId, EntityId) -> f32;

/// What a datagram from a receiver was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handled {
    /// It speaks the same language: snapshots flow from the next tick on.
    Joined,
    /// Its hello came again.
    HelloAgain,
    /// What it received.
    Acknowledged,
    /// It does not hold what it should, and gets the state anew from the next tick on.
    Anew,
}

/// Sends one world to many receivers.
///
/// Each receiver chooses its codec by its hello, which has the codec's hash, from those that the
/// hub [offers](Self::offer); the choice holds until the receiver is removed. To change it, such as
/// for another level: [`remove`](Self::remove) and [`add`](Self::add) it, with a new endpoint on
/// the other side and a new connection of the transport, so that nothing on its way from before is
/// taken for something new.
///
/// Order of calls, each tick of sending: [`handle`](Self::handle) for each datagram that came in,
/// then [`tick`](Self::tick) once with the state of the world, then
/// [`poll_transmit`](Self::poll_transmit) until it has nothing more. Time is the caller's: any
/// clock that does not run backwards. Call `tick` as often as snapshots are to be sent, 10 to 60
/// times a second; the world may step more often.
///
/// Ticks rise for as long as the hub lives; at 60 Hz, 32 bits last for two years. When your world
/// restarts, such as for the next match, either keep counting ticks, or start anew: a new hub, new
/// [`Receiver`](crate::Receiver)s and new connections of the transport, so that no datagram from
/// before reaches the new ones.
///
/// With a codec that has a time precision, receivers get coarser values of what moves, as
/// [`Encoder::coarse`](kinepack::Encoder::coarse) makes them: the hub does that. What comes to rest
/// is refined until it is exact.
///
/// Cost of a tick: one encoding for each distinct combination of baseline, subject and codec, and a
/// copy of the result for each receiver. What receivers acknowledge cannot make that more than
/// [`HubConfig::encodings_per_tick`] for a codec and subject. With a time precision also a look at
/// the subject for each. Values made coarse relative to different baselines differ, so receivers
/// that lost different datagrams then share less: each has views, and so baselines, of its own,
/// each a copy of the subject, until what moves comes to rest.
#[derive(Debug)]
pub struct Hub {
    config: HubConfig,
    /// With the hash of the first codec.
    hello: Hello,
    initial: Arc<SentView>,
    peers: BTreeMap<ReceiverId, Peer>,
    sending: Sending,
    last_tick: Option<(Duration, Tick)>,
    /// What outliers spent beyond their credits: see [`sharing`].
    overdrawn: Overdrawn,
}

impl Hub {
    /// A hub for snapshots of `codec`, starting from the empty state: what does not fit one
    /// datagram is first sent as a block.
    ///
    /// # Errors
    /// As [`HubConfig::validate`], and [`NetError::LevelWithoutBaseline`].
    pub fn new(codec: &Codec, config: HubConfig) -> Result<Self, NetError> {
        Self::with_initial(codec, config, &Snapshot::new(codec.schema(), Tick(0)))
    }

    /// A hub for receivers that know the `initial` state already, as a level that both sides
    /// loaded. Its tick does not matter.
    ///
    /// # Errors
    /// As [`HubConfig::validate`], [`NetError::LevelWithoutBaseline`] and
    /// [`NetError::SchemaMismatch`].
    pub fn with_initial(
        codec: &Codec,
        config: HubConfig,
        initial: &Snapshot,
    ) -> Result<Self, NetError> {
        config.validate()?;
        check_schema(codec.schema().hash(), initial.schema_hash())?;
        let mut hub = Self {
            config,
            hello: hello(codec, initial),
            initial: Arc::new(SentView::new(0, None, false, reference_zero(initial), None)),
            peers: BTreeMap::new(),
            sending: Sending::new(codec.schema()),
            last_tick: None,
            overdrawn: Overdrawn::default(),
        };
        hub.offer(codec)?;
        Ok(hub)
    }

    /// Lets receivers choose another codec of the same schema, such as one of another level; one
    /// that is offered already changes nothing. Receivers with different codecs share what there is
    /// to see, and no encoding. Each codec has an encoder of its own, and costs nothing where
    /// nobody chose it.
    ///
    /// # Errors
    /// [`NetError::SchemaMismatch`], and [`NetError::LevelWithoutBaseline`] for a level that sends
    /// every entity each time: a world larger than a datagram would only ever arrive in blocks.
    pub fn offer(&mut self, codec: &Codec) -> Result<(), NetError> {
        check_schema(self.hello.schema_hash, codec.schema().hash())?;
        if codec.level().changed() == Changed::All {
            return Err(NetError::LevelWithoutBaseline { row: codec.level().row() });
        }
        if self.sending.offered(codec.hash()).is_none() {
            let older_views = self.config.older_views.unwrap_or(codec.older_states() as u8);
            self.sending.offer(codec, older_views, self.config.count_costs);
        }
        Ok(())
    }

    /// Adds a receiver. It gets nothing until its hello came.
    ///
    /// # Errors
    /// [`NetError::ReceiverTaken`], [`NetError::BudgetTooSmall`].
    pub fn add(
        &mut self,
        id: ReceiverId,
        options: &ReceiverOptions,
        now: Duration,
    ) -> Result<(), NetError> {
        if let Some(bytes_per_s) = options.budget_bytes_per_s.filter(|budget| *budget < 256) {
            return Err(NetError::BudgetTooSmall { bytes_per_s });
        }
        if self.peers.contains_key(&id) {
            return Err(NetError::ReceiverTaken);
        }
        self.peers.insert(id, Peer::new(id, options, &self.config, &self.initial, now));
        Ok(())
    }

    /// Removes a receiver with all that was kept for it. False where there was none.
    pub fn remove(&mut self, id: ReceiverId) -> bool {
        self.sending.outbox.forget(id);
        self.peers.remove(&id).is_some()
    }

    /// The receivers, by id.
    pub fn receivers(&self) -> impl Iterator<Item = ReceiverId> {
        self.peers.keys().copied()
    }

    /// Sets which entities a receiver is to see: sorted, or `None` for all. Receivers with equal
    /// sets share the work. Setting the same entities again changes nothing, and an entity that is
    /// not in the world does not matter.
    ///
    /// Cost: a hash of the set; each tick, for each different set, a search for its entities and a
    /// copy of their rows.
    ///
    /// # Errors
    /// [`NetError::UnknownReceiver`], [`NetError::NotSorted`].
    pub fn set_relevant(
        &mut self,
        id: ReceiverId,
        entities: Option<Arc<[EntityId]>>,
    ) -> Result<(), NetError> {
        let unsorted = |entities: &Arc<[EntityId]>| {
            entities.windows(2).find(|pair| pair[0] >= pair[1]).map(|p| p[1])
        };
        if let Some(id) = entities.as_ref().and_then(unsorted) {
            return Err(NetError::NotSorted { id });
        }
        let peer = self.peers.get_mut(&id).ok_or(NetError::UnknownReceiver)?;
        peer.relevant = entities.map(|entities| self.sending.subjects.relevant(entities));
        Ok(())
    }

    /// Takes a datagram of a receiver.
    ///
    /// # Errors
    /// [`Refused`]; nothing has changed then. On [`Refused::Mismatch`] the receiver is told so, and
    /// may be removed; a codec's hash that is not offered is compared with that of the first codec,
    /// and after the first hello every other with that of the codec chosen.
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
        match Upstream::parse(datagram)? {
            Upstream::Acknowledgement(acknowledgement) => {
                peer.acknowledge(now, acknowledgement)?;
                Ok(Handled::Acknowledged)
            }
            Upstream::Anew(sequence) => {
                peer.begin_anew(now, sequence, &self.initial, &self.config)?;
                Ok(Handled::Anew)
            }
            Upstream::Hello(theirs) => {
                let codec =
                    peer.codec.or_else(|| self.sending.offered(theirs.codec_hash)).unwrap_or(0);
                let offer = &self.sending.offers[codec];
                let ours = Hello { codec_hash: offer.hash, ..self.hello };
                if let Some(mismatch) = ours.mismatch(&theirs) {
                    self.sending.outbox.push(from, |out| mismatch.write(out));
                    return Err(Refused::Mismatch(mismatch));
                }
                Ok(if peer.join(codec, offer) { Handled::Joined } else { Handled::HelloAgain })
            }
        }
    }

    /// Takes an acknowledgement that came in a message of another kind.
    ///
    /// # Errors
    /// As [`handle`](Self::handle).
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

    /// Makes the datagrams of this tick. `world` is the whole state; its tick is above that of the
    /// call before, and `now` is no earlier.
    ///
    /// # Errors
    /// [`NetError::SchemaMismatch`], [`NetError::TickNotRising`] and [`NetError::TimeRanBack`]:
    /// nothing has changed then. [`NetError::Receiver`] and [`NetError::BlockTooLarge`] name a
    /// receiver that gets nothing in this tick; the others get theirs. If there are several, the
    /// error names the first.
    pub fn tick(&mut self, now: Duration, world: &Snapshot) -> Result<(), NetError> {
        self.tick_with(now, world, None)
    }

    /// As [`tick`](Self::tick), where not all entities matter alike: where a receiver's datagram or
    /// budget is too small for everything that changed, what has the largest weight times ticks
    /// since it was last sent goes first. Such snapshots are not shared between receivers. A weight
    /// that is not a number counts as 0, and in [`PeerStatus::bad_weights`].
    ///
    /// # Errors
    /// As [`tick`](Self::tick).
    pub fn tick_with(
        &mut self,
        now: Duration,
        world: &Snapshot,
        weight: Option<Weight<'_>>,
    ) -> Result<(), NetError> {
        check_schema(self.hello.schema_hash, world.schema_hash())?;
        let tick = world.tick;
        let mut interval = 1;
        if let Some((last_now, last_tick)) = self.last_tick {
            if tick <= last_tick {
                return Err(NetError::TickNotRising { last: last_tick, tick });
            }
            if now < last_now {
                return Err(NetError::TimeRanBack { last: last_now, now });
            }
            interval = tick.0 - last_tick.0;
        }
        self.last_tick = Some((now, tick));
        let interval_ticks = interval.min(255) as u8;
        self.sending.begin(world);
        let moment = Moment { now, tick, interval_ticks, config: &self.config, weight };
        let mut first_error = Ok(());
        let mut ready = Vec::new();
        for peer in self.peers.values_mut() {
            match peer.begin(&moment, &mut self.sending) {
                Ok(Some(turn)) => ready.push((peer, turn)),
                Ok(None) => {}
                Err(error) => first_error = first_error.and(Err(error)),
            }
        }
        let sending = &mut self.sending;
        let Some(schedule) = sharing::schedule(&mut ready, &moment) else {
            self.overdrawn = Overdrawn::default();
            for (peer, turn) in &mut ready {
                first_error = first_error.and(peer.take_turn(turn, &moment, sending));
            }
            return first_error;
        };
        for index in schedule.served {
            let (peer, turn) = &mut ready[index];
            first_error = first_error.and(peer.take_turn(turn, &moment, sending));
        }
        for Outliers { pace, groups, rest, credits } in schedule.outliers {
            let overdrawn = self.overdrawn.of(pace);
            let before = sending.runs();
            for group in &groups {
                let before_group = sending.runs();
                let may_encode = *overdrawn == 0 && (before_group - before) * RUN_CREDITS < credits;
                for index in group {
                    let (peer, turn) = &mut ready[*index];
                    if may_encode {
                        first_error = first_error.and(peer.take_turn(turn, &moment, sending));
                    } else {
                        peer.postpone(turn, &moment, sending);
                    }
                }
            }
            for index in rest {
                let (peer, turn) = &mut ready[index];
                peer.postpone(turn, &moment, sending);
            }
            let spent = (sending.runs() - before) * RUN_CREDITS;
            *overdrawn = (*overdrawn + spent).saturating_sub(credits);
        }
        first_error
    }

    /// The next datagram to send. Valid until the next call.
    pub fn poll_transmit(&mut self) -> Option<(ReceiverId, &[u8])> {
        self.sending.outbox.pop()
    }

    /// How things stand with a receiver.
    pub fn status(&self, id: ReceiverId) -> Option<PeerStatus> {
        Some(self.peers.get(&id)?.status(&self.sending.offers))
    }

    /// The view that a receiver has when a snapshot has reached it, as long as it can be a
    /// baseline: for tests and tools.
    pub fn view(&self, id: ReceiverId, sequence: Sequence) -> Option<Snapshot> {
        self.peers.get(&id)?.view(sequence)
    }

    /// Where the bits of the snapshot with this sequence went, as long as it is kept for the
    /// receiver: for tools. `None` for a fragment of a block, and where [`HubConfig::count_costs`]
    /// is off.
    pub fn cost(&self, id: ReceiverId, sequence: Sequence) -> Option<&Arc<Cost>> {
        self.peers.get(&id)?.cost(sequence)
    }

    /// Snapshots that the last tick encoded for all receivers together.
    pub fn encoded(&self) -> usize {
        self.sending.encoded
    }
}
