//! The options of block clips.

use std::sync::Arc;

use crate::Rig;
use crate::block::Interpolation;

/// The settings for building block clips.
///
/// ```
/// use kinepack_anim::offline::{BlockOptions, BuildOptions, Effort, Scheme};
///
/// let (effort, pins) = (Effort::Best, vec![17, 21]);
/// let block = BlockOptions { effort, pins, ..BlockOptions::default() };
/// let options = BuildOptions { scheme: Scheme::Block(block), ..BuildOptions::default() };
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockOptions {
    /// How much time a build may take.
    pub effort: Effort,
    /// Pinned joints, such as feet. Each pinned joint gets an animated rotation and translation,
    /// with which it can correct the errors of its ancestors. These tracks cost bytes.
    pub pins: Vec<usize>,
    /// The rig whose parameters the clip may share. The clip shares none of them if it is smaller
    /// without them.
    pub rig: Option<Arc<Rig>>,
    /// How the clip moves between two samples. The poses at the samples do not depend on this
    /// option.
    pub interpolation: Interpolation,
}

/// The time that a build may take.
///
/// ```
/// use kinepack_anim::offline::Effort;
///
/// assert_eq!(Effort::default(), Effort::Default);
/// assert!(Effort::Fast < Effort::Thorough && Effort::Thorough < Effort::Best);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// Uses the same block length for all clips.
    Fast,
    /// Tries block lengths and other choices. Prefers shorter blocks, which play faster, if they
    /// make the clip only a little larger.
    #[default]
    Default,
    /// Searches like [`Effort::Best`], but only with blocks of 8 and 16 samples.
    Thorough,
    /// Improves steps and coefficients as long as that makes the clip smaller. Prefers shorter
    /// blocks like [`Effort::Default`], so that the clip plays equally fast.
    Best,
}
