//! Records the motion of a game into capture files, and analyzes these files later.
//!
//! [`Recorder`] writes capture files. The files are MCAP, which other tools also read, with a
//! stream of frames for each type of entity, before or after quantization. [`Capture`] reads them
//! frame by frame, and leaves out damaged parts. `spec/CAPTURE.md` defines the format.
//!
//! ```
//! use kinepack::{EntityId, Pack, Snapshot, Tick};
//! use kinepack_capture::{Capture, Recorder};
//!
//! #[derive(Pack)]
//! struct Ship {
//!     #[pack(range = -512.0..=512.0, precision = 0.001)] // metres
//!     position: [f32; 3],
//!     #[pack(rotation, bits = 10)]
//!     rotation: [f32; 4],
//!     is_docked: bool,
//! }
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("run.mcap");
//! // In the game, once per tick. This takes about a microsecond for 100 ships.
//! let mut recorder = Recorder::create(&path)?;
//! let stream = recorder.stream::<Ship>("ships", 60.0)?;
//! for tick in 0..600 {
//!     let (position, rotation) = ([0.1 * tick as f32, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]);
//!     let ship = Ship { position, rotation, is_docked: false };
//!     recorder.record(&stream, Tick(tick), [(EntityId(1), ship)])?;
//! }
//! recorder.finish()?;
//!
//! // Later, the states can be read as they are when quantized by the schema in the file.
//! let mut capture = Capture::open(&path)?;
//! while let Some((_, frame)) = capture.next_frame()? {
//!     let mut snapshot = Snapshot::new(frame.stream().schema(), frame.tick());
//!     let clamped = frame.push_into(&mut snapshot)?;
//!     assert_eq!((clamped, snapshot.len()), (0, 1));
//!     for (_, ship) in snapshot.iter::<Ship>()? {
//!         assert!(ship.rotation[3] > 0.999 && !ship.is_docked);
//!     }
//!     // They can also be read as the recorded numbers.
//!     let (id, numbers) = frame.components().next().expect("one ship");
//!     assert_eq!((id, numbers.len()), (EntityId(1), 8));
//! }
//! assert!(capture.damage().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`guide`] leads from your own struct to its bandwidth, with three games to run.

#![forbid(unsafe_code)]

#[cfg(feature = "analysis")]
pub mod analysis;
mod components;
#[doc(hidden)]
pub mod container;
mod error;
mod file;
pub mod float_words;
#[doc = include_str!("guide.md")]
pub mod guide {}
pub mod kinds;
pub mod levels;
mod limits;
mod recorder;
mod values;
mod zstd;

pub use components::{component_names, components};
pub use error::CaptureError;
pub use file::schema as schema_document;
pub use file::{Capture, CaptureFrame, Damage, DamageKind, Stream, StreamEncoding};
pub use limits::{CaptureLimits, TooManyValues, ValueCount};
pub use recorder::{
    RecordError, RecordSummary, RecordedFrame, RecordedKinds, RecordedLanes, RecordedStream,
    Recorder,
};
pub use values::Columns;
pub use zstd::ZstdReader;
