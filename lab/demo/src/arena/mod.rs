//! `kinepack-lab arena`: a small game over a bad network, in the browser; or bots alone, in virtual
//! time, which shows what each mechanism is worth.

mod headless;
mod page;

use std::net::SocketAddr;

use arena::ArenaError;
use clap::Args;
use command_kit::page::PageError;
use command_kit::{Failure, LinkOptions, LinkOptionsError, OutputError, parse_seed};
use kinepack_net::Budget;

/// Play a small game over a simulated bad network, in the browser.
///
/// Players walk, take a ferry or a teleporter, and shoot; bots play too. In the page, each mechanism
/// can be switched off, to see what happens without it: rewinding, prediction, the input's clock, and
/// others. More pages are more players. Ctrl-C ends the game.
#[derive(Args, Clone)]
pub struct Arguments {
    /// Let only bots play, in virtual time, and print what happens with all mechanisms and without
    /// each of them.
    #[arg(long)]
    headless: bool,
    /// Address and port of the page. Port 0 takes any free port. Anybody who can reach the address
    /// can play [default: 127.0.0.1:4650, or another port if that is taken]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "headless")]
    listen: Option<SocketAddr>,
    /// Do not open the browser.
    #[arg(long, conflicts_with = "headless")]
    no_open: bool,
    /// The number of bots.
    #[arg(long, value_name = "COUNT", default_value_t = 6, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=30))]
    bots: u32,
    /// With --headless: the length of each game in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "headless", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(10..=3_600))]
    seconds: u32,
    /// With --headless: halfway, the round trip gets longer by this.
    #[arg(long, value_name = "MS", default_value_t = 0, requires = "headless", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    longer_ms: u32,
    /// Seed of the bots.
    #[arg(long, default_value_t = 1, value_name = "SEED", allow_negative_numbers = true, value_parser = parse_seed)]
    seed: u64,
    /// The most that the server sends to each player, in kbit/s without headers [default: no limit]
    #[arg(long, value_name = "KBPS", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(3..=1_000_000))]
    kbps: Option<u32>,
    /// With --headless: print one JSON document instead of a table.
    #[arg(long, requires = "headless")]
    json: bool,
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
}

/// The reason why the game fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Game(#[from] ArenaError),
    #[error(transparent)]
    Link(#[from] LinkOptionsError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("the page cannot show this link: {0}")]
    Settings(&'static str),
}

impl Failure for Error {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Game(_) => 1,
            Self::Link(error) => error.exit_code(),
            Self::Page(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Settings(_) => 2,
        }
    }
}

/// The budget of each player.
fn budget(kbps: Option<u32>) -> Budget {
    kbps.map(|kbps| kbps.saturating_mul(125)).into()
}

pub fn run(arguments: &Arguments) -> Result<(), Error> {
    if arguments.headless { headless::run(arguments) } else { page::run(arguments) }
}
