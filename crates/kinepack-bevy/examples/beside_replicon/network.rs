//! The network between a server and its clients: 50 ms each way, and a loss of 1 % on unreliable
//! channels. Messages of the others arrive late, but all of them.

use std::collections::VecDeque;
use std::ops::Sub;
use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::*;
use bevy_state::state::NextState;
use kinepack_net::{HEADER_BYTES, Link, LinkConfig, LinkError, Loss};

const LATENCY: Duration = Duration::from_millis(50);

/// What went in one direction.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traffic {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl Traffic {
    fn add(&mut self, message: &[u8]) {
        self.messages += 1;
        self.bytes += message.len() as u64;
    }

    /// Bytes, if each message is a datagram with IPv4 and UDP headers.
    pub(crate) fn bytes_with_headers(&self) -> u64 {
        self.bytes + self.messages * u64::from(HEADER_BYTES)
    }
}

impl Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { messages: self.messages - before.messages, bytes: self.bytes - before.bytes }
    }
}

/// Messages of reliable channels: when they arrive, the channel, and the message.
type Reliable = VecDeque<(Duration, usize, Vec<u8>)>;

/// One direction of a connection.
struct Direction {
    lossy: Link,
    reliable: Reliable,
    traffic: Traffic,
}

impl Direction {
    fn new(seed: u64) -> Result<Self, LinkError> {
        let loss = Loss::Independent { ratio: 0.01 };
        let config = LinkConfig { latency: LATENCY, loss, ..LinkConfig::PERFECT };
        let lossy = Link::new(config, seed)?;
        Ok(Self { lossy, reliable: VecDeque::new(), traffic: Traffic::default() })
    }

    fn send(&mut self, now: Duration, kind: Channel, channel: usize, message: &[u8]) {
        self.traffic.add(message);
        if kind == Channel::Unreliable {
            self.lossy.send(now, &[&[channel as u8], message].concat());
        } else {
            self.reliable.push_back((now + LATENCY, channel, message.to_vec()));
        }
    }

    fn receive(&mut self, now: Duration, mut take: impl FnMut(usize, Vec<u8>)) {
        while let Some((_, channel, message)) = self.reliable.pop_front_if(|(due, ..)| *due <= now)
        {
            take(channel, message);
        }
        while let Some(mut message) = self.lossy.poll(now) {
            let channel = message.remove(0);
            take(channel.into(), message);
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

    /// After the server's frame: takes what it sent to this client, and hands it what arrives.
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

    /// After the client's frame, the same.
    pub(crate) fn exchange_up(&mut self, now: Duration, client: &mut App) {
        let channels = client.world().resource::<RepliconChannels>().clone();
        let mut messages = client.world_mut().resource_mut::<ClientMessages>();
        for (channel, message) in messages.drain_sent() {
            self.up.send(now, channels.client_channels()[channel], channel, &message);
        }
        self.down.receive(now, |channel, message| messages.insert_received(channel, message));
    }

    /// What went down and up.
    pub(crate) fn traffic(&self) -> [Traffic; 2] {
        [self.down.traffic, self.up.traffic]
    }
}
