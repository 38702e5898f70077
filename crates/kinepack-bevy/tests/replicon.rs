//! Tests of motion alongside `bevy_replicon`, which spawns and despawns the entities that this
//! crate moves. The links lose datagrams of unreliable channels, and keep the messages of other
//! channels in order.

#![cfg(feature = "replicon")]

use std::time::Duration;

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_state::state::NextState;
use bevy_transform::components::Transform;
use kinepack_bevy::{
    MotionAppExt, MotionClient, MotionClientPlugin, MotionEntities, MotionId, MotionRepliconPlugin,
    MotionServer, MotionServerPlugin, MotionSettings, Moving,
};
use kinepack_net::{Link, LinkConfig};
use serde::{Deserialize, Serialize};

use crate::support::{LOSSY, ShipPose, TICK_HZ, app};

/// A gameplay component that replicon replicates.
#[derive(Component, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[require(Moving, Transform)]
struct Rock {
    name: String,
}

fn register(app: &mut App) {
    app.add_plugins((StatesPlugin, RepliconPlugins, MotionRepliconPlugin))
        .replicate::<Rock>()
        .add_motion_kind::<(ShipPose,)>("body");
}

fn drift(mut rocks: Query<&mut Transform, With<Rock>>) {
    rocks.iter_mut().for_each(|mut rock| rock.translation.x += 0.05);
}

struct Session {
    server: App,
    client: App,
    entity: Entity,
    up: Link,
    down: Link,
    now: Duration,
}

impl Session {
    fn new(config: LinkConfig) -> Self {
        let settings = MotionSettings::at_hz(TICK_HZ);
        let (mut server, mut client) = (app(), app());
        server
            .add_plugins(MotionServerPlugin::new(settings.clone()))
            .add_systems(FixedUpdate, drift);
        register(&mut server);
        register(&mut client);
        client.add_plugins(MotionClientPlugin::new(settings));
        for app in [&mut server, &mut client] {
            app.finish();
            app.cleanup();
        }
        server.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
        server.update();
        let link = |seed| Link::new(config, seed).expect("a valid link");
        let mut session = Self {
            server,
            client,
            entity: Entity::PLACEHOLDER,
            up: link(1),
            down: link(2),
            now: Duration::ZERO,
        };
        session.connect();
        session
    }

    fn connect(&mut self) {
        self.entity = self.server.world_mut().spawn(ConnectedClient { max_size: 1_200 }).id();
        self.set_state(ClientState::Connected);
    }

    fn disconnect(&mut self) {
        self.server.world_mut().despawn(self.entity);
        self.set_state(ClientState::Disconnected);
    }

    fn set_state(&mut self, state: ClientState) {
        self.client.world_mut().resource_mut::<NextState<ClientState>>().set(state);
        self.client.update();
    }

    fn step(&mut self) {
        self.now += Duration::from_secs(1) / TICK_HZ;
        self.server.update();
        self.exchange();
        self.client.update();
        self.exchange();
    }

    fn run(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.step());
    }

    /// Passes messages on. Those of unreliable channels pass through the links, with the channel's
    /// number in front.
    fn exchange(&mut self) {
        let (server, client) = (self.server.world_mut(), self.client.world_mut());
        let channels = client.resource::<RepliconChannels>().clone();
        let mut to_server = server.resource_mut::<ServerMessages>();
        let mut to_client = client.resource_mut::<ClientMessages>();
        for (channel, message) in to_client.drain_sent() {
            match channels.client_channels()[channel] {
                Channel::Unreliable => {
                    self.up.send(self.now, &[&[channel as u8], &message[..]].concat());
                }
                _ => to_server.insert_received(self.entity, channel, message),
            }
        }
        for (_, channel, message) in to_server.drain_sent() {
            match channels.server_channels()[channel] {
                Channel::Unreliable => {
                    self.down.send(self.now, &[&[channel as u8], &message[..]].concat());
                }
                _ => to_client.insert_received(channel, message),
            }
        }
        while let Some(datagram) = self.up.poll(self.now) {
            to_server.insert_received(
                self.entity,
                usize::from(datagram[0]),
                datagram[1..].to_vec(),
            );
        }
        while let Some(datagram) = self.down.poll(self.now) {
            to_client.insert_received(usize::from(datagram[0]), datagram[1..].to_vec());
        }
    }

    fn rock(&mut self, name: &str) -> Entity {
        self.server.world_mut().spawn(Rock { name: name.into() }).id()
    }

    /// The client's rocks, each with its id, its name, and its distance from the server's newest
    /// position.
    fn rocks(&mut self) -> Vec<(u32, String, Option<f32>)> {
        let world = self.client.world_mut();
        let mut query = world.query::<(&MotionId, &Rock, Option<&Transform>)>();
        let mut rocks: Vec<_> = query
            .iter(world)
            .map(|(id, rock, at)| (*id, rock.name.clone(), at.copied()))
            .map(|(id, name, at)| {
                let server = self.server.world();
                let entity = server.resource::<MotionEntities>().get(id);
                let exact = entity.and_then(|entity| server.get::<Transform>(entity));
                let behind =
                    exact.zip(at).map(|(exact, at)| exact.translation.x - at.translation.x);
                (id.0, name, behind)
            })
            .collect();
        rocks.sort_by_key(|(id, ..)| *id);
        rocks
    }
}

#[test]
fn replicon_spawns_and_kinepack_moves() {
    let mut session = Session::new(LOSSY);
    let first = session.rock("first");
    session.rock("second");
    session.run(60);
    session.rock("third");
    session.run(120);
    let rocks = session.rocks();
    let names: Vec<&str> = rocks.iter().map(|(_, name, _)| &name[..]).collect();
    assert_eq!(names, ["first", "second", "third"]);
    for (id, name, behind) in &rocks {
        // The distance is at most 15 ticks of 0.05 m.
        assert!(
            behind.is_some_and(|behind| (0.0..0.75).contains(&behind)),
            "{id} {name} {behind:?}"
        );
    }
    session.server.world_mut().despawn(first);
    session.run(60);
    assert_eq!(session.rocks().len(), 2);
    let client = session.client.world();
    assert_eq!(client.resource::<MotionEntities>().len(), 2);
    let stats = client.resource::<MotionClient>().stats();
    assert_eq!((stats.receiver.mismatches, stats.receiver.unmerged), (0, 0));
    let newest = client.resource::<MotionClient>().newest().expect("states arrive");
    assert_eq!(newest.len(), 2);
}

#[test]
fn a_client_reconnects() {
    let mut session = Session::new(LinkConfig::PERFECT);
    session.rock("first");
    session.run(60);
    session.disconnect();
    session.run(10);
    assert_eq!(session.server.world().resource::<MotionServer>().clients().count(), 0);
    // Replicon expects the program to despawn the entities that replicon had spawned.
    let world = session.client.world_mut();
    let old: Vec<Entity> = world.query_filtered::<Entity, With<Remote>>().iter(world).collect();
    old.into_iter().for_each(|entity| _ = world.despawn(entity));
    session.connect();
    session.run(60);
    let rocks = session.rocks();
    assert_eq!(rocks.len(), 1);
    assert!(rocks[0].2.is_some_and(|behind| behind < 0.5), "{rocks:?}");
}
