//! Replay files and kill cams. Both store the snapshots of a world compactly, and can be played
//! from any moment.
//!
//! A game writes one snapshot per tick, with the events of that tick. [`ReplayReader`] plays the
//! file forwards, backwards and at any rate, with the same [`Playback`](kinepack_net::Playback)
//! that a receiver has. [`KillCam`] keeps the last seconds in memory, and cuts replays from them.
//! Snapshots come back exactly as they were quantized. `spec/REPLAY.md` defines the format.
//!
//! ```
//! use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
//! use kinepack_replay::{ReplayOptions, ReplayReader, ReplayWriter};
//!
//! #[derive(Pack)]
//! struct Ball {
//!     #[pack(range = -64.0..64.0, precision = 0.01)] // metres
//!     position: [f32; 3],
//! }
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("match.kpz");
//! // The game creates a file, and writes the world of each tick.
//! let schema = Schema::of::<Ball>();
//! let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema))?;
//! let mut replay = ReplayWriter::create(&path, &codec, &ReplayOptions::at_hz(60.0))?;
//! let mut world = Snapshot::new(&schema, Tick(0));
//! for tick in 0..600 {
//!     world.clear(Tick(tick));
//!     world.push(EntityId(7), &Ball { position: [tick as f32 * 0.1, 0.0, 1.0] })?;
//!     replay.write(&world)?;
//! }
//! replay.mark(Tick(300), "goal")?;
//! let summary = replay.finish()?;
//! assert_eq!(summary.frames, 600);
//!
//! // Later, the replay is played from two seconds before the marker.
//! let mut replay = ReplayReader::open(&path)?;
//! let goal = replay.markers()[0].tick;
//! let tick = f64::from(goal.0) - 2.0 * replay.rate_hz();
//! let playback = replay.playback(tick)?.ok_or("no frames")?;
//! let ball: Ball = playback.samples().next().ok_or("no ball")?.state()?;
//! assert!((ball.position[0] - 18.0).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading order: [`ReplayWriter`], [`ReplayOptions`], [`ReplayReader`], [`KillCam`].

#![forbid(unsafe_code)]

mod codec;
mod cut;
mod error;
mod events;
mod group;
mod groups;
mod index;
mod kill_cam;
mod limits;
mod loaded;
mod options;
mod reader;
mod records;
mod writer;

pub use error::{ReplayDamage, ReplayError};
pub use kill_cam::{Excerpt, KillCam};
pub use options::{ReplayLimits, ReplayOptions};
pub use reader::{ReplayReader, is_replay};
pub use writer::{Marker, ReplaySummary, ReplayWriter};
