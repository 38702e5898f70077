//! The game, which `bevy_replicon` alone replicates, with transforms that are quantized by hand. A
//! transform takes as few whole bytes as the precision of `beside.rs` needs.

use std::f32::consts::TAU;

use bevy_app::App;
use bevy_math::{EulerRot, Quat, Vec3};
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use serde::{Deserialize, Serialize};

use crate::game::{self, Unit};

/// A position in steps of 1/8 point, and one of 65,536 headings. The numbers are stored as bytes,
/// because integers of variable length would often take three bytes.
#[derive(Serialize, Deserialize)]
struct Compact {
    position: [[u8; 2]; 2],
    heading: [u8; 2],
}

impl From<Transform> for Compact {
    fn from(transform: Transform) -> Self {
        let [x, y, _] = transform
            .translation
            .to_array()
            .map(|part| ((part * 8.0).round() as i16).to_le_bytes());
        let (heading, ..) = transform.rotation.to_euler(EulerRot::ZYX);
        let turns = (heading / TAU).rem_euclid(1.0);
        Self { position: [x, y], heading: ((turns * 65_536.0) as u16).to_le_bytes() }
    }
}

impl From<Compact> for Transform {
    fn from(Compact { position, heading }: Compact) -> Self {
        let [x, y] = position.map(|bytes| f32::from(i16::from_le_bytes(bytes)) / 8.0);
        let turns = f32::from(u16::from_le_bytes(heading)) / 65_536.0;
        Self::from_translation(Vec3::new(x, y, 0.0))
            .with_rotation(Quat::from_rotation_z(turns * TAU))
    }
}

/// Returns the part of the app that the server and its clients share.
pub(crate) fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins))
        .replicate_as::<Transform, Compact>()
        .register_required_components::<Unit, Replicated>()
        .add_plugins(game::plugin);
    app
}
