//! The client: a plugin that spawns, moves and despawns the entities that the server sends.
//!
//! In `PreUpdate`, the plugin takes the datagrams that have arrived, and then writes the state of
//! this moment into the entities. In `RunFixedMainLoop`, it runs the ticks of the input clock. In
//! `PostUpdate`, it makes the datagrams for the server.

mod hear;
mod input_clock;
mod inputs;
mod prediction;
mod resource;
mod show;

use bevy_app::{App, Plugin, PostUpdate, PreUpdate, RunFixedMainLoop, RunFixedMainLoopSystems};
use bevy_ecs::change_detection::Mut;
use bevy_ecs::schedule::{IntoScheduleConfigs, SystemSet};
use bevy_ecs::world::World;
use bevy_time::{Fixed, Time};
use kinepack_net::{InputClockConfig, ReceiverConfig};

pub use hear::Happened;
pub(crate) use hear::{Hear, hear};
pub use input_clock::{InputTick, MotionInputClock};
pub(crate) use inputs::ClientPort;
pub use inputs::MotionInputs;
pub(crate) use prediction::Prediction;
pub use prediction::{Corrected, MotionPrediction};
pub use resource::{ClientStats, MotionClient};
pub use show::{Jumped, Predicted};
pub(crate) use show::{Show, ShowKind, Shown, ShownState};

use crate::{MotionEntities, MotionSettings, Registry};

/// The sets of the client's systems. Order your transport and your own systems relative to these.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MotionClientSystems {
    /// Runs in `PreUpdate`, and takes the datagrams in [`MotionClient::incoming`]. A transport puts
    /// them there before this set.
    Receive,
    /// Runs in `PreUpdate`, after `Receive`. Spawns and despawns entities, writes their components,
    /// and writes messages for jumps and events.
    Play,
    /// Runs in `RunFixedMainLoop`, after `FixedUpdate`, and runs the schedule [`InputTick`] for
    /// each tick that is due. Then steps the entities of
    /// [`add_motion_prediction`](crate::MotionAppExt::add_motion_prediction), and writes their
    /// components.
    Simulate,
    /// Runs in `PostUpdate`, and appends datagrams to [`MotionClient::outgoing`]. A transport sends
    /// them after this set.
    Send,
}

/// Shows the entities that a server sends.
///
/// The plugin needs `TimePlugin`, and a transport between [`MotionClient`] and the server.
///
/// # Panics
/// Panics in [`Plugin::finish`], if no kind is registered, or the settings are not valid.
#[derive(Clone, Debug)]
pub struct MotionClientPlugin {
    /// The settings that the server and its clients share.
    pub settings: MotionSettings,
    /// The settings of the receiver, such as its limits of memory and its delay.
    pub receiver: ReceiverConfig,
    /// The settings of the clock for inputs of
    /// [`add_motion_tick_input`](crate::MotionAppExt::add_motion_tick_input).
    pub input_clock: InputClockConfig,
    /// Whether the plugin spawns and despawns the entities. If not, other code must give them their
    /// [`MotionId`](crate::MotionId), and the plugin only writes their components.
    pub spawns: bool,
}

impl MotionClientPlugin {
    /// A plugin with the default settings of the receiver and the input clock.
    pub fn new(settings: MotionSettings) -> Self {
        Self {
            receiver: ReceiverConfig::at_hz(settings.tick_hz),
            input_clock: InputClockConfig::at_hz(settings.tick_hz),
            settings,
            spawns: true,
        }
    }
}

impl Plugin for MotionClientPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Time::<Fixed>::from_hz(self.settings.tick_hz.into()))
            .init_resource::<Registry>()
            .init_resource::<MotionEntities>()
            .add_message::<Jumped>()
            .configure_sets(
                PreUpdate,
                (MotionClientSystems::Receive, MotionClientSystems::Play).chain(),
            )
            .add_systems(
                PreUpdate,
                (
                    receive.in_set(MotionClientSystems::Receive),
                    play.in_set(MotionClientSystems::Play),
                ),
            )
            .init_schedule(InputTick)
            .add_systems(
                RunFixedMainLoop,
                input_clock::simulate
                    .in_set(MotionClientSystems::Simulate)
                    .after(RunFixedMainLoopSystems::FixedMainLoop)
                    .before(RunFixedMainLoopSystems::AfterFixedMainLoop),
            )
            .add_systems(PostUpdate, send.in_set(MotionClientSystems::Send));
    }

    fn finish(&self, app: &mut App) {
        let registry = app.world_mut().remove_resource::<Registry>().unwrap_or_default();
        let client = MotionClient::new(self, registry, app.world_mut());
        app.insert_resource(client);
    }
}

fn receive(world: &mut World) {
    world.resource_scope(|world, mut client: Mut<'_, MotionClient>| client.receive(world));
}

fn play(world: &mut World) {
    world.resource_scope(|world, mut client: Mut<'_, MotionClient>| client.play(world));
}

fn send(world: &mut World) {
    world.resource_scope(|world, mut client: Mut<'_, MotionClient>| client.send(world));
}
