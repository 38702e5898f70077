//! Integers exactly: the class by a prefix code, then each number without a wasted code. `spec/CODEC.md`, section 16.2.
//!
//! Numbers become positive by alternating signs (zig-zag: 0, −1, 1, −2 are 0, 1, 2, 3), so that n bits hold 2ⁿ of them.
//! Since the largest is as large as its class says, the highest bit of the last one need not be told where it is the
//! only one that can be; so each string of bits is one vector, and each vector one string.

use super::Components;
use super::class::{MAX_CLASS, RAW, read_class, write_class};
use crate::{BitReader, BitSink, DecodeError, EncodeError, bits_for};

/// Writes integers from −2³² to 2³² − 1, 1 to 4 of them, such as differences of lanes: 2 bits where all are 0.
///
/// # Errors
/// [`EncodeError::OutOfRange`] for others; nothing is written then.
pub fn write_steps<const N: usize>(sink: &mut impl BitSink, steps: [impl Into<i64>; N]) -> Result<(), EncodeError> {
    const { Components::<N>::CHECK };
    let steps: [i64; N] = steps.map(Into::into);
    let numbers = steps.map(|step| ((step << 1) ^ (step >> 63)) as u64);
    for (number, step) in numbers.iter().zip(steps) {
        if bits_for(*number) > MAX_CLASS {
            return Err(EncodeError::OutOfRange { field: "", value: step as f64 });
        }
    }
    let class = numbers.iter().fold(0, |class, number| class.max(bits_for(*number)));
    write_class(sink, class);
    let mut is_told = class == 0;
    for (index, number) in numbers.into_iter().enumerate() {
        sink.write(number, class - u32::from(index + 1 == N && !is_told));
        is_told |= bits_for(number) == class;
    }
    Ok(())
}

/// Reads what [`write_steps`] wrote.
///
/// # Errors
/// [`DecodeError::EndOfData`], and [`DecodeError::OutOfRange`] for raw values, which [`read_any`](super::read_any) takes.
pub fn read_steps<const N: usize>(reader: &mut BitReader<'_>) -> Result<[i64; N], DecodeError> {
    match read(reader)? {
        Read::Steps(steps) => Ok(steps),
        Read::Raw(_) => Err(DecodeError::OutOfRange { at_bit: reader.position_bits() }),
    }
}

/// Writes values as they are.
pub(super) fn write_raw<const N: usize>(sink: &mut impl BitSink, values: [f32; N]) {
    write_class(sink, RAW);
    values.iter().for_each(|value| sink.write(u64::from(value.to_bits()), 32));
}

/// What is behind a class.
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
    let mut steps = [0; N];
    let mut is_told = class == 0;
    for (index, step) in steps.iter_mut().enumerate() {
        let left_out = index + 1 == N && !is_told;
        let mut number = reader.read(class - u32::from(left_out))?;
        if left_out {
            number |= 1 << (class - 1);
        }
        is_told |= bits_for(number) == class;
        *step = (number >> 1) as i64 ^ -((number & 1) as i64);
    }
    Ok(Read::Steps(steps))
}
