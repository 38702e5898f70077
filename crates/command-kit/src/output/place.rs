//! Where a file will be: links followed, and what is no regular file told apart.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Problem;

/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

pub(super) enum Place {
    /// A pipe, a device or an open file of this process: there is nothing to put into its place.
    Direct(PathBuf),
    /// A regular file, or nothing yet.
    File { path: PathBuf, is_forced: bool },
}

impl Place {
    pub(super) fn find(name: &Path, is_forced: bool) -> Result<Self, Problem> {
        let path = followed(name).map_err(Problem::System)?;
        match fs::metadata(&path) {
            _ if is_open_file(&path) => Ok(Self::Direct(path)),
            Ok(there) if there.is_dir() => Err(Problem::IsDirectory),
            Ok(there) if !there.is_file() => Ok(Self::Direct(path)),
            Ok(_) if !is_forced => Err(Problem::Exists),
            Ok(_) => {
                // A rename would also replace a file that is protected from writing.
                OpenOptions::new().write(true).open(&path).map_err(Problem::System)?;
                Ok(Self::File { path, is_forced })
            }
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Problem::System(error)),
            Err(_) if !directory(&path).is_dir() => Err(Problem::NoDirectory),
            Err(_) => Ok(Self::File { path, is_forced }),
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (Self::File { path, .. }, Self::File { path: other, .. }) = (self, other) else {
            return false;
        };
        // Names may lead to one directory in several ways.
        let directory = |path: &Path| fs::canonicalize(directory(path)).ok();
        path.file_name() == other.file_name() && directory(path) == directory(other)
    }
}

/// Opens what is written directly. Never truncates: the shell did that for `> file`, and must not
/// for `>> file`.
pub(super) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// The directory that a file is in.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Follows links to a file, which need not exist; stops at the names of open files.
fn followed(name: &Path) -> io::Result<PathBuf> {
    let mut path = name.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) if !is_open_file(&path) => path = directory(&path).join(next),
            // Not a link, or nothing is there.
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Whether a path is a name of a device or of an open file, like /dev/stdout. A regular file that
/// is open as one is not replaced: whoever opened it goes on writing to the old one.
fn is_open_file(path: &Path) -> bool {
    let Ok(directory) = fs::canonicalize(directory(path)) else { return false };
    directory == Path::new("/dev")
        || directory.starts_with("/dev/fd")
        || directory.starts_with("/proc")
}
