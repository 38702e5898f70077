//! The files that commands take, by the endings of their names, and the error for other files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use kinepack_anim::FileKind;

use crate::anim::error::AnimError;

/// Motion that other programs wrote.
pub(crate) const ANIMATIONS: &[&str] = &[".glb", ".gltf", ".vrm", ".vrma", ".bvh", ".bvh.zst"];
/// Files that clips are built from.
pub(crate) const SOURCES: &[&str] =
    &[".glb", ".gltf", ".vrm", ".vrma", ".bvh", ".bvh.zst", RAW_CLIP];
/// Compressed clips.
pub(crate) const CLIPS: &[&str] = &[".kpa", ".kpd"];
pub(crate) const SKELETONS: &[&str] = &[".kps"];
/// For commands that take both.
const CLIPS_AND_SOURCES: &[&str] =
    &[".kpa", ".kpd", ".glb", ".gltf", ".vrm", ".vrma", ".bvh", ".bvh.zst", RAW_CLIP];
pub(crate) const RAW_CLIP: &str = ".clip";

/// Whether the name of a file has one of some endings.
pub(crate) fn ends_in(path: &Path, endings: &[&str]) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Refuses a file whose name has none of the endings that a command takes.
pub(crate) fn check(path: &Path, takes: &'static [&'static str]) -> Result<(), AnimError> {
    if ends_in(path, takes) {
        return Ok(());
    }
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    Err(AnimError::OtherFile {
        path: path.to_owned(),
        takes,
        found: read.ok().and_then(|()| FileKind::of(&magic)),
    })
}

/// Divides files into compressed clips and files to build clips from.
pub(crate) fn split(files: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), AnimError> {
    files.iter().try_for_each(|file| check(file, CLIPS_AND_SOURCES))?;
    Ok(files.iter().cloned().partition(|file| ends_in(file, CLIPS)))
}

/// The message of [`AnimError::OtherFile`], after the path.
pub(crate) fn refused(takes: &[&str], found: Option<FileKind>) -> String {
    let list = match takes {
        [others @ .., one, last] => [others, &[&*format!("{one} or {last}")]].concat().join(", "),
        few => few.concat(),
    };
    let found_text = found.map(|found| format!("this is {found}; ")).unwrap_or_default();
    let advice = match found {
        Some(FileKind::Skeleton) if takes.contains(&".kpa") => ": give a clip of the skeleton",
        Some(FileKind::Rig) if takes.contains(&".kpa") => ": give a clip of the rig",
        Some(FileKind::Gltf | FileKind::Bvh | FileKind::RawClip) if takes == CLIPS => {
            ": compress it with `anim build`"
        }
        _ => "",
    };
    format!("{found_text}the file must be {list}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_lists_what_a_command_takes() {
        for (takes, found, text) in [
            (CLIPS, None, "the file must be .kpa or .kpd"),
            (
                CLIPS,
                Some(FileKind::Gltf),
                "this is a glTF file; the file must be .kpa or .kpd: compress it with `anim build`",
            ),
            (SKELETONS, Some(FileKind::Bvh), "this is a BVH file; the file must be .kps"),
            (
                ANIMATIONS,
                Some(FileKind::Rig),
                "this is a rig (.kpr); the file must be .glb, .gltf, .vrm, .vrma, .bvh or .bvh.zst",
            ),
            (
                CLIPS,
                Some(FileKind::Skeleton),
                "this is a skeleton (.kps); the file must be .kpa or .kpd: \
                 give a clip of the skeleton",
            ),
        ] {
            assert_eq!(refused(takes, found), text);
        }
    }

    #[test]
    fn endings_are_compared_without_case() {
        assert!(ends_in(Path::new("a/B.BVH.zst"), ANIMATIONS));
        assert!(!ends_in(Path::new("a.zst"), SOURCES));
    }
}
