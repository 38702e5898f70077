//! Skeletal animation clips in few bytes.
//!
//! A [`RawClip`] holds the transform of every joint of a [`Skeleton`] at every sample time, plus
//! [`Curve`]s and [`Marker`]s. [`import`] reads raw clips from glTF, BVH and FBX files.
//! [`offline::build`] compresses a raw clip to an [`AnyClip`] and reports each joint's error in
//! object space ([`measure`]). The default scheme, *block*, stores the coefficients of a cosine
//! transform over a few samples at a time, in no more bits than they need. The other scheme,
//! *keyed*, stores the keys of splines. A [`Sampler`] plays block clips at any time, without
//! allocating. An [`AnyPlayer`] plays clips of both schemes. Samplers and players share their clip
//! through an [`Arc`](std::sync::Arc), so that an asset or a component can own them. A [`Rig`]
//! holds the track parameters that clips of one skeleton share. A [`ClipDatabase`] holds thousands
//! of clips in one file, which may be memory-mapped.
//!
//! **Lengths are in centimetres**, times in seconds or samples. [`Metres`] writes poses in metres,
//! and [`Transform::translation_m`] converts a single transform.
//!
//! ```
//! use std::sync::Arc;
//! use kinepack_anim::offline::{BuildOptions, build};
//! use kinepack_anim::{AnyClip, Joint, RawClip, Skeleton, Transform};
//!
//! // A wheel that turns, with a lamp on its rim. Files are read by `import::read`.
//! let joint = |name: &str, parent, translation| {
//!     let bind = Transform { translation, ..Transform::IDENTITY };
//!     Joint { name: name.into(), parent, bind }
//! };
//! let (wheel, lamp) = (joint("wheel", None, [0.0; 3]), joint("lamp", Some(0), [30.0, 0.0, 0.0]));
//! let skeleton = Arc::new(Skeleton::new(vec![wheel, lamp])?);
//! let samples = (0..61).flat_map(|sample| {
//!     let half = 0.05 * sample as f32;
//!     let rotation = [0.0, 0.0, half.sin(), half.cos()];
//!     let wheel = Transform { rotation, ..Transform::IDENTITY };
//!     [wheel, skeleton.joints()[1].bind]
//! });
//! let raw = RawClip::new("turn", skeleton.clone(), 30.0, samples.collect())?;
//!
//! // Offline: no joint is more than 0.1 cm off.
//! let built = build(&raw, &BuildOptions::default())?;
//! assert!(built.errors.all.max_cm <= 0.1);
//! let file = built.clip.as_bytes();
//! assert!(10 * file.len() < raw.raw_bytes());
//!
//! // In the game: load, then a pose a frame.
//! let clip = AnyClip::from_bytes(file)?;
//! let mut player = clip.player(&skeleton)?;
//! let mut pose = skeleton.bind_pose();
//! for frame in 0..120 {
//!     player.sample(frame as f32 / 60.0, &mut pose);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! No feature is on by default, so a game that only plays clips links only the playback code:
//! [`Clip`], [`Sampler`], [`Rig`], [`AnyClip`], [`keyed`], [`disk`], [`database`] and [`pose`].
//! This code depends only on `kinepack` and `libm`. [`pose`] has blends, root motion, phases,
//! transitions and retargeting. [`Skeleton::model_pose`] converts a pose to model space.
//!
//! | feature | adds |
//! |---|---|
//! | `offline` | [`offline`]: the builders of both schemes; implies `raw` |
//! | `import` | [`import`]: raw clips from glTF and BVH files; implies `raw` |
//! | `fbx` | [`import::fbx`]: raw clips from FBX files. A build needs a C compiler; implies `import` |
//! | `export` | [`export`]: raw clips as glTF files; implies `raw` |
//! | `figure` | [`figure`]: live bodies as entities of a snapshot, with a promised error; implies `raw` |
//! | `live` | [`live`]: trackers, recordings of faces and clips as sources of figures; implies `figure` |
//! | `raw` | [`RawClip`], [`Curve`], [`Marker`], [`exchange`], [`measure`], [`additive::difference`] |
//!
//! # Reading order
//!
//! Read the modules in this order:
//!
//! 1. [`Skeleton`] and [`RawClip`]
//! 2. [`import`] and [`exchange`]
//! 3. [`block`]: [`Clip`], [`Sampler`] and [`Rig`]
//! 4. [`disk`]: block clips in files
//! 5. [`database`]: many clips in a file
//! 6. [`keyed`]: the other scheme
//! 7. [`AnyClip`]
//! 8. [`additive`]
//! 9. [`pose`]: operations on poses for players
//! 10. [`measure`]
//! 11. [`offline`]
//! 12. [`export`]: glTF for viewers
//! 13. [`figure`]: live bodies
//! 14. [`live`]: where they come from
//!
//! The formats are normative in `spec/ANIM.md` and `spec/FIGURE.md`. The crate `kinepack-anm` reads
//! and writes the `r3d2canm` files of League of Legends.
//!
//! The block scheme is based on JPEG's transform coding and on ACL. The keyed scheme is based on
//! Riot's article on the animations of League of Legends. [`pose`] names its own sources.

// Only the kernels of block clips contain unsafe code.
#![deny(unsafe_code)]

mod any;
mod channel;
mod computed;
mod error;
mod file_kind;
mod limits;
mod play;
mod quaternion;
#[cfg(feature = "raw")]
mod raw;
mod rest;
mod skeleton;
mod skeleton_file;
mod time;
mod transform;

pub mod additive;
pub mod block;
pub mod database;
pub mod disk;
#[cfg(feature = "raw")]
pub mod exchange;
#[cfg(feature = "export")]
pub mod export;
#[cfg(feature = "figure")]
pub mod figure;
#[cfg(feature = "import")]
pub mod import;
pub mod keyed;
#[cfg(feature = "live")]
pub mod live;
#[cfg(feature = "raw")]
pub mod measure;
#[cfg(feature = "offline")]
pub mod offline;
pub mod pose;

pub use any::{AnyClip, AnyPlayer};
pub use block::{
    Clip, Instructions, JointMask, MarkerRef, Metres, PoseAndCurves, PoseWriter, Rig, Sampler,
    SoaPose, sample_batch,
};
pub use channel::{Channel, TrackId};
pub use database::{ClipDatabase, DatabaseError};
#[cfg(feature = "raw")]
pub use error::ExchangeError;
pub use error::{ClipError, PlayError, SkeletonError, SkeletonFileError};
pub use file_kind::FileKind;
pub use limits::{MAX_CURVES, MAX_JOINTS, MAX_MARKERS, MAX_NAME_BYTES, MAX_SAMPLES};
pub use play::ClipInfo;
pub use pose::blend;
#[cfg(feature = "raw")]
pub use raw::{Curve, Marker, RawClip, RawClipError};
pub use skeleton::{Joint, Skeleton};
pub use transform::{CM_PER_M, Transform};
