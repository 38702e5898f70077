//! Codes sparse bytes: a tree of halves locates the nonzero bytes. `spec/CODEC.md`, section 15.2,
//! defines the format.
//!
//! Each node with nonzero bytes codes which of its halves have nonzero bytes: 1 bit for both, 2
//! bits for one. A single nonzero byte takes 2 bits per level; neighbouring bytes share the levels
//! above them. The tree is about as short as a list of distances and lengths in gamma codes. If
//! many bytes are scattered, the tree is shorter (`cargo bench -p kinepack --bench streams`). The
//! tree contains no numbers that could be out of range.

use alloc::vec::Vec;

use super::base_at;
use crate::DecodeError;
use crate::bits::{BitCounter, BitReader, BitSink, bits_for};

/// Writes bytes that are mostly zeros: 1 bit if all are zero, and at most `8 · len + 2` bits. The
/// number of bytes is not written.
///
/// For an empty slice, nothing is written. This function does not allocate.
pub fn write_sparse(sink: &mut impl BitSink, bytes: &[u8]) {
    write_sparse_difference(sink, &[], bytes);
}

/// Like [`write_sparse`], for `bytes` XOR `base` instead of `bytes`. A shorter base is extended
/// with zeros; a longer one is cut.
///
/// ```
/// use kinepack::rle::{read_sparse_difference, write_sparse_difference};
/// use kinepack::bits::{BitReader, BitWriter};
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
    if bytes.len() <= Changes::MAX_BYTES {
        return Changes::between(base, bytes).write(sink);
    }
    let is_changed = differ(base, bytes);
    sink.write_bool(is_changed);
    if !is_changed {
        return;
    }
    let in_full = is_tree_longer(base, bytes);
    sink.write_bool(in_full);
    if in_full {
        (0..)
            .zip(bytes)
            .for_each(|(index, byte)| sink.write(u64::from(byte ^ base_at(base, index)), 8));
    } else {
        write_tree(sink, base, bytes);
    }
}

/// Returns true if the tree takes more bits than the bytes alone.
fn is_tree_longer(base: &[u8], bytes: &[u8]) -> bool {
    let alike = bytes.iter().zip(base).filter(|(byte, base)| byte == base).count();
    is_longer(bytes.len(), bytes.len() - alike, |tree| write_tree(tree, base, bytes))
}

/// Returns true if the tree of `len` bytes, at most `changed` of them not zero, takes more bits
/// than the bytes alone.
fn is_longer(len: usize, changed: usize, write_tree: impl FnOnce(&mut BitCounter)) -> bool {
    let levels = bits_for(len as u64 - 1) as usize;
    // No byte takes more than 8 bits and 2 bits per level. In most cases this bound decides,
    // without writing the tree.
    changed * (8 + 2 * levels) > 8 * len && {
        let mut tree = BitCounter::default();
        write_tree(&mut tree);
        tree.len_bits() > 8 * len as u64
    }
}

/// Reads `len_bytes` bytes that [`write_sparse`] wrote, and appends them to `out`. After an error,
/// `out` is unchanged. Memory for all bytes is reserved first, so the caller must know `len_bytes`
/// or have checked it.
///
/// # Errors
/// [`DecodeError::EndOfData`] if the data end within the bytes.
pub fn read_sparse(
    reader: &mut BitReader<'_>,
    len_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    read_sparse_difference(reader, &[], len_bytes, out)
}

/// Like [`read_sparse`], for bytes that [`write_sparse_difference`] wrote against the same base.
///
/// # Errors
/// The errors of [`read_sparse`].
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
    read_changed(reader, bytes)
}

/// Reads the data after the bit that signals nonzero bytes.
fn read_changed(reader: &mut BitReader<'_>, bytes: &mut [u8]) -> Result<(), DecodeError> {
    if !reader.read_bool()? {
        return read_tree(reader, bytes);
    }
    bytes.iter_mut().try_for_each(|byte| {
        *byte ^= reader.read(8)? as u8;
        Ok(())
    })
}

/// Writes the tree of `bytes` XOR `base`. Invariant: `bytes` is not empty and differs from `base`.
/// The recursion depth is the number of bits of `bytes.len()`.
fn write_tree(sink: &mut impl BitSink, base: &[u8], bytes: &[u8]) {
    if bytes.len() <= Changes::MAX_BYTES {
        return Changes::between(base, bytes).write_tree(sink, 0, bytes.len());
    }
    let half = bytes.len().div_ceil(2);
    let (first, second) = bytes.split_at(half);
    let (first_base, second_base) = base.split_at(half.min(base.len()));
    let halves = [differ(first_base, first), differ(second_base, second)];
    write_halves(sink, halves);
    if halves[0] {
        write_tree(sink, first_base, first);
    }
    if halves[1] {
        write_tree(sink, second_base, second);
    }
}

