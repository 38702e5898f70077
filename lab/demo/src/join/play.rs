//! The command line's options that determine who steers a joiner's cube.

use std::io::{IsTerminal, stdin};

use clap::{Args, ValueEnum};
use command_kit::parse_seed;
use cubes::{Input, Script, Style};

use super::player::Pilot;
use crate::join::JoinError;
use crate::raw_mode::is_at_terminal;

/// The options that determine who steers a joiner's cube.
#[derive(Args, Clone, Debug)]
pub(super) struct PlayOptions {
    /// Who steers the cube that the server assigns: keys of this terminal, a script, or none to
    /// only watch [default: keys if standard input and output are a terminal, otherwise none]
    #[arg(long, value_enum, value_name = "BY")]
    play: Option<By>,
    /// How the script plays: typical, push, pull or rest [default: typical]
    #[arg(long)]
    style: Option<Style>,
    /// Seed of the script. With --count, each further joiner has the next higher seed [default: 1]
    #[arg(long, allow_negative_numbers = true, value_parser = parse_seed)]
    seed: Option<u64>,
}

/// A value of `--play`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Arrow keys or WASD steer, space pushes, Z pulls
    Keys,
    /// A script steers by the received world
    Script,
    /// Only watch
    None,
}

/// The pilot after the defaults are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Play {
    Keys,
    Script { style: Style, seed: u64 },
    Nobody,
}

impl PlayOptions {
    /// Resolves the defaults for `count` joiners.
    pub(super) fn resolve(&self, count: u32) -> Result<Play, JoinError> {
        let by = self
            .play
            .unwrap_or_else(|| if count == 1 && is_at_terminal() { By::Keys } else { By::None });
        let refused = |reason: &str| Err(JoinError::Play { reason: reason.to_owned() });
        if by != By::Script && (self.style.is_some() || self.seed.is_some()) {
            return refused("--style and --seed are for a script: give --play script too");
        }
        match by {
            By::Keys if count > 1 => {
                refused("--play keys is for one joiner: leave --count out, or give --play script")
            }
            By::Keys if !stdin().is_terminal() => refused(
                "--play keys needs a terminal as standard input; --play script plays without",
            ),
            By::Keys => Ok(Play::Keys),
            By::Script => Ok(Play::Script {
                style: self.style.unwrap_or_default(),
                seed: self.seed.unwrap_or(1),
            }),
            By::None => Ok(Play::Nobody),
        }
    }
}

impl Play {
    /// Returns the pilot of the joiner with this number.
    pub(super) fn pilot(self, joiner: u32) -> Pilot {
        match self {
            Self::Keys => Pilot::Person(Input::default()),
            Self::Script { style, seed } => {
                Pilot::Script(Box::new(Script::new(style, seed.wrapping_add(u64::from(joiner)))))
            }
            Self::Nobody => Pilot::Nobody,
        }
    }
}
