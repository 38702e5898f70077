//! Skeletal animation clips in few bytes.
//!
//! A [`RawClip`] holds the transform of every joint of a [`Skeleton`] at every sample time, as an importer reads it from a file.

#![forbid(unsafe_code)]

mod error;
mod key;
mod raw;
mod skeleton;
mod transform;

pub mod exchange;
pub mod quantize;
pub mod spline;

pub use error::{ExchangeError, RawClipError, SkeletonError};
pub use key::{Channel, Key};
pub use raw::{MAX_SAMPLES, RawClip};
pub use skeleton::{Joint, MAX_JOINTS, Skeleton};
pub use transform::Transform;
