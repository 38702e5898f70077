//! A reader over the bytes of a file that tracks its position.

use crate::ClipError;

/// Checks the magic and the version, and returns the header, which is the first `N` bytes.
pub(crate) fn head<const N: usize>(
    bytes: &[u8],
    magic: [u8; 4],
    newest: u8,
) -> Result<&[u8; N], ClipError> {
    if !bytes.starts_with(&magic) {
        return Err(ClipError::of_other_file(bytes));
    }
    let head = bytes.first_chunk::<N>().ok_or(ClipError::EndOfData { part: "header" })?;
    match head[magic.len()] {
        version if version == newest => Ok(head),
        version => Err(ClipError::Version { version, newest }),
    }
}

/// The bytes of a file that have not been read yet.
pub(crate) struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    /// Returns a reader that starts after the first `at` bytes.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Returns the number of bytes that have been read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the bytes that have not been read.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Reads `count` items of `bytes` bytes each. `part` is the name that an error gives this part
    /// of the file.
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

    /// Checks that all bytes were read.
    pub(crate) fn end(&self) -> Result<(), ClipError> {
        match self.bytes().len() {
            0 => Ok(()),
            bytes => Err(ClipError::TrailingData { bytes }),
        }
    }
}
