//! Finds the place of an output file. Links are followed, and pipes and devices are recognised.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::error::Problem;

/// The maximum number of links to follow, as in Linux.
const MAX_LINKS: usize = 40;

pub(super) enum Place {
    /// The place is a pipe, a device or an open file of this process. It cannot be replaced.
    Direct(PathBuf),
    /// The place is a regular file, which may not exist yet.
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
                // This call refuses a write-protected file, which a rename would replace without an
                // error.
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
        // The comparison resolves directories, because several names may lead to one directory.
        let directory = |path: &Path| fs::canonicalize(directory(path)).ok();
        path.file_name() == other.file_name() && directory(path) == directory(other)
    }
}

/// Opens a file that is written directly. Never truncates the file, because the shell has already
/// done so for `> file`, and `>> file` must keep the contents.
pub(super) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Returns whether an opened file is standard output. Character devices do not count: a terminal
/// shows both the file and the report, and /dev/null discards both.
#[cfg(unix)]
pub(super) fn is_stdout(file: &File) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let place = |file: &File| {
        let file = file.metadata().ok()?;
        (!file.file_type().is_char_device()).then(|| (file.dev(), file.ino()))
    };
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    stdout.is_ok_and(|stdout| place(&stdout).is_some_and(|stdout| place(file) == Some(stdout)))
}

/// Returns whether an opened file is standard output. On this system, standard output has no name.
#[cfg(not(unix))]
pub(super) fn is_stdout(_: &File) -> bool {
    false
}

/// Returns the directory that a file is in.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Follows links to a file, which need not exist. Stops at a name of an open file.
fn followed(name: &Path) -> io::Result<PathBuf> {
    let mut path = name.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) if !is_open_file(&path) => path = directory(&path).join(next),
            // The path is not a link, or there is no file.
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Returns whether a path names a device or an open file, like /dev/stdout. An open file must not
/// be replaced, because its other users keep writing to the old one.
fn is_open_file(path: &Path) -> bool {
    let Ok(directory) = fs::canonicalize(directory(path)) else { return false };
    directory == Path::new("/dev")
        || directory.starts_with("/dev/fd")
        || directory.starts_with("/proc")
}
