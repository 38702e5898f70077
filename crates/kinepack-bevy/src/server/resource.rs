//! The server's state: the hub, the newest snapshot, and the clients.

use std::any::TypeId;
use std::collections::HashMap;
use std::mem::discriminant;
#[cfg(feature = "transform")]
use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::query::QueryState;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use bevy_time::{Real, Time};
use kinepack::{Codec, EntityId, Snapshot, Tick};
use kinepack_net::{
    Channel, DatagramKind, EventKinds, Handled, Hub, HubConfig, NetError, ReceiverId,
    ReceiverOptions, Refused, Rings, StreamAcknowledgement, StreamReceiverStats, Worlds,
    datagram_kind, split_datagram,
};

use super::collect::{Changes, Collect, IsNew};
use super::tiers::Tiers;
use super::{ClientJoined, ClientLeft, EmitAll, MotionServerPlugin, ServerPort, ServerStats};
use crate::ids::Ids;
use crate::late::KindSetup;
use crate::settings::expect;
use crate::{Datagrams, MotionEntities, MotionId, Registry};

/// The maximum number of bytes that the acknowledgement of inputs takes in front of a datagram,
/// with its channel.
const ACKNOWLEDGEMENT_BYTES: usize = 1 + StreamAcknowledgement::MOST_BYTES;

/// The server's side of the connections. A transport connects it to the clients through its fields.
#[derive(Resource)]
pub struct MotionServer {
    /// Datagrams from clients that are [connected](Self::connect). A transport appends them before
    /// [`Receive`](super::MotionServerSystems::Receive).
    pub incoming: Datagrams<ReceiverId>,
    /// Datagrams for clients. A transport sends and clears them after
    /// [`Tick`](super::MotionServerSystems::Tick).
    pub outgoing: Datagrams<ReceiverId>,
    codec: Codec,
    events: Option<EventKinds>,
    pub(super) hub: Hub,
    pub(super) clients: HashMap<ReceiverId, Client>,
    left: Vec<ReceiverId>,
    now: Duration,
    /// The newest state.
    state: Snapshot,
    /// Scratch memory: the changes of a tick.
    rows: Snapshot,
    /// The newest state in coarser tiers.
    tiers: Tiers,
    removed: Vec<EntityId>,
    ids: Ids,
    pub(super) setups: Vec<KindSetup>,
    collects: Vec<Box<dyn Collect>>,
    unseen: QueryState<(), IsNew>,
    emits: Vec<EmitAll>,
    ports: Vec<Box<dyn ServerPort>>,
    /// The clients that are owed an acknowledgement of their inputs, in order of arrival. A client
    /// may be here although it got the acknowledgement since.
    owed: Vec<ReceiverId>,
    last_error: Option<NetError>,
    pub(super) stats: ServerStats,
}

/// A connected client.
#[derive(Default)]
pub(super) struct Client {
    has_joined: bool,
    /// Whether inputs have arrived that no acknowledgement has answered yet.
    is_owed: bool,
    /// The entities that it sees at any distance, as the hub has them.
    #[cfg(feature = "transform")]
    pub(super) always_seen: Arc<[EntityId]>,
}

