//! Codes bytes as runs: a length byte, then either one byte to repeat or literal bytes.
//! `spec/CODEC.md`, section 15.1, defines the format.
//!
//! ```text
//! length byte      0          1 ..= 128             129 ..= 255
//! then          refused   a byte, repeated       length − 128 bytes
//! ```
//!
//! The encoder reads each byte at most three times, allocates no memory of its own, and writes the
//! shortest possible form. `tests/rle.rs` compares the result with dynamic programming.

use alloc::vec::Vec;

use super::base_at;
use crate::DecodeError;

/// The maximum number of bytes in one run.
const MAX_RUN_BYTES: usize = 128;
/// The maximum number of literal bytes in one part.
const MAX_LITERAL_BYTES: usize = 127;
/// A length byte above `LITERAL` counts literal bytes.
const LITERAL: u8 = 128;

/// Returns the maximum number of bytes that `bytes` bytes take as runs: one extra byte for each 127
/// bytes, rounded up.
///
/// ```
/// assert_eq!(kinepack::rle::bound(1200), 1210);
/// ```
// A run covers two or more bytes and takes two, so a run never adds a byte. A literal part takes
// one byte more than its content. If a literal part is neither full nor the last, a run follows. A
// run of three or more bytes saves at least one byte, which pays for the extra byte. A run of two
// follows only after 126 literal bytes; together they are 128 bytes with one extra byte. So each
// extra byte covers at least 127 bytes, except for the extra byte of the last part.
pub const fn bound(bytes: usize) -> usize {
    bytes.saturating_add(bytes.div_ceil(MAX_LITERAL_BYTES))
}

/// Appends `bytes` as runs to `out`, in the shortest possible form, which has at most [`bound`]
/// bytes. The number of bytes is not written, because the runs end where the data end. Memory is
/// allocated only when the vector's capacity runs out.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    encode_of(bytes.len(), |index| bytes[index], out);
}

/// Like [`encode`], for `bytes` XOR `base` instead of `bytes`. A shorter base is extended with
/// zeros; a longer one is cut.
pub fn encode_difference(base: &[u8], bytes: &[u8], out: &mut Vec<u8>) {
    encode_of(bytes.len(), |index| bytes[index] ^ base_at(base, index), out);
}

fn encode_of(len: usize, at: impl Fn(usize) -> u8, out: &mut Vec<u8>) {
    // Counts the equal bytes from an index on.
    let equal_from = |from: usize| {
        let first = at(from);
        1 + (from + 1..len).take_while(|index| at(*index) == first).count()
    };
    let mut from = 0;
    while from < len {
        let mut equal = equal_from(from);
        if equal == 1 {
            let end = literals_end(from, len, equal_from);
            out.push(LITERAL + (end - from) as u8);
            out.extend((from..end).map(&at));
            from = end;
            continue;
        }
        // After a run, a pair costs no more as a run than as literals. One byte may remain; that
        // byte starts a literal part.
        while equal >= 2 {
            let run = equal.min(MAX_RUN_BYTES);
            out.extend([run as u8, at(from)]);
            from += run;
            equal -= run;
        }
    }
}

/// Returns the end of the literal part that begins at `from`.
fn literals_end(from: usize, len: usize, equal_from: impl Fn(usize) -> usize) -> usize {
    let mut end = from;
    while end < len {
        let equal = equal_from(end);
        let room = MAX_LITERAL_BYTES - (end - from);
        if equal >= 3 {
            // As a run, these bytes save one byte, which pays for the length byte of the next
            // literal part. If whole runs leave one byte over, that byte is cheaper as a literal
            // here than with its own length byte.
            let is_odd = equal > MAX_RUN_BYTES && equal % MAX_RUN_BYTES == 1;
            return end + usize::from(is_odd && room > 0);
        }
        // A pair of literals costs as much as a run, and needs no length byte for the literals
        // after it. But if only one of the two fits into the literal part, a length byte is needed
        // anyway, and a run covers both.
        if equal > room {
            return end;
        }
        end += equal;
    }
    end
}

/// Decodes `bytes`, which are runs, and appends the result to `out`.
///
/// Any valid runs are accepted, not only the shortest. `out` grows by at most `limit_bytes`. After
/// an error, `out` is unchanged.
///
/// # Errors
/// [`DecodeError::EmptyRun`] if a length is 0, [`DecodeError::EndOfData`] if the runs are cut
/// short, and [`DecodeError::TooManyBytes`] above the limit.
pub fn decode(bytes: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let held_bytes = out.len();
    let decoded = decode_parts(bytes, limit_bytes, out);
    if decoded.is_err() {
        out.truncate(held_bytes);
    }
    decoded
}

/// Like [`decode`], for runs that [`encode_difference`] wrote against the same base.
///
/// # Errors
/// The errors of [`decode`].
pub fn decode_difference(
    base: &[u8],
    bytes: &[u8],
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let held_bytes = out.len();
    decode(bytes, limit_bytes, out)?;
    out[held_bytes..].iter_mut().zip(base).for_each(|(byte, base)| *byte ^= base);
    Ok(())
}

fn decode_parts(
    mut bytes: &[u8],
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let total_bytes = bytes.len();
    let mut left_bytes = limit_bytes;
    while let Some((&length, rest)) = bytes.split_first() {
        let at_bit = 8 * (total_bytes - bytes.len()) as u64;
        let is_run = length <= LITERAL;
        let count = usize::from(if is_run { length } else { length - LITERAL });
        let stored_bytes = if is_run { 1 } else { count };
        if count == 0 {
            return Err(DecodeError::EmptyRun { at_bit });
        }
        let Some((stored, rest)) = rest.split_at_checked(stored_bytes) else {
            let [wanted_bits, left_bits] = [stored_bytes, rest.len()].map(|bytes| 8 * bytes as u32);
            return Err(DecodeError::EndOfData { at_bit: at_bit + 8, wanted_bits, left_bits });
        };
        left_bytes =
            left_bytes.checked_sub(count).ok_or(DecodeError::TooManyBytes { limit_bytes })?;
        if is_run {
            out.resize(out.len() + count, stored[0]);
        } else {
            out.extend_from_slice(stored);
        }
        bytes = rest;
    }
    Ok(())
}
