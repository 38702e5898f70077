//! The world of cubes, which `bevy_replicon` alone replicates, with transforms that are quantized
//! by hand. A transform takes as few whole bytes as the precision of `beside.rs` needs.

use std::f32::consts::SQRT_2;

use bevy_app::{App, FixedUpdate, Startup};
use bevy_ecs::prelude::*;
use bevy_math::Quat;
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

/// A position in steps of 1/512 m, the three smaller components of the rotation in ten bits each,
/// and the index of the omitted component.
#[derive(Serialize, Deserialize)]
struct Compact {
    position: [i16; 3],
    rotation: [u8; 4],
}

impl From<Transform> for Compact {
    fn from(transform: Transform) -> Self {
        let xyzw = transform.rotation.to_array();
        let (dropped, largest) = (0..4)
            .map(|index| (index, xyzw[index]))
            .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))
            .unwrap_or((3, 1.0));
        let mut bits = dropped as u32;
        for (_, component) in (0..4).zip(xyzw).filter(|(index, _)| *index != dropped) {
            let component = component * largest.signum() * SQRT_2;
            bits = bits << 10 | ((component * 511.0).round() + 511.0) as u32;
        }
        Self {
            position: transform.translation.to_array().map(|metres| (metres * 512.0) as i16),
            rotation: bits.to_le_bytes(),
        }
    }
}

impl From<Compact> for Transform {
    fn from(Compact { position, rotation }: Compact) -> Self {
        let bits = u32::from_le_bytes(rotation);
        let dropped = (bits >> 30) as usize;
        let mut xyzw = [0.0; 4];
        let mut shift = 30;
        for index in (0..4).filter(|index| *index != dropped) {
            shift -= 10;
            xyzw[index] = ((bits >> shift & 1023) as f32 - 511.0) / 511.0 / SQRT_2;
        }
        let sum: f32 = xyzw.iter().map(|component| component * component).sum();
        xyzw[dropped] = (1.0 - sum).max(0.0).sqrt();
        Self::from_translation(position.map(|code| f32::from(code) / 512.0).into())
            .with_rotation(Quat::from_array(xyzw))
    }
}

/// Returns the part of the app that the server and its clients share.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins))
        .insert_resource(Time::<Fixed>::from_hz(TICK_HZ.into()))
        .replicate::<Cube>()
        .replicate_as::<Transform, Compact>();
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
