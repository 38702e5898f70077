//! Identifies the file to which a name leads, so that a command does not overwrite a file that it
//! reads.

use std::fs;
use std::path::Path;

/// The identity of a regular file, which does not depend on its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity(Key);

/// The device of the file and its number on that device. All links to the file share them.
#[cfg(unix)]
type Key = (u64, u64);
/// The full path of the file.
#[cfg(not(unix))]
type Key = std::path::PathBuf;

impl Identity {
    /// Returns the identity of the file `name`, or `None` if no regular file has this name.
    #[cfg(unix)]
    pub(super) fn of(name: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let file = fs::metadata(name).ok().filter(fs::Metadata::is_file)?;
        Some(Self((file.dev(), file.ino())))
    }

    /// Returns the identity of the file `name`, or `None` if no regular file has this name.
    #[cfg(not(unix))]
    pub(super) fn of(name: &Path) -> Option<Self> {
        fs::canonicalize(name).ok().filter(|path| path.is_file()).map(Self)
    }
}
