//! Streams: one value after another, at a high rate, each against one that the other side is known
//! to hold. For inputs and calls from clients to a server.
//!
//! The values are of one type that derives [`Pack`](crate::Pack). A *record* is the lanes of one of
//! them. A packet holds one record or several, of which each is told against the one before it, and
//! the first against a *base*, that may be any record that both sides hold, or none. Which it is,
//! the protocol says: `kinepack-net` has one. `spec/CODEC.md`, section 17.
//!
//! | [`StreamLevel`] | fields against the base |
//! |---|---|
//! | `Packed` | numbers as [`magnitude`](crate::magnitude) steps with a class for each field, bytes as [`rle`](crate::rle) sparse bytes |
//! | `Adaptive` | predicted from how they moved last and from their velocities, and coded with a range coder, by what was learned along the records that both sides hold |
//!
//! `Packed` takes some nanoseconds a lane and keeps nothing; `Adaptive` takes about five times as
//! long for two thirds of the bits, and keeps one to two kilobytes with each record that may become
//! a base. Nothing is trained beforehand. What a field is helps `Adaptive`: `velocity = field` for
//! what moves, `clock` for a time stamp by which it moves.
//!
//! ```
//! use kinepack::stream::{StreamBase, StreamCodec, StreamLevel};
//! use kinepack::{Bytes, Pack};
//!
//! #[derive(Pack, Clone, Debug, PartialEq)]
//! struct Input {
//!     #[pack(range = 0.0..360.0, bits = 16, wrap)]
//!     view: [f32; 2],
//!     jump: bool,
//!     #[pack(with = Bytes)]
//!     call: [u8; 16],
//! }
//!
//! let codec = StreamCodec::of::<Input>(StreamLevel::Packed)?;
//! let before = Input { view: [0.0, 45.0], jump: false, call: *b"open door 000007" };
//! let now = Input { view: [0.0, 45.25], jump: true, ..before.clone() };
//! let [mut held, mut record] = [vec![0; codec.lanes()], vec![0; codec.lanes()]];
//! before.quantize(&mut held)?;
//! now.quantize(&mut record)?;
//!
//! let nothing = codec.nothing_learned();
//! let base = StreamBase { lanes: &held, learned: &nothing, lag: 1 };
//! let mut packet = Vec::new();
//! codec.encode(Some(base), &record, &mut codec.nothing_learned(), &mut packet)?;
//! assert_eq!(packet.len(), 3);
//!
//! let mut received = vec![0; codec.lanes()];
//! codec.decode(Some(base), &mut received, &mut codec.nothing_learned(), &packet)?;
//! assert_eq!(Input::reconstruct(&received), Input::reconstruct(&record));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
mod codec;
mod learned;
mod packed;
mod plan;

pub use codec::{StreamBase, StreamCodec, StreamLevel};
pub use learned::Learned;
