//! The receiving side: datagrams in, states to show out.
//!
//! [`endpoint`] routes; [`window`] knows which sequences came, [`views`] holds the baselines,
//! [`assembly`] puts blocks together, [`shown`] keeps the newest that is known of each entity, and
//! [`playback`] says which states to show of each.

mod assembly;
mod connection;
mod endpoint;
mod playback;
mod presence;
mod shown;
mod views;
mod window;

pub use connection::ReceiverStatus;
pub(crate) use connection::lost_ratio;
pub use endpoint::{Received, Receiver, ReceiverConfig, ReceiverStats};
pub use playback::{Playback, Sample};
