//! The world of cubes. `bevy_replicon` replicates their numbers, and Kinepack their motion.

use bevy_app::{App, FixedUpdate, Startup};
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use kinepack_bevy::{
    MotionAppExt, MotionClientPlugin, MotionRepliconPlugin, MotionServerPlugin, Moving, Pose,
};
use serde::{Deserialize, Serialize};

use crate::recording::{Numbered, Recording, move_cubes, spawn_cubes};

/// The kind of the cubes. Its range is 64 metres in each direction, in steps of 1/512 m. Each
/// number of a rotation has 9 bits.
pub(crate) type CubeKind = (Pose<64, 512, 9>,);

/// A gameplay component of each cube.
#[derive(Component, Clone, Default, PartialEq, Serialize, Deserialize)]
#[require(Moving, Transform)]
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
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins, MotionRepliconPlugin))
        .replicate::<Cube>()
        .add_motion_kind::<CubeKind>("cube");
    app
}

pub(crate) fn server(recording: Recording, plugin: MotionServerPlugin) -> App {
    let mut app = app();
    app.insert_resource(recording)
        .add_plugins(plugin)
        .add_systems(Startup, spawn_cubes::<Cube>)
        .add_systems(FixedUpdate, move_cubes::<Cube>);
    app
}

pub(crate) fn client(plugin: MotionClientPlugin) -> App {
    let mut app = app();
    app.add_plugins(plugin);
    app
}
