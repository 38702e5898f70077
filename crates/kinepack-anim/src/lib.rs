//! Skeletal animation clips in few bytes.
//!
//! A [`RawClip`] holds the transform of every joint of a [`Skeleton`] at every sample time, as an importer reads it from a file:
//! [`import`] makes them of glTF and BVH files.

#![forbid(unsafe_code)]

mod clip;
mod cursor;
mod error;
mod key;
mod raw;
mod skeleton;
mod skeleton_file;
mod transform;

pub mod anm;
pub mod exchange;
#[cfg(feature = "import")]
pub mod import;
pub mod measure;
pub mod offline;
pub mod quantize;
pub mod spline;

pub use clip::{Clip, Header, Kind, RotationBits, TrackId};
pub use cursor::Cursor;
pub use error::{ClipError, ExchangeError, RawClipError, SkeletonError, SkeletonFileError};
pub use key::{Channel, Key};
pub use raw::{MAX_SAMPLES, RawClip};
pub use skeleton::{Joint, MAX_JOINTS, Skeleton};
pub use transform::Transform;
