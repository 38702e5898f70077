//! Sends motion through plain `renet`, with a server and a client over UDP on this machine, without
//! a window. The example ends by itself, and fails if the client shows anything other than the
//! server's state.
//!
//! `cargo run -p kinepack-bevy --example beside_renet`
//!
//! `link.rs` contains everything that a game needs. If your own messages name a ship, send its
//! `MotionId`: `MotionEntities` finds the entity on the other side.

mod link;

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bevy_app::{App, FixedUpdate, PostUpdate, PreUpdate, Startup};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin};
use bevy_transform::components::Transform;
use kinepack_bevy::{
    MotionAppExt, MotionClientPlugin, MotionClientSystems, MotionId, MotionServer,
    MotionServerPlugin, MotionServerSystems, MotionSettings, Moving, Pose,
};
use link::{Client, Server};
use renet::{ConnectionConfig, RenetClient, RenetServer};
use renet_netcode::{
    ClientAuthentication, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication,
    ServerConfig,
};

const GAME: u64 = u64::from_le_bytes(*b"ships   ");
const SHIPS: u16 = 400;

/// The part of the app that the server and its clients share.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin).add_motion_kind::<(Pose<1_000, 100, 11>,)>("ship");
    app
}

fn server(transport: NetcodeServerTransport) -> App {
    let settings = MotionSettings::at_hz(30);
    let mut app = app();
    app.add_plugins(MotionServerPlugin { hub: link::hub(), ..MotionServerPlugin::new(settings) })
        .insert_resource(Server(RenetServer::new(ConnectionConfig::default()), transport))
        .add_systems(Startup, spawn_ships)
        .add_systems(FixedUpdate, move_ships)
        .add_systems(PreUpdate, link::receive_on_server.before(MotionServerSystems::Receive))
        .add_systems(PostUpdate, link::send_from_server);
    app
}

fn spawn_ships(mut commands: Commands) {
    let place = |number: u16| Transform::from_xyz(number.into(), 0.0, 0.0);
    commands.spawn_batch((0..SHIPS).map(move |number| (Moving, place(number))));
}

fn move_ships(mut ships: Query<&mut Transform>, time: Res<Time<Fixed>>) {
    let now = time.elapsed_secs().min(2.0);
    for mut ship in &mut ships {
        ship.translation.y = 10.0 * (ship.translation.x + 2.0 * now).sin();
    }
}

fn client(transport: NetcodeClientTransport) -> App {
    let renet = RenetClient::new(ConnectionConfig::default());
    let mut app = app();
    app.add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(30)))
        .insert_resource(Client(renet, transport, Vec::new()))
        .add_systems(PreUpdate, link::receive_on_client.before(MotionClientSystems::Receive))
        .add_systems(PostUpdate, link::send_from_client.after(MotionClientSystems::Send));
    app
}

/// Opens both ends on free ports of this machine. A game uses `Secure` with `ConnectToken`s
/// instead.
fn transports() -> Result<(NetcodeServerTransport, NetcodeClientTransport), Box<dyn Error>> {
    let (protocol_id, any) = (GAME, "127.0.0.1:0".parse::<SocketAddr>()?);
    let current_time = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let socket = UdpSocket::bind(any)?;
    let server_addr = socket.local_addr()?;
    let public_addresses = vec![server_addr];
    let authentication = ServerAuthentication::Unsecure;
    let config = ServerConfig {
        current_time,
        max_clients: 8,
        protocol_id,
        public_addresses,
        authentication,
    };
    let server = NetcodeServerTransport::new(config, socket)?;
    let to_server =
        ClientAuthentication::Unsecure { protocol_id, client_id: 1, server_addr, user_data: None };
    Ok((server, NetcodeClientTransport::new(current_time, to_server, UdpSocket::bind(any)?)?))
}

/// All ships of an app, in the order of their ids.
fn ships(app: &mut App) -> Vec<(MotionId, Transform)> {
    let world = app.world_mut();
    let mut ships = world.query::<(&MotionId, &Transform)>();
    let mut ships: Vec<_> = ships.iter(world).map(|(id, place)| (*id, *place)).collect();
    ships.sort_unstable_by_key(|(id, _)| *id);
    ships
}

fn main() -> Result<(), Box<dyn Error>> {
    let (of_server, of_client) = transports()?;
    let (mut server, mut client) = (server(of_server), client(of_client));
    for app in [&mut server, &mut client] {
        app.finish();
        app.cleanup();
    }
    // In a game, each app is a program of its own that calls `App::run`.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        server.update();
        client.update();
        thread::sleep(Duration::from_millis(5));
    }
    let (has, shows) = (ships(&mut server), ships(&mut client));
    let stats = server.world().resource::<MotionServer>().stats();
    let Client(.., chat) = client.world().resource::<Client>();
    println!("the server sent {} datagrams, {} bytes", stats.sent, stats.sent_bytes);
    println!("the client shows {} ships and read {chat:?}", shows.len());
    let is_same = |(has, shown): (&(_, Transform), &(_, Transform))| {
        has.0 == shown.0 && has.1.translation.distance(shown.1.translation) < 0.01
    };
    let are_same = shows.len() == usize::from(SHIPS) && has.iter().zip(&shows).all(is_same);
    if !are_same || chat != &["Welcome!"] {
        return Err("the client does not show what the server has".into());
    }
    Ok(())
}
