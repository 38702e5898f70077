//! What of a file is not read yet.

use crate::ClipError;

/// The first bytes of a file, which begin with its letters and its version.
pub(crate) fn head<const N: usize>(
    bytes: &[u8],
    magic: [u8; 4],
    newest: u8,
) -> Result<&[u8; N], ClipError> {
    if !bytes.starts_with(&magic) {
        return Err(ClipError::NoClip);
    }
    let head = bytes.first_chunk::<N>().ok_or(ClipError::EndOfData { part: "header" })?;
    match head[magic.len()] {
        version if version == newest => Ok(head),
        version => Err(ClipError::Version { version, newest }),
    }
}

pub(crate) struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    /// What is behind the first `at` bytes.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// How many bytes were read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Those that were not.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Goes behind `count` times as many bytes, which are `part` of the file.
    pub(crate) fn take(
        &mut self,
        count: usize,
        bytes: usize,
        part: &'static str,
    ) -> Result<&'a [u8], ClipError> {
        let taken = count.checked_mul(bytes).and_then(|bytes| self.bytes().get(..bytes));
        let taken = taken.ok_or(ClipError::EndOfData { part })?;
        self.at += taken.len();
        Ok(taken)
    }

    /// That nothing is left.
    pub(crate) fn end(&self) -> Result<(), ClipError> {
        match self.bytes().len() {
            0 => Ok(()),
            bytes => Err(ClipError::TrailingData { bytes }),
        }
    }
}
