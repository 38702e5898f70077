//! Keys and splines, the scheme of Riot's article on League of Legends. A changing track keeps only
//! the keys that a Catmull-Rom spline needs, or a row of samples if that is smaller. One block
//! holds the keys of all tracks in the order in which playback needs them. See `spec/ANIM.md`.
//!
//! [`build`](crate::offline::build) makes keyed clips for
//! [`Scheme::Keyed`](crate::offline::Scheme::Keyed) and
//! [`Scheme::Quantized`](crate::offline::Scheme::Quantized). A [`KeyedClip`] holds the file, and a
//! [`Cursor`] plays it.
//!
//! Read the modules in this order: [`quantize`], [`Key`] and [`spline`], then [`KeyedClip`], then
//! [`Cursor`].

mod clip;
mod cursor;
mod key;

pub mod quantize;
pub mod spline;

pub use clip::{KeyedClip, KeyedHeader, Kind, RotationBits};
pub use cursor::Cursor;
pub use key::Key;
pub use quantize::VectorRange;
pub use spline::Parametrization;

pub(crate) use clip::ticks_per_sample;
#[cfg(feature = "offline")]
pub(crate) use clip::{Contents, JointKinds, PlacedTrack, pad, tracks_of};
