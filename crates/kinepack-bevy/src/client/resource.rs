//! The client's state: the receiver, and what it shows.

use std::time::Duration;

use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use bevy_time::{Real, Time};
use kinepack::{Codec, Snapshot};
use kinepack_net::{
    Channel, DatagramKind, EventKinds, Mismatch, PlayoutStats, Receiver, ReceiverConfig,
    ReceiverStats, ReceiverStatus, Seen, datagram_kind, split_datagram,
};

use super::prediction::{Predictions, clear_all, follow_all};
use super::{ClientPort, Hear, Jumped, MotionClientPlugin, MotionInputClock, Show};
use crate::late::KindSetup;
use crate::settings::expect;
use crate::{Datagrams, MotionEntities, MotionId, Registry};

/// Statistics of a client: the counters of its connection and its playback.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClientStats {
    /// The receiver's counters.
    pub receiver: ReceiverStats,
    /// The measurements of playback.
    pub playout: PlayoutStats,
    /// The round trip, the losses, and the server's time.
    pub status: ReceiverStatus,
    /// The number of datagrams for the server.
    pub sent: u64,
    /// The bytes of the datagrams for the server.
    pub sent_bytes: u64,
    /// The number of parts of datagrams that no endpoint of the client expects, or that a stream of
    /// inputs refused.
    pub refused: u64,
}

/// The client's side of the connection. A transport connects it to the server through its fields.
#[derive(Resource)]
pub struct MotionClient {
    /// Datagrams from the server. A transport appends them before
    /// [`Receive`](super::MotionClientSystems::Receive).
    pub incoming: Datagrams<()>,
    /// Datagrams for the server. A transport sends and clears them after
    /// [`Send`](super::MotionClientSystems::Send).
    pub outgoing: Datagrams<()>,
    codec: Codec,
    config: ReceiverConfig,
    events: Option<EventKinds>,
    /// The receiver. `None` without a connection.
    receiver: Option<Receiver>,
    /// Whether the shown entities belong to a connection that has ended.
    is_over: bool,
    now: Duration,
    tick: Option<f64>,
    is_starved: bool,
    spawns: bool,
    setups: Vec<KindSetup>,
    shows: Vec<Box<dyn Show>>,
    hears: Vec<Hear>,
    ports: Vec<ClientPort>,
    /// Scratch memory: the acknowledgement in front of the next datagram.
    front: Vec<u8>,
    stats: ClientStats,
}

impl MotionClient {
    pub(super) fn new(
        plugin: &MotionClientPlugin,
        mut registry: Registry,
        world: &mut World,
    ) -> Self {
        if registry.has_tick_inputs() {
            world.insert_resource(MotionInputClock::new(plugin.input_clock));
        }
        for (show, setup) in registry.shows.iter_mut().zip(&registry.setups) {
            show.set_up(setup);
        }
        let codec = registry.codec(&plugin.settings);
        let ports = registry.client_ports(&plugin.settings, world);
        let predictions = registry.predictions(codec.schema(), world);
        world.insert_resource(Predictions(predictions));
        let client = Self {
            incoming: Datagrams::default(),
            outgoing: Datagrams::default(),
            codec,
            config: ReceiverConfig { channel: Channel::default(), ..plugin.receiver.clone() },
            events: registry.event_kinds(&plugin.settings),
            receiver: None,
            is_over: false,
            now: Duration::ZERO,
            tick: None,
            is_starved: false,
            spawns: plugin.spawns,
            ports,
            setups: registry.setups,
            shows: registry.shows,
            hears: registry.hears,
            front: Vec::new(),
            stats: ClientStats::default(),
        };
        // Report wrong settings now, and not only when the program connects.
        drop(client.new_receiver());
        client
    }

    fn new_receiver(&self) -> Receiver {
        let receiver = Receiver::new(&self.codec, self.config.clone());
        let mut receiver = expect(receiver, "the receiver's settings");
        for KindSetup { name, extrapolation, .. } in &self.setups {
            let set = receiver.set_extrapolation(name, *extrapolation);
            expect(set, "the extrapolation of a kind");
        }
        match &self.events {
            Some(events) => receiver.with_events(events),
            None => receiver,
        }
    }

    /// Begins to exchange datagrams with the server. Call this from a transport that has a
    /// connection to it. The entities of an earlier connection disappear.
    pub fn connect(&mut self) {
        self.disconnect();
        self.receiver = Some(self.new_receiver());
        self.stats = ClientStats::default();
    }

    /// Ends the connection. All entities disappear.
    pub fn disconnect(&mut self) {
        self.receiver = None;
        self.tick = None;
        self.is_over = true;
        self.incoming.clear();
        self.outgoing.clear();
    }

    /// Lets other code spawn and despawn the entities.
    #[cfg(feature = "replicon")]
    pub(crate) fn leave_spawning(&mut self) {
        self.spawns = false;
    }

    /// Whether [`connect`](Self::connect) was called, and not [`disconnect`](Self::disconnect)
    /// since then.
    pub fn is_connected(&self) -> bool {
        self.receiver.is_some()
    }

    /// Why the server refuses this client, if it does. The reason is that the two register
    /// different kinds, or have different settings.
    pub fn mismatch(&self) -> Option<Mismatch> {
        self.receiver.as_ref()?.mismatch()
    }

