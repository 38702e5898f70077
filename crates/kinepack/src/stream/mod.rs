//! Streams: values of one type at a high rate, each coded against an earlier value that the other
//! side is known to hold. Streams carry inputs and calls from clients to a server.
//!
//! The type of the values implements [`Pack`](crate::Pack). A *record* consists of the lanes of one
//! value. A packet holds one or more records. The first record is coded against a *base*: any
//! record that both sides hold, or none. Each later record is coded against the previous one. The
//! protocol must name the base; `kinepack-net` has such a protocol. See `spec/CODEC.md`, section
//! 17.
//!
//! | [`StreamLevel`] | fields against the base |
//! |---|---|
//! | `Packed` | numbers as [`magnitude`](crate::magnitude) steps with a class for each field; bytes as sparse bytes of [`rle`](crate::rle) |
//! | `Adaptive` | predicted from their last motion and their velocities, and range coded with the state learned along the records that both sides hold |
//!
//! `Packed` takes a few nanoseconds per lane and keeps no state. `Adaptive` takes about five times
//! as long, but only two thirds of the bits. It keeps one to two kilobytes with each record that
//! may become a base. Neither level is trained beforehand. Two attributes help `Adaptive`:
//! `velocity = field` marks the velocity of a field, and `clock` marks the time stamp of the
//! record.
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
