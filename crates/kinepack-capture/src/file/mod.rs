//! The format of capture files and their reader. `spec/CAPTURE.md`.

pub(crate) mod columns;
mod reader;
pub mod schema;
mod source;
mod stream;

pub use reader::{Capture, CaptureFrame, Damage};
pub(crate) use stream::{LANES, RAW};
pub use stream::{Stream, StreamEncoding};

/// The profile of the files that this crate writes. A reader accepts any.
pub(crate) const PROFILE: &str = "kinepack";
/// The most streams of a file.
pub(crate) const MAX_STREAMS: usize = 256;
