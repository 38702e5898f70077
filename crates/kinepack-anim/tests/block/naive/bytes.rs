//! Reads numbers from bytes and from bits.

use super::player::q;

/// A reader of bytes.
pub(super) struct Bytes<'a> {
    pub(super) all: &'a [u8],
    pub(super) at: usize,
}

pub(super) type Read<T> = Result<T, &'static str>;

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, bytes: usize) -> Read<&'a [u8]> {
        let taken = self.all[self.at..].get(..bytes).ok_or("it ends too early")?;
        self.at += bytes;
        Ok(taken)
    }

    pub(super) fn number(&mut self, bytes: usize) -> Read<u64> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub(super) fn float(&mut self) -> Read<f32> {
        let float = f32::from_bits(self.number(4)? as u32);
        if float.abs() <= 1e18 { Ok(float) } else { Err("a number too large, or none") }
    }

    /// Reads a constant, as section 10.2 specifies.
    pub(super) fn constant(&mut self, channel: usize) -> Read<Vec<f32>> {
        if channel > 0 {
            return Ok(vec![self.float()?, self.float()?, self.float()?]);
        }
        let code = self.number(8)?;
        require(code >> 63 == 0, "bit 63 of a constant")?;
        let number = |axis: u32| {
            ((code >> (21 * axis) & 0x1f_ffff) as f32 - 1_048_576.0) * (1.0 / 1_048_575.0)
        };
        Ok(q([number(0), number(1), number(2)]).to_vec())
    }
}

/// Reads a number from a string of bits, its lowest bit first.
pub(super) fn bits(bytes: &[u8], at: &mut usize, count: u8) -> Read<u32> {
    let mut number = 0;
    for bit in 0..count {
        let byte = bytes.get(*at / 8).ok_or("a segment ends behind the file")?;
        number |= u32::from(byte >> (*at % 8) & 1) << bit;
        *at += 1;
    }
    Ok(number)
}

pub(super) fn require(is_right: bool, reason: &'static str) -> Read<()> {
    if is_right { Ok(()) } else { Err(reason) }
}
