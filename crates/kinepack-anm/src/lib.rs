//! Reads, writes and plays `r3d2canm` files, the compressed animations of League of Legends.
//!
//! One block holds the keys of all tracks in the order in which playback needs them, so playback
//! only reads forward through it. An [`Anm`] is a file, and an [`AnmPlayer`] samples it.
//! [`order`](order()) makes the keys of a file from tracks, and [`Anm::from_clip`] converts a whole
//! [`KeyedClip`](kinepack_anim::keyed::KeyedClip). A clip in kinepack-anim's own formats is
//! smaller, so use this format only for other programs. Lengths are in centimetres, as in
//! kinepack-anim.
//!
//! ```
//! # use std::sync::Arc;
//! # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
//! # use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
//! use kinepack_anm::{Anm, AnmPlayer, elf_hash};
//!
//! # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
//! # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
//! # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
//! # let raw = RawClip::new("slide", Arc::clone(&skeleton), 30.0, (0..31).map(sample).collect())?;
//! # let scheme = Scheme::Keyed(KeyedOptions::default());
//! # let built = build(&raw, &BuildOptions { scheme, ..BuildOptions::default() })?;
//! // A keyed clip of one second, as a file with four jump caches.
//! let clip = built.clip.as_keyed().ok_or("a block clip")?;
//! let file = Anm::from_clip(clip, &skeleton, 4)?.to_bytes();
//!
//! // In another program: load, then a pose a frame.
//! let anm = Anm::from_bytes(&file)?;
//! assert_eq!((anm.head().duration_s, anm.jump_cache_count()), (1.0, 4));
//! assert_eq!(anm.joints(), [elf_hash("root")]);
//! let mut player = AnmPlayer::new(&anm);
//! let mut pose = skeleton.bind_pose();
//! player.sample(0.5, &mut pose);
//! assert!((pose[0].translation[0] - 15.0).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read the types in this order: [`AnmHead`], [`Anm`], [`AnmTrack`], [`AnmPlayer`]. The format is
//! normative in `spec/ANM.md`. The sources are the article on these animations, and the public
//! reader `ltk_anim`. A file takes 10 bytes per key, and 24 or 48 bytes per joint in each jump
//! cache.

#![forbid(unsafe_code)]

mod error;
mod file;
mod from_clip;
mod head;
mod jump;
mod layout;
mod order;
mod player;
mod read;
mod window;
mod write;

pub use error::{AnmBlock, AnmError};
pub use file::Anm;
pub use head::{AnmHead, ErrorMargin};
pub use order::{AnmTrack, fill_missing, order};
pub use player::AnmPlayer;
pub use write::elf_hash;
