//! Files that belong together: all are written before the first comes to its place.

use std::fs;
use std::path::{Path, PathBuf};

use super::partial::{self, Partial};
use super::{Problem, Target, failure};
use crate::failure::Failure;

#[derive(Default)]
pub(crate) struct Batch {
    partials: Vec<Partial>,
    /// Directories that were made for them, inner ones first.
    directories: Vec<PathBuf>,
}

impl Batch {
    /// Files of a directory, which is made where it is missing.
    pub(crate) fn in_directory(directory: &Path) -> Result<Self, Failure> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let directories =
            directory.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        let batch = Self { directories, partials: Vec::new() };
        fs::create_dir_all(directory)
            .map_err(|error| failure(directory, Problem::System(error)))?;
        Ok(batch)
    }

    pub(crate) fn write(&mut self, target: &Target, bytes: &[u8]) -> Result<(), Failure> {
        self.partials.extend(target.written(bytes)?.finish()?);
        Ok(())
    }

    /// Puts all files into their places.
    pub(crate) fn commit(mut self) -> Result<(), Failure> {
        partial::put_in_place(&mut self.partials)?;
        self.directories.clear();
        Ok(())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.partials.clear();
        for directory in &self.directories {
            // One that is not empty stays.
            let _ = fs::remove_dir(directory);
        }
    }
}
