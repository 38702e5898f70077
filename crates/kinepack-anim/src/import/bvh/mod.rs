//! Clips from BVH, the text format of motion captures: a hierarchy of joints with offsets and
//! channels, then a line of numbers a frame.
//!
//! A joint's rotation is the product of the rotations of its channels in the order in which they
//! stand; its translation is its offset, or what its position channels say instead. The bind pose
//! has the offsets and no rotation. BVH says nothing about its unit, and some collections begin
//! each motion with a pose of their own: a [`BvhConvention`] says what is usual where. Source: the
//! format as Biovision's exporters wrote it, and as its readers agree on it since.

mod convention;
mod hierarchy;
mod motion;
mod tokens;

use std::sync::Arc;

pub use convention::BvhConvention;

use super::budget::Budget;
use super::{Import, ImportError, ImportOptions, stem};
use crate::{RawClip, Skeleton};
use motion::Motion;
use tokens::Tokens;

/// The clip of a BVH file's text. `file` is how errors name it, and what the clip is named by,
/// without directories and endings.
///
/// ```
/// use kinepack_anim::import::{ImportOptions, bvh};
///
/// let text = "HIERARCHY ROOT hip { OFFSET 0 1 0 CHANNELS 1 Yrotation End Site { OFFSET 0 1 0 } }
///     MOTION Frames: 2 Frame Time: 0.04 0 90";
/// let import = bvh::from_text("turn.bvh", text, &ImportOptions::default())?;
/// assert_eq!((import.clips[0].name(), import.clips[0].samples(), import.clips[0].rate_hz()), ("turn", 2, 25.0));
/// # Ok::<(), kinepack_anim::import::ImportError>(())
/// ```
///
/// # Errors
/// [`ImportError`] with the line where the text is not as it must be, where there are more joints
/// or samples than a clip can have, or where the options don't fit the file;
/// [`ImportError::TooMuchMemory`] for more memory than [`ImportOptions::max_memory_bytes`] allows,
/// with the text counted.
pub fn from_text(file: &str, text: &str, options: &ImportOptions) -> Result<Import, ImportError> {
    options.validate()?;
    from_words(file, text, options, &mut Budget::new(file, options, text.len() as u64)?)
}

/// The same; the text's memory is taken from `budget` already.
pub(super) fn from_words(
    file: &str,
    text: &str,
    options: &ImportOptions,
    budget: &mut Budget,
) -> Result<Import, ImportError> {
    let mut tokens = Tokens::new(file, text);
    let hierarchy = hierarchy::read(&mut tokens, budget)?;
    let name = stem(file, &[".bvh", ".bvh.zst"]);
    let Motion { samples, rate_hz, unit_cm, note } =
        motion::read(&mut tokens, &hierarchy, name, options, budget)?;

    let joints = hierarchy.into_iter().map(|joint| joint.into_joint(unit_cm)).collect();
    let skeleton = Skeleton::new(joints)
        .map_err(|error| ImportError::Skeleton { file: file.to_owned(), error })?;
    let clip = RawClip::new(name, Arc::new(skeleton), rate_hz, samples);
    let clip = clip.map_err(|error| ImportError::Clip {
        file: file.to_owned(),
        clip: name.to_owned(),
        error,
    })?;
    Ok(Import { clips: vec![clip], notes: note.into_iter().collect() })
}
