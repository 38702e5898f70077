//! The client, which sends inputs, and shows ships and hits.

use std::error::Error;
use std::net::SocketAddr;

use bevy_app::{App, FixedUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_time::TimePlugin;
use kinepack_bevy::{
    Happened, MotionClientPlugin, MotionEntities, MotionId, MotionInputs, MotionSettings,
    MotionUdpClient, MotionUdpClientPlugin,
};
use kinepack_udp::{ClientOptions, Secret};

use crate::{GAME, Hit, Ship, Steer, TICK_HZ, register};

pub(crate) fn app(server: SocketAddr, secret: &Secret) -> Result<App, Box<dyn Error>> {
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

/// A game samples the keyboard here.
fn play(mut steer: ResMut<MotionInputs<Steer>>) -> Result {
    steer.push(&Steer { turn: 0.5, thrust: true })?;
    Ok(())
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
