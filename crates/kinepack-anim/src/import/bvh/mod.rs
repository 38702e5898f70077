//! Clips from BVH, the text format of motion captures. A file has a hierarchy of joints with
//! offsets and channels, then a line of numbers for each frame.
//!
//! A joint's rotation is the product of the rotations of its channels, in their order in the file.
//! Its translation is its offset, unless position channels replace it. The bind pose has the
//! offsets and no rotation. BVH does not state its unit, and some collections begin each motion
//! with an extra pose. A [`BvhConvention`] describes what is usual for a collection. Source: the
//! format as Biovision's exporters wrote it, and as its readers have agreed on it since.
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

/// Reads the clip in the text of a BVH file. Errors use `file` as the name of the file, and the
/// clip is named after it, without directories and extensions.
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
/// [`ImportError`], with the line, if the text is malformed, if there are more joints or samples
/// than a clip can have, or if the options don't fit the file. [`ImportError::TooMuchMemory`] if
/// reading takes more memory than [`ImportOptions::max_memory_bytes`] allows; this includes the
/// text.
pub fn from_text(file: &str, text: &str, options: &ImportOptions) -> Result<Import, ImportError> {
    options.validate()?;
    from_words(file, text, options, &mut Budget::new(file, options, text.len() as u64)?)
}

/// The same, for a text whose memory is already taken from `budget`.
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
    Ok(Import { clips: vec![clip], notes: note.into_iter().collect(), left_out: Vec::new() })
}
