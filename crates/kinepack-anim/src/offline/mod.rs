//! From a raw clip to a compressed one. Not needed to play clips.
//!
//! The scheme is the one that Riot described for League of Legends: values of 48 bits, and of each track only the keys that a Catmull-Rom
//! spline needs to stay within a margin. Beyond it, margins follow the error that is measured in object space, keys are taken away again where
//! the others can do without, and tracks that need a key nearly everywhere stand as rows of samples, which cost less. Every step is a switch of
//! [`KeyOptions`], so that its gain can be measured.

mod block;
mod curve;
mod insert;
mod keys;
mod margins;
mod pack;
mod remove;
mod scene;

use std::fmt;

use crate::measure::{ErrorOptions, ErrorReport, measure};
use crate::spline::Parametrization;
use crate::{Clip, ClipError, RawClip, RotationBits};

pub use block::{BlockOptions, WidthTable, WidthTrainer, block_error, build_block};
pub use insert::KeyPosition;
pub use pack::animated_raw_bytes;

/// What a clip is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheme {
    /// Every sample of every animated track, quantized. Fast enough to be done when a clip is loaded.
    Quantized(RotationBits),
    /// The keys that splines need.
    Keys(KeyOptions),
}

impl Default for Scheme {
    fn default() -> Self {
        Self::Keys(KeyOptions::default())
    }
}

/// How much a track may be off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Margins {
    /// As much for every joint: the widest margins with which the clip keeps its precision.
    Fixed,
    /// Tighter up the hierarchy: the end of a chain has the margin, its parent half of it, its parent's parent a third, and so on; the widest with
    /// which the clip keeps its precision.
    Hierarchy,
    /// By the error in object space: tightened where that is too large, for the track that has most to do with it.
    #[default]
    Measured,
}

/// How keys are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyOptions {
    /// How the splines are parametrized.
    pub parametrization: Parametrization,
    /// Where a segment that is not within its margin gets its key.
    pub position: KeyPosition,
    /// Which margins tracks have.
    pub margins: Margins,
    /// For fixed margins and those by hierarchy: the margin of rotations, in radians for each cm of that of translations.
    pub rotation_margin_rad_per_cm: f64,
    /// The same for scales: a share for each cm.
    pub scale_margin_per_cm: f64,
    /// Rotations are put on the side of the one before them, so that splines take the shortest path. Without, all have a positive `w`.
    pub shortest_path: bool,
    /// Tracks that need no more than one value within what is allowed get no keys.
    pub constants: bool,
    /// How often all keys are tried to be taken away.
    pub removal_passes: usize,
    /// Whether the values of keys move when one next to them is taken away, to where the squared errors are least.
    pub refit: bool,
    /// Tracks that need so many keys that rows of samples are smaller become rows.
    pub rows: bool,
    /// Joints that stand still in the raw clip are held to half of the precision, so that they wander by no more than the whole.
    pub hold_still: bool,
    /// Joints whose translation and rotation are computed anew, so that they cancel what the compression of their ancestors did.
    pub pins: Vec<usize>,
}

impl Default for KeyOptions {
    fn default() -> Self {
        Self {
            parametrization: Parametrization::Times,
            position: KeyPosition::Worst,
            margins: Margins::Measured,
            rotation_margin_rad_per_cm: 0.1,
            scale_margin_per_cm: 0.1,
            shortest_path: true,
            constants: true,
            removal_passes: 3,
            refit: true,
            rows: true,
            hold_still: true,
            pins: Vec::new(),
        }
    }
}

impl KeyOptions {
    /// Splines and nothing else, as the article begins: parametrized by time, a key in the middle of a segment, one margin for all joints.
    pub fn plain() -> Self {
        Self {
            position: KeyPosition::Middle,
            margins: Margins::Fixed,
            constants: false,
            removal_passes: 0,
            refit: false,
            rows: false,
            hold_still: false,
            ..Self::default()
        }
    }
}

/// What a clip is built for.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// The largest error at the sample times, in cm, in object space. Where values of 48 bits are too coarse for it (translations over
    /// kilometres, chains of many metres), the clip is as near as they let it, and [`Built::errors`] says how near. Quantized clips are what they are.
    pub precision_cm: f64,
    /// Where it is measured.
    pub error: ErrorOptions,
    /// What the clip is made of.
    pub scheme: Scheme,
}

impl Default for BuildOptions {
    /// A millimetre, which nobody sees.
    fn default() -> Self {
        Self { precision_cm: 0.1, error: ErrorOptions::default(), scheme: Scheme::default() }
    }
}

/// A compressed clip, and how far it is off.
#[derive(Clone, Debug)]
pub struct Built {
    /// The clip.
    pub clip: Clip,
    /// Its errors, measured by playing it.
    pub errors: ErrorReport,
}

/// Why a clip cannot be built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A precision or a shell that is not a positive finite number.
    BadOption {
        /// The option.
        option: &'static str,
    },
    /// A pin on a joint that is none.
    BadPin {
        /// The joint's index.
        joint: usize,
    },
    /// The clip that came out cannot be read back: numbers too large to be quantized.
    Clip(ClipError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadOption { option } => write!(f, "the {option} must be a positive number"),
            Self::BadPin { joint } => write!(f, "a pin on joint {joint}, which there is none"),
            Self::Clip(error) => write!(f, "numbers too large to be quantized: {error}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// Compresses a clip. Cost: 0.1 to 0.2 s a MB of raw samples with keys, 0.01 s quantized; memory about ten times the raw samples.
///
/// # Errors
/// [`BuildError`] where an option or a number of the clip is out of range.
pub fn build(raw: &RawClip, options: &BuildOptions) -> Result<Built, BuildError> {
    let is_positive = |number: f64| number > 0.0 && number.is_finite();
    for (option, is_right) in
        [("precision", is_positive(options.precision_cm)), ("shell", is_positive(options.error.shell_cm))]
    {
        if !is_right {
            return Err(BuildError::BadOption { option });
        }
    }
    let contents = match &options.scheme {
        Scheme::Quantized(bits) => pack::quantized(raw, *bits),
        Scheme::Keys(keys) => {
            if let Some(&joint) = keys.pins.iter().find(|joint| **joint >= raw.joints()) {
                return Err(BuildError::BadPin { joint });
            }
            keys::keys(raw, options, keys)
        }
    };
    let clip = Clip::from_bytes(contents.to_bytes()).map_err(BuildError::Clip)?;
    let errors = measure(raw, &clip, &options.error);
    Ok(Built { clip, errors })
}