impl MotionServer {
    pub(super) fn new(
        plugin: &MotionServerPlugin,
        mut registry: Registry,
        world: &mut World,
    ) -> Self {
        let codec = registry.codec(&plugin.settings);
        let ports = registry.server_ports(&plugin.settings);
        let config = HubConfig {
            datagram_bytes: plugin
                .hub
                .datagram_bytes
                .saturating_sub(ACKNOWLEDGEMENT_BYTES * ports.len()),
            channel: Channel::default(),
            ..plugin.hub.clone()
        };
        let mut hub = expect(Hub::new(&codec, config), "the hub's settings");
        for KindSetup { name, extrapolation, .. } in &registry.setups {
            let set = hub.set_extrapolation(name, *extrapolation);
            expect(set, "the extrapolation of a kind");
        }
        expect(hub.set_rewind(plugin.rewind), "the settings of rewinding");
        let events = registry.event_kinds(&plugin.settings);
        if let Some(events) = &events {
            hub = hub.with_events(events);
        }
        let state = Snapshot::new(codec.schema(), Tick(0));
        let coarser = registry.collects.iter().map(|collect| collect.coarser()).max();
        let mut server = Self {
            incoming: Datagrams::default(),
            outgoing: Datagrams::default(),
            hub,
            clients: HashMap::new(),
            left: Vec::new(),
            now: Duration::ZERO,
            rows: state.clone(),
            tiers: Tiers::new(coarser.unwrap_or(0)),
            codec,
            events,
            state,
            removed: Vec::new(),
            ids: Ids::new(plugin.id_rest_s.saturating_mul(plugin.settings.tick_hz).max(1)),
            setups: registry.setups,
            collects: registry.collects,
            unseen: QueryState::new(world),
            emits: registry.emits,
            ports,
            owed: Vec::new(),
            last_error: None,
            stats: ServerStats::default(),
        };
        expect(server.set_rings(plugin.rings.as_ref()), "the rings");
        server
    }

    /// Adds a client. Call this from a transport that has a connection to the client.
    ///
    /// # Errors
    /// Returns [`NetError::ReceiverTaken`] if the client is already connected, and
    /// [`NetError::BudgetTooSmall`].
    pub fn connect(
        &mut self,
        client: ReceiverId,
        options: &ReceiverOptions,
    ) -> Result<(), NetError> {
        self.hub.add(client, options, self.now)?;
        self.clients.insert(client, Client::default());
        Ok(())
    }

    /// Removes a client whose connection has ended. Returns false if the client was not connected.
    pub fn disconnect(&mut self, client: ReceiverId) -> bool {
        self.hub.remove(client);
        self.ports.iter_mut().for_each(|port| port.forget(client));
        let Some(removed) = self.clients.remove(&client) else { return false };
        if removed.has_joined {
            self.left.push(client);
        }
        true
    }

    /// Sets what clients see by distance from their [viewpoints](crate::Viewpoint): which entities,
    /// how often, how exactly, and bodies in which tier. `None` removes the rings. Then all clients
    /// see everything.
    ///
    /// The name of a field has the kind's name, the component's index in the tuple of the kind, and
    /// the name in the component. It is `ship.1.position` if the second component of a ship is a
    /// [`Pose`](crate::Pose). Lengths have the unit of the positions.
    ///
    /// A body is sent in the tier of its ring, or in its coarsest one if it has fewer tiers. All
    /// other components are the same in all tiers. In a ring with [`Ring::coarser`], moving
    /// entities are coarser if they have a [`CoarserPose`](crate::CoarserPose), or fields with the
    /// attribute `coarser = n`.
    ///
    /// Cost of a tick: that of [`Hub::set_rings`]. For each tier above 0 that the rings name and a
    /// figure has, the server also keeps a copy of its state, quantizes each changed body once
    /// more, and copies the other changed rows.
    ///
    /// # Errors
    /// Returns the errors of [`Hub::set_rings`]. Then nothing has changed.
    ///
    /// [`Ring::coarser`]: kinepack_net::Ring::coarser
    pub fn set_rings(&mut self, rings: Option<&Rings>) -> Result<(), NetError> {
        self.hub.set_rings(rings)?;
        self.tiers.follow(rings);
        Ok(())
    }

    /// The codec of the registered kinds. Clients without Bevy, such as web pages, need the codec's
    /// schema, [`Schema::to_bytes`](kinepack::Schema::to_bytes), and its profile,
    /// [`Profile::to_bytes`](kinepack::Profile::to_bytes), if there are figures.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The kinds of events, if there are any. Clients without Bevy need the schema of these too.
    pub fn events(&self) -> Option<&EventKinds> {
        self.events.as_ref()
    }

    /// The clients that are connected, in no particular order.
    pub fn clients(&self) -> impl Iterator<Item = ReceiverId> {
        self.clients.keys().copied()
    }

