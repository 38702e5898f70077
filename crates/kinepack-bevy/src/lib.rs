//! Replicates motion in [Bevy](https://bevyengine.org) in few bits: a plugin for `kinepack-net`.
//!
//! The server marks entities with [`Moving`]. Clients spawn these entities, write their
//! interpolated components in each frame, and despawn them. Components that derive `Pack` declare
//! the precision that they need in attributes. [`Pose`] is a `Transform` with a precision.
//!
//! ```
//! use bevy_app::App;
//! use bevy_ecs::prelude::*;
//! use bevy_time::{TimePlugin, TimeUpdateStrategy};
//! use bevy_transform::components::Transform;
//! use kinepack::Pack;
//! use kinepack_bevy::{
//!     MotionAppExt, MotionClient, MotionClientPlugin, MotionServer, MotionServerPlugin,
//!     MotionSettings, Moving, Pose,
//! };
//! use kinepack_net::{ReceiverId, ReceiverOptions};
//!
//! #[derive(Component, Pack, Clone, Default, PartialEq)]
//! #[require(Moving, Transform)]
//! struct Ship;
//!
//! /// Both sides call this.
//! fn app() -> App {
//!     let mut app = App::new();
//!     // Positions are within a kilometre, in centimetres. Rotations have 11 bits a component.
//!     app.add_plugins(TimePlugin).add_motion_kind::<(Ship, Pose<1_000, 100, 11>)>("ship");
//! #   app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
//!     app
//! }
//!
//! let (mut server, mut client) = (app(), app());
//! server.add_plugins(MotionServerPlugin::new(MotionSettings::at_hz(60)));
//! client.add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(60)));
//! # server.finish();
//! # client.finish();
//! server.world_mut().spawn((Ship, Transform::from_xyz(1.0, 2.0, 3.0)));
//!
//! // A transport does this. The feature `udp` provides one.
//! let id = ReceiverId(1);
//! let mut motion = server.world_mut().resource_mut::<MotionServer>();
//! motion.connect(id, &ReceiverOptions::default())?;
//! client.world_mut().resource_mut::<MotionClient>().connect();
//! for _ in 0..60 {
//!     server.update();
//!     client.update();
//!     let mut of_server = server.world_mut().resource_mut::<MotionServer>();
//!     let mut of_client = client.world_mut().resource_mut::<MotionClient>();
//!     of_client.outgoing.iter().for_each(|((), datagram)| of_server.incoming.push(id, datagram));
//!     of_server.outgoing.iter().for_each(|(_, datagram)| of_client.incoming.push((), datagram));
//!     of_client.outgoing.clear();
//!     of_server.outgoing.clear();
//! }
//! let world = client.world_mut();
//! let ship = world.query_filtered::<&Transform, With<Ship>>().single(world)?;
//! assert!((ship.translation.y - 2.0).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to … | on the server | on a client |
//! |---|---|---|
//! | register | [`MotionAppExt`] | the same, in the same order |
//! | begin | [`MotionServerPlugin`] | [`MotionClientPlugin`] |
//! | show entities | [`Moving`] | `Added<MotionId>`, or `Added<Ship>` |
//! | teleport an entity | changes a field with `#[pack(cut)]` | reads [`Jumped`] |
//! | predict own entities | [`Rounded`] | [`add_motion_prediction`], [`Predicted`] |
//! | compute an entity itself | | [`Predicted`] |
//! | find an entity by its id | [`MotionEntities`] | [`MotionEntities`] |
//! | send inputs | reads [`Input`] | [`MotionInputs`] |
//! | send inputs for ticks, to predict | reads [`Input`] | [`InputTick`], [`MotionInputClock`] |
//! | find what a player saw | [`RewoundInputs`], [`MotionRewind`] | [`MotionClient::seen`] |
//! | show late entities | [`extrapolate_motion`] | the same, [`smooth_motion`] |
//! | send events | writes [`Emit`] | reads [`Happened`] |
//! | measure | [`MotionServer::stats`] | [`MotionClient::stats`] |
//! | show only what is near a client | [`MotionServer::set_rings`], [`Viewpoint`] | |
//! | set budgets, priorities, relevance | [`MotionServer::hub_mut`] | |
//!
//! [`add_motion_prediction`]: MotionAppExt::add_motion_prediction
//! [`extrapolate_motion`]: MotionAppExt::extrapolate_motion
//! [`smooth_motion`]: MotionAppExt::smooth_motion
//!
//! **Transports.** With the feature `udp`, `MotionUdpServerPlugin` and `MotionUdpClientPlugin`
//! provide encrypted connections. With the feature `web`, `MotionWebServerPlugin` and
//! `MotionWebClientPlugin` connect over WebTransport. That client also runs in browsers, where
//! `udp` and servers are absent. With the feature `replicon`, `MotionRepliconPlugin` uses the
//! connections of `bevy_replicon`, which then spawns and despawns the entities. For another
//! transport, move [`Datagrams`] as in the example above. The transport must guarantee integrity:
//! see `kinepack-net`.
//!
//! **Schedules.** The server reads components in `FixedLast`. A client writes them in
//! `PreUpdate`, runs [`InputTick`] and predicts after `FixedUpdate`, and sends in `PostUpdate`: see
//! [`MotionServerSystems`] and [`MotionClientSystems`]. An app is either a server or a client.
//!
//! **Clips.** With the feature `clips`, the module `clips` plays compressed animation clips of
//! `kinepack-anim`. It works without a server.
//!
//! **Figures.** With the feature `figure`, the module `figure` replicates the joints of live bodies
//! with a promised error.

