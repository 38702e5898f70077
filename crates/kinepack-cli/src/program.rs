//! The shell of a program, which parses the arguments, runs the command and ends the program.

use std::env;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use command_kit::{Failure, announce, escaped, set_program_name};

/// The commands that only `kinepack-lab` has, in order. Users often try them with `kinepack` by
/// mistake.
pub const OF_THE_LAB: [&str; 11] = [
    "arena",
    "broadcast",
    "demo",
    "inputs",
    "join",
    "publish",
    "record",
    "serve",
    "simulate",
    "sweep",
    "watch",
];

/// Reads the command line and runs a program. If the program fails, prints the reason on standard
/// error.
pub fn run_program<Arguments: Parser>(
    run: impl FnOnce(Arguments) -> Result<(), Box<dyn Failure>>,
) -> ExitCode {
    set_program_name(Arguments::command().get_name());
    match run(arguments()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            announce(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Parses the arguments of the command line. If the arguments are wrong, ends the program with an
/// error that quotes them without control characters.
fn arguments<Arguments: Parser>() -> Arguments {
    let error = match Arguments::try_parse() {
        Ok(arguments) => return arguments,
        Err(error) => error,
    };
    let quoted = env::args_os().map(|argument| escaped(&argument.to_string_lossy()).into_owned());
    let mut error = Arguments::try_parse_from(quoted).err().unwrap_or(error);
    let unknown = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
    if let Some(command) = unknown.filter(|command| OF_THE_LAB.contains(&command.as_str())) {
        let tip = format!(
            "{command} is a command of kinepack-lab: in a clone of the repository, \
             `cargo run --release -- {command}`"
        );
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error.exit()
}

/// Boxes the failure of one of several commands.
pub fn boxed(failure: impl Failure + 'static) -> Box<dyn Failure> {
    Box::new(failure)
}
