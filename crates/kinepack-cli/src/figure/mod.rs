//! `kinepack figure`: live bodies over a network.

mod address;
mod assembly;
mod description;
mod error;
mod framing;
mod random;
mod send;
mod socket;
mod source;
mod watch;

use clap::{Args, Subcommand};

pub(crate) use error::FigureFailure;

/// The port of the program that receives.
const PORT: u16 = 4653;

/// Live bodies: send the motion of a tracker or a file, and watch it arrive.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Send(send::Arguments),
    Watch(watch::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), FigureFailure> {
    match &arguments.command {
        Command::Send(arguments) => send::run(arguments),
        Command::Watch(arguments) => watch::run(arguments),
    }
}
