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

/// How the builder chooses the largest error of each track. [`KeyedOptions`] has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Margins {
    /// All joints have the same margin, which is the widest one that keeps the clip's precision.
    Fixed,
    /// Margins are tighter towards the root. The end of a chain has the whole margin, its parent
    /// half of it, the parent's parent a third, and so on. The whole margin is the widest one that
    /// keeps the clip's precision.
    Hierarchy,
    /// Margins follow the error in object space. Where that error is too large, the track that
    /// contributes most to it gets a tighter margin.
    #[default]
    Measured,
}

/// The settings for choosing keys.
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
    /// The parametrization of the splines.
    pub parametrization: Parametrization,
    /// Where to put the next key in a segment that is not within its margin.
    pub position: KeyPosition,
    /// How the builder chooses the margins of tracks.
    pub margins: Margins,
    /// The margin of rotations in radians, for each cm of the translation margin. It applies to
    /// fixed and hierarchical margins.
    pub rotation_margin_rad_per_cm: f64,
    /// The margin of scales, for each cm of the translation margin. It applies to fixed and
    /// hierarchical margins.
    pub scale_margin_per_cm: f64,
    /// Whether each rotation takes the sign that is nearer to the previous rotation, so that
    /// splines take the shortest path. Otherwise all rotations have a positive `w`.
    pub shortest_path: bool,
    /// Whether a track becomes a constant if one value is enough for it.
    pub constants: bool,
    /// The number of passes that try to remove each key.
    pub removal_passes: usize,
    /// Whether removing a key also moves the values of the neighbouring keys, to minimize the
    /// squared errors.
    pub refit: bool,
    /// Whether a track becomes a row of samples if the row takes fewer bytes than the keys.
    pub rows: bool,
    /// Whether a joint that is at rest in the raw clip gets half of the precision, so that it
    /// drifts by at most the whole precision.
    pub hold_still: bool,
    /// Joints whose translation and rotation the builder computes again, to cancel the errors of
    /// their compressed ancestors.
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
    /// Options for splines only, as in the basic form of the article. Splines are parametrized by
    /// time, new keys go into the middle of a segment, and all joints have one margin.
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
