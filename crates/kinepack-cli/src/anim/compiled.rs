//! Compressed clips on disk, and the skeletons and rigs that lie beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use kinepack_anim::{AnyClip, ClipError, Rig, Skeleton};

use crate::anim::error::AnimError;

/// Where a clip's skeleton is.
#[derive(Args, Clone, Debug)]
pub(crate) struct SkeletonArguments {
    /// The skeleton of the clip; when not given, the one that its file names, in the same
    /// directory.
    #[arg(long, value_name = "FILE.kps")]
    skeleton: Option<PathBuf>,
}

/// The name of a skeleton's file.
pub(crate) fn skeleton_name(hash: u64) -> String {
    format!("{hash:016x}.kps")
}

/// The name of a rig's file.
pub(crate) fn rig_name(hash: u64) -> String {
    format!("{hash:016x}.kpr")
}

/// Reads a rig.
pub(crate) fn read_rig(path: &Path) -> Result<Rig, AnimError> {
    let rig = Rig::from_bytes(&read_bytes(path)?);
    rig.map_err(|error| AnimError::BadClip { path: path.to_owned(), reason: error.to_string() })
}

/// Reads a clip and its skeleton.
pub(crate) fn read(
    path: &Path,
    arguments: &SkeletonArguments,
) -> Result<(AnyClip, Skeleton), AnimError> {
    let clip = read_clip(path)?;
    let hash = clip.skeleton_hash();
    let skeleton_path =
        arguments.skeleton.clone().unwrap_or_else(|| beside(path, skeleton_name(hash)));
    let skeleton = Skeleton::from_bytes(&read_bytes(&skeleton_path)?);
    let bad = |reason: String| AnimError::BadClip { path: skeleton_path.clone(), reason };
    let skeleton = skeleton.map_err(|error| bad(error.to_string()))?;
    if skeleton.hash() != hash || skeleton.len() != clip.joints() {
        return Err(bad(format!("not the skeleton of {}", path.display())));
    }
    Ok((clip, skeleton))
}

/// Reads a clip, with its rig, which lies beside it, where it is of one.
fn read_clip(path: &Path) -> Result<AnyClip, AnimError> {
    let bytes = read_bytes(path)?;
    let clip = match AnyClip::from_bytes(&bytes[..]) {
        Err(ClipError::Rig { hash }) => {
            let rig = read_rig(&beside(path, rig_name(hash)))?;
            AnyClip::with_rig(bytes, &Arc::new(rig))
        }
        clip => clip,
    };
    clip.map_err(|error| AnimError::BadClip { path: path.to_owned(), reason: error.to_string() })
}

/// A file in the directory of another.
fn beside(path: &Path, name: String) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(name)
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, AnimError> {
    fs::read(path).map_err(|error| AnimError::ClipFile { path: path.to_owned(), error })
}
