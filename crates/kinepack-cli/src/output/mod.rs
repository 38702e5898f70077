//! The files that commands write. A command asks for a [`Target`] before it begins its work, which
//! refuses a file that exists. It writes later, and an old file stays as it was until the new one
//! is complete.
//!
//! ```text
//! Force::target ──► Target::create ──► Output: NAME.XXXXXX.partial ──► Output::commit: NAME
//! ```
//!
//! What is no regular file (a pipe, a device, /dev/stdout) is written directly.

mod batch;
mod partial;
mod place;

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use clap::Args;

pub(crate) use batch::Batch;
use partial::Partial;
use place::Place;

use crate::failure::Failure;

/// Whether files may be replaced.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Force {
    /// Replace files that exist. Without it, nothing is written if one does.
    #[arg(long)]
    force: bool,
}

/// Why a file cannot be written.
#[derive(Debug)]
pub(crate) enum Problem {
    /// It is there, and may be worth something.
    Exists,
    /// It is a directory.
    IsDirectory,
    /// The directory that it would be in is not there.
    NoDirectory,
    /// Two options name it.
    Twice,
    /// What the system says.
    System(io::Error),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exists => {
                f.write_str("this file exists: take another name, or replace it with --force")
            }
            Self::IsDirectory => f.write_str("this is a directory: take the name of a file"),
            Self::NoDirectory => {
                f.write_str("its directory does not exist: make it first, or take another one")
            }
            Self::Twice => f.write_str("two options name this file: give each its own name"),
            Self::System(error) => error.fmt(f),
        }
    }
}

/// A file to write, which may be written as far as can be known before.
pub(crate) struct Target {
    /// As it was given.
    name: PathBuf,
    place: Place,
}

/// A file that is being written. Without [`commit`](Self::commit) nothing becomes of it.
pub(crate) struct Output {
    name: PathBuf,
    file: File,
    /// `None` for what is written directly.
    partial: Option<Partial>,
}

impl Force {
    /// A file to write, in a directory that exists.
    pub(crate) fn target(self, name: &Path) -> Result<Target, Failure> {
        let place = Place::find(name, self.force).map_err(|problem| failure(name, problem))?;
        Ok(Target { name: name.to_owned(), place })
    }

    /// The same of options that may name a file or not.
    pub(crate) fn targets<const N: usize>(
        self,
        names: [Option<&Path>; N],
    ) -> Result<[Option<Target>; N], Failure> {
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

    /// A file of a directory that a [`Batch`] makes where it is missing.
    pub(crate) fn target_in(self, directory: &Path, name: &str) -> Result<Target, Failure> {
        let path = directory.join(name);
        if directory.exists() {
            self.target(&path)
        } else {
            Ok(Target { name: path.clone(), place: Place::File { path, is_forced: false } })
        }
    }

    /// The same of a file whose name says what it holds: `None` if it is there and holds that.
    pub(crate) fn target_of(
        self,
        directory: &Path,
        name: &str,
        bytes: &[u8],
    ) -> Result<Option<Target>, Failure> {
        let is_there = std::fs::read(directory.join(name)).is_ok_and(|there| there == bytes);
        if is_there { Ok(None) } else { self.target_in(directory, name).map(Some) }
    }
}

impl Target {
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Begins to write.
    pub(crate) fn create(&self) -> Result<Output, Failure> {
        let (file, partial) = match &self.place {
            Place::Direct(path) => (place::open(path).map_err(|error| self.failed(error))?, None),
            Place::File { path, is_forced } => {
                let (file, partial) = Partial::create(path, *is_forced)?;
                (file, Some(partial))
            }
        };
        Ok(Output { name: self.name.clone(), file, partial })
    }

    /// Writes the whole file.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.written(bytes)?.commit()
    }

    /// The file with these bytes, which is not in its place yet.
    fn written(&self, bytes: &[u8]) -> Result<Output, Failure> {
        let mut output = self.create()?;
        output.write_all(bytes).map_err(|error| self.failed(error))?;
        Ok(output)
    }

    fn failed(&self, error: io::Error) -> Failure {
        failure(&self.name, Problem::System(error))
    }
}

impl Output {
    /// The file again, for what wants to own it.
    pub(crate) fn file(&self) -> Result<File, Failure> {
        self.file.try_clone().map_err(|error| failure(&self.name, Problem::System(error)))
    }

    /// From now on the file stays where it is written, if it does not come to its place.
    pub(crate) fn keep(&mut self) {
        if let Some(partial) = &mut self.partial {
            partial.keep();
        }
    }

    /// Where the file is, if it stays there.
    pub(crate) fn kept(&self) -> Option<&Path> {
        self.partial.as_ref().and_then(Partial::kept)
    }

    /// Puts the file into its place: all that was written, and nothing of an old one.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        partial::put_in_place(self.finish()?.as_mut_slice())
    }

    fn finish(self) -> Result<Option<Partial>, Failure> {
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

fn failure(path: &Path, problem: Problem) -> Failure {
    Failure::Target { path: path.to_owned(), problem }
}
