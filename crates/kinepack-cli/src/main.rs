//! The program `kinepack`: measures, tunes, replays and packs your captures, and compresses clips.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use kinepack_cli::{Command, run_program};

/// Motion in the fewest bits: measures, tunes and packs the state of moving things.
#[derive(Parser)]
#[command(name = "kinepack", version, arg_required_else_help = true)]
#[command(
    after_help = "The demo, and a world to record, serve and watch, are in the program kinepack-lab: \
                  in a clone of the repository, `cargo run --release -- demo`."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    run_program(|Arguments { command }| command.run(Arguments::command()))
}
