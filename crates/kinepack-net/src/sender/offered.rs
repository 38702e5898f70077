//! The codecs that a hub offers, and the [`Target`] of a receiver that chose one of them.

use kinepack::Level;

use super::chosen_baseline::ChosenBaseline;
use super::plan::Planner;
use crate::baseline::MergeKey;

/// A codec that receivers may choose.
#[derive(Debug)]
pub(super) struct OfferedCodec {
    pub(super) hash: u64,
    pub(super) level: Level,
    /// How many older views a snapshot of this codec may use.
    pub(super) older_views: u8,
    /// Whether the codec has a time precision, so that moving entities are sent with coarser
    /// values.
    pub(super) has_precision: bool,
    pub(super) planner: Planner,
    /// The baseline and the view that the planner compared last.
    pub(super) compared: Option<(MergeKey, u64)>,
}

impl OfferedCodec {
    /// Whether a time precision applies to snapshots coded against `base`. The codec computes
    /// speeds from older views, so it knows no speeds if `base` has no older views.
    pub(super) fn is_coarse(&self, base: &ChosenBaseline) -> bool {
        self.has_precision && !base.older.is_empty()
    }
}

/// A codec and the visible state to code with it. Receivers with the same target and baseline share
/// work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Target {
    /// The codec's index in [`Sending::offers`](super::sending::Sending::offers).
    pub(super) codec: usize,
    /// The visible state's index in [`Sending::visible`](super::sending::Sending::visible).
    pub(super) visible: usize,
}
