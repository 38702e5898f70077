//! The errors of figures.

use std::fmt;

use kinepack::{EncodeError, SetupError};

use super::UnsentMotion;

/// The reason why a figure cannot be made, or why a pose cannot be sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FigureError {
    /// The options name a joint that the skeleton does not have.
    NoJoint {
        /// The joint's index.
        joint: usize,
    },
    /// The options name a curve that they do not have.
    NoCurve {
        /// The curve's index.
        curve: usize,
    },
    /// A pose names a part that the options do not have.
    NoPart {
        /// The part's index.
        part: usize,
    },
    /// A pose plays a clip in a slot that the options do not have.
    NoSlot {
        /// The slot's index.
        slot: usize,
    },
    /// A pose plays a clip that the options do not have.
    NoClip {
        /// The slot's index.
        slot: usize,
        /// The clip's index.
        clip: usize,
    },
    /// There are clips but no slots, slots but no clips, or more than 64 slots.
    BadClips {
        /// The number of slots.
        slots: usize,
        /// The number of clips.
        clips: usize,
    },
    /// A number of a clip that plays is not finite, or is out of range.
    BadPlay {
        /// What the number is: the time in ticks, the speed or the weight.
        number: &'static str,
        /// The refused number.
        value: f64,
    },
    /// A pose names a tier that the options do not have.
    NoTier {
        /// The tier.
        tier: usize,
    },
    /// A tier is not coarser than the one before it, or is one of more than 255.
    BadTier {
        /// The tier, at least 1.
        tier: usize,
    },
    /// A part has neither joints nor curves, or something that another part has too.
    BadPart {
        /// The part's index.
        part: usize,
    },
    /// A part has a joint, but not all joints below it.
    PartNotWhole {
        /// The part's index.
        part: usize,
        /// The index of a joint that is missing.
        joint: usize,
    },
    /// An option whose number is not positive, or not finite. The shell may be 0.
    BadOption {
        /// The option.
        option: &'static str,
        /// The joint that it is for, if it is for one.
        joint: Option<usize>,
    },
    /// The precision is finer than `f32` can represent at these distances.
    TooFine {
        /// The joint's index.
        joint: usize,
        /// The finest precision that is possible, in cm.
        finest_cm: f64,
    },
    /// The joint's fields have no valid limits, for example because they need more than 2³² steps.
    JointLimits {
        /// The joint's index.
        joint: usize,
        /// The reason why the limits are refused.
        error: SetupError,
    },
    /// The limits of a curve are not in order, its precision is not positive, or both together need
    /// more than 2³² steps.
    CurveLimits {
        /// The curve's index.
        curve: usize,
        /// The reason why the limits are refused.
        error: SetupError,
    },
    /// A transform has a number that is not finite, or a rotation of length zero.
    NotANumber {
        /// The joint's index.
        joint: usize,
    },
    /// A translation is beyond the joint's limits.
    OutOfRange {
        /// The joint's index.
        joint: usize,
        /// The number, in cm.
        value_cm: f64,
    },
    /// The value of a curve is not finite, or is beyond the curve's limits.
    BadCurve {
        /// The curve's index.
        curve: usize,
        /// The refused value.
        value: f32,
    },
    /// The pose moves in a way that the figure does not send, so a joint would be farther off than
    /// its precision. Give the joint that moves another [`Motion`](super::Motion), or keep its scale.
    Unsent {
        /// The index of the joint that would be off.
        joint: usize,
        /// The distance in cm by which it would be off.
        off_cm: f64,
        /// The index of the joint that most likely causes this: the same one, or one above it.
        mover: usize,
        /// The name of the joint that causes this.
        name: String,
        /// How that joint moves.
        motion: UnsentMotion,
    },
    /// The snapshot refused the entity.
    Snapshot(EncodeError),
}

impl fmt::Display for FigureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJoint { joint } => write!(f, "the skeleton has no joint {joint}"),
            Self::NoCurve { curve } => write!(f, "the options have no curve {curve}"),
            Self::NoPart { part } => write!(f, "the figure has no part {part}"),
            Self::NoSlot { slot } => write!(f, "the figure has no slot {slot} for a clip"),
            Self::NoClip { slot, clip } => {
                write!(f, "the figure has no clip {clip}, which slot {slot} plays")
            }
            Self::BadClips { slots, clips } => {
                write!(
                    f,
                    "{slots} slots cannot play {clips} clips: give both or none, up to 64 slots"
                )
            }
            Self::BadPlay { number, value } => {
                write!(f, "the {number} of a clip is {value}, out of range")
            }
            Self::NoTier { tier } => write!(f, "the figure has no tier {tier}"),
            Self::BadTier { tier } => write!(
                f,
                "tier {tier} must be coarser than the tier before it, and there are at most 255"
            ),
            Self::BadPart { part } => {
                write!(f, "part {part} is empty, or shares a joint or a curve with another part")
            }
            Self::PartNotWhole { part, joint } => {
                write!(f, "part {part} has the parent of joint {joint}, but not joint {joint}")
            }
            Self::BadOption { option, joint: Some(joint) } => {
                write!(f, "the {option} of joint {joint} is not a positive number")
            }
            Self::BadOption { option, joint: None } => {
                write!(f, "{option} is not a positive number")
            }
            Self::TooFine { joint, finest_cm } => write!(
                f,
                "the f32 numbers of a pose are too coarse at joint {joint}: its precision must be \
                 at least {finest_cm:e} cm, or ranges and bones shorter"
            ),
            Self::JointLimits { joint, error } => write!(f, "joint {joint}: {error}"),
            Self::CurveLimits { curve, error } => write!(f, "curve {curve}: {error}"),
            Self::NotANumber { joint } => write!(
                f,
                "joint {joint} has a number that is not finite or a rotation of length zero"
            ),
            Self::OutOfRange { joint, value_cm } => {
                write!(
                    f,
                    "joint {joint} is at {value_cm} cm on an axis, farther from its place in the \
                     bind pose than it may move"
                )
            }
            Self::BadCurve { curve, value } => {
                write!(f, "curve {curve} is {value}, beyond its limits")
            }
            Self::Unsent { joint, off_cm, mover, name, motion } => write!(
                f,
                "joint {mover} {name:?} {motion}: joint {joint} would be {off_cm:.3} cm off"
            ),
            Self::Snapshot(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FigureError {}
