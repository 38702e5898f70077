//! Sparse bytes: a tree of halves tells where the bytes are that are not zeros. `spec/CODEC.md`, section 15.2.
//!
//! Each node that has such bytes says in which of its halves: 1 bit for both, 2 bits for one. A byte alone takes 2 bits a
//! level, bytes side by side share the levels above them. That is about as short as a list of distances and lengths in
//! gamma codes (`cargo bench -p kinepack --bench streams` prints both), shorter where many are strewn about, and has no numbers
//! that a reader must refuse.

use alloc::vec::Vec;

use super::base_at;
use crate::{BitCounter, BitReader, BitSink, DecodeError, bits_for};

/// Writes bytes of which most are zeros: 1 bit where all are, at most `8 · len + 2` bits. Their number is not written.
///
/// Writes nothing for no bytes. Allocates nothing.
pub fn write_sparse(sink: &mut impl BitSink, bytes: &[u8]) {
    write_sparse_difference(sink, &[], bytes);
}

/// As [`write_sparse`], of `bytes` XOR `base`. A shorter base goes on with zeros; a longer one is cut.
///
/// ```
/// use kinepack::rle::{read_sparse_difference, write_sparse_difference};
/// use kinepack::{BitReader, BitWriter};
///
/// let base = [7; 16];
/// let mut input = base;
/// input[2] = 9;
/// let mut packet = Vec::new();
/// let mut writer = BitWriter::append(&mut packet);
/// write_sparse_difference(&mut writer, &base, &input);
/// assert_eq!(writer.finish()?, 3);
///
/// let mut received = Vec::new();
/// read_sparse_difference(&mut BitReader::new(&packet), &base, 16, &mut received)?;
/// assert_eq!(received, input);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_sparse_difference(sink: &mut impl BitSink, base: &[u8], bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let is_changed = differ(base, bytes);
    sink.write_bool(is_changed);
    if !is_changed {
        return;
    }
    let in_full = is_tree_longer(base, bytes);
    sink.write_bool(in_full);
    if in_full {
        (0..).zip(bytes).for_each(|(index, byte)| sink.write(u64::from(byte ^ base_at(base, index)), 8));
    } else {
        write_tree(sink, base, bytes);
    }
}

/// True where the tree takes more bits than the bytes.
fn is_tree_longer(base: &[u8], bytes: &[u8]) -> bool {
    let bytes_bits = 8 * bytes.len() as u64;
    let alike = bytes.iter().zip(base).filter(|(byte, base)| byte == base).count();
    let levels = u64::from(bits_for(bytes.len() as u64 - 1));
    // No byte takes more than 2 bits a level: most often that is enough to know.
    let at_most_bits = (bytes.len() - alike) as u64 * (8 + 2 * levels);
    at_most_bits > bytes_bits && {
        let mut tree = BitCounter::default();
        write_tree(&mut tree, base, bytes);
        tree.len_bits() > bytes_bits
    }
}

/// Appends `len_bytes` bytes that [`write_sparse`] wrote to `out`, which is as it was where they are refused. Makes room
/// for them first: the number is the caller's, or one that it has checked.
///
/// # Errors
/// [`DecodeError::EndOfData`].
pub fn read_sparse(reader: &mut BitReader<'_>, len_bytes: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    read_sparse_difference(reader, &[], len_bytes, out)
}

/// As [`read_sparse`], of what [`write_sparse_difference`] wrote against the same base.
///
/// # Errors
/// As [`read_sparse`].
pub fn read_sparse_difference(
    reader: &mut BitReader<'_>,
    base: &[u8],
    len_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let held_bytes = out.len();
    out.extend_from_slice(&base[..len_bytes.min(base.len())]);
    out.resize(held_bytes + len_bytes, 0);
    let read = read_changes(reader, &mut out[held_bytes..]);
    if read.is_err() {
        out.truncate(held_bytes);
    }
    read
}

fn read_changes(reader: &mut BitReader<'_>, bytes: &mut [u8]) -> Result<(), DecodeError> {
    if bytes.is_empty() || !reader.read_bool()? {
        return Ok(());
    }
    if !reader.read_bool()? {
        return read_tree(reader, bytes);
    }
    bytes.iter_mut().try_for_each(|byte| {
        *byte ^= reader.read(8)? as u8;
        Ok(())
    })
}

/// Invariant: `bytes` is not empty and differs from `base`. As deep as the number of bytes has bits.
fn write_tree(sink: &mut impl BitSink, base: &[u8], bytes: &[u8]) {
    if let [byte] = bytes {
        return sink.write(u64::from(byte ^ base_at(base, 0)), 8);
    }
    let half = bytes.len().div_ceil(2);
    let (first, second) = bytes.split_at(half);
    let (first_base, second_base) = base.split_at(half.min(base.len()));
    match (differ(first_base, first), differ(second_base, second)) {
        (true, true) => {
            sink.write(0b1, 1);
            write_tree(sink, first_base, first);
            write_tree(sink, second_base, second);
        }
        (true, false) => {
            sink.write(0b00, 2);
            write_tree(sink, first_base, first);
        }
        (false, _) => {
            sink.write(0b10, 2);
            write_tree(sink, second_base, second);
        }
    }
}

fn read_tree(reader: &mut BitReader<'_>, bytes: &mut [u8]) -> Result<(), DecodeError> {
    if let [byte] = bytes {
        *byte ^= reader.read(8)? as u8;
        return Ok(());
    }
    let (first, second) = bytes.split_at_mut(bytes.len().div_ceil(2));
    if reader.read_bool()? {
        read_tree(reader, first)?;
        return read_tree(reader, second);
    }
    let half = if reader.read_bool()? { second } else { first };
    read_tree(reader, half)
}

/// True where `bytes` are not what `base` begins with, zeros behind it.
fn differ(base: &[u8], bytes: &[u8]) -> bool {
    let (alike, rest) = bytes.split_at(base.len().min(bytes.len()));
    alike != &base[..alike.len()] || rest.iter().any(|byte| *byte != 0)
}
