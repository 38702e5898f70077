//! Keys for splines, and rows of samples: what becomes of a raw clip under
//! [`Scheme::Keyed`](super::Scheme::Keyed) and [`Scheme::Quantized`](super::Scheme::Quantized), step
//! by step.

mod curve;
mod insert;
mod keys;
mod margins;
mod pack;
mod remove;
mod scene;

use crate::keyed::Parametrization;

pub use insert::KeyPosition;
pub use pack::animated_raw_bytes;

pub(super) use keys::build;
pub(super) use pack::quantized;

/// How much a track may be off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Margins {
    /// As much for every joint: the widest margins with which the clip keeps its precision.
    Fixed,
    /// Tighter up the hierarchy: the end of a chain has the margin, its parent half of it, its
    /// parent's parent a third, and so on; the widest with which the clip keeps its precision.
    Hierarchy,
    /// By the error in object space: tightened where that is too large, for the track that has most
    /// to do with it.
    #[default]
    Measured,
}

/// How keys are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedOptions {
    /// How the splines are parametrized.
    pub parametrization: Parametrization,
    /// Where a segment that is not within its margin gets its key.
    pub position: KeyPosition,
    /// Which margins tracks have.
    pub margins: Margins,
    /// For fixed margins and those by hierarchy: the margin of rotations, in radians for each cm of
    /// that of translations.
    pub rotation_margin_rad_per_cm: f64,
    /// The same for scales: a share for each cm.
    pub scale_margin_per_cm: f64,
    /// Rotations are put on the side of the one before them, so that splines take the shortest
    /// path. Without, all have a positive `w`.
    pub shortest_path: bool,
    /// Tracks that need no more than one value within what is allowed get no keys.
    pub constants: bool,
    /// How often all keys are tried to be taken away.
    pub removal_passes: usize,
    /// Whether the values of keys move when one next to them is taken away, to where the squared
    /// errors are least.
    pub refit: bool,
    /// Tracks that need so many keys that rows of samples are smaller become rows.
    pub rows: bool,
    /// Joints that stand still in the raw clip are held to half of the precision, so that they
    /// wander by no more than the whole.
    pub hold_still: bool,
    /// Joints whose translation and rotation are computed anew, so that they cancel what the
    /// compression of their ancestors did.
    pub pins: Vec<usize>,
}

impl Default for KeyedOptions {
    fn default() -> Self {
        Self {
            parametrization: Parametrization::Times,
            position: KeyPosition::Worst,
            margins: Margins::Measured,
            rotation_margin_rad_per_cm: 0.1,
            scale_margin_per_cm: 0.1,
            shortest_path: true,
            constants: true,
            removal_passes: 3,
            refit: true,
            rows: true,
            hold_still: true,
            pins: Vec::new(),
        }
    }
}

impl KeyedOptions {
    /// Splines and nothing else, as the article begins: parametrized by time, a key in the middle
    /// of a segment, one margin for all joints.
    pub fn plain() -> Self {
        Self {
            position: KeyPosition::Middle,
            margins: Margins::Fixed,
            constants: false,
            removal_passes: 0,
            refit: false,
            rows: false,
            hold_still: false,
            ..Self::default()
        }
    }
}
