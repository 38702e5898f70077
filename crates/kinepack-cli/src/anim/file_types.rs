//! The files that commands take, by the extensions of their names, and the error for other files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use kinepack_anim::FileKind;
use kinepack_anim::import::ImportError;

use super::import_options::{Convention, FileFacts};
use super::skipped::Skipped;
use crate::anim::error::AnimError;

/// The extensions of files with motion that other programs wrote.
pub(crate) const ANIMATIONS: &[&str] = &[".glb", ".gltf", ".vrm", ".vrma", FBX, ".bvh", ".bvh.zst"];
pub(crate) const BVH: &[&str] = &[".bvh", ".bvh.zst"];
/// The extensions of files from which clips are built.
pub(crate) const SOURCES: &[&str] =
    &[".glb", ".gltf", ".vrm", ".vrma", FBX, ".bvh", ".bvh.zst", RAW_CLIP];
/// The extensions of compressed clips. A clip of a database is FILE.kpb#CLIP.
pub(crate) const CLIPS: &[&str] = &[".kpa", ".kpd", DATABASE];
pub(crate) const SKELETONS: &[&str] = &[".kps"];
/// The extensions for commands that take both compressed clips and files to build clips from.
const CLIPS_AND_SOURCES: &[&str] = &[
    ".kpa", ".kpd", DATABASE, ".glb", ".gltf", ".vrm", ".vrma", FBX, ".bvh", ".bvh.zst", RAW_CLIP,
];
/// The extensions of files that `figure send` plays: also recordings of faces.
const PLAYED: &[&str] = &[
    ".kpa", ".kpd", DATABASE, ".glb", ".gltf", ".vrm", ".vrma", FBX, ".bvh", ".bvh.zst", RAW_CLIP,
    ".csv",
];
/// The extension of FBX files, which need the feature `fbx`.
const FBX: &str = ".fbx";
const READS_FBX: bool = cfg!(feature = "fbx");
pub(crate) const RAW_CLIP: &str = ".clip";
/// The extension of clip databases.
pub(crate) const DATABASE: &str = ".kpb";

impl FileFacts {
    /// Returns an option that was given although it does not apply to a file of this name, and the
    /// files that it is for.
    pub(crate) fn unfit(&self, file: &Path) -> Option<(&'static str, &'static str)> {
        let is_bvh = ends_in(file, BVH);
        let given = [
            (self.drop_frames.is_some(), "--drop-frames"),
            (self.frame_rate.is_some(), "--frame-rate"),
            (self.convention != Convention::Auto, "--convention"),
        ];
        if self.unit_cm.is_some() && !ends_in(file, ANIMATIONS) {
            return Some(("--unit-cm", "BVH, glTF and FBX files"));
        }
        let (_, option) = given.into_iter().find(|(is_given, _)| *is_given && !is_bvh)?;
        Some((option, "BVH files"))
    }
}

/// Returns whether the name of a file has one of the extensions `endings`.
pub(crate) fn ends_in(path: &Path, endings: &[&str]) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Refuses a file whose name has none of the extensions in `takes`. Also refuses FBX in a build
/// without a reader for it.
pub(crate) fn check(path: &Path, takes: &'static [&'static str]) -> Result<(), AnimError> {
    check_in(READS_FBX, path, takes)
}

/// Works like [`check`]. `reads_fbx` states whether this build reads FBX.
fn check_in(reads_fbx: bool, path: &Path, takes: &'static [&'static str]) -> Result<(), AnimError> {
    if ends_in(path, takes) {
        return match reads_fbx || !ends_in(path, &[FBX]) {
            true => Ok(()),
            false => Err(ImportError::NeedsFbx { file: path.display().to_string() }.into()),
        };
    }
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    Err(AnimError::OtherFile {
        path: path.to_owned(),
        takes,
        found: read.ok().and_then(|()| FileKind::detect(&magic)),
    })
}

/// Splits FILE#CLIP. Names of files and of clips may contain a #. The separating # is one that
/// follows the name of an existing file.
pub(crate) fn file_and_clip(given: &str) -> (PathBuf, Option<&str>) {
    let is_file = |file: &str| Path::new(file).is_file();
    if is_file(given) {
        return (given.into(), None);
    }
    let parts = || given.rmatch_indices('#').map(|(at, _)| (&given[..at], &given[at + 1..]));
    match parts().find(|(file, _)| is_file(file)).or_else(|| parts().next()) {
        Some((file, clip)) => (file.into(), Some(clip)),
        None => (given.into(), None),
    }
}

