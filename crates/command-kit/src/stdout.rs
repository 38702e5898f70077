//! Standard output.

use std::io::{self, ErrorKind, Write};

use crate::OutputError;

/// Writes to standard output. If the reader has closed it (`| head`), that is not a failure.
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
