//! Compresses raw clips. Playback does not need this module.
//!
//! [`Scheme::Block`] is transform coding. For a few samples at a time, it stores the coefficients
//! of a cosine transform along each track's principal axes. The builder uses the largest
//! quantization steps that keep the error in object space within the precision, and fits each joint
//! to its decoded parent.
//!
//! [`Scheme::Keyed`] is the scheme that Riot described for League of Legends. Values take 48 bits,
//! and each track keeps only the keys that a Catmull-Rom spline needs to stay within a margin. This
//! crate goes further in three ways. Margins follow the error measured in object space. Keys are
//! removed if the clip stays within its limits without them. Tracks that need a key nearly
//! everywhere become rows of samples, which take fewer bytes. [`KeyedOptions`] has a switch for
//! each step, so that its gain can be measured.

mod block;
mod built;
mod check;
mod keyed;
mod options;
mod width_files;

use built::finish;

use crate::RawClip;

pub use block::{BlockOptions, Effort, RigTrainer, WidthTable, WidthTrainer};
pub use built::{BuildError, Built};
pub use keyed::{KeyPosition, KeyedOptions, Margins, animated_raw_bytes};
pub use options::{BuildOptions, Scheme};
pub use width_files::{widths_to_bytes, widths_to_text};

/// Compresses a clip. Each MB of raw samples takes 0.1 to 0.2 s with blocks, 0.1 to 0.2 s with
/// keys, and 0.01 s quantized. A build takes about ten times the memory of the raw samples.
/// [`Built`] has an example.
///
/// # Errors
/// Returns [`BuildError`] if an option or a number of the clip is out of range.
pub fn build(raw: &RawClip, options: &BuildOptions) -> Result<Built, BuildError> {
    check::check(raw, options)?;
    let bytes = match &options.scheme {
        Scheme::Block(block) => return block::build(raw, options, block),
        Scheme::Quantized(bits) => keyed::quantized(raw, *bits).to_bytes(),
        Scheme::Keyed(options_of) => keyed::build(raw, options, options_of).to_bytes(),
    };
    finish(raw, bytes, options)
}
