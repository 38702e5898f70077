//! An incomplete file, NAME.XXXXXX.partial. It is in the directory of its final place, so that a
//! rename can move it there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use super::error::{OutputError, Problem, failure};
use super::place;
use crate::interrupt::unfinished;

/// An incomplete file. The file is deleted if this value is dropped before the file has moved to
/// its place, or if a signal ends the program.
pub(super) struct Partial {
    /// The path of the file. The value is `None` once the file is at its place.
    temporary: Option<TempPath>,
    place: PathBuf,
    is_forced: bool,
    is_kept: bool,
}

impl Partial {
    pub(super) fn create(place: &Path, is_forced: bool) -> Result<(File, Self), OutputError> {
        let mut prefix = place.file_name().unwrap_or_default().to_owned();
        prefix.push(".");
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".partial");
        // These are the permissions of any new file. The system applies the umask.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The lock is taken before the file exists, so that a signal cannot miss the file.
        let mut unfinished = unfinished()?;
        let made = builder.tempfile_in(place::directory(place)).and_then(|made| {
            take_permissions(made.as_file(), place)?;
            Ok(made.into_parts())
        });
        let (file, temporary) = made.map_err(|error| failure(place, Problem::System(error)))?;
        unfinished.insert(temporary.to_path_buf());
        Ok((
            file,
            Self { temporary: Some(temporary), place: place.to_owned(), is_forced, is_kept: false },
        ))
    }

    /// Keeps the file from this call on, even if it is incomplete.
    pub(super) fn keep(&mut self) {
        if let Some(temporary) = self.temporary.as_mut().filter(|_| !self.is_kept) {
            temporary.disable_cleanup(true);
            self.is_kept = true;
            forget(temporary);
        }
    }

    /// Returns the path of the file, or `None` if the file is not kept.
    pub(super) fn kept(&self) -> Option<&Path> {
        self.temporary.as_deref().filter(|_| self.is_kept)
    }

    /// Waits until the new bytes are on the disk, if there is an old file to replace.
    pub(super) fn finish(&self, file: &File) -> io::Result<()> {
        if self.place.exists() { file.sync_all() } else { Ok(()) }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let path = temporary.to_path_buf();
            drop(temporary);
            forget(&path);
        }
    }
}

/// Gives `file`, which is still empty, the permissions of the file that it will replace.
fn take_permissions(file: &File, place: &Path) -> io::Result<()> {
    let Ok(old) = fs::metadata(place) else { return Ok(()) };
    // On some file systems, permissions cannot be set and are always equal.
    if file.metadata()?.permissions() == old.permissions() {
        Ok(())
    } else {
        file.set_permissions(old.permissions())
    }
}

fn forget(temporary: &Path) {
    if let Ok(mut unfinished) = unfinished() {
        unfinished.remove(temporary);
    }
}

/// Moves all files to their places, unless the system refuses one. A signal takes effect only after
/// the files are moved.
pub(super) fn put_in_place(partials: &mut [Partial]) -> Result<(), OutputError> {
    let mut unfinished = unfinished()?;
    let is_taken =
        |partial: &&mut Partial| !partial.is_forced && partial.place.symlink_metadata().is_ok();
    if let Some(partial) = partials.iter_mut().find(is_taken) {
        return Err(failure(&partial.place, Problem::Exists));
    }
    for partial in partials {
        let Some(temporary) = partial.temporary.take() else { continue };
        unfinished.remove::<Path>(&temporary);
        if let Err(refused) = temporary.persist(&partial.place) {
            return Err(failure(&partial.place, Problem::System(refused.error)));
        }
    }
    Ok(())
}
