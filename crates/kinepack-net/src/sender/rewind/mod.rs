//! What a receiver showed at a moment: rewinds a hub to what a player saw. See `spec/NET.md`,
//! section 12.
//!
//! [`peer`] checks a stamp and collects the snapshots that had arrived. [`Past`] finds each entity's
//! states among them, by the same rules as the receiver's playback, and [`frames`] where it was in the
//! world.
//!
//! Cost: a list of at most 255 snapshots for each stamp, and a few searches for each entity that is
//! asked for. If entities were left out, the searches go back to the datagram that sent the entity.
//! Memory: none of its own. The hub keeps the views of past ticks longer, which receivers share.

mod config;
mod error;
mod frames;
mod past;
mod peer;

pub use config::RewindConfig;
pub use error::RewindError;
pub use past::Past;
pub(in crate::sender) use peer::{LastSeen, kept_ticks};
