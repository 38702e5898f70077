//! The cubes: `bevy_replicon` replicates their numbers, and Kinepack their motion.

use bevy_app::{App, FixedUpdate, Startup};
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use kinepack::Level;
use kinepack_bevy::{
    MotionAppExt, MotionClientPlugin, MotionRepliconPlugin, MotionServerPlugin, MotionSettings,
    Moving, Pose,
};
use serde::{Deserialize, Serialize};

use crate::recording::{Numbered, Recording, TICK_HZ, move_cubes, spawn_cubes};

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

fn settings(level: Level) -> MotionSettings {
    MotionSettings { level, ..MotionSettings::at_hz(TICK_HZ) }
}

/// The same on both sides.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins, MotionRepliconPlugin))
        .replicate::<Cube>()
        .add_motion_kind::<(Pose<64, 512, 9>,)>("cube");
    app
}

pub(crate) fn server(recording: Recording, level: Level) -> App {
    let mut app = app();
    app.insert_resource(recording)
        .add_plugins(MotionServerPlugin::new(settings(level)))
        .add_systems(Startup, spawn_cubes::<Cube>)
        .add_systems(FixedUpdate, move_cubes::<Cube>);
    app
}

pub(crate) fn client(level: Level) -> App {
    let mut app = app();
    app.add_plugins(MotionClientPlugin::new(settings(level)));
    app
}
