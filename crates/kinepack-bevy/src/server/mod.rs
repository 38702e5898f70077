//! The server: a plugin that sends moving entities, and receives datagrams from the clients.
//!
//! `FixedLast` makes one tick: [`collect`] updates the snapshot, and [`tiers`] its coarser forms.
//! `viewpoints` tells the hub where clients look from, [`emit`] passes events to the hub, and the
//! hub makes the datagrams. `PreUpdate` passes on the datagrams that have arrived, and `FixedFirst`
//! the inputs that are for the tick.

mod collect;
mod emit;
mod inputs;
mod resource;
mod rewind;
mod round;
mod stats;
mod tiers;
#[cfg(feature = "transform")]
mod viewpoints;

use bevy_app::{App, FixedFirst, FixedLast, Plugin, PreUpdate};
use bevy_ecs::change_detection::Mut;
use bevy_ecs::component::Component;
use bevy_ecs::message::Message;
use bevy_ecs::schedule::{IntoScheduleConfigs, SystemSet};
use bevy_ecs::world::World;
use bevy_time::{Fixed, Time};
use kinepack_net::{HubConfig, ReceiverId, RewindConfig, Rings};

#[cfg(feature = "figure")]
pub(crate) use collect::Changes;
pub(crate) use collect::{Collect, CollectKind, Rows, StateRows};
pub use emit::{Emit, EmitTo};
pub(crate) use emit::{EmitAll, emit_all};
pub use inputs::Input;
pub(crate) use inputs::{ReadInputs, ServerPort};
pub use resource::MotionServer;
pub use rewind::{MotionPast, MotionRewind, PastError, RewoundInputs, SeenInput};
pub use round::Rounded;
pub(crate) use round::round;
pub use stats::ServerStats;
#[cfg(feature = "transform")]
pub use viewpoints::{AlwaysSeen, Viewpoint};

use crate::{MotionEntities, MotionSettings, Registry};

/// Marks an entity of the server that clients see. The entity must have the components of a
/// registered kind: see [`add_motion_kind`](crate::MotionAppExt::add_motion_kind).
///
/// The entity appears on the clients after the next tick, and disappears when it is despawned,
/// loses this marker, or loses a component of its kind. It keeps its kind as long as it has these
/// components.
///
/// ```
/// use bevy_ecs::component::Component;
/// use kinepack::Pack;
/// use kinepack_bevy::Moving;
///
/// /// A ship is an entity that moves.
/// #[derive(Component, Pack, Clone, Default, PartialEq)]
/// #[require(Moving)]
/// struct Ship;
/// ```
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Moving;

/// The message that a client has joined. The client gets states from the next tick on.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientJoined {
    /// The client that has joined.
    pub client: ReceiverId,
}

/// The message that a client that had joined is gone.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLeft {
    /// The client that is gone.
    pub client: ReceiverId,
}

/// The sets of the server's systems. Order your transport and your own systems relative to these
/// sets.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MotionServerSystems {
    /// Runs in `PreUpdate`, and takes the datagrams in [`MotionServer::incoming`]. A transport puts
    /// them there before this set.
    Receive,
    /// Runs in `FixedFirst`, and writes the [`Input`] messages of inputs that are for the tick.
    Inputs,
    /// Runs in `FixedLast`, before `Tick`, and rounds the components of [`Rounded`] entities.
    Round,
    /// Runs in `FixedLast`, makes a tick, and appends datagrams to [`MotionServer::outgoing`]. A
    /// transport sends them after this set.
    Tick,
}

/// Sends all [`Moving`] entities to the clients of [`MotionServer`].
///
/// The plugin needs `TimePlugin`, and a transport between [`MotionServer`] and its clients. It
/// reads the components in `FixedLast`, so change them in `FixedPostUpdate` or before.
///
/// # Panics
/// Panics in [`Plugin::finish`], if no kind is registered, or the settings are not valid.
#[derive(Clone, Debug)]
pub struct MotionServerPlugin {
    /// The settings that the server and its clients share.
    pub settings: MotionSettings,
    /// The settings of the hub, such as the size of datagrams.
    pub hub: HubConfig,
    /// How many seconds the id of a removed entity stays unused. A client that shows a state older
    /// than this may mistake another entity for the removed one.
    pub id_rest_s: u32,
    /// What clients see by distance from their [viewpoints](crate::Viewpoint): see
    /// [`MotionServer::set_rings`].
    pub rings: Option<Rings>,
    /// How far back players may reach, if the server [rewinds](crate::MotionRewind) to what they
    /// saw. `None` to keep no past. [`longest_blend`](RewindConfig::longest_blend) must be that of
    /// the clients' receivers, as it is by default.
    pub rewind: Option<RewindConfig>,
}

impl MotionServerPlugin {
    /// A plugin with the hub's default settings, without rings and rewinding. Ids rest for 30 seconds, longer
    /// than a silent client stays connected.
    pub fn new(settings: MotionSettings) -> Self {
        Self { settings, hub: HubConfig::default(), id_rest_s: 30, rings: None, rewind: None }
    }
}

impl Plugin for MotionServerPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Time::<Fixed>::from_hz(self.settings.tick_hz.into()))
            .init_resource::<Registry>()
            .init_resource::<MotionEntities>()
            .add_message::<ClientJoined>()
            .add_message::<ClientLeft>()
            .configure_sets(
                FixedLast,
                (MotionServerSystems::Round, MotionServerSystems::Tick).chain(),
            )
            .add_systems(PreUpdate, receive.in_set(MotionServerSystems::Receive))
            .add_systems(FixedFirst, read_inputs.in_set(MotionServerSystems::Inputs))
            .add_systems(FixedLast, (collect, send).chain().in_set(MotionServerSystems::Tick));
        #[cfg(feature = "transform")]
        app.add_systems(
            FixedLast,
            viewpoints::look.after(collect).before(send).in_set(MotionServerSystems::Tick),
        );
    }

    fn finish(&self, app: &mut App) {
        let registry = app.world_mut().remove_resource::<Registry>().unwrap_or_default();
        let server = MotionServer::new(self, registry, app.world_mut());
        app.insert_resource(server);
    }
}

fn receive(world: &mut World) {
    world.resource_scope(|world, mut server: Mut<'_, MotionServer>| server.receive(world));
}

fn read_inputs(world: &mut World) {
    world.resource_scope(|world, mut server: Mut<'_, MotionServer>| server.read_inputs(world));
}

fn collect(world: &mut World) {
    world.resource_scope(|world, mut server: Mut<'_, MotionServer>| server.collect(world));
}

fn send(world: &mut World) {
    world.resource_scope(|world, mut server: Mut<'_, MotionServer>| server.send(world));
}
