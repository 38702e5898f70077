//! The program `kinepack`: a world sent over a bad network before your eyes, between processes,
//! under virtual time; and the sizes of each stage, for it and for your own captures.

#![forbid(unsafe_code)]

mod analyze;
mod anim;
mod captured;
mod convert;
mod crowd;
mod cube_stream;
mod demo;
mod distance;
mod distribution;
mod failure;
mod inputs;
mod interrupt;
mod join;
mod keys;
mod ladder;
mod link_options;
mod map;
mod measure;
mod output;
mod page;
mod parts;
mod players;
mod precision;
mod record;
mod replay;
mod report;
mod report_page;
mod sender;
mod serve;
mod session;
mod session_report;
mod sight;
mod simulate;
mod states;
mod stream_measure;
mod sweep;
mod table;
mod train;
mod truth;
mod tune;
mod udp;
mod viewer;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Motion in the fewest bits: sends, shows and measures the state of moving things.
#[derive(Parser)]
#[command(name = "kinepack", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Analyze(analyze::Arguments),
    Anim(anim::Arguments),
    Convert(convert::Arguments),
    Demo(demo::Arguments),
    Measure(measure::Arguments),
    Simulate(simulate::Arguments),
    Sweep(sweep::Arguments),
    Train(train::Arguments),
    Tune(tune::Arguments),
    Record(record::Arguments),
    Replay(replay::Arguments),
    Serve(serve::Arguments),
    Join(join::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Analyze(arguments) => analyze::run(&arguments),
        Command::Anim(arguments) => anim::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Record(arguments) => record::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Join(arguments) => join::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("kinepack: {failure}");
            failure.exit_code()
        }
    }
}
