//! How animations are read, on the command line.

use clap::{Args, ValueEnum};
use kinepack_anim::import::{BvhConvention, ImportOptions};

/// What to assume of files that don't say it.
#[derive(Args, Clone, Debug)]
pub(crate) struct ImportArguments {
    /// Samples a second: 30 for glTF when not given, the motion's own for BVH, of which it must be
    /// a divisor.
    #[arg(long, value_name = "HZ")]
    rate: Option<f32>,
    /// Cm of the files' unit. When not given: 100 for glTF, but 1 where the skeleton would be
    /// larger than 20 m; by convention for BVH.
    #[arg(long, value_name = "CM")]
    unit_cm: Option<f64>,
    /// BVH: frames to leave out at the beginning; by convention when not given.
    #[arg(long, value_name = "FRAMES")]
    drop_frames: Option<usize>,
    /// BVH: the rate at which the motion was captured, where the file's frame time is wrong.
    #[arg(long, value_name = "HZ")]
    frame_rate: Option<f32>,
    /// BVH: whose habits the files follow, for their unit and for frames that are no motion.
    #[arg(long, value_enum, default_value_t)]
    convention: Convention,
    /// Memory that reading a file may take, in MiB: 128 when not given, and 64 bytes more for each
    /// byte of the file. For files that you trust.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    max_memory: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Convention {
    /// By the names of the joints.
    #[default]
    Auto,
    /// The unit is a cm, all frames are motion.
    AsWritten,
    /// Of the CMU database for Daz: the unit is a cm, the first 10 frames lead out of a T-pose.
    CmuDaz,
    /// Of the CMU database for MotionBuilder: the unit is 5.64444 cm, the first frame may be a
    /// T-pose.
    CmuMotionBuilder,
}

impl ImportArguments {
    /// What the library takes; it checks the numbers.
    pub(crate) fn options(&self) -> ImportOptions {
        let max_memory_bytes = self.max_memory.map(|mib| mib << 20);
        let default = ImportOptions::default();
        ImportOptions {
            // What was allowed is the only limit then.
            max_bytes: max_memory_bytes.unwrap_or(default.max_bytes),
            max_transforms: if max_memory_bytes.is_some() {
                usize::MAX
            } else {
                default.max_transforms
            },
            max_memory_bytes,
            rate_hz: self.rate,
            unit_cm: self.unit_cm,
            drop_frames: self.drop_frames,
            frame_rate_hz: self.frame_rate,
            convention: match self.convention {
                Convention::Auto => None,
                Convention::AsWritten => Some(BvhConvention::AsWritten),
                Convention::CmuDaz => Some(BvhConvention::CmuDaz),
                Convention::CmuMotionBuilder => Some(BvhConvention::CmuMotionBuilder),
            },
        }
    }
}
