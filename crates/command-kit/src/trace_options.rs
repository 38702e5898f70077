//! The option of a link that follows a trace of its capacity.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use kinepack_net::LinkTrace;

use crate::Failure;

/// The largest file. The most lines of a trace, with the longest numbers, are smaller.
const MAX_TRACE_BYTES: u64 = 128 << 20;

/// The trace of the link to the receiver.
#[derive(Args, Clone, Debug)]
pub struct TraceOptions {
    /// What the link to the receiver carries over time, in place of its bandwidth: a file in
    /// Mahimahi's form, or step, cell-edge, train or crowded-wifi. Each line of a file is the time
    /// in milliseconds at which the link can send 1,500 bytes; after the last, the file begins
    /// again. step is 4 Mbit/s, 256 kbit/s and 2 Mbit/s for 10 s each; cell-edge, train and
    /// crowded-wifi wander and pause. The other direction keeps its bandwidth.
    #[arg(long, value_name = "FILE|NAME")]
    pub link_trace: Option<PathBuf>,
}

/// The reason why a trace cannot be followed.
#[derive(Debug, thiserror::Error)]
#[error("--link-trace {}: {reason}", path.display())]
pub struct TraceError {
    path: PathBuf,
    reason: String,
}

impl Failure for TraceError {}

impl TraceOptions {
    /// Returns the trace, or `None` if the link follows none.
    pub fn trace(&self) -> Result<Option<LinkTrace>, TraceError> {
        let Some(path) = &self.link_trace else { return Ok(None) };
        if let Some(trace) = path.to_str().and_then(LinkTrace::named) {
            return Ok(Some(trace));
        }
        let failed = |reason: String| TraceError { path: path.clone(), reason };
        let text = text(path).map_err(|error| {
            let names = LinkTrace::NAMES.join(", ");
            failed(format!("{error}; give a file in Mahimahi's form, or one of {names}"))
        })?;
        if text.len() as u64 > MAX_TRACE_BYTES {
            return Err(failed(format!(
                "the file has more than {MAX_TRACE_BYTES} bytes; give a shorter part of it"
            )));
        }
        // Bytes that are no text are no number either, so their line is refused.
        let text = String::from_utf8_lossy(&text);
        Ok(Some(text.parse().map_err(|error| failed(format!("{error}")))?))
    }

    /// Returns the file that is read, or `None` if there is none.
    pub fn file(&self) -> Option<&Path> {
        let is_file =
            |path: &&Path| !path.to_str().is_some_and(|path| LinkTrace::NAMES.contains(&path));
        self.link_trace.as_deref().filter(is_file)
    }

    /// Returns the option as text that follows other options, or an empty text.
    pub fn name(&self) -> String {
        let name = |path: &PathBuf| format!(" --link-trace {}", path.display());
        self.link_trace.as_ref().map(name).unwrap_or_default()
    }
}

/// Reads a file, but at most one byte more than the limit, because a device would never end.
fn text(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_TRACE_BYTES + 1).read_to_end(&mut text)?;
    Ok(text)
}
