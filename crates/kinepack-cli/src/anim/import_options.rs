//! How animations are read: options of the command line.

use clap::{Args, ValueEnum};
use kinepack_anim::import::{BvhConvention, ImportOptions};

/// Facts that a file does not store, and limits.
#[derive(Args, Clone, Debug)]
pub(crate) struct ImportArguments {
    /// Samples per second. By default 30 for glTF, and the rate of the file for FBX and BVH. The
    /// rate of a BVH file must be a multiple of this rate.
    #[arg(long, value_name = "HZ")]
    rate: Option<f32>,
    #[command(flatten)]
    facts: FileFacts,
    /// glTF: name the joints of humans as VRM 1.0 does, if the file identifies them. Clips of
    /// different models then share names. All of these bones become joints, whether they move or
    /// not.
    #[arg(long)]
    humanoid_names: bool,
    /// glTF and FBX: if any node of a tree is animated, turn all of its nodes into joints. Files of
    /// one model then share a skeleton, whichever nodes they animate.
    #[arg(long)]
    all_nodes: bool,
    /// Memory that reading a file may take, in MiB. By default 128, and 64 bytes more for each byte
    /// of the file. Raise it only for files that you trust.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    max_memory: Option<u64>,
}

/// Facts that a file does not store, or states wrongly.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FileFacts {
    /// The unit of the files in cm. By default 100 for glTF, or 1 if the skeleton would be larger
    /// than 20 m; for FBX the file states it; for BVH it depends on the convention.
    #[arg(long, value_name = "CM", allow_negative_numbers = true)]
    pub(super) unit_cm: Option<f64>,
    /// BVH: frames to drop at the beginning. By default the number depends on the convention.
    #[arg(long, value_name = "FRAMES")]
    pub(super) drop_frames: Option<usize>,
    /// BVH: the rate of the capture, if the frame time in the file is wrong.
    #[arg(long, value_name = "HZ", allow_negative_numbers = true)]
    pub(super) frame_rate: Option<f32>,
    /// BVH: the collection that the files are from. The collection determines the unit and the
    /// frames to drop.
    #[arg(long, value_enum, default_value_t)]
    pub(super) convention: Convention,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Convention {
    /// Detected from the names of the joints.
    #[default]
    Auto,
    /// The unit is 1 cm, and all frames are motion.
    AsWritten,
    /// CMU database for Daz: the unit is 1 cm, and the first 10 frames leave a T-pose.
    CmuDaz,
    /// CMU database for MotionBuilder: the unit is 5.64444 cm, and the first frame may be a T-pose.
    CmuMotionBuilder,
}

impl ImportArguments {
    /// Returns the options of the library, which checks the numbers.
    pub(crate) fn options(&self) -> ImportOptions {
        let max_memory_bytes = self.max_memory.map(|mib| mib << 20);
        let default = ImportOptions::default();
        ImportOptions {
            // With --max-memory, memory is the only limit.
            max_bytes: max_memory_bytes.unwrap_or(default.max_bytes),
            max_transforms: if max_memory_bytes.is_some() {
                usize::MAX
            } else {
                default.max_transforms
            },
            max_memory_bytes,
            rate_hz: self.rate,
            humanoid_names: self.humanoid_names,
            all_nodes: self.all_nodes,
            ..self.facts.options()
        }
    }
}

impl FileFacts {
    /// Returns the options of the library, which checks the numbers.
    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions {
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
