//! Runs motion alongside `lightyear` 0.30, with a server and a client over UDP on this machine,
//! without a window. The program ends by itself, and fails if the client shows anything other than
//! the server's state.
//!
//! Run it with `cargo run` in this folder.
//!
//! Lightyear builds on `bevy_replicon`, so `MotionRepliconPlugin` works with it: lightyear spawns
//! the ships and replicates their captains, and Kinepack moves the ships. Only the channel for
//! motion needs extra code: see `map_channels`.

use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use bevy_app::{App, FixedUpdate, Startup, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::{Fixed, Time, TimePlugin};
use bevy_transform::components::Transform;
use kinepack_bevy::{
    MotionAppExt, MotionClientPlugin, MotionId, MotionRepliconPlugin, MotionServer,
    MotionServerPlugin, MotionSettings, Moving, Pose,
};
use kinepack_net::HubConfig;
use lightyear::link::DEFAULT_MTU;
use lightyear::netcode::client_plugin::NetcodeConfig;
use lightyear::prelude::client::{ClientPlugins, Connect, NetcodeClient};
use lightyear::prelude::server::{NetcodeServer, ServerPlugins, ServerUdpIo, Start};
use lightyear::prelude::{
    AppChannelExt, AppComponentExt, Authentication, ChannelMode, ChannelRegistry, ChannelSettings,
    LinkOf, LocalAddr, NetworkDirection, NetworkTarget, Replicate, ReplicationReceiver,
    ReplicationSender, UdpIo,
};
use lightyear::transport::channel::ChannelKind;
use lightyear::transport::packet::fragment_size_for_min_mtu;
use lightyear_replication::channels::RepliconChannelMap;
use serde::{Deserialize, Serialize};

const TICK_HZ: u32 = 30;
const SHIPS: u16 = 400;

/// A gameplay component of each ship.
#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Captain(String);

/// The channel of Kinepack's datagrams.
struct Motion;

/// Registers the parts that the server and the client share, after the plugins of lightyear.
fn register(app: &mut App) {
    app.add_plugins(MotionRepliconPlugin)
        .add_motion_kind::<(Pose<1_000, 100, 11>,)>("ship")
        .add_systems(Startup, map_channels);
    app.component::<Captain>().replicate();
    app.add_channel::<Motion>(ChannelSettings {
        mode: ChannelMode::UnorderedUnreliable,
        retry_unsent_messages: false,
        ..ChannelSettings::default()
    })
    .add_direction(NetworkDirection::Bidirectional);
}

/// Lightyear has a fixed map from replicon's channels to its own. Replicon uses the first two
/// channels to clients, and the first one to the server. The motion plugin gets the next channels,
/// if you add it before you register your own messages with replicon. In lightyear's map, these
/// next channels are reliable and ordered, so one lost packet would delay all motion after it. This
/// function therefore changes the map.
fn map_channels(channels: Res<ChannelRegistry>, mut map: ResMut<RepliconChannelMap>) -> Result {
    let kind = ChannelKind::of::<Motion>();
    let id = *channels.get_net_from_kind(&kind).ok_or("no channel for motion")?;
    map.server_channels[2] = (kind, id);
    map.client_channels[1] = (kind, id);
    Ok(())
}

fn server() -> Result<App, Box<dyn Error>> {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, StatesPlugin))
        .add_plugins(ServerPlugins { tick_duration: Duration::from_secs(1) / TICK_HZ });
    register(&mut app);
    // Lightyear splits longer datagrams, and losing any part of one loses all of it.
    let datagram_bytes = fragment_size_for_min_mtu(DEFAULT_MTU).ok_or("packets are too short")?;
    let hub = HubConfig { datagram_bytes, ..HubConfig::default() };
    let settings = MotionSettings::at_hz(TICK_HZ);
    app.add_plugins(MotionServerPlugin { hub, ..MotionServerPlugin::new(settings) })
        .add_systems(Startup, spawn_ships)
        .add_systems(FixedUpdate, move_ships)
        .add_observer(|add: On<Add, LinkOf>, mut commands: Commands| {
            commands.entity(add.entity).insert(ReplicationSender);
        });
    finish(&mut app);
    let socket = (ServerUdpIo::default(), LocalAddr("127.0.0.1:0".parse()?));
    let netcode = NetcodeServer::new(Default::default());
    let entity = app.world_mut().spawn((netcode, socket)).id();
    app.world_mut().trigger(Start { entity });
    Ok(app)
}

fn spawn_ships(mut commands: Commands) {
    commands.spawn_batch((0..SHIPS).map(|number| {
        let place = Transform::from_xyz(number.into(), 0.0, 0.0);
        let captain = Captain(format!("Captain {number}"));
        (Moving, place, captain, Replicate::to_clients(NetworkTarget::All))
    }));
}

fn move_ships(mut ships: Query<&mut Transform>, time: Res<Time<Fixed>>) {
    let now = time.elapsed_secs().min(2.0);
    for mut ship in &mut ships {
        ship.translation.y = 10.0 * (ship.translation.x + 2.0 * now).sin();
    }
}

fn client(server_addr: SocketAddr) -> Result<App, Box<dyn Error>> {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, StatesPlugin))
        .add_plugins(ClientPlugins { tick_duration: Duration::from_secs(1) / TICK_HZ });
    register(&mut app);
    app.add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(TICK_HZ)));
    finish(&mut app);
    // A game uses `Token` instead of `Manual`.
    let manual =
        Authentication::Manual { server_addr, client_id: 1, private_key: [0; 32], protocol_id: 0 };
    let netcode = NetcodeClient::new(manual, NetcodeConfig::default())?;
    let socket = (UdpIo::default(), LocalAddr("127.0.0.1:0".parse()?));
    let entity = app.world_mut().spawn((netcode, socket, ReplicationReceiver)).id();
    app.world_mut().trigger(Connect { entity });
    Ok(app)
}

/// Finishes an app's plugins. In a game, `App::run` does this.
fn finish(app: &mut App) {
    app.finish();
    app.cleanup();
}

/// Returns all ships of an app, in the order of their ids.
fn ships(app: &mut App) -> Vec<(MotionId, Transform, Captain)> {
    let world = app.world_mut();
    let mut ships = world.query::<(&MotionId, &Transform, &Captain)>();
    let ships = ships.iter(world).map(|(id, place, captain)| (*id, *place, captain.clone()));
    let mut ships: Vec<_> = ships.collect();
    ships.sort_unstable_by_key(|(id, ..)| *id);
    ships
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut server = server()?;
    server.update();
    let world = server.world_mut();
    let address = world.query_filtered::<&LocalAddr, With<NetcodeServer>>().single(world)?.0;
    let mut client = client(address)?;
    // In a game, each app is a program of its own that calls `App::run`.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        server.update();
        client.update();
        thread::sleep(Duration::from_millis(5));
    }
    let (has, shows) = (ships(&mut server), ships(&mut client));
    let stats = server.world().resource::<MotionServer>().stats();
    println!("the server sent {} datagrams, {} bytes", stats.sent, stats.sent_bytes);
    println!("the client shows {} ships", shows.len());
    let is_same = |(has, shown): (&(_, Transform, Captain), &(_, Transform, Captain))| {
        let is_near = has.1.translation.distance(shown.1.translation) < 0.01;
        has.0 == shown.0 && is_near && has.2 == shown.2
    };
    if shows.len() != usize::from(SHIPS) || !has.iter().zip(&shows).all(is_same) {
        return Err("the client does not show what the server has".into());
    }
    Ok(())
}
