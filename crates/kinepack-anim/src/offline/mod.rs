//! Compresses raw clips. Playback does not need this module.
//!
//! [`Scheme::Block`] is transform coding. For a few samples at a time it stores the coefficients of
//! a cosine transform along each track's principal axes. It uses the largest quantization steps
//! that keep the error in object space within the precision, and fits each joint to its parent as
//! decoded.
//!
//! [`Scheme::Keyed`] is the scheme that Riot described for League of Legends. Values take 48 bits,
//! and each track keeps only the keys that a Catmull-Rom spline needs to stay within a margin. This
//! crate goes further in three ways. Margins follow the error measured in object space. Keys are
//! removed again if the others can do without them. Tracks that need a key nearly everywhere become
//! rows of samples, which take fewer bytes. Every step is a switch of [`KeyedOptions`], so its gain
//! can be measured.

mod block;
mod keyed;
mod width_files;

use std::fmt;
use std::sync::Arc;

use crate::additive::{self, AdditiveError};
use crate::keyed::RotationBits;
use crate::measure::{ErrorOptions, ErrorReport, by_joint, measure};
use crate::{AnyClip, ClipError, RawClip, Rig};

pub use block::{BlockOptions, Effort, RigTrainer, WidthTable, WidthTrainer};
pub use keyed::{KeyPosition, KeyedOptions, Margins, animated_raw_bytes};
pub use width_files::{widths_to_bytes, widths_to_text};

/// How a clip is stored.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
/// use kinepack_anim::keyed::RotationBits;
/// use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
///
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let raw = RawClip::new("slide", skeleton, 30.0, (0..31).map(sample).collect())?;
/// let with = |scheme| build(&raw, &BuildOptions { scheme, ..BuildOptions::default() });
/// let block = with(Scheme::default())?;
/// let keyed = with(Scheme::Keyed(KeyedOptions::default()))?;
/// let quantized = with(Scheme::Quantized(RotationBits::Bits48))?;
/// let bytes = [&block, &keyed, &quantized].map(|built| built.clip.as_bytes().len());
/// println!("{} bytes as blocks, {} as keys, {} as rows", bytes[0], bytes[1], bytes[2]);
/// assert!(bytes[0] < bytes[2] && bytes[1] < bytes[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Scheme {
    /// Coefficients for a few samples at a time. Takes the fewest bytes, and playing it costs the
    /// same at any time.
    Block(BlockOptions),
    /// Every sample of every animated track, quantized. Fast enough to run when a clip is loaded.
    Quantized(RotationBits),
    /// The keys that splines need.
    Keyed(KeyedOptions),
}

impl Default for Scheme {
    fn default() -> Self {
        Self::Block(BlockOptions::default())
    }
}

/// Options for building a clip.
///
/// ```
/// use kinepack_anim::offline::BuildOptions;
///
/// // Joint 7 is a hand, which must be more precise than the other joints.
/// let options = BuildOptions { joint_precisions_cm: vec![(7, 0.02)], ..BuildOptions::default() };
/// assert_eq!(options.precisions_cm(9)[6..8], [0.1, 0.02]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// The largest error at the sample times, in cm, in object space. With translations over
    /// kilometres or chains of many metres, a scheme's numbers may be too coarse for this error.
    /// The clip then gets as close as they allow, and [`Built::errors`] reports how close.
    /// Quantized clips ignore this option.
    pub precision_cm: f64,
    /// Joints with a different precision: the joint, and its precision in cm. The last entry for a
    /// joint counts.
    pub joint_precisions_cm: Vec<(usize, f64)>,
    /// Where the error is measured.
    pub error: ErrorOptions,
    /// How the clip is stored.
    pub scheme: Scheme,
}

impl Default for BuildOptions {
    /// The default precision is a millimetre, which is too small to see.
    fn default() -> Self {
        Self {
            precision_cm: 0.1,
            joint_precisions_cm: Vec::new(),
            error: ErrorOptions::default(),
            scheme: Scheme::default(),
        }
    }
}

impl BuildOptions {
    /// The precision of each joint.
    pub fn precisions_cm(&self, joints: usize) -> Vec<f64> {
        by_joint(self.precision_cm, &self.joint_precisions_cm, joints)
    }

    fn pins(&self) -> &[usize] {
        match &self.scheme {
            Scheme::Block(block) => &block.pins,
            Scheme::Keyed(keyed) => &keyed.pins,
            Scheme::Quantized(_) => &[],
        }
    }

