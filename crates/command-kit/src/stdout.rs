//! Standard output and standard error. A reader that has closed its end (`| head`) is not a
//! failure.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use crate::OutputError;

/// Writes to standard output.
///
/// # Errors
/// [`OutputError::Stdout`].
pub fn print(
    write: impl FnOnce(&mut io::StdoutLock<'static>) -> io::Result<()>,
) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(OutputError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Writes a line to standard error. Unlike `eprintln!`, it does not panic if the reader is gone.
pub fn say(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
