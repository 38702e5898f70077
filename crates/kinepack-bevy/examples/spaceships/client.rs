//! The client, which sends inputs, and shows ships and hits.

use std::error::Error;
use std::net::SocketAddr;

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_time::TimePlugin;
use kinepack_bevy::{
    Happened, InputTick, MotionClient, MotionClientPlugin, MotionEntities, MotionId,
    MotionInputClock, MotionInputs, MotionSettings, MotionUdpClient, MotionUdpClientPlugin,
    Predicted,
};
use kinepack_udp::{ClientOptions, Secret};

use crate::{GAME, Hit, Ship, Steer, TICK_HZ, Welcome, register};

pub(crate) fn app(server: SocketAddr, secret: &Secret) -> Result<App, Box<dyn Error>> {
    let mut app = App::new();
    register(&mut app);
    app.add_plugins(TimePlugin)
        .add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(TICK_HZ)))
        .add_plugins(MotionUdpClientPlugin)
        .insert_resource(MotionUdpClient::connect(server, secret, ClientOptions::new(GAME))?)
        .add_systems(InputTick, play)
        .add_systems(Update, (own, draw, hear));
    Ok(app)
}

/// A game samples the keyboard here.
fn play(
    client: Res<MotionClient>,
    clock: Res<MotionInputClock>,
    mut steer: ResMut<MotionInputs<Steer>>,
) -> Result {
    let tick = clock.tick();
    let fires = tick.0.is_multiple_of(TICK_HZ);
    steer.push_for_tick(tick, &Steer { turn: 0.5, thrust: true, fires, seen: client.seen() })?;
    Ok(())
}

/// Marks the player's own ship. From then on, the client predicts it.
fn own(
    mut commands: Commands,
    mut welcome: MessageReader<Happened<Welcome>>,
    mut me: Local<Option<u32>>,
    ships: Query<(Entity, &Ship), Without<Predicted>>,
) {
    *me = welcome.read().last().map(|welcome| welcome.event.player).or(*me);
    for (entity, _) in ships.iter().filter(|(_, ship)| Some(ship.player) == *me) {
        commands.entity(entity).insert(Predicted);
    }
}

/// A game gives each new ship a mesh here.
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
