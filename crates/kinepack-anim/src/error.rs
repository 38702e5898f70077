//! Every reason for which this crate says no: one flat enum for each thing that may be refused.

use std::fmt;

use crate::{raw::MAX_SAMPLES, skeleton::MAX_JOINTS};

/// Why joints are no skeleton.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkeletonError {
    /// More joints than a key can name.
    TooManyJoints {
        /// How many.
        joints: usize,
    },
    /// A parent that does not come before its child; so is a cycle.
    ParentAfterChild {
        /// Index of the child.
        joint: usize,
    },
    /// A bind transform with a number that is not finite, or a rotation of length zero.
    BadBindPose {
        /// Index of the joint.
        joint: usize,
    },
}

impl fmt::Display for SkeletonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyJoints { joints } => write!(f, "{joints} joints, at most {MAX_JOINTS} are possible"),
            Self::ParentAfterChild { joint } => write!(f, "the parent of joint {joint} does not come before it"),
            Self::BadBindPose { joint } => {
                write!(f, "the bind pose of joint {joint} has a number that is not finite or a rotation of length zero")
            }
        }
    }
}

impl std::error::Error for SkeletonError {}

/// Why samples are no clip.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RawClipError {
    /// A rate that is not positive and finite.
    BadRate {
        /// The rate.
        rate_hz: f32,
    },
    /// No joint, no sample, or samples of a part of the joints.
    WrongCount {
        /// Joints of the skeleton.
        joints: usize,
        /// Transforms that were given.
        transforms: usize,
    },
    /// More samples than a clip can have.
    TooManySamples {
        /// How many.
        samples: usize,
    },
    /// A transform with a number that is not finite, or a rotation of length zero.
    BadTransform {
        /// Index of the sample.
        sample: usize,
        /// Index of the joint.
        joint: usize,
    },
}

impl fmt::Display for RawClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRate { rate_hz } => write!(f, "a rate of {rate_hz} Hz: it must be positive"),
            Self::WrongCount { joints, transforms } => write!(
                f,
                "{transforms} transforms for {joints} joints: there must be as many for each sample, and at least one sample"
            ),
            Self::TooManySamples { samples } => write!(f, "{samples} samples, at most {MAX_SAMPLES} are possible"),
            Self::BadTransform { sample, joint } => write!(
                f,
                "joint {joint} in sample {sample} has a number that is not finite or a rotation of length zero"
            ),
        }
    }
}

impl std::error::Error for RawClipError {}

/// Why bytes are no `.clip` file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The first four bytes are not `CLIP`.
    NoClipFile,
    /// Shorter or longer than the header says.
    WrongLength {
        /// Length of the file.
        bytes: usize,
        /// Length by its header.
        expected: u64,
    },
    /// A parent that no joint has.
    BadParent {
        /// Index of the child.
        joint: usize,
        /// The parent's index as it stands.
        parent: i32,
    },
    /// What it holds is no skeleton.
    Skeleton(SkeletonError),
    /// What it holds is no clip.
    Clip(RawClipError),
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoClipFile => write!(f, "no .clip file: it does not begin with CLIP"),
            Self::WrongLength { bytes, expected } => {
                write!(f, "{bytes} bytes where its header asks for {expected}: truncated or damaged")
            }
            Self::BadParent { joint, parent } => write!(f, "joint {joint} has parent {parent}, which is no joint"),
            Self::Skeleton(error) => error.fmt(f),
            Self::Clip(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExchangeError {}

impl From<SkeletonError> for ExchangeError {
    fn from(error: SkeletonError) -> Self {
        Self::Skeleton(error)
    }
}

impl From<RawClipError> for ExchangeError {
    fn from(error: RawClipError) -> Self {
        Self::Clip(error)
    }
}
