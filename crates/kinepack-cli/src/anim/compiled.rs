//! Compressed clips on disk, and the skeletons that lie beside them.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use kinepack_anim::{AnyClip, Skeleton};

use crate::failure::Failure;

/// Where a clip's skeleton is.
#[derive(Args, Clone, Debug)]
pub(crate) struct SkeletonArguments {
    /// The skeleton of the clip; when not given, the one that its file names, in the same directory.
    #[arg(long, value_name = "FILE.kps")]
    skeleton: Option<PathBuf>,
}

/// The name of a skeleton's file.
pub(crate) fn skeleton_name(hash: u64) -> String {
    format!("{hash:016x}.kps")
}

/// Reads a clip and its skeleton.
pub(crate) fn read(path: &Path, arguments: &SkeletonArguments) -> Result<(AnyClip, Skeleton), Failure> {
    let clip = read_clip(path)?;
    let hash = clip.skeleton_hash();
    let beside = || path.parent().unwrap_or(Path::new("")).join(skeleton_name(hash));
    let skeleton_path = arguments.skeleton.clone().unwrap_or_else(beside);
    let skeleton = Skeleton::from_bytes(&read_bytes(&skeleton_path)?);
    let bad = |reason: String| Failure::BadClip { path: skeleton_path.clone(), reason };
    let skeleton = skeleton.map_err(|error| bad(error.to_string()))?;
    if skeleton.hash() != hash || skeleton.len() != clip.joints() {
        return Err(bad(format!("not the skeleton of {}", path.display())));
    }
    Ok((clip, skeleton))
}

/// Reads a clip.
pub(crate) fn read_clip(path: &Path) -> Result<AnyClip, Failure> {
    let clip = AnyClip::from_bytes(read_bytes(path)?);
    clip.map_err(|error| Failure::BadClip { path: path.to_owned(), reason: error.to_string() })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::ClipFile { path: path.to_owned(), error })
}
