//! Two players fly ships over encrypted UDP, without a window. There are a server and two clients,
//! each with an app of its own. Each client predicts its own ship, and the server looks where the
//! other ships were on a player's screen when he fires. The example ends by itself after three
//! seconds.
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
use kinepack::{Pack, Tick};
use kinepack_bevy::{
    MotionAppExt, MotionId, MotionPrediction, Moving, Part, Pose, Rounded, SeenInput,
};
use kinepack_net::{Own, PredictConfig, Seen};
use kinepack_udp::Secret;

const GAME: u64 = u64::from_le_bytes(*b"ships   ");
const TICK_HZ: u32 = 30;

#[derive(Component, Pack, Clone, Default, PartialEq)]
#[require(Moving, Rounded, Transform, Shield)]
struct Ship {
    /// The number of the player that it belongs to.
    player: u32,
}

type ShipPose = Pose<2_000, 100, 11>;
type ShipKind = (Ship, ShipPose, Shield);

#[derive(Component, Pack, Clone, Copy, Debug, PartialEq)]
struct Shield(#[pack(max = 100)] u8);

impl Default for Shield {
    fn default() -> Self {
        Self(100)
    }
}

/// A player's input for one tick.
#[derive(Pack, Clone, Copy, Default)]
struct Steer {
    #[pack(range = -1.0..=1.0, precision = 0.01)]
    turn: f32,
    thrust: bool,
    /// Whether the player sends a pulse, which hits all ships nearby.
    fires: bool,
    /// What he saw when he did.
    seen: Option<Seen>,
}

impl SeenInput for Steer {
    fn seen(&self) -> Option<Seen> {
        self.seen
    }
}

/// Moves a ship by a tick, on both sides. The client and the server must compute the same bits: if
/// they run on different systems, use a sine that does not come from the system.
fn fly(ship: &mut Transform, steer: &Steer) {
    ship.rotate_z(steer.turn / TICK_HZ as f32);
    if steer.thrust {
        let forward = ship.local_y() * 50.0 / TICK_HZ as f32;
        ship.translation += forward;
    }
}

/// Moves the ships that a client predicts.
fn step(own: &mut [Own<ShipKind>], steer: &Steer, _: Tick) {
    for Own { state: (_, pose, _), .. } in own {
        let mut transform = pose.into_component();
        fly(&mut transform, steer);
        *pose = ShipPose::read(&transform);
    }
}

/// The event that tells a client which player it is.
#[derive(Pack)]
struct Welcome {
    player: u32,
}

/// The event that a ship was hit.
#[derive(Pack)]
struct Hit {
    ship: u32,
}

/// Registers the kinds, events and inputs that the server and its clients share.
fn register(app: &mut App) {
    app.add_motion_kind::<ShipKind>("ship")
        .add_motion_event::<Hit>("hit")
        .add_motion_event::<Welcome>("welcome")
        .add_motion_tick_input::<Steer>()
        .add_motion_prediction(PredictConfig::at_hz(TICK_HZ), step);
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
        let prediction = app.world().resource::<MotionPrediction<ShipKind, Steer>>();
        assert_eq!(prediction.ids().len(), 1, "its own ship");
        println!("client {number}: {:?}", prediction.stats());
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
