//! Which file a name leads to, so that a command does not overwrite what it reads.

use std::fs;
use std::path::Path;

/// A regular file, whatever it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity(Key);

/// The file's device and its number there, which all its links share.
#[cfg(unix)]
type Key = (u64, u64);
/// The file's full path.
#[cfg(not(unix))]
type Key = std::path::PathBuf;

impl Identity {
    /// `None` if there is no regular file of this name.
    #[cfg(unix)]
    pub(super) fn of(name: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let file = fs::metadata(name).ok().filter(fs::Metadata::is_file)?;
        Some(Self((file.dev(), file.ino())))
    }

    /// `None` if there is no regular file of this name.
    #[cfg(not(unix))]
    pub(super) fn of(name: &Path) -> Option<Self> {
        fs::canonicalize(name).ok().filter(|path| path.is_file()).map(Self)
    }
}
