//! Motion in the fewest bits.
//!
//! Kinepack compresses the state of moving things for games, simulations and robots. A *schema*
//! turns an entity's state into integer *lanes*; after that everything is exact. A *snapshot* holds
//! the lanes of a sorted set of entities at one tick. A *codec* writes it relative to a *view*: a
//! snapshot that the other side already holds.
//!
//! ```
//! use kinepack::{Codec, Decoder, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick, View};
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
//! // What both sides hold. A packet tells what changed since, and leads both to the next view.
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
//! assert_eq!(held.read::<Crate>(7)?.position[0], 26.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **The transport must guarantee integrity.** A packet has no checksum, and a decoder accepts many
//! altered packets as other valid ones. They never cause a panic, nor memory beyond the
//! [`DecodeLimits`], but they give wrong values and entities. These stay wrong until the affected
//! entities are sent again from a newer baseline without the error. UDP's 16-bit checksum is weak.
//! Use an authenticated transport (renetcode, QUIC, DTLS), or add a checksum if nobody is hostile.
//!
//! Reading order: [`BitWriter`] and [`BitReader`]; the quantizers [`FloatLimits`],
//! [`VectorLimits`], [`IntegerLimits`] and [`SmallestThree`]; [`value`], for one value against a
//! baseline; [`magnitude`], for small numbers; [`rle`], for bytes; [`Schema`] and [`Pack`];
//! [`TimePrecision`]; [`Snapshot`]; [`Level`], [`Profile`] and [`Codec`]; [`View`], [`Baselines`],
//! [`Encoder`] and [`Decoder`]; [`Between`], for playback; [`stream`], for inputs and calls. The
//! formats are normative in `spec/CODEC.md`.

#![no_std]
#![forbid(unsafe_code)]

// The x87 unit keeps intermediate results in 80 bits, so that sums would round differently than on
// other machines.
#[cfg(all(target_arch = "x86", not(target_feature = "sse2")))]
compile_error!(
    "kinepack needs IEEE double arithmetic without extra precision, which x87 does not have: the adaptive level would decode \
     other values than on other machines. Compile with `-C target-feature=+sse2`, or for a target that has SSE2, such as \
     i686-unknown-linux-gnu."
);

extern crate alloc;

mod bits;
mod bytes;
mod error;
mod hash;
mod interpolate;
mod prefix;
mod quantize;
mod rotation;
mod schema;
mod snapshot;

pub mod entropy;
pub mod magnitude;
pub mod rle;
pub mod stream;
pub mod value;
mod vector;

pub use bits::{BitCounter, BitReader, BitSink, BitWriter, bits_for};
pub use bytes::{Bytes, BytesUpTo};
pub use error::{BaselinesError, DecodeError, EncodeError, SetupError};
pub use hash::Fnv1a;
pub use interpolate::Between;
#[cfg(feature = "derive")]
pub use kinepack_derive::Pack;
pub use quantize::{FloatLimits, FloatParts, IntegerLimits};
pub use rotation::SmallestThree;
pub use schema::{
    Components, Field, FieldKind, Lane, LaneArithmetic, Pack, PackWith, Role, Schema, TimePrecision,
};
pub use snapshot::{
    Baselines, Bodies, BodyKind, Changed, Chosen, Class, Codec, Context, DecodeLimits, Decoder,
    Difference, Encoded, Encoder, EntityId, FieldCode, GapCode, LaneWidth, Learned, Level, Model,
    Profile, ProfileSearch, Reference, Size, SmallOrLarge, SmallOrLargeCosts, Snapshot, Tick,
    TrainError, Trainer, Training, View,
};
pub use vector::VectorLimits;

#[doc(hidden)]
pub mod __derive {
    //! What the code that `#[derive(Pack)]` writes calls. Not part of the public interface.
    pub use crate::schema::derived::*;
}
