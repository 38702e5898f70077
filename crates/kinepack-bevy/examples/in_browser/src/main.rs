//! A game with Bevy whose client runs in a browser. The page joins the server over WebTransport,
//! and shows how many ships it sees. If the session breaks, the page joins again.
//!
//! `./check.sh` builds both sides, and tests them with Chromium. Then `cargo run -p in-browser --
//! MODULE` serves the page. `check.sh` prints the path of the folder MODULE.

#[cfg(target_family = "wasm")]
mod client;
#[cfg(not(target_family = "wasm"))]
mod server;

use std::error::Error;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
#[cfg(target_family = "wasm")]
use client as side;
use kinepack::Pack;
use kinepack_bevy::{MotionAppExt, MotionSettings, Moving, Pose};
#[cfg(not(target_family = "wasm"))]
use server as side;

const TICK_HZ: u32 = 60;

#[derive(Component, Pack, Clone, Default, PartialEq)]
#[require(Moving, Transform)]
struct Ship {
    #[pack(max = 255)]
    number: u8,
}

/// The part of the app that the server and its clients share.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin).add_motion_kind::<(Ship, Pose<1_000, 100, 11>)>("ship");
    app
}

fn settings() -> MotionSettings {
    MotionSettings::at_hz(TICK_HZ)
}

fn main() -> Result<(), Box<dyn Error>> {
    side::run(app(), settings())
}
