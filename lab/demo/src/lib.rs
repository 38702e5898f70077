//! The demo of kinepack and its network commands: a physics world of cubes and the people who play
//! in it, sent over a bad link.
//!
//! | module | command |
//! |---|---|
//! | [`demo`] | `demo`: both sides in a page, or in the terminal |
//! | [`serve`], [`join`] | the same world between processes and machines |
//! | [`broadcast`] | the same world for spectators, through relays |
//! | [`watch`] | a replay in a page, or a broadcast in the terminal or a page |
//! | [`simulate`], [`sweep`] | the same world under virtual time, for one link or many |
//!
//! `Session` is the core of `demo`, `simulate` and `sweep`: a sender, simulated
//! links, and viewers. [`stream_measure`] measures input streams for the command `measure`.

#![forbid(unsafe_code)]
#![allow(missing_docs, unreachable_pub, reason = "a part of the program, with no users of its own")]

pub mod broadcast;
mod codes;
mod crowd;
mod cube_stream;
pub mod demo;
mod export;
mod happenings;
mod inputs;
pub mod join;
mod keys;
mod lines;
mod map;
mod module;
mod players;
mod raw_mode;
mod recording;
mod secret_options;
mod sender;
pub mod serve;
mod session;
mod session_error;
mod session_report;
mod sight;
pub mod simulate;
mod states;
mod static_files;
pub mod stream_measure;
pub mod sweep;
mod threads;
mod truth;
mod viewer;
pub mod watch;
mod world;

pub use sender::due;
pub use session_error::SessionError;
pub use states::States;
pub use viewer::NewView;
pub use world::{Played, WorldArguments, WorldError};

/// The protocol that `serve` and `join` speak, in any version of the program. The endpoints compare
/// versions themselves, after they have connected.
pub const PROTOCOL_ID: u64 = u64::from_le_bytes(*b"kinepack");