    /// The hub, for example to read the state of a client's connection.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// The hub, for example to set priorities of kinds, relevant entities, and hidden fields. To
    /// add and remove clients, call [`connect`](Self::connect) and [`disconnect`](Self::disconnect)
    /// instead, and [`set_rings`](Self::set_rings) for rings.
    pub fn hub_mut(&mut self) -> &mut Hub {
        &mut self.hub
    }

    /// The newest state, as the hub sends it to clients.
    pub fn state(&self) -> &Snapshot {
        &self.state
    }

    /// The server's counters.
    pub fn stats(&self) -> ServerStats {
        self.stats
    }

    /// The counters of a client's inputs of type `I`. `None` before the first of them arrives, or
    /// if the type is not registered. [`in_time`](StreamReceiverStats::in_time) and
    /// [`missed`](StreamReceiverStats::missed) count ticks, if the inputs are [for
    /// ticks](crate::MotionAppExt::add_motion_tick_input).
    pub fn input_stats<I: 'static>(&self, client: ReceiverId) -> Option<StreamReceiverStats> {
        let port = self.ports.iter().find(|port| port.input_type() == TypeId::of::<I>());
        port?.stats(client)
    }

    /// Passes the datagrams that have arrived to their endpoints.
    pub(super) fn receive(&mut self, world: &mut World) {
        self.now = world.resource::<Time<Real>>().elapsed();
        for client in self.left.drain(..) {
            world.write_message(ClientLeft { client });
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        for (from, datagram) in incoming.iter() {
            match split_datagram(datagram) {
                Ok(parts) => parts.for_each(|part| {
                    let is_taken = self.take(world, from, part);
                    self.stats.refused += u64::from(!is_taken);
                }),
                Err(_) => self.stats.refused += 1,
            }
        }
        incoming.clear();
        self.incoming = incoming;
    }

    /// Passes a part of a datagram to its endpoint. Returns false if the endpoint refuses it.
    fn take(&mut self, world: &mut World, from: ReceiverId, part: &[u8]) -> bool {
        let Some(client) = self.clients.get_mut(&from) else { return false };
        match datagram_kind(part) {
            Some(DatagramKind::ToHub) => match self.hub.handle(from, self.now, part) {
                Ok(handled) => {
                    if handled == Handled::Joined {
                        client.has_joined = true;
                        world.write_message(ClientJoined { client: from });
                    }
                    true
                }
                Err(refused) => {
                    if let Refused::Mismatch(mismatch) = refused {
                        log::warn!("kinepack-bevy: client {}: {mismatch}", from.0);
                    }
                    false
                }
            },
            Some(DatagramKind::StreamPacket) => {
                let channel = Channel::from_datagram(part);
                let port = self.ports.iter_mut().find(|port| port.channel() == channel);
                let is_taken = port.is_some_and(|port| port.take(world, from, self.now, part));
                if is_taken && !std::mem::replace(&mut client.is_owed, true) {
                    self.owed.push(from);
                }
                is_taken
            }
            _ => false,
        }
    }

    /// Writes the inputs for the tick that begins.
    pub(super) fn read_inputs(&mut self, world: &mut World) {
        let (now, tick) = (world.resource::<Time<Real>>().elapsed(), self.next_tick());
        self.ports.iter_mut().for_each(|port| port.read_tick(world, now, tick));
    }

    /// The tick that the game simulates before the next [`collect`](Self::collect).
    fn next_tick(&self) -> Tick {
        Tick(self.state.tick.0 + 1)
    }

    /// Ends the game's part of a tick: updates the state from the components of the world.
    pub(super) fn collect(&mut self, world: &mut World) {
        let tick = self.next_tick();
        let has_new_tiers = self.tiers.begin(tick, &self.state);
        self.rows.clear(tick);
        self.removed.clear();
        let mut changes = Changes {
            tick,
            state: &self.state,
            rows: &mut self.rows,
            coarser: self.tiers.rows(),
            has_new_tiers,
            removed: &mut self.removed,
            ids: &mut self.ids,
            stats: &mut self.stats,
        };
        for (kind, collect) in self.collects.iter_mut().enumerate() {
            collect.collect(world, kind, &mut changes);
        }
        let unseen = self.unseen.query(world).iter().len();
        if unseen > 0 && self.stats.unseen == 0 {
            log::warn!("kinepack-bevy: {unseen} moving entities are of no registered kind");
        }
        self.stats.unseen = unseen;
        self.removed.sort_unstable();
        expect(self.state.patch(&self.removed, &self.rows), "the rows of another schema");
        self.state.tick = tick;
        self.tiers.patch(&self.removed, tick);
        self.stats.ticks += 1;
    }

    /// Ends a tick: makes the datagrams with the events and the state.
    pub(super) fn send(&mut self, world: &mut World) {
        self.now = self.now.max(world.resource::<Time<Real>>().elapsed());
        for emit in &self.emits {
            emit(world, &mut self.hub, &mut self.stats);
        }
        self.send_state(world);
        self.transmit();
    }

    /// Passes the state to the hub, and logs its errors.
    fn send_state(&mut self, world: &mut World) {
        let result = loop {
            let coarser = self.tiers.states();
            match self.hub.tick(self.now, Worlds::new(&self.state, &coarser)) {
                Err(NetError::SpawnChanged { id, .. }) => self.replace(world, id),
                result => break result,
            }
        };
        let Err(error) = result else { return };
        self.stats.failed_ticks += 1;
        // If a client fails for the same reason again, this is not logged.
        let kind = |error: &NetError| (discriminant(error), error.receiver());
        let logged = self.last_error.as_ref().map_or(&[][..], NetError::each);
        let is_known = |error: &NetError| logged.iter().any(|other| kind(other) == kind(error));
        for error in error.each().iter().filter(|error| !is_known(error)) {
            log::error!("kinepack-bevy: tick {}: {error}", self.state.tick.0);
        }
        self.last_error = Some(error);
    }

    /// Removes an entity whose spawn field changed. The entity is added again in the next tick,
    /// with another id.
    fn replace(&mut self, world: &mut World, id: EntityId) {
        self.stats.replaced += 1;
        let kind = self.state.position(id).and_then(|index| self.state.kind_at(index));
        let entity = world.get_resource::<MotionEntities>();
        let entity = entity.and_then(|entities| entities.get(MotionId(id.0)));
        if let (Some(kind), Some(entity)) = (kind, entity) {
            self.collects[kind].release(world, entity);
        }
        self.ids.give_back(id, self.state.tick);
        self.rows.clear(self.state.tick);
        expect(self.state.patch(&[id], &self.rows), "the rows of another schema");
        self.tiers.remove(id, self.state.tick);
    }

    /// Moves the hub's datagrams to the queue. In each tick, the first datagram for a client begins
    /// with the acknowledgements of the client's inputs. If the hub has no datagram for a client
    /// whose inputs have arrived, the acknowledgements travel alone, so that the client's clock
    /// learns while the world rests.
    fn transmit(&mut self) {
        let mut last = None;
        while let Some((to, datagram)) = self.hub.poll_transmit() {
            let before = self.outgoing.bytes();
            self.outgoing.push_with(to, |out| {
                if last != Some(to) {
                    self.ports.iter().for_each(|port| port.acknowledge(to, out));
                }
                out.extend_from_slice(datagram);
            });
            if let Some(client) = self.clients.get_mut(&to).filter(|_| last != Some(to)) {
                client.is_owed = false;
            }
            last = Some(to);
            self.stats.sent += 1;
            self.stats.sent_bytes += (self.outgoing.bytes() - before) as u64;
        }
        for to in self.owed.drain(..) {
            let client = self.clients.get_mut(&to);
            if !client.is_some_and(|client| std::mem::take(&mut client.is_owed)) {
                continue;
            }
            let before = self.outgoing.bytes();
            self.outgoing.push_with(to, |out| {
                self.ports.iter().for_each(|port| port.acknowledge(to, out));
            });
            self.stats.sent += 1;
            self.stats.sent_bytes += (self.outgoing.bytes() - before) as u64;
        }
    }
}
