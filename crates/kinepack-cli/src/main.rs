//! The program `kinepack`: a world sent over a bad network before your eyes, between processes,
//! under virtual time; and the sizes of each stage, for it and for your own captures.

#![forbid(unsafe_code)]

mod analyze;
#[cfg(feature = "anim")]
mod anim;
mod bodies;
mod captured;
mod convert;
mod distance;
mod kpz;
mod ladder;
mod measure;
#[cfg(feature = "demo")]
mod record;
mod replay;
mod report;
mod shell;
mod stages;
mod steps;
mod train;
mod tune;

use std::env;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use command_kit::{Failure, escaped};

/// Motion in the fewest bits: sends, shows and measures the state of moving things.
#[derive(Parser)]
#[command(name = "kinepack", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "demo")]
    Demo(demo::demo::Arguments),
    Measure(measure::Arguments),
    Analyze(analyze::Arguments),
    Tune(tune::Arguments),
    Train(train::Arguments),
    #[cfg(feature = "demo")]
    Record(record::Arguments),
    Replay(replay::Arguments),
    Convert(convert::Arguments),
    Pack(kpz::pack::Arguments),
    Unpack(kpz::unpack::Arguments),
    Info(kpz::info::Arguments),
    Cut(kpz::cut::Arguments),
    #[cfg(feature = "demo")]
    Watch(demo::watch::Arguments),
    #[cfg(feature = "anim")]
    Anim(anim::Arguments),
    #[cfg(feature = "demo")]
    Serve(demo::serve::Arguments),
    #[cfg(feature = "demo")]
    Join(demo::join::Arguments),
    #[cfg(feature = "demo")]
    Broadcast(demo::broadcast::Arguments),
    #[cfg(feature = "demo")]
    Simulate(demo::simulate::Arguments),
    #[cfg(feature = "demo")]
    Sweep(demo::sweep::Arguments),
    Completions(shell::Completions),
    #[command(hide = true)]
    ManPages(shell::ManPages),
}

fn main() -> ExitCode {
    let result = match arguments().command {
        #[cfg(feature = "demo")]
        Command::Demo(arguments) => demo::demo::run(&arguments).map_err(boxed),
        Command::Measure(arguments) => measure::run(&arguments).map_err(boxed),
        Command::Analyze(arguments) => analyze::run(&arguments).map_err(boxed),
        Command::Tune(arguments) => tune::run(&arguments).map_err(boxed),
        Command::Train(arguments) => train::run(&arguments).map_err(boxed),
        #[cfg(feature = "demo")]
        Command::Record(arguments) => record::run(&arguments).map_err(boxed),
        Command::Replay(arguments) => replay::run(&arguments).map_err(boxed),
        Command::Convert(arguments) => convert::run(&arguments).map_err(boxed),
        Command::Pack(arguments) => kpz::pack::run(&arguments).map_err(boxed),
        Command::Unpack(arguments) => kpz::unpack::run(&arguments).map_err(boxed),
        Command::Info(arguments) => kpz::info::run(&arguments).map_err(boxed),
        Command::Cut(arguments) => kpz::cut::run(&arguments).map_err(boxed),
        #[cfg(feature = "demo")]
        Command::Watch(arguments) => demo::watch::run(&arguments).map_err(boxed),
        #[cfg(feature = "anim")]
        Command::Anim(arguments) => anim::run(&arguments).map_err(boxed),
        #[cfg(feature = "demo")]
        Command::Serve(arguments) => demo::serve::run(&arguments).map_err(boxed),
        #[cfg(feature = "demo")]
        Command::Join(arguments) => demo::join::run(&arguments).map_err(boxed),
        #[cfg(feature = "demo")]
        Command::Broadcast(arguments) => demo::broadcast::run(&arguments).map_err(boxed),
        #[cfg(feature = "demo")]
        Command::Simulate(arguments) => demo::simulate::run(&arguments).map_err(boxed),
        #[cfg(feature = "demo")]
        Command::Sweep(arguments) => demo::sweep::run(&arguments).map_err(boxed),
        Command::Completions(arguments) => shell::print_completions(&arguments).map_err(boxed),
        Command::ManPages(arguments) => shell::write_man_pages(&arguments).map_err(boxed),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            command_kit::say(format_args!("kinepack: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}

/// The arguments of the command line. Ends the program if they are wrong, with an error that quotes
/// them without what controls a terminal.
fn arguments() -> Arguments {
    let error = match Arguments::try_parse() {
        Ok(arguments) => return arguments,
        Err(error) => error,
    };
    let quoted = env::args_os().map(|argument| escaped(&argument.to_string_lossy()).into_owned());
    Arguments::try_parse_from(quoted).err().unwrap_or(error).exit()
}

fn boxed(failure: impl Failure + 'static) -> Box<dyn Failure> {
    Box::new(failure)
}
