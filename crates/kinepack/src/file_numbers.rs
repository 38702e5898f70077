//! Reads and writes the numbers, lists and checksums of files (`spec/CODEC.md`, sections 5.8 and
//! 13) and of the headers of group frames.

use alloc::vec::Vec;

use crate::SetupError;
use crate::hash::Fnv1a;

/// Appends numbers to a buffer.
pub(crate) struct Writer<'a>(pub(crate) &'a mut Vec<u8>);

impl Writer<'_> {
    /// Writes `value`, seven bits per byte, the lowest first. The top bit of a byte is set if
    /// another byte follows.
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Writes 0, −1, 1, −2 and so on as the numbers 0, 1, 2, 3.
    pub(crate) fn signed(&mut self, value: i32) {
        self.number(u64::from(((value << 1) ^ (value >> 31)) as u32));
    }

    pub(crate) fn list(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads numbers from the front of a slice.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], SetupError> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(SetupError::BadProfileFile)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, SetupError> {
        Ok(self.bytes(1)?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u32, SetupError> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                // Each number has exactly one valid form: the one with the fewest bytes.
                let is_shortest = shift == 0 || byte > 0;
                return u32::try_from(value)
                    .ok()
                    .filter(|_| is_shortest)
                    .ok_or(SetupError::BadProfileFile);
            }
        }
        Err(SetupError::BadProfileFile)
    }

    pub(crate) fn signed(&mut self) -> Result<i32, SetupError> {
        let value = self.number()?;
        Ok((value >> 1) as i32 ^ -((value & 1) as i32))
    }

    /// Reads the count of a list whose items take at least one byte each. The count is limited to
    /// the bytes that remain, so a forged count cannot demand more items than the file has bytes.
    pub(crate) fn count(&mut self) -> Result<usize, SetupError> {
        let count = self.number()? as usize;
        if count <= self.0.len() { Ok(count) } else { Err(SetupError::BadProfileFile) }
    }

    pub(crate) fn list(&mut self) -> Result<&'a [u8], SetupError> {
        let count = self.count()?;
        self.bytes(count)
    }

    /// Reads a count of at most `most`, then that many items with `read`. An item takes many times
    /// more bytes in memory than in a file, so the file's length alone does not limit the memory.
    pub(crate) fn many<T>(
        &mut self,
        most: usize,
        mut one: impl FnMut(&mut Self) -> Result<T, SetupError>,
    ) -> Result<Vec<T>, SetupError> {
        let count = self.count()?;
        if count > most {
            return Err(SetupError::BadProfileFile);
        }
        (0..count).map(|_| one(self)).collect()
    }
}

/// Computes the checksum at the end of a file.
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = Fnv1a::new();
    hasher.add(bytes);
    hasher.finish()
}
