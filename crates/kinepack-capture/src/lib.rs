//! Captured motion: the state of the cubes in the articles, and the files that hold it.
//!
//! [`cube`] has the cube's schema, at every row of the level table, and the profile trained for it; [`Challenge`]
//! reads the files of the 2015 "networked physics data compression challenge", quantized (`.bin`) and before
//! quantization (`.f32`), plain or as `.zst`, frame by frame.

#![forbid(unsafe_code)]

mod challenge;
pub mod cube;
mod error;
mod unpacked;

pub use challenge::{Challenge, Frame};
pub use error::CaptureError;
