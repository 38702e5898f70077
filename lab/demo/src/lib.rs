//! The commands that the program `kinepack-lab` has in addition to those of `kinepack`. They record
//! a physics world of cubes and its players, or send it over a bad link.
//!
//! | module | command |
//! |---|---|
//! | [`demo`] | `demo`: both sides in a page, or in the terminal |
//! | [`arena`] | `arena`: a game in a page, or bots in virtual time |
//! | [`record`] | `record`: captures of the world, or of a server |
//! | [`serve`], [`join`] | the same world between processes and machines |
//! | [`broadcast`], [`publish`] | the same world, or a capture, for spectators, through relays |
//! | [`watch`] | a replay in a page, or a broadcast in the terminal or a page |
//! | [`simulate`], [`sweep`] | the same world under virtual time, for one link or many |
//! | [`stream_measure`] | `inputs`: input streams of scripted players |
//!
//! `Session` is the core of `demo`, `simulate` and `sweep`. It consists of a sender, simulated
//! links, and viewers.

#![forbid(unsafe_code)]
#![allow(missing_docs, unreachable_pub, reason = "a part of the program")]

pub mod arena;
pub mod broadcast;
mod codes;
mod crowd;
mod cube_stream;
pub mod demo;
mod export;
mod game_events;
mod inputs;
pub mod join;
mod keys;
mod lines;
mod map;
mod module;
mod page_socket;
mod players;
pub mod publish;
mod raw_mode;
pub mod record;
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

/// The protocol that `serve` and `join` speak, in any version of the program. The endpoints compare
/// versions themselves, after they have connected.
pub const PROTOCOL_ID: u64 = u64::from_le_bytes(*b"kinepack");
