//! Defines the format of capture files, and reads them. See `spec/CAPTURE.md`.

mod chunk;
pub(crate) mod columns;
mod damage;
mod frame;
mod order;
mod reader;
pub mod schema;
mod source;
mod stream;
mod summary;
mod window;

pub use damage::{Damage, DamageKind};
pub use frame::CaptureFrame;
pub use reader::Capture;
pub(crate) use stream::{LANES, RAW};
pub use stream::{Stream, StreamEncoding};

/// The MCAP profile of the files that this crate writes. A reader accepts any profile.
pub(crate) const PROFILE: &str = "kinepack";
/// The maximum number of streams in a file.
pub(crate) const MAX_STREAMS: usize = 256;
