//! Capture files: what is in them and how they are read. `spec/CAPTURE.md`.

pub(crate) mod columns;
mod reader;
pub(crate) mod schema;
mod source;
mod stream;

pub use reader::{Capture, CaptureFrame, Damage};
pub(crate) use stream::{LANES, RAW, SCHEMA};
pub use stream::{Stream, StreamEncoding};

/// The profile of the files that are written here; a reader takes any.
pub(crate) const PROFILE: &str = "kinepack";
/// The most streams of a file.
pub(crate) const MAX_STREAMS: usize = 256;
