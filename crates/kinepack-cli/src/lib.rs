//! The commands of the program `kinepack`: sizes, profiles, replays and clips of your own data.
//!
//! The program consists of [`Command`] and little else. Another program can add its own commands.
//! The lab's program has all commands of this one, and reads captures with [`captured`].

#![forbid(unsafe_code)]
#![allow(missing_docs, unreachable_pub, reason = "a part of two programs")]

mod analyze;
#[cfg(feature = "anim")]
mod anim;
mod bodies;
pub mod captured;
mod command;
mod convert;
mod distance;
#[cfg(feature = "anim")]
mod figure;
mod format;
mod kpz;
pub mod ladder;
mod measure;
mod program;
mod replay;
mod report;
mod runs;
mod shell;
mod stages;
pub mod steps;
mod train;
mod tune;

pub use command::Command;
pub use format::Format;
pub use kpz::open_replay;
pub use program::{OF_THE_LAB, boxed, run_program};
