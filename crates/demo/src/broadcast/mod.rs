//! Broadcasts for spectators, through relays of Media over QUIC. `kinepack broadcast` is the whole
//! way on one machine; `serve` and `replay` publish, and `watch` shows a broadcast in the terminal or
//! in a page.

mod outgoing;
mod page;
mod relay;
mod spectator;
mod watch;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::table::{table, write_json};
use command_kit::{Failure, OutputError, print, say};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use kinepack::{Snapshot, Tick};
use kinepack_crowd::CrowdError;
use kinepack_crowd::moq::{Address, Identity, Link, LocalRelay, MoqError, Trust};
pub use outgoing::{Outgoing, PublishOptions};
pub use page::Place;
pub use relay::RelayOptions;
use serde::Serialize;
use spectator::{Spectator, SpectatorReport};
pub use watch::{WatchOptions, watch};

use crate::codes::hex;
use crate::cube_stream::CubeStream;
use crate::sender::due;
use crate::session_error::SessionError;
use crate::states::States;
use crate::world::{WorldArguments, WorldError};

/// The tiers of the three spectators.
const TIERS: [&str; 3] = ["full", "eighth", "fast"];
/// The name of the broadcast.
const NAME: &str = "cubes";

/// Broadcast the built-in world to spectators, all on this machine: a publisher, a relay inside of
/// the program, and three spectators with different tiers.
///
/// More spectators join with the `kinepack watch` command that it prints. For a relay of your own,
/// use `kinepack serve --publish URL`.
#[derive(Args)]
pub struct Arguments {
    /// Address and port of the relay, on UDP. Port 0 takes any free port.
    #[arg(long, default_value = "127.0.0.1:4443", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Print the summary as one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    #[command(flatten, next_help_heading = "Sending")]
    stream: CubeStream,
}

/// Why a world cannot be broadcast, or a broadcast not be watched.
#[derive(Debug, thiserror::Error)]
pub enum BroadcastError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    #[error(transparent)]
    Moq(#[from] MoqError),
    #[error("the threads of the connection cannot be started: {0}")]
    Threads(io::Error),
    #[error("the terminal does not report keys: {0}")]
    Terminal(io::Error),
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The run is over, and nothing came.
    #[error("nothing was received from {address}: {reason}")]
    NothingReceived { address: String, reason: String },
}

impl Failure for BroadcastError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::NothingReceived { .. } | Self::Terminal(_) | Self::Threads(_) => 1,
            Self::Crowd(_) | Self::Moq(_) => 2,
        }
    }
}

impl From<WorldError> for BroadcastError {
    fn from(error: WorldError) -> Self {
        Self::Session(error.into())
    }
}

/// A broadcast on this machine.
#[derive(Serialize)]
struct Report {
    world: String,
    seconds: f64,
    spectators: Vec<SpectatorReport>,
}

pub fn run(arguments: &Arguments) -> Result<(), BroadcastError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let mut world = arguments.world.play()?;
    let codec = arguments.stream.codec();
    let identity = Identity::self_signed()?;
    let (runtime, connector) = relay::connector(&Trust::Certificates(vec![identity.hash()]))?;
    let relay = {
        let _within = runtime.enter();
        LocalRelay::listen(arguments.listen, &identity)?
    };
    let text = format!("https://{}/{NAME}", relay.address());
    let address: Address = text.parse()?;
    let hash = hex(&identity.hash());
    say(format_args!(
        "kinepack: a relay listens on {}. To watch through it:\n\n    kinepack watch {text} \
         --relay-certificate {hash}\n",
        relay.address()
    ));
    let mut spectators: Vec<Spectator> = {
        let _within = runtime.enter();
        TIERS.iter().map(|tier| Spectator::new(&connector, &address, Some(tier))).collect()
    };
    let mut outgoing =
        outgoing::publish(runtime, &connector, &address, &codec, cubes::TICK_HZ as u16, 0)?;
    let lines = Lines::new(spectators.len());
    let (mut states, mut snapshot) = (States::default(), Snapshot::new(codec.schema(), Tick(0)));
    let begin = Instant::now();
    let end = arguments.world.seconds.map(|seconds| Duration::from_secs(seconds.into()));
    for tick in 1_u32.. {
        if interrupt.is_raised() || end.is_some_and(|end| begin.elapsed() >= end) {
            break;
        }
        world.next_frame(&mut states);
        arguments.stream.quantize(&states, Tick(tick), &mut snapshot)?;
        std::thread::sleep(due(tick).saturating_sub(begin.elapsed()));
        outgoing.write(&snapshot)?;
        for (nth, spectator) in spectators.iter_mut().enumerate() {
            spectator.frame();
            if tick.is_multiple_of(cubes::TICK_HZ / 4) {
                lines.show(nth, spectator.status());
            }
        }
    }
    lines.finish();
    let report = Report {
        world: arguments.world.name(),
        seconds: begin.elapsed().as_secs_f64(),
        spectators: spectators.into_iter().filter_map(Spectator::report).collect(),
    };
    outgoing.finish();
    print(|out| if arguments.json { write_json(&report, out) } else { report.write_table(out) })?;
    if report.spectators.is_empty() {
        let reason = "the spectators saw nothing".to_owned();
        return Err(BroadcastError::NothingReceived { address: text, reason });
    }
    Ok(())
}

impl Report {
    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.spectators.iter().map(SpectatorReport::row);
        writeln!(out, "{}, broadcast for {:.1} s", self.world, self.seconds)?;
        writeln!(out, "{}", table(SpectatorReport::HEADERS, 1, rows).trim_fmt())
    }
}

/// The state of a connection, as a line of news.
fn news_of(link: &Link) -> String {
    match link {
        Link::Connected => "the relay is connected".to_owned(),
        Link::Connecting { because: Some(error) } => format!("{error}; trying again"),
        Link::Connecting { because: None } => "connecting to the relay".to_owned(),
    }
}

/// Lines on a terminal that are redrawn.
struct Lines(Vec<ProgressBar>);

impl Lines {
    fn new(count: usize) -> Self {
        let all = MultiProgress::new();
        let line = || {
            let style = ProgressStyle::with_template("{wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            all.add(ProgressBar::new(1).with_style(style))
        };
        Self((0..count).map(|_| line()).collect())
    }

    fn show(&self, nth: usize, text: String) {
        self.0.iter().skip(nth).take(1).for_each(|line| line.set_message(text.clone()));
    }

    /// Prints a line above.
    fn say(&self, text: &str) {
        let line = || say(format!("kinepack: {text}"));
        match self.0.first() {
            Some(first) => first.suspend(line),
            None => line(),
        }
    }

    fn finish(&self) {
        self.0.iter().for_each(ProgressBar::finish_and_clear);
    }
}
