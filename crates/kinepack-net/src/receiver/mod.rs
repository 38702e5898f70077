//! The receiving side: takes datagrams, and returns states to show.
//!
//! [`endpoint`] is the entry point and routes datagrams. [`window`] tracks which sequences arrived,
//! and [`connection`] measures the round trip. [`views`] holds the baselines, and [`assembly`] puts
//! full states together. [`shown`] keeps the newest known state of each entity. [`playout_point`]
//! selects the two states of each entity to show, [`spawns`] lists which entities were added, were
//! removed or jumped, and [`playback`] gives both to the game. [`smoother`] fades out jumps.
//! [`frame_player`] plays states that did not arrive over a network.

mod assembly;
mod connection;
mod endpoint;
mod frame_player;
mod playback;
mod playout_point;
mod shown;
mod smoother;
mod spawns;
mod views;
mod window;

pub use connection::ReceiverStatus;
pub(crate) use connection::lost_ratio;
pub use endpoint::{Received, Receiver, ReceiverConfig, ReceiverStats};
pub use frame_player::FramePlayer;
pub use playback::{Playback, Sample};
pub(crate) use playout_point::{Before, Next, Pace};
pub use smoother::{Smoother, WordSmoother};