    /// The shown tick, with its fraction. `None` before the first state.
    pub fn tick(&self) -> Option<f64> {
        self.tick
    }

    /// Whether the newest state is shown because no newer one arrived in time.
    pub fn is_starved(&self) -> bool {
        self.is_starved
    }

    /// What the last frame showed, as a field for the inputs that the player makes in view of it:
    /// see [`MotionRewind`](crate::MotionRewind). `None` before the first state.
    pub fn seen(&self) -> Option<Seen> {
        self.receiver.as_ref()?.seen()
    }

    /// The newest state that has arrived. It is ahead of the shown state.
    pub fn newest(&self) -> Option<&Snapshot> {
        self.receiver.as_ref()?.newest()
    }

    /// The receiver, for finer measurements.
    pub fn receiver(&self) -> Option<&Receiver> {
        self.receiver.as_ref()
    }

    /// The statistics since the client connected.
    pub fn stats(&self) -> ClientStats {
        match &self.receiver {
            Some(receiver) => ClientStats {
                receiver: receiver.stats(),
                playout: receiver.playout_stats(),
                status: receiver.status(self.now),
                ..self.stats
            },
            None => self.stats,
        }
    }

    /// Passes the datagrams that have arrived to their endpoints.
    pub(super) fn receive(&mut self, world: &mut World) {
        self.now = world.resource::<Time<Real>>().elapsed();
        if std::mem::take(&mut self.is_over) {
            if self.spawns {
                despawn_all(world);
            }
            self.ports.iter().for_each(|port| (port.begin)(world));
            if let Some(mut clock) = world.get_resource_mut::<MotionInputClock>() {
                clock.stop();
            }
            clear_all(world);
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        for ((), datagram) in incoming.iter() {
            match split_datagram(datagram) {
                Ok(parts) => parts.for_each(|part| self.take(world, part)),
                Err(_) => self.stats.refused += 1,
            }
        }
        incoming.clear();
        self.incoming = incoming;
        let clock = world.get_resource_mut::<MotionInputClock>();
        if let (Some(mut clock), Some(receiver)) = (clock, &self.receiver) {
            clock.start(self.now, receiver);
        }
        if let Some(receiver) = &self.receiver {
            follow_all(world, receiver);
        }
    }

    /// Passes a part of a datagram to its endpoint.
    fn take(&mut self, world: &mut World, part: &[u8]) {
        let Some(receiver) = &mut self.receiver else { return };
        let is_taken = match datagram_kind(part) {
            // The receiver counts what it refuses.
            Some(DatagramKind::ToReceiver) => {
                let _ = receiver.handle(self.now, part);
                true
            }
            Some(DatagramKind::StreamAcknowledgement) => {
                let channel = Channel::from_datagram(part);
                let port = self.ports.iter().find(|port| port.channel == channel);
                port.is_some_and(|port| (port.take)(world, part))
            }
            _ => false,
        };
        self.stats.refused += u64::from(!is_taken);
    }

    /// Writes the state of this moment into the world.
    pub(super) fn play(&mut self, world: &mut World) {
        let playback = self.receiver.as_mut().and_then(|receiver| receiver.playback(self.now));
        let Some(playback) = playback else { return };
        self.tick = Some(playback.tick);
        self.is_starved = playback.is_starved();
        if self.spawns {
            for id in playback.removed() {
                if let Some(entity) = world.resource::<MotionEntities>().get(MotionId(id.0)) {
                    world.despawn(entity);
                }
            }
        }
        for (kind, show) in self.shows.iter_mut().enumerate() {
            show.begin(self.now);
            show.show(world, &playback, kind, self.spawns);
        }
        for id in playback.cut().iter().map(|id| MotionId(id.0)) {
            if let Some(entity) = world.resource::<MotionEntities>().get(id) {
                world.write_message(Jumped { entity, id });
            }
        }
        for event in playback.events() {
            if let Some(hear) = self.hears.get(event.kind()) {
                hear(world, &event);
            }
        }
    }

    /// Makes the datagrams for the server. The acknowledgement of states travels in front of the
    /// first inputs.
    pub(super) fn send(&mut self, world: &mut World) {
        let Some(receiver) = &mut self.receiver else { return };
        let (before, before_bytes) = (self.outgoing.len(), self.outgoing.bytes());
        self.front.clear();
        if let Some(acknowledgement) = receiver.poll_acknowledgement() {
            acknowledgement.write(&mut self.front);
        }
        while let Some(datagram) = receiver.poll_transmit(self.now) {
            self.outgoing.push((), datagram);
        }
        for port in &self.ports {
            self.outgoing.push_with((), |out| {
                let start = out.len();
                out.extend_from_slice(&self.front);
                if (port.send)(world, out) {
                    self.front.clear();
                } else {
                    out.truncate(start);
                }
            });
        }
        self.outgoing.push((), &self.front);
        self.stats.sent += (self.outgoing.len() - before) as u64;
        self.stats.sent_bytes += (self.outgoing.bytes() - before_bytes) as u64;
    }
}

fn despawn_all(world: &mut World) {
    let entities: Vec<Entity> =
        world.resource::<MotionEntities>().iter().map(|(_, entity)| entity).collect();
    for entity in entities {
        world.despawn(entity);
    }
}
