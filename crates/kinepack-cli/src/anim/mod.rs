//! `kinepack anim`: skeletal animation clips.

mod import_options;
mod raw;

use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Skeletal animation clips: from glTF and BVH files, and what becomes of them.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Raw(raw::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Raw(arguments) => raw::run(arguments),
    }
}
