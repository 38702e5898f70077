//! `kinepack record`: a capture of the built-in world, or of the states that a server sends.

mod gaps;
mod server;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Arg, Args, Command};
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::output::{Force, Output};
use command_kit::{Failure, OutputError, counted, progress, say};
use cube_data::cube::{self, Cube, Player};
use demo::join::{ConnectionArguments, JoinError, parse_server};
use demo::{SessionError, States, WorldArguments, WorldError};
use kinepack::{SetupError, Tick};
use kinepack_capture::{RecordError, RecordSummary, RecordedKinds, RecordedStream, Recorder};

use crate::ladder::CubeKinds;

/// The name of the stream in every recording.
const STREAM: &str = "cubes";

/// Record the built-in world, or the states that a running server sends, as a capture.
///
/// The capture can be given to `analyze`, `tune`, `train`, `measure` and `replay`. Your own game
/// records itself with `kinepack_capture::Recorder`.
#[derive(Args)]
#[command(mut_args(for_a_connection))]
#[command(mut_arg("seconds", |argument| argument
    .help("Seconds of the world's time [default: 20]; with --from, seconds to record [default: \
           until Ctrl-C]")))]
pub(crate) struct Arguments {
    /// The file to write the capture to. Ctrl-C ends the recording and completes the file. Until
    /// then the frames are in FILE.mcap.XXXXXX.partial, which a crash or an error leaves there.
    #[arg(value_name = "FILE.mcap")]
    out: PathBuf,
    #[command(flatten)]
    force: Force,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    /// Record several kinds of entities instead of cubes alone. "player" makes a kind of the
    /// player's cube, as `serve` does.
    #[arg(long, help_heading = "Built-in world", conflicts_with = "from")]
    kinds: Option<CubeKinds>,
    /// Join this server as a spectator, and record each complete state that arrives, quantized as
    /// it was sent and with the server's ticks. Lost states are missing. The recording ends with
    /// the connection.
    #[arg(
        long,
        help_heading = "A server",
        value_name = "ADDRESS:PORT",
        value_parser = parse_server,
        conflicts_with_all = ["seed", "style", "cubes"]
    )]
    from: Option<SocketAddr>,
    #[command(flatten, next_help_heading = "A server")]
    connection: ConnectionArguments,
}

/// Without `--from` there is no server to connect to.
fn for_a_connection(argument: Arg) -> Arg {
    let connection = ConnectionArguments::augment_args(Command::new("connection"));
    let is_of_it = connection.get_arguments().any(|other| other.get_id() == argument.get_id());
    if is_of_it { argument.requires("from") } else { argument }
}

/// Why a recording failed or is incomplete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The time is over, and no complete state arrived.
    #[error(
        "no complete state arrived from {server}: its --budget-kbps has no room for all entities"
    )]
    NothingWhole { server: SocketAddr },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failure for RecordingError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Join(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            Self::NothingWhole { .. } => 1,
            _ => 2,
        }
    }
}

impl From<WorldError> for RecordingError {
    fn from(error: WorldError) -> Self {
        Self::Session(error.into())
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), RecordingError> {
    let Arguments { out, force, world, kinds, from, connection } = arguments;
    let mut file = CaptureFile { name: out, output: force.target(out)?.create()? };
    let recorded = match from {
        Some(server) => server::run(&mut file, *server, connection, world.seconds),
        None => record_world(&mut file, world, *kinds),
    };
    file.end(recorded)
}

/// The file of a recording. From the first frame on it is kept, even if the recording fails later.
struct CaptureFile<'a> {
    name: &'a Path,
    output: Output,
}

/// A line about the recorded frames. `None` if a signal came before the first one.
type Recorded = Option<String>;

impl CaptureFile<'_> {
    fn recorder(&self) -> Result<Recorder, RecordingError> {
        Ok(Recorder::to_writer(self.name, self.output.file()?)?)
    }

    /// Keeps the file from now on, because it has a frame.
    fn keep(&mut self) {
        self.output.keep();
    }

    /// Moves the file to its place, or says where its frames are.
    fn end(self, recorded: Result<Recorded, RecordingError>) -> Result<(), RecordingError> {
        let Self { name, output } = self;
        let kept = output.kept().map(Path::to_owned);
        let ended = recorded.and_then(|recorded| {
            let line = recorded
                .ok_or_else(|| Interrupted::new("before the first frame; no file was written"))?;
            output.commit()?;
            say(format_args!("{}: {line}", name.display()));
            Ok(())
        });
        if let (Err(_), Some(kept)) = (&ended, kept) {
            say(format_args!("the recorded frames are in {}", kept.display()));
        }
        ended
    }
}

/// The stream of the built-in world.
enum WorldStream {
    Cubes(RecordedStream<Cube>),
    Kinds(RecordedKinds),
}

impl WorldStream {
    fn record(
        &self,
        recorder: &mut Recorder,
        tick: Tick,
        states: &States,
    ) -> Result<(), RecordError> {
        match self {
            Self::Cubes(stream) => {
                let cubes = states.iter().map(|(id, state)| (id, Cube::from(*state)));
                recorder.record(stream, tick, cubes)
            }
            Self::Kinds(stream) => {
                let mut frame = recorder.frame(stream, tick)?;
                for (id, state) in states.iter() {
                    match cubes::is_player(id.0) {
                        true => frame.push(id, &Player::from(*state))?,
                        false => frame.push(id, &Cube::from(*state))?,
                    }
                }
                frame.finish()
            }
        }
    }
}

fn record_world(
    file: &mut CaptureFile<'_>,
    arguments: &WorldArguments,
    kinds: Option<CubeKinds>,
) -> Result<Recorded, RecordingError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let mut world = arguments.play()?;
    let mut recorder = file.recorder()?;
    let rate_hz = f64::from(cubes::TICK_HZ);
    let stream = match kinds {
        None => WorldStream::Cubes(recorder.stream(STREAM, rate_hz)?),
        Some(CubeKinds::Player) => {
            let schema = cube::players_and_cubes()?;
            WorldStream::Kinds(recorder.stream_of_kinds(STREAM, &schema, rate_hz)?)
        }
    };
    let bar = progress(Some(arguments.frames()));
    let mut states = States::default();
    for tick in (0..arguments.frames()).take_while(|_| !interrupt.is_raised()) {
        world.next_frame(&mut states);
        stream.record(&mut recorder, Tick(tick), &states)?;
        file.keep();
        bar.inc(1);
    }
    bar.finish_and_clear();
    let RecordSummary { frames, bytes, .. } = recorder.finish()?;
    let line = || format!("{}, {}", counted(frames, "frame"), counted(bytes, "byte"));
    Ok((frames > 0).then(line))
}
