//! The commands of the program.

use clap::Subcommand;
use command_kit::Failure;

use crate::program::boxed;
use crate::{analyze, convert, kpz, measure, replay, shell, train, tune};
#[cfg(feature = "anim")]
use crate::{anim, figure};

/// A command with its arguments.
#[derive(Subcommand)]
pub enum Command {
    Measure(measure::Arguments),
    Analyze(analyze::Arguments),
    Tune(tune::Arguments),
    Train(train::Arguments),
    Replay(replay::Arguments),
    Convert(convert::Arguments),
    Pack(kpz::pack::Arguments),
    Unpack(kpz::unpack::Arguments),
    Info(kpz::info::Arguments),
    Cut(kpz::cut::Arguments),
    #[cfg(feature = "anim")]
    Anim(anim::Arguments),
    #[cfg(feature = "anim")]
    Figure(figure::Arguments),
    Completions(shell::Completions),
    #[command(hide = true)]
    ManPages(shell::ManPages),
}

impl Command {
    /// Runs the command. `program` describes the commands and options of the whole program, for
    /// completions and man pages.
    pub fn run(self, program: clap::Command) -> Result<(), Box<dyn Failure>> {
        match self {
            Self::Measure(arguments) => measure::run(&arguments).map_err(boxed),
            Self::Analyze(arguments) => analyze::run(&arguments).map_err(boxed),
            Self::Tune(arguments) => tune::run(&arguments).map_err(boxed),
            Self::Train(arguments) => train::run(&arguments).map_err(boxed),
            Self::Replay(arguments) => replay::run(&arguments).map_err(boxed),
            Self::Convert(arguments) => convert::run(&arguments).map_err(boxed),
            Self::Pack(arguments) => kpz::pack::run(&arguments).map_err(boxed),
            Self::Unpack(arguments) => kpz::unpack::run(&arguments).map_err(boxed),
            Self::Info(arguments) => kpz::info::run(&arguments).map_err(boxed),
            Self::Cut(arguments) => kpz::cut::run(&arguments).map_err(boxed),
            #[cfg(feature = "anim")]
            Self::Anim(arguments) => anim::run(&arguments).map_err(boxed),
            #[cfg(feature = "anim")]
            Self::Figure(arguments) => figure::run(&arguments).map_err(boxed),
            Self::Completions(arguments) => {
                shell::print_completions(&arguments, &program).map_err(boxed)
            }
            Self::ManPages(arguments) => shell::write_man_pages(&arguments, program).map_err(boxed),
        }
    }
}
