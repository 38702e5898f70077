//! Codes motion in the fewest bits.
//!
//! Kinepack compresses the state of moving things for games, simulations and robots. A *schema*
//! turns an entity's state into integer *lanes*; all later steps are exact. A *snapshot* holds the
//! lanes of a sorted set of entities at one tick. A *codec* writes a snapshot relative to a *view*:
//! a snapshot that the other side already holds.
//!
//! ```
//! use kinepack::{
//!     Codec, Decoder, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick, View,
//! };
//!
//! #[derive(Pack)]
//! struct Crate {
//!     #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0)]
//!     position: [f32; 3],
//!     burning: bool,
//! }
//!
//! let schema = Schema::of::<Crate>();
//! let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
//! let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
//!
//! // Both sides hold this view. A packet codes the changes since then, and gives both the next one.
//! let (mut held, mut packet) = (View::empty(&schema), Vec::new());
//! for tick in [100, 106] {
//!     let mut world = Snapshot::new(&schema, Tick(tick));
//!     for id in 0..100 {
//!         let x = if id == 7 { tick as f32 / 4.0 } else { 1.0 };
//!         world.push(EntityId(id), &Crate { position: [x, 2.0, 0.5], burning: false })?;
//!     }
//!     packet.clear();
//!     let sent = encoder.encode(&held, &world, &mut packet)?;
//!     held = decoder.decode(&held, &packet, Tick(tick))?;
//!     assert_eq!(held, sent);
//! }
//! assert!(packet.len() <= 8);
//! let moved: Crate = held.get(EntityId(7))?.expect("entity 7 is in the view");
//! assert_eq!(moved.position[0], 26.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **The transport must guarantee integrity.** A packet has no checksum, and a decoder accepts many
//! altered packets as other valid ones. Altered packets never cause a panic or take more memory
//! than the [`DecodeLimits`] allow, but they give wrong values and entities. These values and
//! entities stay wrong until they are coded again against a newer baseline without the error. UDP's
//! 16-bit checksum is weak. Use an authenticated transport (renetcode, QUIC, DTLS), or add a
//! checksum if there are no attackers.
//!
//! The root exports the names that a first project needs. The modules contain all other items.
//!
//! | module | contents |
//! |---|---|
//! | [`schema`] | fields, lanes and roles of a [`Schema`]; the traits next to [`Pack`]; [`TimePrecision`](schema::TimePrecision) |
//! | [`quantize`] | limits and steps: numbers to codes and back |
//! | [`codec`], [`level`], [`profile`] | the finer interfaces of [`Encoder`], [`Level`] and [`Profile`] |
//! | `training` | training and searching profiles, with the feature `training` |
//! | [`frame`] | entities that are relative to another entity, such as passengers on a ship |
//! | [`group`] | runs of snapshots for files and reliable streams, each coded against those just before it |
//! | [`stream`] | inputs and calls: records, each coded against an earlier one |
//! | [`value`], [`magnitude`], [`rle`] | a single value, small numbers or bytes against a baseline, without a schema |
//! | [`values`] | states as columns of numbers, for programs without the types of a schema |
//! | [`bits`], [`entropy`], [`hash`] | bit cursors, a range coder, FNV-1a |
//!
//! The formats are normative in `spec/CODEC.md`.

#![no_std]
#![forbid(unsafe_code)]

// The x87 unit keeps intermediate results in 80 bits, so sums would round differently from those of
// other machines.
#[cfg(all(target_arch = "x86", not(target_feature = "sse2")))]
compile_error!(
    "kinepack needs IEEE double arithmetic without extra precision, which x87 does not have: the \
     adaptive level would decode other values than on other machines. Compile with `-C \
     target-feature=+sse2`, or for a target that has SSE2, such as i686-unknown-linux-gnu."
);

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod bits;
mod bytes;
mod coarse;
mod error;
mod file_numbers;
pub mod frame;
mod geometry;
pub mod hash;
mod interpolate;
mod limits;
mod prefix;
pub mod quantize;
mod rotation;
pub mod schema;
mod snapshot;
mod sqrt;

pub mod entropy;
pub mod group;
pub mod magnitude;
pub mod rle;
pub mod stream;
pub mod value;
pub mod values;
mod vector;

#[cfg(feature = "arrayvec")]
pub use arrayvec::{ArrayString, ArrayVec};
pub use bytes::{Bytes, BytesUpTo};
pub use error::{BaselinesError, DecodeError, EncodeError, SetupError};
pub use interpolate::Between;
#[cfg(feature = "derive")]
pub use kinepack_derive::Pack;
#[doc(inline)]
pub use schema::{Pack, Schema};
pub use snapshot::{
    Baselines, Codec, DecodeLimits, Decoder, Encoder, EntityId, Level, Profile, Size, Snapshot,
    Tick, View,
};

pub mod codec {
    //! Types for protocols on top of [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder).
    //! [`Chosen`] selects the entities to send, and [`Encoded`] is the result. [`Difference`] lists
    //! the entities that changed. [`Learned`] is the state of a codec at a level that learns.
    pub use crate::snapshot::{Chosen, Difference, Encoded, Learned};
}

pub mod level {
    //! The settings of a [`Level`](crate::Level).
    pub use crate::snapshot::Changed;
}

pub mod profile {
    //! The parts of a [`Profile`](crate::Profile): codes for fields and indices, and the adaptive
    //! level's model.
    pub use crate::snapshot::{
        Bodies, BodyKind, Class, Context, FieldCode, GapCode, LaneWidth, Model, Reference,
    };
}

/// Training and searching profiles. This module needs the feature `training`; a game that only
/// loads profiles does not enable it.
///
/// [`ProfileSearch`](training::ProfileSearch) looks for the structure of a profile,
/// [`Training`](training::Training) trains a whole profile from captured runs, and
/// [`Trainer`](training::Trainer) trains the word lengths alone.
#[cfg(feature = "training")]
pub mod training {
    pub use crate::snapshot::{
        FeatureGroup, Pooled, ProfileSearch, SmallOrLarge, SmallOrLargeCosts, TrainError, Trainer,
        Training,
    };
}

#[doc(hidden)]
pub mod __derive {
    //! The items that code generated by `#[derive(Pack)]` uses. These items are not part of the
    //! public interface.
    pub use crate::schema::derived::*;
}
