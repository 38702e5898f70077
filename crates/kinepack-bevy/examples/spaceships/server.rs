//! The server, with a ship for each player, which the player's inputs steer.

use std::collections::HashMap;
use std::error::Error;
use std::net::SocketAddr;

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use kinepack_bevy::{
    ClientJoined, ClientLeft, Emit, Input, MotionId, MotionServerPlugin, MotionSettings,
    MotionUdpServer, MotionUdpServerPlugin, RewoundInputs,
};
use kinepack_net::{ReceiverId, RewindConfig};
use kinepack_udp::{Secret, ServerOptions};

use crate::{GAME, Hit, Shield, Ship, ShipKind, Steer, TICK_HZ, Welcome, fly, register};

pub(crate) fn app(secret: &Secret) -> Result<(App, SocketAddr), Box<dyn Error>> {
    let socket = MotionUdpServer::bind("127.0.0.1:0".parse()?, secret, ServerOptions::new(GAME))?;
    let address = socket.local_addr();
    let mut app = App::new();
    register(&mut app);
    app.add_plugins(TimePlugin)
        .add_plugins(MotionServerPlugin {
            rewind: Some(RewindConfig::at_hz(TICK_HZ)),
            ..MotionServerPlugin::new(MotionSettings::at_hz(TICK_HZ))
        })
        .add_plugins(MotionUdpServerPlugin)
        .insert_resource(socket)
        .init_resource::<Players>()
        .add_systems(FixedUpdate, (join, fire, steer).chain());
    Ok((app, address))
}

/// The ship of each player, and its last input.
#[derive(Resource, Default)]
struct Players {
    ships: HashMap<ReceiverId, (Entity, Steer)>,
    joined: u32,
}

fn join(
    mut commands: Commands,
    mut joined: MessageReader<ClientJoined>,
    mut left: MessageReader<ClientLeft>,
    mut welcome: MessageWriter<Emit<Welcome>>,
    mut players: ResMut<Players>,
) {
    for ClientJoined { client } in joined.read() {
        players.joined += 1;
        let player = players.joined;
        let place = Transform::from_xyz(20.0 * player as f32, 0.0, 0.0);
        let ship = commands.spawn((Ship { player }, place)).id();
        players.ships.insert(*client, (ship, Steer::default()));
        welcome.write(Emit::to_only([*client], Welcome { player }));
    }
    for ClientLeft { client } in left.read() {
        if let Some((ship, _)) = players.ships.remove(client) {
            commands.entity(ship).despawn();
        }
    }
}

/// Moves all ships by a tick. If a player's input is not there in time, the last one is repeated.
fn steer(
    mut inputs: MessageReader<Input<Steer>>,
    mut ships: Query<&mut Transform, With<Ship>>,
    mut players: ResMut<Players>,
) {
    for Input { client, input, .. } in inputs.read() {
        if let Some((_, last)) = players.ships.get_mut(client) {
            *last = *input;
        }
    }
    for (ship, steer) in players.ships.values() {
        if let Ok(mut transform) = ships.get_mut(*ship) {
            fly(&mut transform, steer);
        }
    }
}

/// Hits the ships that were near a player's own ship on his screen when he fired.
fn fire(
    mut inputs: RewoundInputs<Steer>,
    mut ships: Query<(Entity, &MotionId, &Transform, &mut Shield)>,
    players: Res<Players>,
    mut hits: MessageWriter<Emit<Hit>>,
) {
    while let Some((Input { client, input, .. }, past)) = inputs.read_next() {
        let Some((own, _)) = players.ships.get(client).filter(|_| input.fires) else { continue };
        let Ok(past) = past else { continue };
        let Ok(place) = ships.get(*own).map(|(.., transform, _)| transform.translation) else {
            continue;
        };
        for (ship, id, _, mut shield) in ships.iter_mut().filter(|(ship, ..)| ship != own) {
            let Ok((_, seen, _)) = past.components::<ShipKind>(ship) else { continue };
            if seen.translation.distance(place) < 100.0 {
                shield.0 = shield.0.saturating_sub(10);
                hits.write(Emit::to_seeing(*id, Hit { ship: id.0 }));
            }
        }
    }
}
