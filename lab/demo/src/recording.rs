//! Records the world as a replay while it is sent, for `demo --record` and `serve --record`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::output::{Force, Problem};
use command_kit::{OutputError, SentLevel, counted, say};
use kinepack::{Snapshot, Tick};
use kinepack_replay::{ReplayError, ReplayOptions, ReplayWriter};

use crate::cube_stream::CubeStream;
use crate::game_events::GameEvent;
use crate::session_error::SessionError;

/// The level of all replays. It does not depend on the level at which the world is sent.
const LEVEL: &str = "learning";

/// Whether a command records.
#[derive(Args, Clone, Debug)]
pub struct RecordOptions {
    /// Record the world to a replay. `watch` can show the replay while it is still being written.
    #[arg(long, value_name = "FILE.kpz")]
    record: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
}

/// A replay that is being written.
pub struct Recording {
    path: PathBuf,
    writer: ReplayWriter,
    /// The tick of the last snapshot that was written.
    tick: Tick,
}

impl RecordOptions {
    /// Begins the replay, if the user requested one. Refuses to replace a file that the command
    /// reads.
    pub fn begin<P: AsRef<Path>>(
        &self,
        stream: &CubeStream,
        world: &str,
        inputs: impl IntoIterator<Item = P>,
    ) -> Result<Option<Recording>, SessionError> {
        let Some(path) = &self.record else { return Ok(None) };
        self.force.reading(inputs).target(path)?;
        Recording::create(path, stream, world).map(Some)
    }
}

impl Recording {
    fn create(path: &Path, stream: &CubeStream, world: &str) -> Result<Self, SessionError> {
        let level = SentLevel::named(LEVEL).expect("it is a level that can be sent");
        let options = ReplayOptions {
            name: "cubes".to_owned(),
            events: Some(GameEvent::kinds()?),
            ..ReplayOptions::at_hz(cubes::TICK_HZ.into())
        };
        // The file is written at its final place, so that it can be watched while it grows.
        let file = create(path).map_err(|error| OutputError::File {
            path: path.to_owned(),
            problem: Problem::System(error),
        })?;
        let mut writer = ReplayWriter::to_writer(file, &stream.at(level).codec(), &options)
            .map_err(|error| failed(path, error))?;
        writer.note("world", world).map_err(|error| failed(path, error))?;
        Ok(Self { path: path.to_owned(), writer, tick: Tick(0) })
    }

    /// Adds an event of the next snapshot. Events with a [line](GameEvent::line) also get a marker.
    pub fn emit(&mut self, event: GameEvent) -> Result<(), SessionError> {
        if let Some(line) = event.line() {
            self.mark(&line)?;
        }
        event.record(&mut self.writer).map_err(|error| failed(&self.path, error))
    }

    /// Adds a marker named `name` at the next tick.
    pub fn mark(&mut self, name: &str) -> Result<(), SessionError> {
        let tick = Tick(self.tick.0 + 1);
        self.writer.mark(tick, name).map_err(|error| failed(&self.path, error))
    }

    pub fn write(&mut self, world: &Snapshot) -> Result<(), SessionError> {
        self.tick = world.tick;
        self.writer.write(world).map_err(|error| failed(&self.path, error))
    }

    /// Writes the end of the file, and prints the file's path.
    pub fn finish(self) -> Result<(), SessionError> {
        let summary = self.writer.finish().map_err(|error| failed(&self.path, error))?;
        say(format_args!(
            "{}: {}, {}; `kinepack-lab watch` shows it",
            self.path.display(),
            counted(summary.frames, "frame"),
            counted(summary.bytes, "byte")
        ));
        Ok(())
    }
}

/// Creates a file. If there is one already, a program that still writes it keeps the old one for
/// itself, so that two programs never write into the same file.
fn create(path: &Path) -> io::Result<File> {
    const TRIES: usize = 100;
    for _ in 0..TRIES {
        match File::create_new(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created,
        }
        let found = path.canonicalize().and_then(|place| Ok((place.metadata()?.is_file(), place)));
        match found {
            // A link to nothing.
            Err(_) if path.is_symlink() => return File::create(path),
            // Another program has just removed the file, and creates its own.
            Err(_) => {}
            Ok((false, _)) => return File::create(path),
            Ok((true, _)) if path.starts_with("/dev") => {
                // The report goes there too.
                let refusal = "standard output is no place for a recording; name a file";
                return Err(io::Error::other(refusal));
            }
            Ok((true, place)) => match fs::remove_file(place) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            },
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn failed(path: &Path, error: ReplayError) -> SessionError {
    let path = path.to_owned();
    match error {
        ReplayError::Io(error) => {
            OutputError::File { path, problem: Problem::System(error) }.into()
        }
        error => SessionError::Recording { path, error },
    }
}
