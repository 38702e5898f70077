//! The receiving side: datagrams in, states to show out.
//!
//! [`endpoint`] routes. [`window`] knows which sequences arrived, and [`connection`] measures the
//! round trip. [`views`] holds the baselines, and [`assembly`] puts blocks together. [`shown`]
//! keeps the newest known state of each entity. [`playback`] finds the two states of each entity to
//! show, and [`presence`] which entities were added and removed. [`frame_player`] does the same for
//! states that no network brought.

mod assembly;
mod connection;
mod endpoint;
mod frame_player;
mod playback;
mod presence;
mod shown;
mod views;
mod window;

pub use connection::ReceiverStatus;
pub(crate) use connection::lost_ratio;
pub use endpoint::{Received, Receiver, ReceiverConfig, ReceiverStats};
pub use frame_player::FramePlayer;
pub use playback::{Playback, Sample};
