//! The result of a build, and the errors of builds.

use std::fmt;

use super::options::BuildOptions;
use crate::additive::AdditiveError;
use crate::measure::{ErrorReport, measure};
use crate::{AnyClip, ClipError, RawClip};

/// The largest precision or shell. Nothing that is animated is larger than a planet.
pub(super) const MOST_CM: f64 = 1e9;

/// A compressed clip with its errors.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform, offline::{BuildOptions, build}};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, samples)?;
/// let built = build(&raw, &BuildOptions::default())?;
/// assert!(built.errors.all.max_cm <= 0.1);
/// assert!(built.clip.as_bytes().len() < raw.raw_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Built {
    /// The compressed clip.
    pub clip: AnyClip,
    /// The clip's errors, measured by playing it.
    pub errors: ErrorReport,
}

/// The reason why a clip cannot be built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A precision or a shell is not positive, or above 1e9 cm.
    BadOption {
        /// Name of the option.
        option: &'static str,
    },
    /// A precision or a shell is for a joint that does not exist.
    BadJoint {
        /// Name of the option.
        option: &'static str,
        /// The joint's index.
        joint: usize,
    },
    /// A pin is on a joint that does not exist.
    BadPin {
        /// The joint's index.
        joint: usize,
    },
    /// The base's number of joints or samples does not fit the clip.
    Base(AdditiveError),
    /// A base is given, but the scheme does not support one.
    NoBase,
    /// The rig is for another skeleton.
    OtherRig,
    /// The finished clip cannot be read back, because its numbers are too large to be quantized.
    Clip(ClipError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadOption { option } => {
                write!(f, "the {option} must be a positive number, at most {MOST_CM:e} cm")
            }
            Self::BadJoint { option, joint } => {
                write!(f, "a {option} for joint {joint}, which the skeleton does not have")
            }
            Self::BadPin { joint } => {
                write!(f, "a pin on joint {joint}, which the skeleton does not have")
            }
            Self::Base(error) => error.fmt(f),
            Self::NoBase => write!(f, "additive clips are built as block clips only"),
            Self::OtherRig => write!(f, "a rig of another skeleton"),
            Self::Clip(error) => write!(f, "numbers too large to be quantized: {error}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// Reads the written bytes back, and measures the errors of the clip.
pub(super) fn finish(
    raw: &RawClip,
    bytes: Vec<u8>,
    options: &BuildOptions,
) -> Result<Built, BuildError> {
    let clip = AnyClip::read(bytes.into(), options.rig()).map_err(BuildError::Clip)?;
    let errors = measure(raw, &clip, &options.error);
    Ok(Built { clip, errors })
}
