//! Compresses a raw clip to keys for splines and rows of samples, for
//! [`Scheme::Keyed`](super::Scheme::Keyed) and [`Scheme::Quantized`](super::Scheme::Quantized).

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

/// How the largest error of each track is chosen. [`KeyedOptions`] has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Margins {
    /// All joints have the same margin: the widest that keeps the clip's precision.
    Fixed,
    /// Margins are tighter towards the root. The end of a chain has the whole margin, its parent
    /// half of it, the parent's parent a third, and so on. The margin is the widest that keeps the
    /// clip's precision.
    Hierarchy,
    /// Margins follow the error in object space. Where that error is too large, the track that
    /// contributes most to it gets a tighter margin.
    #[default]
    Measured,
}

/// How keys are chosen.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
/// use kinepack_anim::offline::{BuildOptions, KeyedOptions, Margins, Scheme, build};
///
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| {
/// #     let x = (0.2 * i as f32).sin() * 10.0;
/// #     Transform { translation: [x, 0.0, 0.0], ..Transform::IDENTITY }
/// # };
/// # let raw = RawClip::new("sway", skeleton, 30.0, (0..91).map(sample).collect())?;
/// // What do measured margins gain over the article's?
/// let build = |margins| {
///     let scheme = Scheme::Keyed(KeyedOptions { margins, ..KeyedOptions::plain() });
///     build(&raw, &BuildOptions { scheme, ..BuildOptions::default() })
/// };
/// let (fixed, measured) = (build(Margins::Fixed)?, build(Margins::Measured)?);
/// assert!(fixed.errors.all.max_cm <= 0.1 && measured.errors.all.max_cm <= 0.1);
/// let saved = fixed.clip.as_bytes().len() as i64 - measured.clip.as_bytes().len() as i64;
/// println!("{saved} bytes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedOptions {
    /// How the splines are parametrized.
    pub parametrization: Parametrization,
    /// The position of the next key in a segment that is not within its margin.
    pub position: KeyPosition,
    /// How the margins of tracks are chosen.
    pub margins: Margins,
    /// For fixed and hierarchical margins: the margin of rotations, in radians for each cm of the
    /// translation margin.
    pub rotation_margin_rad_per_cm: f64,
    /// The margin of scales: the change of scale for each cm of the translation margin.
    pub scale_margin_per_cm: f64,
    /// Whether each rotation is put on the side of the one before it, so that splines take the
    /// shortest path. If not, all rotations have a positive `w`.
    pub shortest_path: bool,
    /// Whether tracks for which one value is enough become constants.
    pub constants: bool,
    /// The number of passes that try to remove each key.
    pub removal_passes: usize,
    /// Whether removing a key moves the values of its neighbours, to minimize the squared errors.
    pub refit: bool,
    /// Whether tracks become rows of samples if those take fewer bytes than the keys.
    pub rows: bool,
    /// Whether joints that are at rest in the raw clip get half of the precision, so that they
    /// drift by at most the whole precision.
    pub hold_still: bool,
    /// Joints whose translation and rotation are computed again, to cancel the errors of their
    /// compressed ancestors.
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
    /// Only splines, as in the basic form of the article. They are parametrized by time, new keys
    /// go in the middle of a segment, and all joints have one margin.
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
