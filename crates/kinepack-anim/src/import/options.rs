//! How files are read, and what is assumed of them where nobody says.

use std::fmt;

use super::{BvhConvention, ImportError};

/// How files are read. `None` leaves a decision to what is found in the file; a [`Note`] tells what
/// was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportOptions {
    /// Samples a second. `None`: 30 for glTF, the motion's own rate for BVH. BVH is not resampled:
    /// the rate must divide the motion's.
    pub rate_hz: Option<f32>,
    /// Cm of the file's unit of length. `None`: glTF is in metres (100), and in cm (1) where its
    /// skeleton would be larger than 20 m; BVH goes by its convention.
    pub unit_cm: Option<f64>,
    /// BVH: frames to leave out at the beginning. `None` goes by the convention.
    pub drop_frames: Option<usize>,
    /// BVH: the rate at which the motion was captured, where its frame time is wrong. `None`: the
    /// frame time, to the nearest whole rate.
    pub frame_rate_hz: Option<f32>,
    /// BVH: whose habits the file follows. `None`: found by the names of the joints.
    pub convention: Option<BvhConvention>,
    /// The most transforms (joints × samples, 40 bytes each) that all clips of a file may have
    /// together. The default is 2^24, or 671 MB: 100 joints at 60 Hz for 46 minutes.
    pub max_transforms: usize,
    /// The most bytes of a file, unpacked, and again of all that it refers to. The default is 1
    /// GiB.
    pub max_bytes: u64,
    /// The most memory that reading a file may take as a whole, in bytes: the file, what it is
    /// unpacked into, what it refers to, and the clips. `None`: 128 MiB, and 64 bytes more for each
    /// byte of the file or of the largest one that it refers to. Real animations take up to 12
    /// bytes for each of theirs; two keys a joint that last half an hour fit into the 128 MiB.
    pub max_memory_bytes: Option<u64>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            rate_hz: None,
            unit_cm: None,
            drop_frames: None,
            frame_rate_hz: None,
            convention: None,
            max_transforms: 1 << 24,
            max_bytes: 1 << 30,
            max_memory_bytes: None,
        }
    }
}

impl ImportOptions {
    /// Whether a file can be read so.
    ///
    /// # Errors
    /// [`ImportError::BadOption`] where a rate or the unit is not positive and finite.
    pub fn validate(&self) -> Result<(), ImportError> {
        let is_bad_rate =
            |rate: Option<f32>| rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite()));
        let bad = |option| Err(ImportError::BadOption { option, expected: "positive and finite" });
        if is_bad_rate(self.rate_hz) {
            bad("the rate")
        } else if is_bad_rate(self.frame_rate_hz) {
            bad("the frame rate")
        } else if self.unit_cm.is_some_and(|unit| !(unit > 0.0 && unit.is_finite())) {
            bad("the unit")
        } else {
            Ok(())
        }
    }
}

/// What an importer decided by itself, for people to know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// A glTF file's unit was taken for a cm.
    TakenAsCm {
        /// The file.
        file: String,
        /// How large the skeleton would be in metres: the largest distance between two joints in
        /// the bind pose.
        extent_m: f64,
    },
    /// A BVH file is one of a known collection.
    Convention {
        /// The file.
        file: String,
        /// Which.
        convention: BvhConvention,
        /// What its unit was taken for.
        unit_cm: f64,
        /// Frames that were left out at the beginning.
        dropped: usize,
    },
    /// A file has nothing that moves joints.
    NoClip {
        /// The file.
        file: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakenAsCm { file, extent_m } => {
                write!(
                    f,
                    "{file}: taken as cm: in metres the skeleton would be {extent_m:.0} m large"
                )
            }
            Self::Convention { file, convention, unit_cm, dropped } => {
                write!(f, "{file}: taken as {}: {unit_cm} cm a unit, ", convention.name())?;
                match dropped {
                    0 => write!(f, "no frame dropped"),
                    1 => write!(f, "the first frame dropped"),
                    _ => write!(f, "the first {dropped} frames dropped"),
                }
            }
            Self::NoClip { file } => write!(f, "{file}: no animation of joints or nodes"),
        }
    }
}
