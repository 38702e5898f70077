//! Two players fly ships over encrypted UDP, without a window. There are a server and two clients,
//! each with an app of its own. The example ends by itself after three seconds.
//!
//! `cargo run -p kinepack-bevy --features udp --example spaceships`
//!
//! Copy `server.rs` to your server, `client.rs` to your client, and the types and `register` to
//! both. Add `DefaultPlugins`, which contain `TimePlugin`, and give each new ship a mesh.

mod client;
mod server;

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use kinepack::Pack;
use kinepack_bevy::{MotionAppExt, MotionId, Moving, Pose};
use kinepack_udp::Secret;

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

/// A player's input for one tick.
#[derive(Pack, Default)]
struct Steer {
    #[pack(range = -1.0..=1.0, precision = 0.01)]
    turn: f32,
    thrust: bool,
}

/// The event that a ship was hit.
#[derive(Pack)]
struct Hit {
    ship: u32,
}

/// Registers the kinds, events and inputs that the server and its clients share.
fn register(app: &mut App) {
    app.add_motion_kind::<(Ship, Pose<2_000, 100, 11>, Shield)>("ship")
        .add_motion_event::<Hit>("hit")
        .add_motion_input::<Steer>();
}

fn main() -> Result<(), Box<dyn Error>> {
    let secret = Secret::parse("a passphrase of your own")?;
    let (server, address) = server::app(&secret)?;
    let mut apps = [server, client::app(address, &secret)?, client::app(address, &secret)?];
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
