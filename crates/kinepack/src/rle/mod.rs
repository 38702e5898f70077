//! Bytes of which nothing is known: inputs, calls, structures of others. Alike ones leave zeros
//! where one is taken from the other.
//!
//! Two forms, each of the bytes as they are and of their difference from a *base* that both sides
//! hold (XOR):
//!
//! - [`encode`] and [`decode`]: *runs*, whole bytes. The length byte says how often the next byte
//!   comes, or how many different ones follow. It is the form of the article "High-frequency
//!   upstream RPC compression" (Unreal), in the family of PackBits; never more than [`bound`], and
//!   always as short as this form can be.
//! - [`write_sparse`] and [`read_sparse`]: on a bit cursor, a tree of halves that says where the
//!   bytes are that are not zeros. For differences of which most are zeros: one changed byte of 16
//!   takes 18 bits, 45 as runs.
//!
//! `spec/CODEC.md`, section 15. Both take time in proportion to the bytes (sparse ones times the
//! depth of the tree) and no memory but what they append.
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

/// What stands for byte `index` of a base: zeros behind its end.
fn base_at(base: &[u8], index: usize) -> u8 {
    base.get(index).copied().unwrap_or(0)
}
