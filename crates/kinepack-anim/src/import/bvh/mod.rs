//! Clips from BVH, the text format of motion captures. A file has a hierarchy of joints with
//! offsets and channels, then a line of numbers for each frame.
//!
//! A joint's rotation is the product of the rotations of its channels, in their order in the file.
//! The joint's translation is its offset, unless position channels replace the offset. The bind
//! pose has the offsets and no rotation. BVH does not state its unit, and some collections begin
//! each motion with an extra pose. A [`BvhConvention`] describes the unit and the extra frames of a
//! collection.
//!
//! Programs differ in details, and other readers accept the variants. These include `Frames 20` and
//! `Frame Time:0.03`, more or fewer rows than stated, NUL or Ctrl-Z at the end, and names that are
//! not UTF-8. This reader accepts them too, and a [`Note`] reports the variant. The reader takes
//! all complete rows, regardless of the number that the file states. Source: the format as
//! Biovision's exporters wrote it, and as later readers interpret it.

mod convention;
mod hierarchy;
mod motion;
mod names;
mod tokens;

use std::sync::Arc;

pub use convention::BvhConvention;

use super::budget::Budget;
use super::{Import, ImportError, ImportOptions, Note, clips};
use crate::{RawClip, Skeleton};
use motion::Motion;
use tokens::Tokens;

/// Reads the clip in the text of a BVH file. Errors use `file` as the name of the file. The clip is
/// named after the file, without directories and extensions.
///
/// ```
/// use kinepack_anim::import::{ImportOptions, bvh};
///
/// let text = "HIERARCHY ROOT hip { OFFSET 0 1 0 CHANNELS 1 Yrotation End Site { OFFSET 0 1 0 } }
///     MOTION Frames: 2 Frame Time: 0.04 0 90";
/// let import = bvh::from_text("turn.bvh", text, &ImportOptions::default())?;
/// let clip = &import.clips[0];
/// assert_eq!((clip.name(), clip.samples(), clip.rate_hz()), ("turn", 2, 25.0));
/// # Ok::<(), kinepack_anim::import::ImportError>(())
/// ```
///
/// # Errors
/// Returns [`ImportError`], with the line, if the text is malformed or the options do not fit the
/// file. The call also fails if there are more joints or samples than a clip can have. Returns
/// [`ImportError::TooMuchMemory`] if reading takes more memory than
/// [`ImportOptions::max_memory_bytes`] allows. The text counts as memory.
pub fn from_text(file: &str, text: &str, options: &ImportOptions) -> Result<Import, ImportError> {
    from_bytes(file, text.as_bytes(), options)
}

/// Works like [`from_text`], for the bytes of a file in any encoding that contains ASCII. If a name
/// is not UTF-8, the result contains a [`Note::OtherEncoding`].
///
/// # Errors
/// Fails as [`from_text`] does.
pub fn from_bytes(
    file: &str,
    bytes: &[u8],
    options: &ImportOptions,
) -> Result<Import, ImportError> {
    options.validate()?;
    from_words(
        file,
        bytes,
        options,
        &mut Budget::new(file, options.max_memory_bytes, bytes.len() as u64)?,
    )
}

/// Works like [`from_bytes`], but the memory of the bytes is already taken from `budget`.
pub(super) fn from_words(
    file: &str,
    bytes: &[u8],
    options: &ImportOptions,
    budget: &mut Budget,
) -> Result<Import, ImportError> {
    let mut tokens = Tokens::new(file, bytes);
    let mut hierarchy = hierarchy::read(&mut tokens, budget)?;
    let of_names = names::decode(file, &mut hierarchy, budget)?;
    let name = clips::stem(file, &[".bvh", ".bvh.zst"]);
    let Motion { samples, rate_hz, unit_cm, mut notes } =
        motion::read(&mut tokens, &hierarchy, name, options, budget)?;
    notes.extend(of_names);
    if tokens.has_end_marks() {
        notes.push(Note::Faulty { file: file.to_owned(), fault: "NUL or Ctrl-Z is at its end" });
    }

    let joints = hierarchy.into_iter().map(|joint| joint.into_joint(unit_cm)).collect();
    let skeleton = Skeleton::new(joints)
        .map_err(|error| ImportError::Skeleton { file: file.to_owned(), error })?;
    let clip = RawClip::new(name, Arc::new(skeleton), rate_hz, samples);
    let clip = clip.map_err(|error| ImportError::Clip {
        file: file.to_owned(),
        clip: name.to_owned(),
        error,
    })?;
    if options.unit_cm.is_none() {
        notes.extend(clips::size_note(file, clip.skeleton(), unit_cm));
    }
    Ok(Import { clips: vec![clip], notes, ..Import::default() })
}
