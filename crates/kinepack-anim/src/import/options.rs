//! Options for reading files, and their defaults.

use std::fmt;

use super::{BvhConvention, ImportError};

/// Options for reading files. If an option is `None`, the importer decides from the contents of the
/// file, and a [`Note`] reports its decision.
///
/// ```
/// use kinepack_anim::import::{ImportOptions, bvh};
///
/// let text = "HIERARCHY ROOT hip { OFFSET 0 1 0 CHANNELS 1 Yrotation End Site { OFFSET 0 1 0 } }
///     MOTION Frames: 4 Frame Time: 0.0166667 0 10 20 30";
/// // The file is in metres, and half of its 60 frames per second are enough.
/// let options =
///     ImportOptions { unit_cm: Some(100.0), rate_hz: Some(30.0), ..ImportOptions::default() };
/// let clip = &bvh::from_text("turn.bvh", text, &options)?.clips[0];
/// assert_eq!((clip.samples(), clip.rate_hz()), (2, 30.0));
/// assert_eq!(clip.skeleton().joints()[0].bind.translation, [0.0, 100.0, 0.0]);
/// # Ok::<(), kinepack_anim::import::ImportError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImportOptions {
    /// Samples per second. If `None`, the rate is 30 for glTF, the file's frame rate for FBX, and
    /// the motion's own rate for BVH. The importer does not resample BVH, so the rate must divide
    /// the motion's rate.
    pub rate_hz: Option<f32>,
    /// The file's unit of length in cm. If `None`, glTF is in metres (100), or in cm (1) if its
    /// skeleton would be larger than 20 m. An FBX file states its unit. For BVH, the convention
    /// determines the unit.
    pub unit_cm: Option<f64>,
    /// BVH: number of frames to drop at the beginning. If `None`, the convention determines the
    /// number.
    pub drop_frames: Option<usize>,
    /// BVH: the capture rate, for files with a wrong frame time. If `None`, the importer computes
    /// the rate from the frame time and rounds it to the nearest whole rate.
    pub frame_rate_hz: Option<f32>,
    /// BVH: the convention that the file follows. If `None`, the importer detects it from the joint
    /// names.
    pub convention: Option<BvhConvention>,
    /// glTF: name the joints of humans as VRM 1.0 does (`hips`, `leftUpperArm`), if the file
    /// identifies them (`VRM`, `VRMC_vrm` or `VRMC_vrm_animation`). All bones of a human then
    /// become joints, whether they move or not. Clips of different models then share joint names.
    /// Other joints keep the names of their nodes.
    pub humanoid_names: bool,
    /// glTF and FBX: if one node of a tree is a joint, all nodes of the tree become joints. Files
    /// of one model that animate different nodes then share a skeleton.
    pub all_nodes: bool,
    /// The maximum number of transforms (joints × samples, 40 bytes each) of all clips of a file
    /// together. The default is 2^24, or 671 MB. That is enough for 100 joints at 60 Hz for 46
    /// minutes.
    pub max_transforms: usize,
    /// The maximum number of bytes of a file after unpacking. The same limit applies to the total
    /// of all referenced files and all decoded compressed buffers. The default is 1 GiB.
    pub max_bytes: u64,
    /// The maximum memory that reading a file may take in total, in bytes. It covers the file, its
    /// unpacked form, the files that it references, and the clips. If `None`, the limit is 128 MiB,
    /// plus 64 bytes for each byte of the file or of the largest file that it references. Real
    /// animations take up to 12 bytes per byte. A half-hour animation of two keys per joint fits
    /// into the 128 MiB.
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
            humanoid_names: false,
            all_nodes: false,
            max_transforms: 1 << 24,
            max_bytes: 1 << 30,
            max_memory_bytes: None,
        }
    }
}

