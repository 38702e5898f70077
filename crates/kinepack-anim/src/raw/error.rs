//! The reasons why samples, curves and markers do not make a clip.

use std::fmt;

use crate::{MAX_CURVES, MAX_MARKERS, MAX_NAME_BYTES, MAX_SAMPLES};

/// The reason why samples do not make a clip, or why curves or markers do not fit it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RawClipError {
    /// The rate is not positive and finite.
    BadRate {
        /// The rate in Hz.
        rate_hz: f32,
    },
    /// There are no joints or no samples, or the last sample lacks some joints.
    WrongCount {
        /// Number of joints of the skeleton.
        joints: usize,
        /// Number of transforms given.
        transforms: usize,
    },
    /// There are more samples than a clip can have.
    TooManySamples {
        /// Number of samples.
        samples: usize,
    },
    /// A transform has a number that is not finite, or a rotation of length zero.
    BadTransform {
        /// Index of the sample.
        sample: usize,
        /// Index of the joint.
        joint: usize,
    },
    /// There are more curves than [`MAX_CURVES`].
    TooManyCurves {
        /// Number of curves.
        curves: usize,
    },
    /// A curve has the same name as an earlier one.
    SameCurve {
        /// Index of the later curve.
        curve: usize,
    },
    /// A curve does not have one value for each sample.
    WrongCurve {
        /// Index of the curve.
        curve: usize,
        /// Number of values of the curve.
        values: usize,
        /// Number of samples of the clip.
        samples: usize,
    },
    /// The precision of a curve is not positive and finite.
    BadPrecision {
        /// Index of the curve.
        curve: usize,
        /// The precision that was given.
        precision: f32,
    },
    /// A value of a curve is not finite.
    BadValue {
        /// Index of the curve.
        curve: usize,
        /// Index of the sample.
        sample: usize,
    },
    /// There are more markers than [`MAX_MARKERS`].
    TooManyMarkers {
        /// Number of markers.
        markers: usize,
    },
    /// A marker is outside of the clip.
    BadMarkerTime {
        /// Index of the marker, before sorting.
        marker: usize,
        /// The marker's time in seconds.
        time_s: f32,
        /// The clip's duration in seconds.
        duration_s: f32,
    },
    /// The name of a curve or a marker is longer than [`MAX_NAME_BYTES`].
    LongName {
        /// The name's length in bytes.
        bytes: usize,
    },
}

impl fmt::Display for RawClipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRate { rate_hz } => write!(f, "a rate of {rate_hz} Hz: it must be positive"),
            Self::WrongCount { joints, transforms } => write!(
                f,
                "{transforms} transforms for {joints} joints: \
                 each sample needs one for each joint, and there must be a sample"
            ),
            Self::TooManySamples { samples } => {
                write!(f, "{samples} samples, at most {MAX_SAMPLES} are possible")
            }
            Self::BadTransform { sample, joint } => write!(
                f,
                "joint {joint} in sample {sample} has a number that is not finite \
                 or a rotation of length zero"
            ),
            Self::TooManyCurves { curves } => {
                write!(f, "{curves} curves, at most {MAX_CURVES} are possible")
            }
            Self::SameCurve { curve } => {
                write!(f, "curve {curve} has the name of an earlier curve")
            }
            Self::WrongCurve { curve, values, samples } => {
                write!(f, "curve {curve} has {values} values for {samples} samples")
            }
            Self::BadPrecision { curve, precision } => {
                write!(f, "curve {curve} has a precision of {precision}: it must be positive")
            }
            Self::BadValue { curve, sample } => {
                write!(f, "curve {curve} has a value in sample {sample} that is not finite")
            }
            Self::TooManyMarkers { markers } => {
                write!(f, "{markers} markers, at most {MAX_MARKERS} are possible")
            }
            Self::BadMarkerTime { marker, time_s, duration_s } => write!(
                f,
                "marker {marker} is at {time_s} s: it must be within the clip's {duration_s} s"
            ),
            Self::LongName { bytes } => {
                write!(f, "a name of {bytes} bytes, at most {MAX_NAME_BYTES} are possible")
            }
        }
    }
}

impl std::error::Error for RawClipError {}