/// Returns the file of a compressed clip, and the clip's name if the path is FILE.kpb#CLIP.
pub(crate) fn of_database(path: &Path) -> (PathBuf, Option<&str>) {
    let split = path.to_str().map(file_and_clip);
    let split = split.filter(|(file, clip)| clip.is_some() && ends_in(file, &[DATABASE]));
    split.unwrap_or_else(|| (path.to_owned(), None))
}

/// Refuses a file that `figure send` cannot play.
pub(crate) fn check_played(path: &Path) -> Result<(), AnimError> {
    check(&of_database(path).0, PLAYED)
}

/// Divides files into compressed clips and files to build clips from. Skips all others.
pub(crate) fn split(files: &[PathBuf], skipped: &mut Skipped) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_taken = |file: &&PathBuf| {
        let checked = check(&of_database(file).0, CLIPS_AND_SOURCES);
        checked.map_err(|failure| skipped.add(failure)).is_ok()
    };
    let taken = files.iter().filter(is_taken).cloned();
    taken.partition(|file| ends_in(&of_database(file).0, CLIPS))
}

/// Returns the message of [`AnimError::OtherFile`], after the path.
pub(crate) fn refused(takes: &[&str], found: Option<FileKind>) -> String {
    refused_in(READS_FBX, takes, found)
}

fn refused_in(reads_fbx: bool, takes: &[&str], found: Option<FileKind>) -> String {
    let is_read = |ending: &&&str| reads_fbx || **ending != FBX;
    let takes_now: Vec<&str> = takes.iter().filter(is_read).copied().collect();
    let list = match &takes_now[..] {
        [others @ .., one, last] => [others, &[&*format!("{one} or {last}")]].concat().join(", "),
        few => few.concat(),
    };
    let found_text = found.map(|found| format!("this is {found}; ")).unwrap_or_default();
    let advice = match found {
        Some(FileKind::Skeleton) if takes.contains(&".kpa") => ": give a clip of the skeleton",
        Some(FileKind::Rig) if takes.contains(&".kpa") => ": give a clip of the rig",
        Some(FileKind::Gltf | FileKind::Fbx | FileKind::Bvh | FileKind::RawClip)
            if takes == CLIPS =>
        {
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
        let animations = |fbx: &str| {
            format!(
                "this is a rig (.kpr); the file must be .glb, .gltf, .vrm, .vrma, {fbx}.bvh or \
                 .bvh.zst"
            )
        };
        for (takes, found, text) in [
            (CLIPS, None, "the file must be .kpa, .kpd or .kpb"),
            (
                CLIPS,
                Some(FileKind::Gltf),
                "this is a glTF file; the file must be .kpa, .kpd or .kpb: compress it with `anim build`",
            ),
            (SKELETONS, Some(FileKind::Bvh), "this is a BVH file; the file must be .kps"),
            (
                CLIPS,
                Some(FileKind::Skeleton),
                "this is a skeleton (.kps); the file must be .kpa, .kpd or .kpb: \
                 give a clip of the skeleton",
            ),
        ] {
            assert_eq!(refused(takes, found), text);
        }
        for (reads_fbx, fbx) in [(true, ".fbx, "), (false, "")] {
            let text = refused_in(reads_fbx, ANIMATIONS, Some(FileKind::Rig));
            assert_eq!(text, animations(fbx));
        }
    }

    #[test]
    fn a_build_without_fbx_says_how_to_get_it() {
        let of = |reads_fbx, file| check_in(reads_fbx, Path::new(file), ANIMATIONS);
        assert!(of(true, "cart.fbx").is_ok() && of(false, "cart.glb").is_ok());
        let text = "cart.fbx: this build cannot read FBX: turn on the feature `fbx`, or convert the \
                    file to glTF; `cargo install --path crates/kinepack-cli --features fbx` turns it on";
        assert_eq!(of(false, "cart.fbx").unwrap_err().to_string(), text);
    }

    #[test]
    fn endings_are_compared_without_case() {
        assert!(ends_in(Path::new("a/B.BVH.zst"), ANIMATIONS));
        assert!(!ends_in(Path::new("a.zst"), SOURCES));
    }
}
