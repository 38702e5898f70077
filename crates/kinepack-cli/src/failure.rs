//! Why a command failed, and the exit code that says so: 2 for what was given to it, 1 for what it
//! did itself. A file that exists is of the first kind, and so is one that the system refuses. A
//! signal is no failure: `interrupt.rs`.

use std::fmt;
use std::net::SocketAddr;
use std::process::ExitCode;

use cubes::ConfigError;
use kinepack::Level;
use kinepack::training::TrainError;
use kinepack_anim::import::ImportError;
use kinepack_anim::offline::BuildError;
use kinepack_capture::analysis::AnalysisError;
use kinepack_capture::levels;
use kinepack_capture::{CaptureError, ConvertError, RecordError};
use kinepack_net::{LinkError, Mismatch, NetError, StreamError};
use renetcode::NetcodeError;

use crate::udp::SecretError;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The capture cannot be read.
    Capture(CaptureError),
    /// A stream of a capture cannot be analyzed.
    Analysis { path: std::path::PathBuf, stream: String, error: AnalysisError },
    /// A capture cannot be recorded.
    Record(RecordError),
    /// A challenge file cannot be made a capture, or a capture a challenge file.
    Convert { path: std::path::PathBuf, error: ConvertError },
    /// A challenge file of a name that does not fit.
    ConvertTo { path: std::path::PathBuf },
    /// A capture without streams of ours.
    NoStreams { path: std::path::PathBuf },
    /// A stream that the capture does not have.
    UnknownStream { name: String, there: Vec<String> },
    /// A capture file where only challenge files are taken.
    IsCapture { path: std::path::PathBuf },
    /// An error that a field cannot be allowed.
    MaxError { field: String, reason: String },
    /// The size of bodies, of a schema that has none.
    NoBody,
    /// A frame of a capture that its schema does not hold.
    BadFrame { path: std::path::PathBuf, tick: u32, reason: String },
    /// The world cannot be built as asked.
    World(ConfigError),
    /// A level of the command line that is none.
    UnknownLevel { name: String },
    /// A level of the command line that a stream does not have.
    UnknownStreamLevel { name: String },
    /// Something that takes floats, on a capture that has none.
    NeedsFloats { what: String },
    /// The capture or run is not longer than the lag.
    TooShort { frames: u32, lag: u32 },
    /// A state of the built-in world that its schema does not hold.
    OutOfRange { object: u32, reason: String },
    /// A frame did not come back as it was: a defect of this program.
    NotVerified { level: Level, frame: u32, reason: String },
    /// The secret of the connection is missing or unusable.
    Secret(SecretError),
    /// A UDP socket cannot be used.
    Socket { address: SocketAddr, error: std::io::Error },
    /// More clients than the transport takes, or none.
    MaxClients { given: usize, limit: usize },
    /// The connection cannot be prepared.
    Connection(NetcodeError),
    /// A link of the command line that is none.
    UnknownLink { name: String },
    /// A time of the command line that is none.
    BadTime { ms: f64 },
    /// Numbers of a link that contradict each other.
    Link(LinkError),
    /// An endpoint cannot be set up as asked.
    Net(NetError),
    /// A state that arrived is not the one that was sent: a defect of this program.
    Drifted { wrong_lanes: u64 },
    /// Keys came out otherwise than they went in: a defect of this program.
    WrongKeys { records: u64 },
    /// Server and joiner cannot understand each other.
    Mismatch { server: SocketAddr, mismatch: Mismatch, own_hash: u64 },
    /// The time is over and no state came.
    NothingReceived { server: SocketAddr },
    /// The time is over and no whole state came.
    NothingWhole { server: SocketAddr },
    /// Nobody can play as asked.
    Play { reason: String },
    /// The terminal does not hand out keys.
    Terminal(std::io::Error),
    /// A stream cannot be set up as asked.
    Stream(StreamError),
    /// The page cannot begin with these options.
    Settings { reason: String },
    /// Nothing can be served at this address.
    Listen { address: SocketAddr, error: std::io::Error },
    /// The page's server has failed.
    Page { error: std::io::Error },
    /// Ctrl-C cannot be listened for.
    Signals(ctrlc::Error),
    /// The picture could not be drawn.
    Picture { path: std::path::PathBuf, reason: String },
    /// A profile could not be trained.
    Training(TrainError),
    /// A profile cannot be read.
    Profile { path: std::path::PathBuf, reason: String },
    /// An animation cannot be read.
    Import(ImportError),
    /// Two clips that would be the same file.
    SameClip { name: String, first: std::path::PathBuf, second: std::path::PathBuf },
    /// A clip that is damaged, or not what it should be.
    BadClip { path: std::path::PathBuf, reason: String },
    /// A name of a joint that no skeleton has.
    UnknownJoint { option: &'static str, name: String },
    /// An option that the scheme does not have.
    OtherScheme { option: &'static str, schemes: Vec<&'static str>, given: &'static str },
    /// A base that additive clips cannot be on top of.
    Base { given: String, reason: String },
    /// A clip cannot be compressed.
    Build { file: std::path::PathBuf, clip: String, error: BuildError },
    /// A clip cannot be read.
    ClipFile { path: std::path::PathBuf, error: std::io::Error },
    /// A file cannot be written.
    Target { path: std::path::PathBuf, problem: crate::output::Problem },
    /// The report could not be written.
    Output(std::io::Error),
}

impl Failure {
    /// The same of a stream, where a file has several.
    pub(crate) fn of_stream(self, stream: &str) -> Self {
        match self {
            Self::Profile { path, reason } => Self::Profile {
                path,
                reason: format!("{reason} than that of stream {stream}; --stream takes another"),
            },
            other => other,
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::NotVerified { .. }
            | Self::OutOfRange { .. }
            | Self::Drifted { .. }
            | Self::WrongKeys { .. }
            | Self::NothingReceived { .. }
            | Self::NothingWhole { .. }
            | Self::Page { .. }
            | Self::Output(_) => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capture(error @ CaptureError::TooManyValues { .. })
            | Self::Convert {
                error: ConvertError::Read(error @ CaptureError::TooManyValues { .. }),
                ..
            } => {
                write!(
                    f,
                    "{error}; if you trust it, allow more with --max-values VALUES, or unpack it if it is a .zst"
                )
            }
            Self::Capture(error) => error.fmt(f),
            Self::Analysis { path, stream, error: error @ AnalysisError::TooLarge { .. } } => {
                write!(
                    f,
                    "{}: stream {stream}: {error}; if you trust it, allow more with --max-memory MIB",
                    path.display()
                )
            }
            Self::Analysis { path, stream, error } => {
                write!(f, "{}: stream {stream}: {error}", path.display())
            }
            Self::Record(error) => error.fmt(f),
            Self::Convert { path, error } => write!(f, "{}: {error}", path.display()),
            Self::ConvertTo { path } => write!(
                f,
                "{}: the name must end in .mcap, or in .bin where the capture holds lanes, or in .f32 where it holds floats",
                path.display()
            ),
            Self::NoStreams { path } => {
                write!(f, "{}: no streams that kinepack recorded are in it", path.display())
            }
            Self::UnknownStream { name, there } => {
                write!(f, "--stream {name}: no such stream; there are {}", there.join(", "))
            }
            Self::IsCapture { path } => write!(
                f,
                "{}: this takes challenge files; `analyze`, `tune` and `replay` read capture files, and `convert` makes a challenge file of one of cubes",
                path.display()
            ),
            Self::MaxError { field, reason } => write!(f, "--max-error {field}: {reason}"),
            Self::NoBody => write!(
                f,
                "--body-size: the schema marks no position of three axes and rotation with #[pack(body)]; leave it out"
            ),
            Self::BadFrame { path, tick, reason } => {
                write!(f, "{}: the frame of tick {tick}: {reason}", path.display())
            }
            Self::World(error) => error.fmt(f),
            Self::UnknownLevel { name } => {
                let names: Vec<String> = Level::TABLE
                    .iter()
                    .map(|level| format!("{} {}", level.row(), levels::name(*level)))
                    .collect();
                write!(f, "--level {name}: no such level; there are {}", names.join(", "))
            }
            Self::UnknownStreamLevel { name } => {
                let names = crate::stream_measure::Row::ALL
                    .map(crate::stream_measure::Row::name)
                    .join(", ");
                write!(f, "--level {name}: no such level of a stream; there are {names}")
            }
            Self::NeedsFloats { what } => {
                write!(f, "{what} needs floats, which a quantized capture has not; use a .f32 file")
            }
            Self::TooShort { frames, lag } => {
                write!(
                    f,
                    "{frames} frames are too few for a baseline {lag} frames back; give a shorter --lag"
                )
            }
            Self::OutOfRange { object, reason } => {
                write!(f, "object {object} of the built-in world: {reason}")
            }
            Self::NotVerified { level, frame, reason } => {
                write!(
                    f,
                    "level {}: frame {frame} did not come back as it was: {reason}",
                    levels::name(*level)
                )
            }
            Self::Secret(error) => error.fmt(f),
            Self::Socket { address, error } => write!(f, "UDP {address}: {error}"),
            Self::MaxClients { given, limit } => {
                write!(f, "{given} clients; a server takes 1 to {limit}")
            }
            Self::Connection(error) => write!(f, "cannot prepare the connection: {error}"),
            Self::UnknownLink { name } => {
                write!(f, "--link {name}: no such link; there are {}", crate::link_options::names())
            }
            Self::BadTime { ms } => write!(f, "{ms} ms: a time is a number from 0 on"),
            Self::Link(error) => write!(f, "this link cannot be: {error}"),
            Self::Net(error) => error.fmt(f),
            Self::Drifted { wrong_lanes } => {
                write!(
                    f,
                    "{wrong_lanes} lanes did not arrive as they were sent: please report this"
                )
            }
            Self::WrongKeys { records } => {
                write!(
                    f,
                    "the keys of {records} ticks did not arrive as they were sent: please report this"
                )
            }
            Self::Mismatch { server, mismatch, own_hash } => {
                write!(f, "{server} refuses: {mismatch}")?;
                match mismatch {
                    Mismatch::Version { .. } => write!(f, "; use the same version of this program"),
                    _ => write!(
                        f,
                        ", this side's is {own_hash:016x}; --level must be one that the server offers, --velocities and --time-precision-ms alike"
                    ),
                }
            }
            Self::NothingReceived { server } => write!(f, "nothing was received from {server}"),
            Self::NothingWhole { server } => {
                write!(
                    f,
                    "no whole state came from {server}: it leaves out what its --budget-kbps has no room for"
                )
            }
            Self::Play { reason } => f.write_str(reason),
            Self::Terminal(error) => {
                write!(f, "the terminal hands out no keys: {error}; --play none watches")
            }
            Self::Stream(error) => error.fmt(f),
            Self::Settings { reason } => {
                write!(f, "the page cannot show this: {reason}; --headless can")
            }
            Self::Listen { address, error } => {
                write!(
                    f,
                    "no page can be served at {address}: {error}; --listen takes another address, and port 0 for any that is free"
                )
            }
            Self::Page { error } => write!(f, "the page's server failed: {error}"),
            Self::Signals(error) => write!(f, "cannot listen for Ctrl-C: {error}"),
            Self::Picture { path, reason } => {
                write!(f, "cannot draw into {}: {reason}", path.display())
            }
            Self::Training(error) => error.fmt(f),
            Self::Profile { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Import(
                error @ (ImportError::TooMuchMemory { .. }
                | ImportError::TooManyTransforms { .. }
                | ImportError::TooManyBytes { .. }),
            ) => {
                write!(f, "{error}; if you trust it, allow more with --max-memory MIB")
            }
            Self::Import(error) => error.fmt(f),
            Self::SameClip { name, first, second } => {
                let (first, second, is_one) = (first.display(), second.display(), first == second);
                write!(f, "{first} and {second} both have a clip {name}: rename one")?;
                if is_one { Ok(()) } else { write!(f, ", or write them to different directories") }
            }
            Self::BadClip { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::UnknownJoint { option, name } => {
                write!(
                    f,
                    "{option} {name}: no joint of that name in any skeleton; anim view shows them"
                )
            }
            Self::OtherScheme { option, schemes, given } => {
                let schemes = schemes.join(" and ");
                write!(
                    f,
                    "{option} is for --scheme {schemes}, and this is {given}: leave it out, or take another scheme"
                )
            }
            Self::Base { given, reason } => write!(f, "--base {given}: {reason}"),
            Self::Build { file, clip, error } => write!(f, "{}: {clip}: {error}", file.display()),
            Self::ClipFile { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Target { path, problem } => write!(f, "{}: {problem}", path.display()),
            Self::Output(error) => write!(f, "cannot write the report: {error}"),
        }
    }
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        Self::Capture(error)
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::Import(error)
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        Self::Stream(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::World(error)
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}
