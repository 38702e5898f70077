//! `kinepack-lab record`: records a capture of the built-in world, or of the states that a server
//! sends.

mod gaps;
mod server;
mod world;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Arg, Args, Command};
use command_kit::interrupt::Interrupted;
use command_kit::output::{Force, Output};
use command_kit::{Failure, OutputError, say};
use kinepack::SetupError;
use kinepack_capture::{RecordError, Recorder};
use kinepack_cli::Format;
use kinepack_cli::ladder::CubeKinds;

use crate::join::{ConnectionArguments, JoinError, parse_server};
use crate::session_error::SessionError;
use crate::world::{WorldArguments, WorldError};

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
pub struct Arguments {
    /// The file to write the capture to. Ctrl-C ends the recording and completes the file; if it
    /// comes before the end of the seconds, the exit code is 130. Until then the frames are in
    /// FILE.mcap.XXXXXX.partial, which a crash or an error leaves there. If the name ends in .f32,
    /// it is a challenge file instead, which also has the velocities that levels 1 to 4 send. Such
    /// a file is complete or absent.
    #[arg(value_name = "FILE.mcap")]
    out: PathBuf,
    #[command(flatten)]
    force: Force,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    /// Record several kinds of entities instead of cubes alone. "player" makes a separate kind of
    /// the player's cube, as `serve` does.
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

/// Makes an argument require `--from`, because without it there is no server to connect to.
fn for_a_connection(argument: Arg) -> Arg {
    let connection = ConnectionArguments::augment_args(Command::new("connection"));
    let is_of_it = connection.get_arguments().any(|other| other.get_id() == argument.get_id());
    if is_of_it { argument.requires("from") } else { argument }
}

/// The reason why a recording failed or is incomplete.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(transparent)]
    Record(RecordError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A challenge file can only contain cubes before quantization.
    #[error("{}: {option} needs a capture: choose a name that ends in .mcap", path.display())]
    NotOfFloats { path: PathBuf, option: &'static str },
    #[error(
        "{}: the name must end in .mcap for a capture, or in .f32 for a challenge file{command}",
        path.display()
    )]
    OtherEnding { path: PathBuf, command: &'static str },
    /// The time ended before a complete state had arrived.
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

impl From<RecordError> for RecordingError {
    fn from(error: RecordError) -> Self {
        OutputError::of_recorder(error).map_or_else(Self::Record, Self::Output)
    }
}

impl From<WorldError> for RecordingError {
    fn from(error: WorldError) -> Self {
        Self::Session(error.into())
    }
}

pub fn run(arguments: &Arguments) -> Result<(), RecordingError> {
    let Arguments { out, force, world, kinds, from, connection } = arguments;
    let format = format_of(out)?;
    let option = from.map(|_| "--from").or(kinds.map(|_| "--kinds"));
    if let Some(option) = option.filter(|_| format == Format::Floats) {
        return Err(RecordingError::NotOfFloats { path: out.clone(), option });
    }
    let target = force.reading(connection.secret_file()).target(out)?;
    if format == Format::Floats {
        target.check_seekable()?;
    }
    let mut file = CaptureFile { name: out, format, output: target.create()? };
    let recorded = match from {
        Some(server) => server::run(&mut file, *server, connection, world.seconds),
        None => world::run(&mut file, world, *kinds),
    };
    file.end(recorded)
}

/// Returns the format of a recording. It is a capture, also for devices and other names without an
/// extension, or a file of floats.
fn format_of(out: &Path) -> Result<Format, RecordingError> {
    let command = match Format::of_name(out) {
        Some(format @ (Format::Capture | Format::Floats)) => return Ok(format),
        None if out.extension().is_none() => return Ok(Format::Capture),
        None => "",
        Some(Format::Replay) => "; `pack` makes a replay of a capture",
        Some(Format::Quantized | Format::Table) => "; `convert` writes this format of a capture",
    };
    Err(RecordingError::OtherEnding { path: out.to_owned(), command })
}

/// The file of a recording. Once the file has a frame, it is kept even if the recording fails
/// later.
struct CaptureFile<'a> {
    name: &'a Path,
    format: Format,
    output: Output,
}

/// The contents of a recording. `None` if a signal arrived before the first frame.
type Recorded = Option<Frames>;

/// The recorded frames.
struct Frames {
    /// A line of text with the number of frames, their bytes, and the missing ticks.
    line: String,
    /// The seconds until a signal arrived, and the seconds that were requested. The value is `None`
    /// if there was no signal.
    cut: Option<(f64, u32)>,
}

impl CaptureFile<'_> {
    fn recorder(&self) -> Result<Recorder, RecordingError> {
        Ok(Recorder::to_writer(self.name, self.output.file()?)?)
    }

    /// Keeps the file from this call on, because it has a frame.
    fn keep(&mut self) {
        self.output.keep();
    }

    /// Moves the file to its place, or reports where its frames are.
    fn end(self, recorded: Result<Recorded, RecordingError>) -> Result<(), RecordingError> {
        let Self { name, output, .. } = self;
        let kept = output.kept().map(Path::to_owned);
        let ended = recorded.and_then(|recorded| {
            let frames = recorded
                .ok_or_else(|| Interrupted::new("before the first frame; no file was written"))?;
            output.commit()?;
            Ok(frames)
        });
        if let (Err(_), Some(kept)) = (&ended, kept) {
            say(format_args!("the recorded frames are in {}", kept.display()));
        }
        let Frames { line, cut } = ended?;
        say(format_args!("{}: {line}", name.display()));
        let Some((seconds, asked)) = cut else { return Ok(()) };
        let how_far =
            format!("after {seconds:.1} of {asked} s; the file is complete and holds these");
        Err(Interrupted::new(how_far).into())
    }
}
