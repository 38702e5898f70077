//! `kinepack record`: a capture of the built-in world, or of what a server sends.

mod gaps;
mod server;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Arg, Args, Command};
use kinepack::{EntityId, Tick};
use kinepack_capture::Recorder;
use kinepack_capture::cube::Cube;

use crate::failure::Failure;
use crate::join::{ConnectionArguments, parse_server};
use crate::measure::progress;
use crate::states::States;
use crate::world::WorldArguments;

/// The name of the stream, whatever is recorded.
const STREAM: &str = "cubes";

/// Record the built-in world as a capture, as a game does with `kinepack_capture::Recorder`; or what a running `kinepack serve` sends.
#[derive(Args)]
#[command(mut_args(for_a_connection))]
#[command(mut_arg("seconds", |argument| argument
    .help("Seconds of the world's time [default: 20]; with --from, seconds to run [default: until Ctrl-C]")))]
pub(crate) struct Arguments {
    /// Where to put the capture.
    #[arg(value_name = "FILE.mcap")]
    out: PathBuf,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    /// Look on at this server, an address or a name and its port, and record each whole state that comes, quantized as it was sent, with the
    /// server's ticks. What is lost on the way is missing. Ends with the connection.
    #[arg(long, help_heading = "A server", value_name = "ADDRESS:PORT", value_parser = parse_server, conflicts_with_all = ["seed", "style", "cubes"])]
    from: Option<SocketAddr>,
    #[command(flatten, next_help_heading = "A server")]
    connection: ConnectionArguments,
}

/// Without `--from` there is nothing to connect to.
fn for_a_connection(argument: Arg) -> Arg {
    let connection = ConnectionArguments::augment_args(Command::new("connection"));
    let is_of_it = connection.get_arguments().any(|other| other.get_id() == argument.get_id());
    if is_of_it { argument.requires("from") } else { argument }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { out, world, from, connection } = arguments;
    match from {
        Some(server) => server::run(out, *server, connection, world.seconds),
        None => record_world(out, world),
    }
}

fn record_world(out: &Path, arguments: &WorldArguments) -> Result<(), Failure> {
    let mut world = arguments.play()?;
    let mut recorder = Recorder::create(out)?;
    let stream = recorder.stream::<Cube>(STREAM, f64::from(cubes::TICK_HZ))?;
    let bar = progress(Some(arguments.frames()));
    let mut states = States::default();
    let mut sent: Vec<(EntityId, Cube)> = Vec::new();
    for tick in 0..arguments.frames() {
        world.next_frame(&mut states);
        sent.clear();
        sent.extend(states.iter().map(|(id, state)| (id, Cube::from(*state))));
        recorder.record(&stream, Tick(tick), sent.iter().map(|(id, cube)| (*id, cube)))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let summary = recorder.finish()?;
    eprintln!("{}: {} frames, {} bytes", out.display(), summary.frames, summary.bytes);
    Ok(())
}
