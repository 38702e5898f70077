//! The server, with a ship for each player, which the player's inputs steer.

use std::collections::HashMap;
use std::error::Error;
use std::net::SocketAddr;

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin};
use bevy_transform::components::Transform;
use kinepack_bevy::{
    ClientJoined, ClientLeft, Emit, Input, MotionId, MotionServerPlugin, MotionSettings,
    MotionUdpServer, MotionUdpServerPlugin,
};
use kinepack_net::ReceiverId;
use kinepack_udp::{Secret, ServerOptions};

use crate::{GAME, Hit, Shield, Ship, Steer, TICK_HZ, register};

pub(crate) fn app(secret: &Secret) -> Result<(App, SocketAddr), Box<dyn Error>> {
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

/// Lets a meteor hit each ship once a second.
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