#![forbid(unsafe_code)]

mod client;
#[cfg(feature = "clips")]
pub mod clips;
mod datagrams;
#[cfg(feature = "figure")]
pub mod figure;
mod ids;
#[cfg(any(feature = "clips", feature = "figure"))]
mod joints;
mod late;
mod part;
#[cfg(feature = "transform")]
mod pose;
mod register;
mod registry;
#[cfg(feature = "replicon")]
mod replicon;
mod server;
mod settings;
#[cfg(any(feature = "web", all(feature = "udp", not(target_family = "wasm"))))]
mod sockets;

pub use client::{
    ClientStats, Corrected, Happened, InputTick, Jumped, MotionClient, MotionClientPlugin,
    MotionClientSystems, MotionInputClock, MotionInputs, MotionPrediction, Predicted,
};
pub use datagrams::Datagrams;
pub use ids::{MotionEntities, MotionId};
pub use part::{MotionKind, Part};
#[cfg(feature = "transform")]
pub use pose::{CoarserPose, Pose, ScaledPose};
pub use register::MotionAppExt;
pub(crate) use registry::Registry;
#[cfg(feature = "replicon")]
pub use replicon::MotionRepliconPlugin;
#[cfg(feature = "transform")]
pub use server::{AlwaysSeen, Viewpoint};
pub use server::{
    ClientJoined, ClientLeft, Emit, EmitTo, Input, MotionPast, MotionRewind, MotionServer,
    MotionServerPlugin, MotionServerSystems, Moving, PastError, RewoundInputs, Rounded, SeenInput,
    ServerStats,
};
pub use settings::MotionSettings;
#[cfg(all(feature = "udp", not(target_family = "wasm")))]
pub use sockets::{
    MotionUdpClient, MotionUdpClientPlugin, MotionUdpServer, MotionUdpServerPlugin, UdpLost,
};
#[cfg(feature = "web")]
pub use sockets::{MotionWebClient, MotionWebClientPlugin, WebLost};
#[cfg(all(feature = "web", not(target_family = "wasm")))]
pub use sockets::{MotionWebServer, MotionWebServerPlugin};

/// The examples of the README.
#[cfg(all(doctest, feature = "clips", feature = "figure", feature = "transform", feature = "udp"))]
#[doc = include_str!("../README.md")]
struct Readme;
