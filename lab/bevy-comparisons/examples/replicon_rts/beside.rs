//! The game. `bevy_replicon` replicates units, teams and orders, and Kinepack the units' motion.

use bevy_app::{App, Plugin};
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::TimePlugin;
use kinepack_bevy::{MotionAppExt, MotionRepliconPlugin, Moving, Pose};

use crate::game::{self, Unit};

/// The kind of the units. Its range is 2,048 points in each direction, in steps of 1/8 point. Each
/// number of a rotation has 9 bits.
pub(crate) type UnitKind = (Pose<2_048, 8, 9>,);

/// Makes the app of either side. The two sides differ only in Kinepack's plugin.
pub(crate) fn app(side: impl Plugin) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins, MotionRepliconPlugin, side))
        .add_motion_kind::<UnitKind>("unit")
        .register_required_components::<Unit, Moving>()
        .add_plugins(game::plugin);
    app
}
