//! Writes files that belong together. All files are written before the first one moves to its
//! place.

use std::fs;
use std::path::{Path, PathBuf};

use super::Target;
use super::error::{OutputError, Problem, failure};
use super::partial::{self, Partial};

#[derive(Default)]
pub struct Batch {
    partials: Vec<Partial>,
    /// The directories that were created for the files, inner ones first.
    directories: Vec<PathBuf>,
}

impl Batch {
    /// Begins a batch of files in a directory, which is made if it is missing.
    pub fn in_directory(directory: &Path) -> Result<Self, OutputError> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let directories =
            directory.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        let batch = Self { directories, partials: Vec::new() };
        fs::create_dir_all(directory)
            .map_err(|error| failure(directory, Problem::System(error)))?;
        Ok(batch)
    }

    pub fn write(&mut self, target: &Target, bytes: &[u8]) -> Result<(), OutputError> {
        self.partials.extend(target.written(bytes)?.finish()?);
        Ok(())
    }

    /// Moves all files to their places.
    pub fn commit(mut self) -> Result<(), OutputError> {
        partial::put_in_place(&mut self.partials)?;
        self.directories.clear();
        Ok(())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.partials.clear();
        for directory in &self.directories {
            // A directory that is not empty is kept.
            let _ = fs::remove_dir(directory);
        }
    }
}
