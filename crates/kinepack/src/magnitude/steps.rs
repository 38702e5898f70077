//! Codes integers exactly: a prefix code for the class, then each number. No code is left unused.
//! `spec/CODEC.md`, section 16.2, defines the format.
//!
//! Numbers become positive by alternating signs (zig-zag: 0, −1, 1, −2 become 0, 1, 2, 3), so n
//! bits hold 2ⁿ numbers. At least one number has the class's highest bit. If no earlier number has
//! that bit, the last one must have it, so the bit is not written. So each vector has exactly one
//! bit string, and each bit string one vector.

use super::Components;
use super::class::{MAX_CLASS, RAW, class_word, read_class};
use crate::bits::{BitReader, BitSink, bits_for};
use crate::{DecodeError, EncodeError};

/// Writes 1 to 4 integers from −2³² to 2³² − 1, such as differences of lanes. If all integers are
/// 0, they take 2 bits.
///
/// # Errors
/// [`EncodeError::OutOfRange`] for integers outside of that range. In that case nothing is written.
pub fn write_steps<const N: usize>(
    sink: &mut impl BitSink,
    steps: [impl Into<i64>; N],
) -> Result<(), EncodeError> {
    const { Components::<N>::CHECK };
    let steps: [i64; N] = steps.map(Into::into);
    let numbers = steps.map(|step| ((step << 1) ^ (step >> 63)) as u64);
    let class = class_of(&numbers);
    if class > MAX_CLASS {
        let is_outside = |step: &&i64| !(-(1 << 32)..1 << 32).contains(*step);
        return Err(EncodeError::OutOfRange {
            id: None,
            field: "",
            value: steps.iter().find(is_outside).map_or(0.0, |step| *step as f64),
        });
    }
    let (word, word_bits) = class_word(class);
    let total_bits = N as u32 * class - u32::from(is_left_out(&numbers[..N - 1], class));
    if word_bits + total_bits <= 64 {
        let joined = numbers.iter().rev().fold(0, |joined, number| joined << class | number);
        sink.write(joined << word_bits | u64::from(word), word_bits + total_bits);
        return Ok(());
    }
    sink.write(u64::from(word), word_bits);
    let mut left_bits = total_bits;
    for number in numbers {
        sink.write(number, class.min(left_bits));
        left_bits -= class.min(left_bits);
    }
    Ok(())
}

/// Returns the number of bits of the largest number.
#[inline]
fn class_of(numbers: &[u64]) -> u32 {
    bits_for(numbers.iter().fold(0, |all, number| all | number))
}

/// Returns true if the last number's highest bit is not written, because no number before it has
/// the class's highest bit.
#[inline]
fn is_left_out(before: &[u64], class: u32) -> bool {
    class > 0 && class_of(before) < class
}

/// Reads the integers that [`write_steps`] wrote.
///
/// # Errors
/// [`DecodeError::EndOfData`] if the data end within the integers. [`DecodeError::OutOfRange`] for
/// raw values, which only [`read_any`](super::read_any) accepts.
pub fn read_steps<const N: usize>(reader: &mut BitReader<'_>) -> Result<[i64; N], DecodeError> {
    match read(reader)? {
        Read::Steps(steps) => Ok(steps),
        Read::Raw(_) => Err(DecodeError::OutOfRange { at_bit: reader.position_bits() }),
    }
}

/// Writes values bit for bit.
pub(super) fn write_raw<const N: usize>(sink: &mut impl BitSink, values: [f32; N]) {
    let (word, word_bits) = class_word(RAW);
    sink.write(u64::from(word), word_bits);
    values.iter().for_each(|value| sink.write(u64::from(value.to_bits()), 32));
}

/// The content of a coded vector: steps, or values written bit for bit.
pub(super) enum Read<const N: usize> {
    Steps([i64; N]),
    Raw([f32; N]),
}

pub(super) fn read<const N: usize>(reader: &mut BitReader<'_>) -> Result<Read<N>, DecodeError> {
    const { Components::<N>::CHECK };
    let class = read_class(reader)?;
    if class == RAW {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = f32::from_bits(reader.read(32)? as u32);
        }
        return Ok(Read::Raw(values));
    }
    let mut numbers = [0; N];
    // Peeks at the maximum number of bits that the numbers can take. Bits past the end of the data
    // are zero.
    if N as u32 * class <= PEEK_BITS {
        let all = reader.peek(N as u32 * class);
        for (index, number) in (0..).zip(&mut numbers) {
            *number = all >> (index * class) & ((1 << class) - 1);
        }
        reader.skip(N as u32 * class - u32::from(is_left_out(&numbers[..N - 1], class)))?;
    } else {
        for index in 0..N {
            let left_out = index + 1 == N && is_left_out(&numbers[..index], class);
            numbers[index] = reader.read(class - u32::from(left_out))?;
        }
    }
    if is_left_out(&numbers[..N - 1], class) {
        numbers[N - 1] |= 1 << (class - 1);
    }
    Ok(Read::Steps(numbers.map(|number| (number >> 1) as i64 ^ -((number & 1) as i64))))
}

/// The maximum number of bits that [`BitReader::peek`] returns.
const PEEK_BITS: u32 = 57;