impl ImportOptions {
    /// Checks the options.
    ///
    /// # Errors
    /// Returns [`ImportError::BadOption`] if a rate or the unit is not positive and finite.
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

/// A decision of the importer that users should know about. [`Import`](super::Import) has an
/// example.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// The importer took the unit of a glTF file as cm.
    TakenAsCm {
        /// Name of the file.
        file: String,
        /// The size that the skeleton would have in metres: the largest distance between two joints
        /// in the bind pose.
        extent_m: f64,
    },
    /// A BVH file belongs to a known collection.
    Convention {
        /// Name of the file.
        file: String,
        /// The convention that the importer detected.
        convention: BvhConvention,
        /// The size of the unit in cm.
        unit_cm: f64,
        /// Number of frames dropped at the beginning.
        dropped: usize,
    },
    /// The file does not identify the joints of a human, or not in a readable form.
    NoHumanoid {
        /// Name of the file.
        file: String,
    },
    /// A file has a fault, but the importer read it anyway.
    Faulty {
        /// Name of the file.
        file: String,
        /// The fault, in English.
        fault: &'static str,
    },
    /// The number of rows in a BVH file differs from the stated number. The importer read all
    /// complete rows.
    FrameCount {
        /// Name of the file.
        file: String,
        /// Number of frames that the file states.
        stated: u64,
        /// Number of complete rows.
        found: u64,
        /// Number of numbers in an incomplete last row, which the importer dropped.
        cut: usize,
    },
    /// Some names of joints are not UTF-8.
    OtherEncoding {
        /// Name of the file.
        file: String,
        /// The encoding that the importer assumed.
        encoding: NameEncoding,
        /// Number of such names.
        names: usize,
        /// The start of one such name, as text.
        example: String,
    },
    /// The skeleton is smaller than 5 cm, so the unit may be wrong.
    Small {
        /// Name of the file.
        file: String,
        /// The size of the skeleton in the bind pose in cm, including the origin.
        extent_cm: f64,
        /// The size of the unit in cm.
        unit_cm: f64,
        /// A unit in cm that would make the skeleton at least 30 cm in size.
        suggested_cm: f64,
    },
    /// A file has no animation that moves joints.
    NoClip {
        /// Name of the file.
        file: String,
        /// Number of animations that the file has.
        animations: usize,
    },
}

/// The encoding that the importer assumed for names that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NameEncoding {
    /// Latin-1, the encoding of western Europe.
    Latin1,
    /// An unknown encoding, such as Shift-JIS. Each byte that is not ASCII became a percent sign
    /// and two hexadecimal digits, so different names stay different.
    Unknown,
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
            Self::NoHumanoid { file } => {
                write!(f, "{file}: no list of human bones: joints keep the names of their nodes")
            }
            Self::Faulty { file, fault } => write!(f, "{file}: {fault}"),
            Self::FrameCount { file, stated, found, cut } => {
                write!(f, "{file}: it states {stated} frames and has {found}, which are all read")?;
                match cut {
                    0 => Ok(()),
                    1 => write!(f, "; a row of one number at its end is left out"),
                    _ => write!(f, "; a row of {cut} numbers at its end is left out"),
                }
            }
            Self::OtherEncoding { file, encoding, names, example } => {
                let joints = if *names == 1 { "joint" } else { "joints" };
                write!(f, "{file}: the names of {names} {joints} are not UTF-8: taken as ")?;
                match encoding {
                    NameEncoding::Latin1 => write!(f, "Latin-1, such as {example:?}"),
                    NameEncoding::Unknown => {
                        write!(f, "bytes in hexadecimal, such as {example:?}: save it as UTF-8")
                    }
                }
            }
            Self::Small { file, extent_cm, unit_cm, suggested_cm } => write!(
                f,
                "{file}: the skeleton is {extent_cm:.1} cm large at {unit_cm} cm a unit: \
                 if that is too small, try another unit: --unit-cm {suggested_cm}"
            ),
            Self::NoClip { file, animations: 0 } => {
                write!(f, "{file}: no animation of joints or nodes")
            }
            Self::NoClip { file, animations } => write!(
                f,
                "{file}: no animation of joints or nodes: its animations ({animations}) move \
                 nothing that is read"
            ),
        }
    }
}
