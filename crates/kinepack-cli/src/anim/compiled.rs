//! Reads compressed clips from disk, with the skeletons and rigs in the same directory or database.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use kinepack_anim::{AnyClip, ClipError, RawClip, Rig, Skeleton, SkeletonFileError};

use super::baked::with_curves;
use super::databases;
use super::file_types::{self, CLIPS, SKELETONS};
use crate::anim::error::AnimError;

/// Where a clip's skeleton is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SkeletonArguments {
    /// The skeleton of the clip. Without it, the file next to the clip whose name ends with the
    /// skeleton's hash, or the skeleton within the database.
    #[arg(long, value_name = "FILE.kps")]
    skeleton: Option<PathBuf>,
}

/// The extension of a skeleton's file.
pub(crate) const SKELETON: &str = "kps";
/// The extension of a rig's file.
pub(crate) const RIG: &str = "kpr";

/// A clip with everything that playing it needs.
pub(crate) struct Compiled {
    /// The name of the clip: the name of its file, or its name in the database.
    pub(crate) name: String,
    pub(crate) clip: AnyClip,
    pub(crate) skeleton: Skeleton,
    /// The name of the rig's file. The value is `None` unless the clip has a rig in a separate
    /// file. A database contains its rig.
    pub(crate) rig: Option<String>,
}

impl Compiled {
    /// Returns the clip's samples. `path` is for errors.
    pub(crate) fn raw(&self, path: &Path) -> Result<RawClip, AnimError> {
        let Self { name, clip, skeleton, .. } = self;
        let bad = |reason: String| AnimError::BadClip { path: path.to_owned(), reason };
        let mut pose = skeleton.bind_pose();
        let mut player = clip.player(skeleton).map_err(|error| bad(error.to_string()))?;
        let mut samples = Vec::with_capacity(clip.samples() * pose.len());
        for sample in 0..clip.samples() {
            player.sample_at(sample as f64, &mut pose);
            samples.extend_from_slice(&pose);
        }
        let raw = RawClip::new(name, Arc::new(skeleton.clone()), clip.rate_hz(), samples);
        let positions = (0..clip.samples()).map(|sample| sample as f64);
        let raw = raw.and_then(|raw| with_curves(raw, clip, positions));
        raw.map_err(|error| bad(error.to_string()))
    }
}

/// Returns the name of a skeleton's or rig's file. It consists of the asset's name for users, and
/// the hash by which clips find the file.
pub(crate) fn hashed_name(asset: &str, hash: u64, extension: &str) -> String {
    format!("{asset}-{hash:016x}.{extension}")
}

/// Returns the name of the file in `directory` that has this hash and extension, regardless of the
/// asset in its name. If there are several such files, returns the first by name.
pub(crate) fn find_hashed(directory: &Path, hash: u64, extension: &str) -> Option<String> {
    let exact = format!("{hash:016x}.{extension}");
    let ending = format!("-{exact}");
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let names = fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| *name == exact || name.ends_with(&ending)).min()
}

/// Reads a rig.
pub(crate) fn read_rig(path: &Path) -> Result<Rig, AnimError> {
    let rig = Rig::from_bytes(&read_bytes(path)?);
    rig.map_err(|error| AnimError::BadClip { path: path.to_owned(), reason: error.to_string() })
}

/// Returns the files that [`read`] reads by name: the file of the clip and the file of its
/// skeleton. Files that `read` finds by their hash are not included.
pub(crate) fn inputs(clip: &Path, arguments: &SkeletonArguments) -> impl Iterator<Item = PathBuf> {
    [Some(file_types::of_database(clip).0), arguments.skeleton.clone()].into_iter().flatten()
}

/// Reads a clip and its skeleton. A database contains both, and FILE.kpb#CLIP selects one of its
/// clips.
pub(crate) fn read(path: &Path, arguments: &SkeletonArguments) -> Result<Compiled, AnimError> {
    let (file, name) = file_types::of_database(path);
    let bytes = read_bytes(&file)?;
    if name.is_some() || databases::is_database(&bytes) {
        let database = databases::open(&file, bytes)?;
        let (name, clip) = databases::choose(&file, &database, name)?;
        let skeleton = match &arguments.skeleton {
            Some(given) => read_skeleton(given, path, &clip)?,
            None => Skeleton::clone(database.skeleton()),
        };
        let uses_rig = clip.as_block().is_some_and(|clip| clip.rig().is_some());
        return Ok(Compiled { name, clip, skeleton, rig: uses_rig.then(|| file_name(&file)) });
    }
    let (clip, rig) = read_clip(path, bytes)?;
    let skeleton_path = match &arguments.skeleton {
        Some(given) => given.clone(),
        None => beside(path, "skeleton", clip.skeleton_hash(), SKELETON)?,
    };
    let skeleton = read_skeleton(&skeleton_path, path, &clip)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Compiled { name, clip, skeleton, rig })
}

/// Reads the skeleton of a clip.
fn read_skeleton(path: &Path, of: &Path, clip: &AnyClip) -> Result<Skeleton, AnimError> {
    let skeleton = Skeleton::from_bytes(&read_bytes(path)?);
    let bad = |reason: String| AnimError::BadClip { path: path.to_owned(), reason };
    let skeleton = skeleton.map_err(|error| match error {
        SkeletonFileError::OtherFile { found } => {
            AnimError::OtherFile { path: path.to_owned(), takes: SKELETONS, found: Some(found) }
        }
        error => bad(error.to_string()),
    })?;
    if (skeleton.hash(), skeleton.len()) != (clip.skeleton_hash(), clip.joints()) {
        return Err(bad(format!("not the skeleton of {}", of.display())));
    }
    Ok(skeleton)
}

/// Reads a clip from the bytes of its file. If it has a rig, also reads the rig from the same
/// directory, and returns the name of the rig's file.
fn read_clip(path: &Path, bytes: Vec<u8>) -> Result<(AnyClip, Option<String>), AnimError> {
    let (clip, rig) = match AnyClip::from_bytes(&bytes[..]) {
        Err(ClipError::Rig { hash }) => {
            let rig_path = beside(path, "rig", hash, RIG)?;
            let rig = Arc::new(read_rig(&rig_path)?);
            (AnyClip::with_rig(bytes, &rig), Some(file_name(&rig_path)))
        }
        clip => (clip, None),
    };
    let path = path.to_owned();
    match clip {
        Ok(clip) => Ok((clip, rig)),
        Err(ClipError::OtherFile { found }) => {
            Err(AnimError::OtherFile { path, takes: CLIPS, found: Some(found) })
        }
        Err(error) => Err(AnimError::BadClip { path, reason: error.to_string() }),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Finds the file with this hash in the directory of a clip.
fn beside(
    clip: &Path,
    what: &'static str,
    hash: u64,
    extension: &'static str,
) -> Result<PathBuf, AnimError> {
    let directory = clip.parent().unwrap_or(Path::new(""));
    let name = find_hashed(directory, hash, extension);
    let missing = || AnimError::Missing { clip: clip.to_owned(), what, hash, extension };
    name.map(|name| directory.join(name)).ok_or_else(missing)
}

pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, AnimError> {
    fs::read(path).map_err(|error| AnimError::ClipFile { path: path.to_owned(), error })
}
