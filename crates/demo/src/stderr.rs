//! Standard error.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line to standard error. Unlike `eprintln!`, it does not panic if the reader has closed
/// it (`2>&1 | head`).
pub fn say(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
