//! The files that commands write. A command asks for a [`Target`] before it begins its work, so an
//! existing file is refused at once. The command writes the file later. An old file stays until the
//! new one is complete. A command that reads files names them first, with [`Force::reading`]: none
//! of its outputs may be one of these files, even with `--force`.
//!
//! ```text
//! Force::reading ──► Outputs::target ──► Target::create ──► Output: NAME.XXXXXX.partial
//!                                                                 └──► Output::commit: NAME
//! ```
//!
//! Pipes, devices and /dev/stdout are written directly. If one of them is standard output, reports
//! go to standard error.

mod batch;
mod error;
mod identity;
mod partial;
mod place;

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub use batch::Batch;
use clap::Args;
use error::failure;
pub use error::{OutputError, Problem};
use identity::Identity;
use partial::Partial;
use place::Place;

use crate::stdout;

/// Whether files may be replaced.
#[derive(Args, Clone, Copy, Debug)]
pub struct Force {
    /// Replace existing files. Without it, a command refuses to start if an output file exists. A
    /// file that the command also reads is never replaced.
    #[arg(long)]
    force: bool,
}

/// The outputs of a command that may also read files.
#[derive(Clone, Debug)]
pub struct Outputs {
    is_forced: bool,
    /// The files that the command reads, as the user named them.
    inputs: Vec<(PathBuf, Identity)>,
}

/// A file to write. The checks that are possible beforehand have passed.
pub struct Target {
    /// The name as the user gave it.
    name: PathBuf,
    place: Place,
}

/// A file that is being written. Without [`commit`](Self::commit) it is deleted.
pub struct Output {
    name: PathBuf,
    file: File,
    /// The value is `None` for a file that is written directly.
    partial: Option<Partial>,
}

impl Force {
    /// Returns the outputs of a command that reads these files. Two names of one file count as one,
    /// whether by a link or by another path. A missing file is ignored here, because reading it
    /// fails later.
    pub fn reading<P: AsRef<Path>>(self, inputs: impl IntoIterator<Item = P>) -> Outputs {
        let known = |input: P| Some((input.as_ref().to_owned(), Identity::of(input.as_ref())?));
        Outputs { is_forced: self.force, inputs: inputs.into_iter().filter_map(known).collect() }
    }

    /// Returns the outputs of a command that reads no files.
    pub fn outputs(self) -> Outputs {
        Outputs { is_forced: self.force, inputs: Vec::new() }
    }

    /// Works like [`Outputs::target`], for a command that reads no files.
    pub fn target(self, name: &Path) -> Result<Target, OutputError> {
        self.outputs().target(name)
    }

    /// Works like [`Outputs::targets`], for a command that reads no files.
    pub fn targets<const N: usize>(
        self,
        names: [Option<&Path>; N],
    ) -> Result<[Option<Target>; N], OutputError> {
        self.outputs().targets(names)
    }
}

impl Outputs {
    /// Returns the target for a file in a directory that exists.
    pub fn target(&self, name: &Path) -> Result<Target, OutputError> {
        let own = Identity::of(name);
        let input = self.inputs.iter().find(|(_, input)| Some(input) == own.as_ref());
        if let Some((input, _)) = input {
            return Err(failure(name, Problem::IsInput { input: input.clone() }));
        }
        let place = Place::find(name, self.is_forced).map_err(|problem| failure(name, problem))?;
        Ok(Target { name: name.to_owned(), place })
    }

    /// Returns the targets of several optional options. The options must name different files.
    pub fn targets<const N: usize>(
        &self,
        names: [Option<&Path>; N],
    ) -> Result<[Option<Target>; N], OutputError> {
        let mut targets = [const { None::<Target> }; N];
        for (index, name) in names.into_iter().enumerate() {
            let target = name.map(|name| self.target(name)).transpose()?;
            let is_same =
                |other: &Target| target.as_ref().is_some_and(|own| own.place.is_same(&other.place));
            if let Some(other) = targets.iter().flatten().find(|other| is_same(other)) {
                return Err(failure(&other.name, Problem::Twice));
            }
            targets[index] = target;
        }
        Ok(targets)
    }

    /// Returns the target for a file in a directory, which a [`Batch`] creates if it is missing.
    pub fn target_in(&self, directory: &Path, name: &str) -> Result<Target, OutputError> {
        let path = directory.join(name);
        if directory.exists() {
            self.target(&path)
        } else {
            // Another program may make the directory and the file before this one does.
            Ok(Target {
                name: path.clone(),
                place: Place::File { path, is_forced: self.is_forced },
            })
        }
    }

    /// Works like [`target_in`](Self::target_in), for a file whose name depends on its contents.
    /// Returns `None` if the file already exists with these contents.
    pub fn target_of(
        &self,
        directory: &Path,
        name: &str,
        bytes: &[u8],
    ) -> Result<Option<Target>, OutputError> {
        let is_there = std::fs::read(directory.join(name)).is_ok_and(|there| there == bytes);
        if is_there { Ok(None) } else { self.target_in(directory, name).map(Some) }
    }
}

impl Target {
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Refuses a pipe or a device. A caller needs this check if it completes the file's header at
    /// the end.
    pub fn check_seekable(&self) -> Result<(), OutputError> {
        match &self.place {
            Place::Direct(_) => Err(failure(&self.name, Problem::NotSeekable)),
            Place::File { .. } => Ok(()),
        }
    }

    /// Begins to write.
    pub fn create(&self) -> Result<Output, OutputError> {
        let (file, partial) = match &self.place {
            Place::Direct(path) => {
                let file = place::open(path).map_err(|error| self.failed(error))?;
                if place::is_stdout(&file) {
                    stdout::take();
                }
                (file, None)
            }
            Place::File { path, is_forced } => {
                let (file, partial) = Partial::create(path, *is_forced)?;
                (file, Some(partial))
            }
        };
        Ok(Output { name: self.name.clone(), file, partial })
    }

    /// Writes the whole file.
    pub fn write(&self, bytes: &[u8]) -> Result<(), OutputError> {
        self.written(bytes)?.commit()
    }

    /// Writes `bytes` to a file that is not at its place yet.
    fn written(&self, bytes: &[u8]) -> Result<Output, OutputError> {
        let mut output = self.create()?;
        output.write_all(bytes).map_err(|error| self.failed(error))?;
        Ok(output)
    }

    pub(crate) fn failed(&self, error: io::Error) -> OutputError {
        failure(&self.name, Problem::System(error))
    }
}

impl Output {
    /// Another handle of the file, for callees that need to own one.
    pub fn file(&self) -> Result<File, OutputError> {
        self.file.try_clone().map_err(|error| failure(&self.name, Problem::System(error)))
    }

    /// Keeps the file from this call on, even if it is incomplete.
    pub fn keep(&mut self) {
        if let Some(partial) = &mut self.partial {
            partial.keep();
        }
    }

    /// Returns the path of the incomplete file, or `None` if the file is not kept.
    pub fn kept(&self) -> Option<&Path> {
        self.partial.as_ref().and_then(Partial::kept)
    }

    /// Moves the complete file to its place, where it replaces an old file if there is one.
    pub fn commit(self) -> Result<(), OutputError> {
        partial::put_in_place(self.finish()?.as_mut_slice())
    }

    fn finish(self) -> Result<Option<Partial>, OutputError> {
        let Self { name, mut file, partial } = self;
        let finished = file
            .flush()
            .and_then(|()| partial.as_ref().map_or(Ok(()), |partial| partial.finish(&file)));
        finished.map_err(|error| failure(&name, Problem::System(error)))?;
        Ok(partial)
    }
}

impl Write for Output {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.file.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Output {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
