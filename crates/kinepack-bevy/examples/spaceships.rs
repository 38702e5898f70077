//! Two players fly ships over encrypted UDP, without a window: a server and two clients, each an
//! app of its own. It ends by itself after three seconds.
//!
//! `cargo run -p kinepack-bevy --features udp --example spaceships`
//!
//! Copy `register` and `server` to your server, and `register` and `client` to your client. There
//! you add `DefaultPlugins`, which contain `TimePlugin`, and a mesh to each new ship.

use std::collections::HashMap;
use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use bevy_app::{App, FixedUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin};
use bevy_transform::components::Transform;
use kinepack::Pack;
use kinepack_bevy::{
    ClientJoined, ClientLeft, Emit, Happened, Input, MotionAppExt, MotionClientPlugin,
    MotionEntities, MotionId, MotionInputs, MotionServerPlugin, MotionSettings, MotionUdpClient,
    MotionUdpClientPlugin, MotionUdpServer, MotionUdpServerPlugin, Moving, Pose,
};
use kinepack_net::ReceiverId;
use kinepack_udp::{ClientOptions, Secret, ServerOptions};

const GAME: u64 = u64::from_le_bytes(*b"ships   ");
const TICK_HZ: u32 = 30;

#[derive(Component, Pack, Clone, Default, PartialEq)]
#[require(Moving, Transform, Shield)]
struct Ship;

#[derive(Component, Pack, Clone, Debug, PartialEq)]
struct Shield(#[pack(max = 100)] u8);

impl Default for Shield {
    fn default() -> Self {
        Self(100)
    }
}

/// What a player does in a tick.
#[derive(Pack, Default)]
struct Steer {
    #[pack(range = -1.0..=1.0, precision = 0.01)]
    turn: f32,
    thrust: bool,
}

/// A ship was hit.
#[derive(Pack)]
struct Hit {
    ship: u32,
}

/// The same on both sides.
fn register(app: &mut App) {
    app.add_motion_kind::<(Ship, Pose<2_000, 100, 11>, Shield)>("ship")
        .add_motion_event::<Hit>("hit")
        .add_motion_input::<Steer>();
}

// The server.

fn server(secret: &Secret) -> Result<(App, SocketAddr), Box<dyn Error>> {
    let socket = MotionUdpServer::bind("127.0.0.1:0".parse()?, secret, ServerOptions::new(GAME))?;
    let address = socket.local_addr();
    let mut app = App::new();
    register(&mut app);
    app.add_plugins(TimePlugin)
        .add_plugins(MotionServerPlugin::new(MotionSettings::at_hz(TICK_HZ)))
        .add_plugins(MotionUdpServerPlugin)
        .insert_resource(socket)
        .init_resource::<Players>()
        .add_systems(FixedUpdate, (join, steer, hit).chain());
    Ok((app, address))
}

/// The ship of each player.
#[derive(Resource, Default)]
struct Players(HashMap<ReceiverId, Entity>);

fn join(
    mut commands: Commands,
    mut joined: MessageReader<ClientJoined>,
    mut left: MessageReader<ClientLeft>,
    mut players: ResMut<Players>,
) {
    for ClientJoined { client } in joined.read() {
        players.0.insert(*client, commands.spawn(Ship).id());
    }
    for ClientLeft { client } in left.read() {
        if let Some(ship) = players.0.remove(client) {
            commands.entity(ship).despawn();
        }
    }
}

fn steer(
    mut inputs: MessageReader<Input<Steer>>,
    mut ships: Query<&mut Transform, With<Ship>>,
    players: Res<Players>,
) {
    for Input { client, input, .. } in inputs.read() {
        let ship = players.0.get(client);
        let Some(mut ship) = ship.and_then(|ship| ships.get_mut(*ship).ok()) else { continue };
        ship.rotate_z(input.turn / TICK_HZ as f32);
        if input.thrust {
            let forward = ship.local_y() * 50.0 / TICK_HZ as f32;
            ship.translation += forward;
        }
    }
}

/// A meteor hits a ship each second.
fn hit(
    mut ships: Query<(&MotionId, &mut Shield)>,
    mut hits: MessageWriter<Emit<Hit>>,
    time: Res<Time<Fixed>>,
    mut next: Local<u64>,
) {
    if time.elapsed().as_secs() > *next {
        *next += 1;
        for (id, mut shield) in &mut ships {
            shield.0 = shield.0.saturating_sub(10);
            hits.write(Emit::to_seeing(*id, Hit { ship: id.0 }));
        }
    }
}

// The client.

fn client(server: SocketAddr, secret: &Secret) -> Result<App, Box<dyn Error>> {
    let mut app = App::new();
    register(&mut app);
    app.add_plugins(TimePlugin)
        .add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(TICK_HZ)))
        .add_plugins(MotionUdpClientPlugin)
        .insert_resource(MotionUdpClient::connect(server, secret, ClientOptions::new(GAME))?)
        .add_systems(FixedUpdate, play)
        .add_systems(Update, (draw, hear));
    Ok(app)
}

/// Reads the keyboard, in a game.
fn play(mut steer: ResMut<MotionInputs<Steer>>) -> Result {
    steer.push(&Steer { turn: 0.5, thrust: true })?;
    Ok(())
}

/// Gives each new ship a mesh, in a game.
fn draw(ships: Query<&MotionId, Added<Ship>>) {
    for id in &ships {
        println!("ship {} appears", id.0);
    }
}

fn hear(mut hits: MessageReader<Happened<Hit>>, ships: Res<MotionEntities>) {
    for hit in hits.read() {
        let ship = ships.get(MotionId(hit.event.ship));
        println!("ship {} is hit in tick {}: {ship:?}", hit.event.ship, hit.tick.0);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let secret = Secret::parse("a passphrase of your own")?;
    let (server, address) = server(&secret)?;
    let mut apps = [server, client(address, &secret)?, client(address, &secret)?];
    for app in &mut apps {
        app.finish();
        app.cleanup();
    }
    // In a game, each app is a program of its own that calls `App::run`.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        apps.iter_mut().for_each(App::update);
        thread::sleep(Duration::from_millis(5));
    }
    for (number, app) in apps.iter_mut().enumerate().skip(1) {
        let world = app.world_mut();
        let mut ships = world.query::<(&MotionId, &Transform, &Shield)>();
        assert_eq!(ships.iter(world).count(), 2, "each client shows both ships");
        for (id, transform, Shield(shield)) in ships.iter(world) {
            let [x, y, _] = transform.translation.to_array();
            println!("client {number}: ship {} at {x:.1}, {y:.1} m, shield {shield}", id.0);
            assert!(y > 10.0 && *shield < 100);
        }
    }
    Ok(())
}
