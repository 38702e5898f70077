//! Codes opaque bytes: inputs, calls, foreign structures. The difference of two similar byte
//! strings is mostly zeros.
//!
//! This module has two forms. Each form codes the bytes themselves or their difference (XOR) from a
//! *base* that both sides hold:
//!
//! - [`encode`] and [`decode`] code *runs* of whole bytes. A length byte gives the number of times
//!   that the next byte repeats, or the number of literal bytes that follow. This is the format of
//!   the article "High-frequency upstream RPC compression" (Unreal), in the family of PackBits. The
//!   result never exceeds [`bound`], and no other choice of runs and literals is shorter.
//! - [`write_sparse`] and [`read_sparse`] write to a bit cursor a tree of halves that locates the
//!   nonzero bytes. This form suits differences that are mostly zeros: one changed byte of 16 takes
//!   18 bits, but 45 on average as runs.
//!
//! `spec/CODEC.md`, section 15, defines both forms. The time of each form is proportional to the
//! number of bytes (for sparse bytes, times the depth of the tree). The functions need no memory
//! except for the bytes that they append.
//!
//! ```
//! let base = *b"jump 0, fire 0, at 1200";
//! let call = *b"jump 0, fire 1, at 1207";
//! let mut packet = Vec::new();
//! kinepack::rle::encode_difference(&base, &call, &mut packet);
//! assert_eq!(packet, [13, 0, 129, 1, 8, 0, 129, 7]);
//!
//! let mut received = Vec::new();
//! kinepack::rle::decode_difference(&base, &packet, 64, &mut received)?;
//! assert_eq!(received, call);
//! # Ok::<(), kinepack::DecodeError>(())
//! ```

mod runs;
mod sparse;

pub use runs::{bound, decode, decode_difference, encode, encode_difference};
pub(crate) use sparse::{MAX_LANES, read_sparse_lanes, write_sparse_lanes};
pub use sparse::{read_sparse, read_sparse_difference, write_sparse, write_sparse_difference};

/// Returns byte `index` of a base, or zero past the base's end.
fn base_at(base: &[u8], index: usize) -> u8 {
    base.get(index).copied().unwrap_or(0)
}
