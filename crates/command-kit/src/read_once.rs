//! Recognises files that can be read only once.
//!
//! Captures and replays are read several times, so they have to be regular files. A file that is
//! read once, such as a profile, may be a pipe. Reading a named pipe waits for its writer, as in
//! `cat`.

use std::path::Path;

/// The reason why a command refuses a pipe or a device as a file that it reads several times.
pub const READ_ONCE: &str =
    "a pipe or a device can be read only once, and this file is read several times; save a file";

/// Returns whether the path is a pipe or a device. The function does not open it, because opening a
/// named pipe waits.
pub fn is_read_once(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}
