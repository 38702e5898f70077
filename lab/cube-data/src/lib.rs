//! Reads and writes the cubes of the articles.
//!
//! [`cube`] has the schema of a cube at every row of the level table, and the profiles that were
//! trained for it. [`Challenge`] reads the files of the 2015 "networked physics data compression
//! challenge", frame by frame: quantized (`.bin`) or before quantization (`.f32`), plain or as
//! `.zst`. [`challenge_to_capture`] and [`capture_to_challenge`] convert between those files and
//! capture files. [`CapturedStates`] reads a capture file of cubes before quantization, and
//! [`F32Frames`] writes states as a `.f32` file.

#![forbid(unsafe_code)]

mod captured_states;
mod challenge;
mod challenge_error;
mod convert;
mod counted;
pub mod cube;
mod f32_frames;

pub use captured_states::CapturedStates;
pub use challenge::{Challenge, Frame, is_capture};
pub use challenge_error::ChallengeError;
pub use convert::{BinFrames, ConvertError, Converted, capture_to_challenge, challenge_to_capture};
pub use f32_frames::F32Frames;
