//! The contents of a file, as the readers of all formats return them.

use super::{ImportError, LeftOut, Note, Skipped};
use crate::RawClip;

/// The contents of a file.
///
/// If an animation or a channel cannot be read, [`skipped`](Self::skipped) lists it, and the
/// importer reads the rest of the file. If the importer cannot read any animation, it returns an
/// error.
///
/// ```
/// use kinepack_anim::import::{ImportOptions, Note, bvh};
///
/// # let text = "HIERARCHY ROOT Hips { OFFSET 0 0 0 CHANNELS 1 Yrotation
/// #     JOINT LHipJoint { OFFSET 0 1 0 CHANNELS 1 Yrotation End Site { OFFSET 0 1 0 } } }
/// #     MOTION Frames: 3 Frame Time: 0.04 0 0 10 20 20 20";
/// let import = bvh::from_text("walk.bvh", text, &ImportOptions::default())?; // a capture of CMU
/// for clip in &import.clips {
///     println!("{}: {} joints, {:.2} s", clip.name(), clip.joints(), clip.duration_s());
/// }
/// for note in &import.notes {
///     println!("{note}"); // walk.bvh: taken as a capture of CMU for MotionBuilder …
/// }
/// for part in &import.skipped {
///     eprintln!("{part}"); // the program should then report a failure
/// }
/// assert_eq!(import.clips[0].samples(), 2);
/// assert!(matches!(import.notes[..], [Note::Convention { dropped: 1, .. }]));
/// # Ok::<(), kinepack_anim::import::ImportError>(())
/// ```
#[derive(Debug, Default)]
pub struct Import {
    /// The clips in the order of the file. Clips of one file share a skeleton.
    pub clips: Vec<RawClip>,
    /// The decisions that the importer made.
    pub notes: Vec<Note>,
    /// The parts of the file that no clip represents, by kind. For a BVH file, the list is empty.
    pub left_out: Vec<LeftOut>,
    /// The damaged animations and channels, which the clips lack. For a BVH file, the list is
    /// empty.
    pub skipped: Vec<Skipped>,
}

impl Import {
    /// Returns the import unchanged if nothing was skipped, for callers that accept only a complete
    /// file.
    ///
    /// # Errors
    /// Returns the error of the first part that was [skipped](Self::skipped).
    pub fn complete(mut self) -> Result<Self, ImportError> {
        if self.skipped.is_empty() { Ok(self) } else { Err(self.skipped.swap_remove(0).error) }
    }
}
