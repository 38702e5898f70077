//! Reads clips from files: glTF 2.0 (`.glb`, `.gltf`, and `.vrm` and `.vrma` of VRM), BVH (`.bvh`,
//! `.bvh.zst`) and, with the feature `fbx`, FBX (`.fbx`).
//!
//! All results are in cm and relative to the parent joint, as in a [`RawClip`](crate::RawClip). The
//! importer does not trust files. The [`ImportError`] for a bad file names the place of the fault,
//! and deeply nested data never cause recursion. [`ImportOptions::max_memory_bytes`] limits the
//! total memory. By default, the limit depends on the size of the file, never on a count in the
//! file.

mod budget;
pub mod bvh;
mod clips;
mod contents;
mod error;
#[cfg(feature = "fbx")]
pub mod fbx;
pub mod gltf;
mod joints;
mod left_out;
mod nodes;
mod options;
mod packed;
mod skipped;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};
use std::sync::Arc;

pub use bvh::BvhConvention;
pub use contents::Import;
pub use error::ImportError;
pub use left_out::{LeftOut, LeftOutKind};
pub use options::{ImportOptions, NameEncoding, Note};
pub use skipped::Skipped;

use budget::Budget;
use clips::without_ending;
use packed::Refused;

use crate::Skeleton;

/// Reads a file. The extension of its name selects the format. A clip from glTF or FBX is named
/// `{file's stem}__{animation}`, with `_` for a space and `-` for `|` and `/`. A clip from BVH is
/// named after its file. A `.gltf` may reference only files in its own directory and below.
///
/// ```no_run
/// use kinepack_anim::import::{ImportOptions, read};
///
/// let import = read("fox.glb".as_ref(), &ImportOptions::default())?;
/// for clip in &import.clips {
///     println!("{}: {} joints, {:.2} s", clip.name(), clip.joints(), clip.duration_s());
/// }
/// # Ok::<(), kinepack_anim::import::ImportError>(())
/// ```
///
/// # Errors
/// Returns [`ImportError`], with the path as the name of the file. Returns
/// [`ImportError::TooMuchMemory`] if reading takes more memory than
/// [`ImportOptions::max_memory_bytes`] allows. Returns [`ImportError::NeedsFbx`] for an FBX file,
/// if this build lacks the feature `fbx`.
pub fn read(path: &Path, options: &ImportOptions) -> Result<Import, ImportError> {
    options.validate()?;
    let file = path.display().to_string();
    let has = |ending| without_ending(&file, ending).is_some();
    if gltf::ENDINGS.iter().any(|ending| has(ending)) {
        let bytes = read_file(path, &file, options.max_bytes)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        return gltf::from_bytes(&file, &bytes, options, |relative, most| {
            read_below(directory, relative, most)
        });
    }
    if has(".fbx") {
        return read_fbx(path, file, options);
    }
    if !has(".bvh") && !has(".bvh.zst") {
        return Err(ImportError::UnknownFormat { file });
    }
    let mut bytes = read_file(path, &file, options.max_bytes)?;
    let mut budget = Budget::new(&file, options.max_memory_bytes, bytes.len() as u64)?;
    if has(".zst") {
        bytes = packed::unpacked(&bytes, options.max_bytes, budget.left()).map_err(|refused| {
            match refused {
                Refused::Damaged(source) => ImportError::Io { file: file.clone(), source },
                Refused::TooManyBytes => {
                    ImportError::TooManyBytes { file: file.clone(), limit_bytes: options.max_bytes }
                }
                Refused::TooMuchMemory(bytes) => budget.too_much(bytes),
            }
        })?;
        budget.take(bytes.len() as u64)?;
    }
    bvh::from_words(&file, &bytes, options, &mut budget)
}

/// Reads the skeleton of a file. A glTF or VRM file need not have an animation for that. Returns
/// `None` if the file has no joints.
///
/// # Errors
/// Returns the errors of [`read`].
pub fn read_skeleton(
    path: &Path,
    options: &ImportOptions,
) -> Result<Option<Arc<Skeleton>>, ImportError> {
    let file = path.display().to_string();
    if gltf::ENDINGS.iter().any(|ending| without_ending(&file, ending).is_some()) {
        options.validate()?;
        return gltf::skeleton(&file, &read_file(path, &file, options.max_bytes)?, options);
    }
    let import = read(path, options)?;
    Ok(import.clips.first().map(|clip| Arc::clone(clip.skeleton())))
}

#[cfg(feature = "fbx")]
fn read_fbx(path: &Path, file: String, options: &ImportOptions) -> Result<Import, ImportError> {
    fbx::from_bytes(&file, &read_file(path, &file, options.max_bytes)?, options)
}

#[cfg(not(feature = "fbx"))]
fn read_fbx(_: &Path, file: String, _: &ImportOptions) -> Result<Import, ImportError> {
    Err(ImportError::NeedsFbx { file })
}

fn read_file(path: &Path, file: &str, limit_bytes: u64) -> Result<Vec<u8>, ImportError> {
    let read = File::open(path).and_then(|opened| read_at_most(opened, limit_bytes));
    read.map_err(|source| match source.kind() {
        io::ErrorKind::FileTooLarge => {
            ImportError::TooManyBytes { file: file.to_owned(), limit_bytes }
        }
        _ => ImportError::Io { file: file.to_owned(), source },
    })
}

/// Reads all bytes of a file. Returns [`io::ErrorKind::FileTooLarge`] if there are more than
/// `limit_bytes`.
fn read_at_most(file: File, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
    // For anything but a regular file, the system may report a length of 0.
    let length = file.metadata()?.len();
    if length > limit_bytes {
        return Err(too_large());
    }
    // A buffer that grows while it fills would take up to three times the memory.
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes { Err(too_large()) } else { Ok(bytes) }
}

/// Reads a file in a directory or below it. Neither `..` nor a symbolic link can escape the
/// directory.
fn read_below(directory: &Path, relative: &str, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let outside = || {
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{relative:?} is outside of the directory"),
        )
    };
    let relative_path = Path::new(relative);
    if !relative_path
        .components()
        .all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
    {
        return Err(outside());
    }
    let directory =
        if directory.as_os_str().is_empty() { Path::new(".") } else { directory }.canonicalize()?;
    let path = directory.join(relative_path).canonicalize()?;
    if !path.starts_with(&directory) {
        return Err(outside());
    }
    // This check refuses directories, and also pipes, which might never end.
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{relative:?} is not a file"),
        ));
    }
    read_at_most(File::open(path)?, limit_bytes)
}
