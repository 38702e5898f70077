//! A file under a name of its own, NAME.XXXXXX.partial, beside its place: so that a rename puts it
//! there at once.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use super::{OutputError, Problem, failure, place};
use crate::interrupt::unfinished;

/// Deleted when dropped before it came to its place, or when a signal ends the program.
pub(super) struct Partial {
    /// `None` once it is in its place.
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
        // As any new file: the system takes away what the umask says.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // Locked before the file is made, so that no signal comes between.
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

    /// From now on it is not deleted.
    pub(super) fn keep(&mut self) {
        if let Some(temporary) = self.temporary.as_mut().filter(|_| !self.is_kept) {
            temporary.disable_cleanup(true);
            self.is_kept = true;
            forget(temporary);
        }
    }

    /// Where it stays.
    pub(super) fn kept(&self) -> Option<&Path> {
        self.temporary.as_deref().filter(|_| self.is_kept)
    }

    /// Sees that the bytes are on the disk before an old file goes. Without one, there is nothing
    /// to lose by not waiting.
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

/// Gives a file the permissions of the one that it will replace, before anything is in it that only
/// some may read.
fn take_permissions(file: &File, place: &Path) -> io::Result<()> {
    let Ok(old) = fs::metadata(place) else { return Ok(()) };
    // Some file systems have no permissions that can be set, and then these are alike.
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

/// Puts files into their places: all of them, unless the system refuses one. No signal comes
/// between.
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
