//! A small game in which players shoot, as an example of everything that a game needs besides
//! snapshots: rewinding, the input's clock, prediction, moving ground, teleports, late states.
//!
//! | module | |
//! |---|---|
//! | [`map`], [`shot`] | the ground, the ferry and the teleporters; where a shot ends |
//! | [`state`], [`step`] | what is sent; a tick of a player, which both sides share |
//! | [`server`] | takes inputs, rewinds for shots, sends snapshots |
//! | [`client`] | draws, predicts its own player, sends inputs |
//! | [`bot`] | plays through a client, and sees only what that shows |
//! | [`room`] | a server, bots and other clients, and the simulated links between them |
//! | [`rules`], [`counts`] | the switch of each mechanism; what happened |
//!
//! Nothing here knows sockets, clocks or screens: `kinepack-lab arena` has those.

pub mod bot;
pub mod client;
pub mod counts;
mod error;
pub mod map;
pub mod room;
pub mod rules;
pub mod server;
pub mod shot;
pub mod state;
pub mod step;

pub use error::ArenaError;
