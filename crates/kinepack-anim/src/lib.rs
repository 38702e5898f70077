//! Skeletal animation clips in few bytes.
//!
//! A [`RawClip`] holds the transform of every joint of a [`Skeleton`] at every sample time, as
//! [`import`] reads it from a glTF or BVH file. [`offline::build`] makes an [`AnyClip`] of it: by
//! default a block [`Clip`], of a few samples at a time the coefficients of a cosine transform, in
//! no more bits than they need; and says how far each joint is off in object space ([`measure`]). A
//! [`Sampler`], or an [`AnyPlayer`] where clips of keys are played too, gives poses at any time,
//! without allocating.
//!
//! ```
//! use std::sync::Arc;
//! use kinepack_anim::offline::{BuildOptions, build};
//! use kinepack_anim::{AnyClip, Joint, RawClip, Skeleton, Transform};
//!
//! // A wheel that turns, with a lamp on its rim. Files are read by `import::read`.
//! let joint = |name: &str, parent, translation| Joint { name: name.into(), parent, bind: Transform { translation, ..Transform::IDENTITY } };
//! let skeleton = Arc::new(Skeleton::new(vec![joint("wheel", None, [0.0; 3]), joint("lamp", Some(0), [30.0, 0.0, 0.0])])?);
//! let samples = (0..61).flat_map(|sample| {
//!     let half = 0.05 * sample as f32;
//!     let wheel = Transform { rotation: [0.0, 0.0, half.sin(), half.cos()], ..Transform::IDENTITY };
//!     [wheel, skeleton.joints()[1].bind]
//! });
//! let raw = RawClip::new("turn", skeleton.clone(), 30.0, samples.collect())?;
//!
//! // Offline: nothing is more than 0.1 cm off.
//! let built = build(&raw, &BuildOptions::default())?;
//! assert!(built.errors.all.max_cm <= 0.1);
//! let file = built.clip.as_bytes();
//! assert!(10 * file.len() < raw.raw_bytes());
//!
//! // In the game: load, then a pose a frame.
//! let clip = AnyClip::from_bytes(file)?;
//! let mut pose = skeleton.bind_pose();
//! let mut player = clip.player(&pose);
//! for frame in 0..120 {
//!     player.sample(frame as f32 / 60.0, &mut pose);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading order: [`Skeleton`] and [`RawClip`]; [`import`] and [`exchange`]; [`Clip`], [`Sampler`]
//! and [`Rig`], in [`block`]; [`disk`], the same clips in files; [`keyed`], clips of keys and their
//! playback; [`AnyClip`]; [`additive`] clips; [`measure`]; [`offline`]; [`export`], glTF for
//! viewers; [`anm`], the files of League of Legends. The formats are normative in `spec/ANIM.md`
//! and `spec/ANM.md`.
//!
//! Lengths are in cm, times in seconds or samples. Sources: JPEG's transform coding and ACL for
//! blocks, Riot's article on the animations of League of Legends for keys.

// Only the kernels of block clips use it.
#![deny(unsafe_code)]

mod any;
mod channel;
mod error;
mod raw;
mod rest;
mod skeleton;
mod skeleton_file;
mod time;
mod transform;

pub mod additive;
pub mod anm;
pub mod block;
pub mod disk;
pub mod exchange;
#[cfg(feature = "export")]
pub mod export;
#[cfg(feature = "import")]
pub mod import;
pub mod keyed;
pub mod measure;
pub mod offline;

pub use any::{AnyClip, AnyPlayer};
pub use block::{Clip, Instructions, JointMask, PoseWriter, Rig, Sampler, SoaPose, sample_batch};
pub use channel::{Channel, TrackId};
pub use error::{ClipError, ExchangeError, RawClipError, SkeletonError, SkeletonFileError};
pub use raw::{MAX_SAMPLES, RawClip};
pub use skeleton::{Joint, MAX_JOINTS, Skeleton};
pub use transform::Transform;
