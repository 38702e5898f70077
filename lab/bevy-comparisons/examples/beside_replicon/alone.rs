//! The world of cubes, which `bevy_replicon` alone replicates.

use bevy_app::{App, FixedUpdate, Startup};
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::{Fixed, Time, TimePlugin};
use bevy_transform::components::Transform;
use serde::{Deserialize, Serialize};

use crate::recording::{Numbered, Recording, TICK_HZ, move_cubes, spawn_cubes};

/// A gameplay component of each cube.
#[derive(Component, Clone, Default, PartialEq, Serialize, Deserialize)]
#[require(Replicated, Transform)]
pub(crate) struct Cube {
    number: u32,
}

impl Numbered for Cube {
    fn new(number: u32) -> Self {
        Self { number }
    }

    fn number(&self) -> u32 {
        self.number
    }
}

/// Returns the part of the app that the server and its clients share.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins))
        .insert_resource(Time::<Fixed>::from_hz(TICK_HZ.into()))
        .replicate::<Cube>()
        .replicate::<Transform>();
    app
}

pub(crate) fn server(recording: Recording) -> App {
    let mut app = app();
    app.insert_resource(recording)
        .add_systems(Startup, spawn_cubes::<Cube>)
        .add_systems(FixedUpdate, move_cubes::<Cube>);
    app
}

pub(crate) fn client() -> App {
    app()
}
