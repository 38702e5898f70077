//! The game, which `bevy_replicon` alone replicates, as replicon's own example does.

use bevy_app::App;
use bevy_math::{Quat, Vec2};
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use serde::{Deserialize, Serialize};

use crate::game::{self, Unit};

/// A transform without scale and height.
#[derive(Serialize, Deserialize)]
struct Flat {
    translation: Vec2,
    rotation: Quat,
}

impl From<Transform> for Flat {
    fn from(transform: Transform) -> Self {
        Self { translation: transform.translation.truncate(), rotation: transform.rotation }
    }
}

impl From<Flat> for Transform {
    fn from(Flat { translation, rotation }: Flat) -> Self {
        Self::from_translation(translation.extend(0.0)).with_rotation(rotation)
    }
}

/// Returns the part of the app that the server and its clients share.
pub(crate) fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins))
        .replicate_as::<Transform, Flat>()
        .register_required_components::<Unit, Replicated>()
        .add_plugins(game::plugin);
    app
}
