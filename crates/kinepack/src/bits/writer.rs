//! Writes bits to a growing vector or a borrowed slice, or only counts them.

use alloc::vec::Vec;

use super::{bits_for, mask};
use crate::EncodeError;

/// The output of an encoder: a [`BitWriter`], or a [`BitCounter`] for a dry run.
pub trait BitSink {
    /// Appends the lowest `bits` (0 to 64) bits of `value`; higher bits of `value` are ignored.
    fn write(&mut self, value: u64, bits: u32);

    /// The number of bits already written.
    fn len_bits(&self) -> u64;

    /// Appends one bit: 1 for `true`.
    #[inline]
    fn write_bool(&mut self, value: bool) {
        self.write(u64::from(value), 1);
    }

    /// Appends a number from 1 to 2³³ − 1 in Elias gamma code: 1 takes one bit, and small numbers
    /// take few.
    fn write_gamma(&mut self, number: u64) {
        let below_bits = bits_for(number) - 1;
        self.write(1 << below_bits, below_bits + 1);
        self.write(number & mask(below_bits), below_bits);
    }

    /// Appends zero bits up to the next multiple of 8.
    #[inline]
    fn align(&mut self) {
        let past = (self.len_bits() % 8) as u32;
        self.write(0, (8 - past) % 8);
    }
}

/// Counts bits instead of storing them, to measure the size of an encoding.
///
/// ```
/// use kinepack::bits::{BitCounter, BitSink};
///
/// let mut counter = BitCounter::default();
/// counter.write(1200, 11);
/// counter.write_bool(true);
/// assert_eq!(counter.len_bits(), 12);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BitCounter {
    len_bits: u64,
}

impl BitSink for BitCounter {
    #[inline]
    fn write(&mut self, _value: u64, bits: u32) {
        self.len_bits += u64::from(bits);
    }

    #[inline]
    fn len_bits(&self) -> u64 {
        self.len_bits
    }
}

/// Writes bits, least significant first, into a growing vector or a slice borrowed from the caller.
///
/// Writing cannot fail. If a borrowed slice is too short, only [`BitWriter::finish`] reports this,
/// at the end.
///
/// ```
/// use kinepack::bits::{BitReader, BitSink, BitWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = BitWriter::append(&mut bytes);
/// writer.write(0b010, 3);
/// writer.write(0b111, 3);
/// writer.finish()?;
/// assert_eq!(bytes, [0b111_010]);
///
/// let mut reader = BitReader::new(&bytes);
/// assert_eq!(reader.read(3)?, 0b010);
/// assert_eq!(reader.read(3)?, 0b111);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BitWriter<'a> {
    target: Target<'a>,
    /// The bits that are not in the target yet. Invariant: bits at `pending_bits` and above are
    /// zero.
    pending: u64,
    /// Invariant: `pending_bits` is below 64.
    pending_bits: u32,
    /// The number of bytes already sent to the target, including those that did not fit into a
    /// borrowed slice.
    flushed_bytes: usize,
}

#[derive(Debug)]
enum Target<'a> {
    Growing(&'a mut Vec<u8>),
    Lent(&'a mut [u8]),
}

impl<'a> BitWriter<'a> {
    /// Makes a writer that appends to `bytes`, and allocates only when the capacity of `bytes` runs
    /// out.
    pub fn append(bytes: &'a mut Vec<u8>) -> Self {
        Self::new(Target::Growing(bytes))
    }

    /// Makes a writer over a buffer of fixed length, which never allocates.
    pub fn lend(bytes: &'a mut [u8]) -> Self {
        Self::new(Target::Lent(bytes))
    }

    fn new(target: Target<'a>) -> Self {
        Self { target, pending: 0, pending_bits: 0, flushed_bytes: 0 }
    }

    /// Pads the last byte with zero bits, stores it and returns the number of bytes written.
    ///
    /// # Errors
    /// [`EncodeError::BufferFull`], with the number of bytes needed, if a borrowed slice was too
    /// short. The slice's content is then unspecified.
    pub fn finish(mut self) -> Result<usize, EncodeError> {
        let tail_bytes = self.pending_bits.div_ceil(8) as usize;
        self.store(self.pending, tail_bytes);
        match self.target {
            Target::Lent(ref bytes) if self.flushed_bytes > bytes.len() => {
                Err(EncodeError::BufferFull {
                    needed_bytes: self.flushed_bytes,
                    buffer_bytes: bytes.len(),
                })
            }
            _ => Ok(self.flushed_bytes),
        }
    }

    #[inline]
    fn store(&mut self, word: u64, count_bytes: usize) {
        let from = self.flushed_bytes;
        self.flushed_bytes += count_bytes;
        let word = word.to_le_bytes();
        match &mut self.target {
            Target::Growing(bytes) => bytes.extend_from_slice(&word[..count_bytes]),
            Target::Lent(bytes) => {
                if let Some(space) = bytes.get_mut(from..from + count_bytes) {
                    space.copy_from_slice(&word[..count_bytes]);
                }
            }
        }
    }
}

impl BitSink for BitWriter<'_> {
    #[inline]
    fn write(&mut self, value: u64, bits: u32) {
        debug_assert!(bits <= 64);
        let value = value & mask(bits);
        self.pending |= value << self.pending_bits;
        let total_bits = self.pending_bits + bits;
        if total_bits < 64 {
            self.pending_bits = total_bits;
        } else {
            self.store(self.pending, 8);
            let stored_bits = 64 - self.pending_bits;
            self.pending = if stored_bits == 64 { 0 } else { value >> stored_bits };
            self.pending_bits = total_bits - 64;
        }
    }

    #[inline]
    fn len_bits(&self) -> u64 {
        self.flushed_bytes as u64 * 8 + u64::from(self.pending_bits)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_short_lent_slice_reports_the_bytes_needed() {
        let mut bytes = [0xAA; 9];
        let mut writer = BitWriter::lend(&mut bytes);
        for _ in 0..10 {
            writer.write(u64::MAX, 8);
        }
        let full = EncodeError::BufferFull { needed_bytes: 10, buffer_bytes: 9 };
        assert_eq!(writer.finish(), Err(full));

        let mut writer = BitWriter::lend(&mut bytes);
        writer.write(u64::MAX, 64);
        writer.write(1, 1);
        assert_eq!(writer.finish(), Ok(9));
        assert_eq!(bytes, [255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }

    #[test]
    fn bits_above_the_width_are_ignored() {
        let mut bytes = vec![];
        let mut writer = BitWriter::append(&mut bytes);
        writer.write(u64::MAX, 3);
        writer.write(0, 5);
        assert_eq!(writer.finish(), Ok(1));
        assert_eq!(bytes, [0b0000_0111]);
    }

    #[test]
    fn counter_and_writer_agree() {
        let mut bytes = vec![];
        let mut writer = BitWriter::append(&mut bytes);
        let mut counter = BitCounter::default();
        for bits in [0, 1, 7, 64, 63, 64, 2] {
            writer.write(u64::MAX, bits);
            counter.write(u64::MAX, bits);
            assert_eq!(writer.len_bits(), counter.len_bits());
        }
        writer.align();
        counter.align();
        assert_eq!(counter.len_bits(), 208);
        assert_eq!(writer.finish(), Ok(26));
    }
}
