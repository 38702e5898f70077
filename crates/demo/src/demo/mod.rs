//! `kinepack demo`: the built-in world over a real socket through a bad link, and what arrives on
//! the other side; in a page, or in the terminal.

mod display;
mod headless;
mod loopback;
mod page;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use command_kit::bandwidth::{HEADER_BYTES, kbps};
use command_kit::page::PageError;
use command_kit::{Failure, LinkOptions, LinkOptionsError, OutputError, print};

use crate::sender::SendOptions;
use crate::session::Session;
use crate::session_error::SessionError;
use crate::session_report::SessionReport;
use crate::world::{Played, WorldArguments, WorldError, read_capture};

/// Send a physics world over a real socket through a bad link, and show both sides in the browser.
#[derive(Args, Clone)]
#[command(mut_arg("seconds", |argument| argument.help("Seconds of the world's time [default: 20; with the page: until Ctrl-C]")))]
pub struct Arguments {
    /// Keep to the terminal: no page is served.
    #[arg(long)]
    headless: bool,
    /// Address and port of the page; port 0 takes any that is free. Whoever reaches the address can
    /// watch and play [default: 127.0.0.1:4650, or another port where that is taken]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "headless")]
    listen: Option<SocketAddr>,
    /// Do not open the browser.
    #[arg(long, conflicts_with = "headless")]
    no_open: bool,
    /// With --headless: do not wait for the world's clock.
    #[arg(long, requires = "headless")]
    fast: bool,
    /// Print the summary as one JSON document.
    #[arg(long)]
    json: bool,
    /// Send a capture instead: cubes before quantization, as a challenge file (.f32, plain or as
    /// .zst) or a .mcap that `record` made. It starts again at its end.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "style", "cubes"])]
    capture: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    #[command(flatten, next_help_heading = "Sending")]
    send: SendOptions,
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
}

/// Why the demo ends early.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The page cannot begin with these options.
    #[error("the page cannot show this: {reason}; --headless can")]
    Settings { reason: String },
}

impl Failure for DemoError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Page(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Settings { .. } => 2,
        }
    }
}

impl From<WorldError> for DemoError {
    fn from(error: WorldError) -> Self {
        Self::Session(error.into())
    }
}

impl From<LinkOptionsError> for DemoError {
    fn from(error: LinkOptionsError) -> Self {
        Self::Session(error.into())
    }
}

/// What is played, and how a report names it.
struct Program {
    world: Played,
    name: String,
    /// After so many ticks there is nothing new.
    ticks: u32,
}

impl Arguments {
    fn program(&self) -> Result<Program, DemoError> {
        Ok(match &self.capture {
            None => Program {
                world: self.world.play()?,
                name: self.world.name(),
                ticks: self.world.frames(),
            },
            Some(path) => {
                let frames = read_capture(path)?;
                let ticks = self.world.asked_frames().unwrap_or(frames.len() as u32);
                Program {
                    world: Played::Captured(frames, 0),
                    name: format!("--capture {}", path.display()),
                    ticks,
                }
            }
        })
    }
}

pub fn run(arguments: &Arguments) -> Result<(), DemoError> {
    let report = if arguments.headless { headless::run(arguments)? } else { page::run(arguments)? };
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    match report.input.as_ref().map_or(0, |input| input.wrong) {
        _ if report.wrong_lanes > 0 => {
            Err(SessionError::Drifted { wrong_lanes: report.wrong_lanes }.into())
        }
        0 => Ok(()),
        records => Err(SessionError::WrongKeys { records }.into()),
    }
}

/// What the article starts from: 321 bits an object and a header, at the world's rate.
fn uncompressed_kbps(objects: usize) -> f64 {
    let bytes = (objects as f64 * 321.0 / 8.0).ceil() + HEADER_BYTES;
    kbps(bytes, cubes::TICK_HZ)
}

/// What the session was like up to a tick.
fn report(
    session: &Session,
    tick: u32,
    world: &str,
    link: String,
    sending: String,
) -> SessionReport {
    SessionReport { world: world.to_owned(), link, sending, ..session.peers[0].report(tick) }
}
