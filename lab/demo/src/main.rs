//! The program `kinepack-lab`. It has the commands of `kinepack`, and a physics world that it
//! records or sends over a bad network. The world runs live on the screen, between processes, or in
//! virtual time.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use demo::{
    arena, broadcast, join, publish, record, serve, simulate, stream_measure, sweep, watch,
};
use kinepack_cli::{boxed, run_program};

/// Motion in the fewest bits: kinepack's commands, and a world to try them on.
#[derive(Parser)]
#[command(name = "kinepack-lab", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::demo::Arguments),
    Arena(arena::Arguments),
    Record(record::Arguments),
    Watch(watch::Arguments),
    Serve(serve::Arguments),
    Join(join::Arguments),
    Broadcast(broadcast::Arguments),
    Publish(publish::Arguments),
    Simulate(simulate::Arguments),
    Sweep(sweep::Arguments),
    Inputs(stream_measure::Arguments),
    #[command(flatten)]
    OfKinepack(kinepack_cli::Command),
}

fn main() -> ExitCode {
    run_program(|Arguments { command }| match command {
        Command::Demo(arguments) => demo::demo::run(&arguments).map_err(boxed),
        Command::Arena(arguments) => arena::run(&arguments).map_err(boxed),
        Command::Record(arguments) => record::run(&arguments).map_err(boxed),
        Command::Watch(arguments) => watch::run(&arguments).map_err(boxed),
        Command::Serve(arguments) => serve::run(&arguments).map_err(boxed),
        Command::Join(arguments) => join::run(&arguments).map_err(boxed),
        Command::Broadcast(arguments) => broadcast::run(&arguments).map_err(boxed),
        Command::Publish(arguments) => publish::run(&arguments).map_err(boxed),
        Command::Simulate(arguments) => simulate::run(&arguments).map_err(boxed),
        Command::Sweep(arguments) => sweep::run(&arguments).map_err(boxed),
        Command::Inputs(arguments) => stream_measure::run(&arguments).map_err(boxed),
        Command::OfKinepack(command) => command.run(Arguments::command()),
    })
}
