//! `kinepack-lab demo`: sends the built-in world over a real socket through a bad link, and shows
//! what arrives, in a page or in the terminal.

mod display;
mod headless;
mod loopback;
pub(crate) mod page;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use command_kit::bandwidth::{HEADER_BYTES, kbps};
use command_kit::page::PageError;
use command_kit::{Failure, LinkOptions, LinkOptionsError, OutputError, print};

use crate::export::export;
use crate::recording::RecordOptions;
use crate::sender::SendOptions;
use crate::session::Session;
use crate::session_error::SessionError;
use crate::session_report::SessionReport;
use crate::world::{Played, WorldArguments, WorldError, read_capture};

/// Send a physics world through a simulated bad link, and show both sides in the browser.
///
/// The page changes the link and the level while the world runs, and lets you play. Ctrl-C ends the
/// demo and prints a summary.
#[derive(Args, Clone)]
#[command(mut_arg("seconds", |argument| argument
    .help("Length of the run in seconds of the world's time [default: 20; with the page: until \
           Ctrl-C]")))]
// This is the level whose bandwidth the README states.
#[command(mut_arg("level", |argument| argument.default_value("learning")))]
pub struct Arguments {
    /// Run in the terminal, without a page.
    #[arg(long)]
    headless: bool,
    /// Address and port of the page. Port 0 takes any free port. Anybody who can reach the address
    /// can watch and play [default: 127.0.0.1:4650, or another port if that is taken]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "headless")]
    listen: Option<SocketAddr>,
    /// Do not open the browser.
    #[arg(long, conflicts_with = "headless")]
    no_open: bool,
    /// With --headless: run as fast as the machine can, instead of in real time. This is always so
    /// if standard error is not a terminal, because then there is no display to watch.
    #[arg(long, requires = "headless")]
    fast: bool,
    /// Write the demo as a folder of static files instead, for any web host: a page that plays a
    /// recorded run of the world through a simulated link.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["headless", "record", "json"])]
    export: Option<PathBuf>,
    /// Print the summary as one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    /// Send a capture instead of the built-in world: cubes before quantization, as a challenge file
    /// (.f32, plain or as .zst) or a .mcap that `record` made. It starts again at its end.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "style", "cubes"])]
    capture: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    #[command(flatten)]
    recording: RecordOptions,
    #[command(flatten, next_help_heading = "Sending")]
    send: SendOptions,
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
}

/// The reason why the demo fails or ends early.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The page cannot show worlds with these options.
    #[error("the page cannot show these settings: {reason}; run it with --headless")]
    Settings { reason: String },
}

impl From<LinkOptionsError> for DemoError {
    fn from(error: LinkOptionsError) -> Self {
        Self::Session(error.into())
    }
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

/// The world to play, the name by which reports identify it, and the length of the run.
struct Program {
    world: Played,
    name: String,
    /// The length of the run.
    ticks: u32,
    /// How reading a capture ended: an error if frames were lost.
    ending: Result<(), WorldError>,
}

impl Arguments {
    fn program(&self) -> Result<Program, DemoError> {
        Ok(match &self.capture {
            None => Program {
                world: self.world.play()?,
                name: self.world.name(),
                ticks: self.world.frames(),
                ending: Ok(()),
            },
            Some(path) => {
                let (run, ending) = read_capture(path, &self.send.stream)?;
                let ticks = self.world.asked_frames().unwrap_or(run.world_ticks());
                let name = format!("--capture {}", path.display());
                Program { world: Played::Captured(run), name, ticks, ending }
            }
        })
    }
}

pub fn run(arguments: &Arguments) -> Result<(), DemoError> {
    if let Some(directory) = &arguments.export {
        let Program { world, ticks, ending, .. } = arguments.program()?;
        let outputs = arguments.recording.force.reading(&arguments.capture);
        export(directory, &outputs, world, ticks, &arguments.send)?;
        return Ok(ending?);
    }
    let (report, ending) =
        if arguments.headless { headless::run(arguments)? } else { page::run(arguments)? };
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    match report.input.as_ref().map_or(0, |input| input.wrong) {
        _ if report.wrong_lanes > 0 => {
            Err(SessionError::Drifted { wrong_lanes: report.wrong_lanes }.into())
        }
        0 => Ok(ending?),
        records => Err(SessionError::WrongKeys { records }.into()),
    }
}

/// Returns the bandwidth of the article's uncompressed form, which has 321 bits per object and a
/// header, at the world's rate.
fn uncompressed_kbps(objects: usize) -> f64 {
    let bytes = (objects as f64 * 321.0 / 8.0).ceil() + HEADER_BYTES;
    kbps(bytes, cubes::TICK_HZ)
}

/// Returns the report of the session up to a tick.
fn report(
    session: &Session,
    tick: u32,
    world: &str,
    link: String,
    sending: String,
) -> SessionReport {
    SessionReport { world: world.to_owned(), link, sending, ..session.peers[0].report(tick) }
}