    fn rig(&self) -> Option<&Arc<Rig>> {
        match &self.scheme {
            Scheme::Block(block) => block.rig.as_ref(),
            _ => None,
        }
    }

    /// The joint with the largest error relative to its precision, and that ratio. A ratio of at
    /// most 1 means that the clip keeps the precision.
    pub fn farthest_off(&self, errors: &ErrorReport) -> (usize, f64) {
        let joints = errors.joints.iter().zip(self.precisions_cm(errors.joints.len()));
        let shares = joints.map(|(errors, precision_cm)| errors.max_cm / precision_cm).enumerate();
        shares.fold((0, 0.0), |worst, own| if own.1 > worst.1 { own } else { worst })
    }
}

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
    /// The clip.
    pub clip: AnyClip,
    /// Its errors, measured by playing it.
    pub errors: ErrorReport,
}

/// Why a clip cannot be built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A precision or a shell that is not positive, or above 1e9 cm.
    BadOption {
        /// The option.
        option: &'static str,
    },
    /// A precision or a shell for a joint that does not exist.
    BadJoint {
        /// The option.
        option: &'static str,
        /// The joint's index.
        joint: usize,
    },
    /// A pin on a joint that does not exist.
    BadPin {
        /// The joint's index.
        joint: usize,
    },
    /// A base whose number of joints or samples does not fit the clip.
    Base(AdditiveError),
    /// A base with a scheme that does not support one.
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

/// Compresses a clip. Each MB of raw samples takes 0.1 to 0.2 s with blocks, 0.1 to 0.2 s with
/// keys, and 0.01 s quantized. Memory is about ten times the raw samples. [`Built`] has an example.
///
/// # Errors
/// [`BuildError`] if an option or a number of the clip is out of range.
pub fn build(raw: &RawClip, options: &BuildOptions) -> Result<Built, BuildError> {
    check(raw, options)?;
    let bytes = match &options.scheme {
        Scheme::Block(block) => return block::build(raw, options, block),
        Scheme::Quantized(bits) => keyed::quantized(raw, *bits).to_bytes(),
        Scheme::Keyed(options_of) => keyed::build(raw, options, options_of).to_bytes(),
    };
    finish(raw, bytes, options)
}

/// Checks that a clip can be built with some options.
fn check(raw: &RawClip, options: &BuildOptions) -> Result<(), BuildError> {
    let BuildOptions { precision_cm, joint_precisions_cm, error, .. } = options;
    check_numbers(raw, "precision", *precision_cm, joint_precisions_cm)?;
    check_numbers(raw, "shell", error.shell_cm, &error.joint_shells_cm)?;
    if let Some(base) = &error.base {
        additive::check(raw, base).map_err(BuildError::Base)?;
        if !matches!(options.scheme, Scheme::Block(_)) {
            return Err(BuildError::NoBase);
        }
    }
    if let Some(&joint) = options.pins().iter().find(|joint| **joint >= raw.joints()) {
        return Err(BuildError::BadPin { joint });
    }
    if options.rig().is_some_and(|rig| rig.skeleton_hash() != raw.skeleton().hash()) {
        return Err(BuildError::OtherRig);
    }
    Ok(())
}

/// The largest precision or shell: nothing that is animated is larger than planets.
const MOST_CM: f64 = 1e9;

fn check_numbers(
    raw: &RawClip,
    option: &'static str,
    usual: f64,
    others: &[(usize, f64)],
) -> Result<(), BuildError> {
    let is_positive = |number: f64| number > 0.0 && number <= MOST_CM;
    if !is_positive(usual) || !others.iter().all(|(_, number)| is_positive(*number)) {
        return Err(BuildError::BadOption { option });
    }
    match others.iter().find(|(joint, _)| *joint >= raw.joints()) {
        Some(&(joint, _)) => Err(BuildError::BadJoint { option, joint }),
        None => Ok(()),
    }
}

/// Reads the written bytes back and measures the errors.
fn finish(raw: &RawClip, bytes: Vec<u8>, options: &BuildOptions) -> Result<Built, BuildError> {
    let clip = AnyClip::read(bytes.into(), options.rig()).map_err(BuildError::Clip)?;
    let errors = measure(raw, &clip, &options.error);
    Ok(Built { clip, errors })
}
