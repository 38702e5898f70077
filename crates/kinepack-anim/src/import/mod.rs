//! Clips from files: glTF 2.0 (`.glb`, `.gltf`) and BVH (`.bvh`, `.bvh.zst`).
//!
//! Everything that comes out is in cm and relative to the parent joint, as [`RawClip`] has it.
//! Files are taken for hostile: what is wrong with one is an [`ImportError`] that names the place,
//! nothing recurses on what a file nests, and memory as a whole is bounded by
//! [`ImportOptions::max_memory_bytes`], which by default follows the size of the file, never by a
//! count that the file states.

mod budget;
pub mod bvh;
mod error;
pub mod gltf;
mod options;
mod packed;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};

pub use bvh::BvhConvention;
pub use error::ImportError;
pub use options::{ImportOptions, Note};

use crate::RawClip;
use budget::Budget;
use packed::Refused;

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// In the order of the file; those of one file share a skeleton.
    pub clips: Vec<RawClip>,
    /// What was decided on the way.
    pub notes: Vec<Note>,
}

/// Reads a file; the ending of its name says of which format. Clips of glTF are named `{file's
/// stem}__{animation}`, with `_` for a space and `-` for `|` and `/`; those of BVH like the file. A
/// `.gltf` may refer to files in its own directory and below, and to no others.
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
/// [`ImportError`], with the path as the name of the file; [`ImportError::TooMuchMemory`] for a
/// file that takes more than [`ImportOptions::max_memory_bytes`].
pub fn read(path: &Path, options: &ImportOptions) -> Result<Import, ImportError> {
    options.validate()?;
    let file = path.display().to_string();
    let has = |ending| without_ending(&file, ending).is_some();
    if has(".glb") || has(".gltf") {
        let bytes = read_file(path, &file, options.max_bytes)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        return gltf::from_bytes(&file, &bytes, options, |relative, most| {
            read_below(directory, relative, most)
        });
    }
    if !has(".bvh") && !has(".bvh.zst") {
        return Err(ImportError::UnknownFormat { file });
    }
    let mut bytes = read_file(path, &file, options.max_bytes)?;
    let mut budget = Budget::new(&file, options, bytes.len() as u64)?;
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
    bvh::from_words(&file, &text(bytes), options, &mut budget)
}

/// Bytes as text, in the same memory. Names in other encodings are no reason to refuse a motion:
/// what is not UTF-8 becomes question marks.
fn text(mut bytes: Vec<u8>) -> String {
    let mut from = 0;
    while let Err(error) = std::str::from_utf8(&bytes[from..]) {
        let begin = from + error.valid_up_to();
        let end = error.error_len().map_or(bytes.len(), |length| begin + length);
        bytes[begin..end].fill(b'?');
        from = end;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The name of a file without its directories and the first of the endings that it has.
fn stem<'a>(file: &'a str, endings: &[&str]) -> &'a str {
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
    endings.iter().find_map(|ending| without_ending(name, ending)).unwrap_or(name)
}

fn without_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(stem)
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

/// All bytes, or [`io::ErrorKind::FileTooLarge`] where they are more.
fn read_at_most(file: File, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
    // 0 for what is no file.
    let length = file.metadata()?.len();
    if length > limit_bytes {
        return Err(too_large());
    }
    // Memory that grows while it is filled takes up to three times as much.
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes { Err(too_large()) } else { Ok(bytes) }
}

/// A file in a directory or below, and never elsewhere: not by `..`, nor by a link.
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
    // Neither a directory nor a pipe, which might never end.
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{relative:?} is no file"),
        ));
    }
    read_at_most(File::open(path)?, limit_bytes)
}
