//! Replicates motion in [Bevy](https://bevy.org), in the fewest bits.
#![forbid(unsafe_code)]

mod client;
mod datagrams;
mod ids;
mod part;
#[cfg(feature = "transform")]
mod pose;
mod register;
#[cfg(feature = "replicon")]
mod replicon;
mod server;
mod settings;
#[cfg(feature = "udp")]
mod udp;

pub use client::{
    ClientStats, Happened, MotionClient, MotionClientPlugin, MotionClientSystems, MotionInputs,
};
pub use datagrams::Datagrams;
pub use ids::{MotionEntities, MotionId};
pub use part::{MotionKind, Part};
#[cfg(feature = "transform")]
pub use pose::{Pose, ScaledPose};
pub use register::MotionAppExt;
pub(crate) use register::Registry;
#[cfg(feature = "replicon")]
pub use replicon::MotionRepliconPlugin;
pub use server::{
    ClientJoined, ClientLeft, Emit, EmitTo, Input, MotionServer, MotionServerPlugin,
    MotionServerSystems, Moving, ServerStats,
};
pub use settings::MotionSettings;
#[cfg(feature = "udp")]
pub use udp::{
    MotionUdpClient, MotionUdpClientPlugin, MotionUdpServer, MotionUdpServerPlugin, UdpLost,
};