/// Writes which halves of a node have nonzero bytes. Invariant: at least one half has nonzero
/// bytes.
#[inline]
fn write_halves(sink: &mut impl BitSink, halves: [bool; 2]) {
    match halves {
        [true, true] => sink.write(0b1, 1),
        [true, false] => sink.write(0b00, 2),
        [false, _] => sink.write(0b10, 2),
    }
}

/// Up to [`MAX_BYTES`](Self::MAX_BYTES) bytes, and a mask of the nonzero ones.
struct Changes {
    bytes: [u8; Self::MAX_BYTES],
    len: usize,
    mask: u64,
}

impl Changes {
    const MAX_BYTES: usize = 64;

    /// Collects at most [`MAX_BYTES`](Self::MAX_BYTES) bytes from `changes`.
    #[inline]
    fn new(changes: impl Iterator<Item = u8>) -> Self {
        let mut bytes = [0; Self::MAX_BYTES];
        let (mut len, mut mask) = (0, 0);
        for (byte, change) in bytes.iter_mut().zip(changes) {
            *byte = change;
            mask |= u64::from(change != 0) << len;
            len += 1;
        }
        Self { bytes, len, mask }
    }

    /// Returns the difference between `bytes` and `base`, which is extended with zeros.
    #[inline]
    fn between(base: &[u8], bytes: &[u8]) -> Self {
        Self::new(bytes.iter().enumerate().map(|(index, byte)| byte ^ base_at(base, index)))
    }

    /// Writes all bytes in the form of [`write_sparse`]. Invariant: there is at least one byte.
    fn write(&self, sink: &mut impl BitSink) {
        sink.write_bool(self.mask != 0);
        if self.mask == 0 {
            return;
        }
        let changed = self.mask.count_ones() as usize;
        let in_full = is_longer(self.len, changed, |tree| self.write_tree(tree, 0, self.len));
        sink.write_bool(in_full);
        if in_full {
            self.bytes[..self.len].iter().for_each(|byte| sink.write(u64::from(*byte), 8));
        } else {
            self.write_tree(sink, 0, self.len);
        }
    }

    /// Writes the tree of `len` bytes from index `from` on. Invariant: at least one of these bytes
    /// is not zero.
    fn write_tree(&self, sink: &mut impl BitSink, from: usize, len: usize) {
        if len == 1 {
            return sink.write(u64::from(self.bytes[from]), 8);
        }
        let half = len.div_ceil(2);
        let has = |from: usize, len: usize| {
            self.mask >> from & (u64::MAX >> (Self::MAX_BYTES - len)) != 0
        };
        let halves = [has(from, half), has(from + half, len - half)];
        write_halves(sink, halves);
        if halves[0] {
            self.write_tree(sink, from, half);
        }
        if halves[1] {
            self.write_tree(sink, from + half, len - half);
        }
    }
}

/// The maximum number of bytes that [`write_sparse_lanes`] takes.
pub(crate) const MAX_LANES: usize = Changes::MAX_BYTES;

/// Like [`write_sparse_difference`], for up to [`MAX_LANES`] bytes in lanes, against the same
/// number of base lanes.
#[inline]
pub(crate) fn write_sparse_lanes(sink: &mut impl BitSink, base: &[u32], lanes: &[u32]) {
    // This comparison has no branch per lane, so the compiler can vectorize it. In most cases no
    // byte has changed.
    if lanes.iter().zip(base).fold(0, |any, (lane, base)| any | (lane ^ base)) == 0 {
        return sink.write_bool(false);
    }
    Changes::new(lanes.iter().zip(base).map(|(lane, base)| (lane ^ base) as u8)).write(sink);
}

/// Reads the bytes that [`write_sparse_lanes`] wrote.
#[inline]
pub(crate) fn read_sparse_lanes(
    reader: &mut BitReader<'_>,
    base: &[u32],
    lanes: &mut [u32],
) -> Result<(), DecodeError> {
    if !reader.read_bool()? {
        lanes.copy_from_slice(base);
        return Ok(());
    }
    let mut changes = [0; MAX_LANES];
    read_changed(reader, &mut changes[..base.len()])?;
    for ((lane, base), change) in lanes.iter_mut().zip(base).zip(changes) {
        *lane = base ^ u32::from(change);
    }
    Ok(())
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

/// Returns true if `bytes` differ from the beginning of `base`, extended with zeros.
fn differ(base: &[u8], bytes: &[u8]) -> bool {
    let (alike, rest) = bytes.split_at(base.len().min(bytes.len()));
    alike != &base[..alike.len()] || rest.iter().any(|byte| *byte != 0)
}
