//! How animations are read, on the command line.

use clap::{Args, ValueEnum};
use kinepack_anim::import::{BvhConvention, ImportOptions};

/// What to assume of files that don't say it.
#[derive(Args, Clone, Debug)]
pub(crate) struct ImportArguments {
    /// Samples a second: 30 for glTF when not given, the motion's own for BVH, of which it must be a divisor.
    #[arg(long, value_name = "HZ")]
    rate: Option<f32>,
    /// Cm of the files' unit. When not given: 100 for glTF, but 1 where the skeleton would be larger than 20 m; by convention for BVH.
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
    /// Of the CMU database for MotionBuilder: the unit is 5.64444 cm, the first frame may be a T-pose.
    CmuMotionBuilder,
}

impl ImportArguments {
    /// What the library takes; it checks the numbers.
    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions {
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
            ..ImportOptions::default()
        }
    }
}
