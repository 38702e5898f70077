//! Simulates the network between a server and its clients. It has a delay of 50 ms in each
//! direction, and a loss of 1 % on unreliable channels. On reliable channels, every message arrives
//! after the delay. Messages that are longer than a packet are sliced, as `renet` does.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Sub;
use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::*;
use bevy_state::state::NextState;
use kinepack_net::{HEADER_BYTES, Link, LinkConfig, LinkError, Loss};

/// The longest packet, without headers.
pub(crate) const PACKET_BYTES: usize = 1_200;
const LATENCY: Duration = Duration::from_millis(50);

/// The packets of one direction, without headers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traffic {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Traffic {
    /// Returns the number of bytes with IPv4 and UDP headers, if each message has packets of its
    /// own.
    pub(crate) fn bytes_with_headers(&self) -> u64 {
        self.bytes + self.packets * u64::from(HEADER_BYTES)
    }
}

impl Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { packets: self.packets - before.packets, bytes: self.bytes - before.bytes }
    }
}

/// The messages of reliable channels, each with its arrival time and channel.
type Reliable = VecDeque<(Duration, usize, Vec<u8>)>;

/// One direction of a connection.
struct Direction {
    lossy: Link,
    /// The number of messages sent on unreliable channels.
    sent: u32,
    /// The slices of incomplete messages, by the number of the message.
    slices: BTreeMap<u32, Vec<Vec<u8>>>,
    reliable: Reliable,
    traffic: Traffic,
}

impl Direction {
    fn new(seed: u64) -> Result<Self, LinkError> {
        let loss = Loss::Independent { ratio: 0.01 };
        let config = LinkConfig { latency: LATENCY, loss, ..LinkConfig::PERFECT };
        Ok(Self {
            lossy: Link::new(config, seed)?,
            sent: 0,
            slices: BTreeMap::new(),
            reliable: VecDeque::new(),
            traffic: Traffic::default(),
        })
    }

    fn send(&mut self, now: Duration, kind: Channel, channel: usize, message: &[u8]) {
        let count = message.len().div_ceil(PACKET_BYTES);
        self.traffic.packets += count as u64;
        self.traffic.bytes += message.len() as u64;
        if kind != Channel::Unreliable {
            self.reliable.push_back((now + LATENCY, channel, message.to_vec()));
            return;
        }
        // Slices cannot overtake each other on this link.
        let [a, b, c, d] = self.sent.to_le_bytes();
        self.sent += 1;
        for slice in message.chunks(PACKET_BYTES) {
            self.lossy.send(now, &[&[a, b, c, d, count as u8, channel as u8], slice].concat());
        }
    }

    fn receive(&mut self, now: Duration, mut take: impl FnMut(usize, Vec<u8>)) {
        while let Some((_, channel, message)) = self.reliable.pop_front_if(|(due, ..)| *due <= now)
        {
            take(channel, message);
        }
        while let Some(packet) = self.lossy.poll(now) {
            let Some(([a, b, c, d, count, channel], slice)) = packet.split_first_chunk() else {
                continue;
            };
            let number = u32::from_le_bytes([*a, *b, *c, *d]);
            let slices = self.slices.entry(number).or_default();
            slices.push(slice.to_vec());
            if slices.len() == usize::from(*count) {
                take((*channel).into(), slices.concat());
                self.slices = self.slices.split_off(&(number + 1));
            }
        }
    }
}

/// The connection of one client.
pub(crate) struct Connection {
    client: Entity,
    up: Direction,
    down: Direction,
}

impl Connection {
    pub(crate) fn new(server: &mut App, client: &mut App, seed: u64) -> Result<Self, LinkError> {
        server.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
        client.world_mut().resource_mut::<NextState<ClientState>>().set(ClientState::Connected);
        let entity = server.world_mut().spawn(ConnectedClient { max_size: 1_200 }).id();
        let (up, down) = (Direction::new(2 * seed)?, Direction::new(2 * seed + 1)?);
        Ok(Self { client: entity, up, down })
    }

    /// Runs after the server's frame. Takes the server's messages to this client, and delivers the
    /// client's messages.
    pub(crate) fn exchange_down(&mut self, now: Duration, server: &mut App) {
        let channels = server.world().resource::<RepliconChannels>().clone();
        let mut messages = server.world_mut().resource_mut::<ServerMessages>();
        messages.retain_sent(|(client, channel, message)| {
            let is_other = *client != self.client;
            if !is_other {
                let kind = channels.server_channels()[*channel];
                self.down.send(now, kind, *channel, message);
            }
            is_other
        });
        self.up.receive(now, |channel, message| {
            messages.insert_received(self.client, channel, message);
        });
    }

    /// Runs after the client's frame. Takes the client's messages, and delivers the server's
    /// messages.
    pub(crate) fn exchange_up(&mut self, now: Duration, client: &mut App) {
        let channels = client.world().resource::<RepliconChannels>().clone();
        let mut messages = client.world_mut().resource_mut::<ClientMessages>();
        for (channel, message) in messages.drain_sent() {
            self.up.send(now, channels.client_channels()[channel], channel, &message);
        }
        self.down.receive(now, |channel, message| messages.insert_received(channel, message));
    }

    /// Returns the traffic to the client and to the server.
    pub(crate) fn traffic(&self) -> [Traffic; 2] {
        [self.down.traffic, self.up.traffic]
    }
}
