//! `kinepack anim`: skeletal animation clips.

mod baked;
mod base;
mod build;
mod compare;
mod compiled;
mod databases;
mod decode;
mod error;
mod export;
mod file_types;
mod import_options;
mod info;
mod joints;
mod left_out;
mod markers;
mod names;
mod peers;
mod raw;
mod rigs;
mod scheme;
mod skipped;
mod sources;
mod timing;
mod train;
mod travel;
mod view;

use clap::{Args, Subcommand};

pub(crate) use compiled::read_bytes;
pub(crate) use error::AnimError;
pub(crate) use file_types::{SKELETONS, check_played, ends_in};
pub(crate) use import_options::FileFacts;
pub(crate) use sources::read_played;
pub(crate) use view::SCENE;

/// Skeletal animation clips: compress them, play them, and show their sizes and errors.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(build::Arguments),
    Compare(compare::Arguments),
    Decode(decode::Arguments),
    Export(export::Arguments),
    Info(info::Arguments),
    Raw(raw::Arguments),
    Train(train::Arguments),
    View(view::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    match &arguments.command {
        Command::Build(arguments) => build::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Decode(arguments) => decode::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Raw(arguments) => raw::run(arguments),
        Command::Train(arguments) => train::run(arguments),
        Command::View(arguments) => view::run(arguments),
    }
}
