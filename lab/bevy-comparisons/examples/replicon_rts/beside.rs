//! The game: `bevy_replicon` replicates units, teams and orders, and Kinepack their motion.

use bevy_app::{App, Plugin};
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::TimePlugin;
use kinepack_bevy::{MotionAppExt, MotionRepliconPlugin, Moving, Pose};

use crate::game::{self, Unit};

/// 2,048 points each way, in steps of 1/8; 9 bits for each number of a rotation.
pub(crate) type UnitKind = (Pose<2_048, 8, 9>,);

/// The same on both sides, except for Kinepack's plugin of the side.
pub(crate) fn app(side: impl Plugin) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins, MotionRepliconPlugin, side))
        .add_motion_kind::<UnitKind>("unit")
        .register_required_components::<Unit, Moving>()
        .add_plugins(game::plugin);
    app
}
