//! How long a clip may become of a file on disk. `spec/ANIM.md`, section 14.7.

use super::segment::COMPONENT_BYTES;
use crate::ClipError;

/// How long a clip may become of a file on disk: of `n` bytes of the file, up to the end of any
/// packet, `least_bytes + bytes_per_byte · n` bytes. A component that moves counts 1024 bytes more.
/// Memory is at most three times as much, and time grows with it.
///
/// The default is 4 MiB and 256. Clips that move become less than 2 bytes for each byte of their
/// file. The 4 MiB are for those that hardly do: 50 minutes of 60 joints at 60 Hz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpackLimits {
    /// Bytes that any file may become.
    pub least_bytes: u64,
    /// Bytes that each byte of a file adds.
    pub bytes_per_byte: u64,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self { least_bytes: 4 << 20, bytes_per_byte: 256 }
    }
}

impl UnpackLimits {
    /// The most bytes that `file_bytes` bytes of a file may become.
    pub fn most_bytes(&self, file_bytes: u64) -> u64 {
        self.least_bytes.saturating_add(self.bytes_per_byte.saturating_mul(file_bytes))
    }

    /// Checks the bytes of a clip and its components against those of the file so far.
    pub(super) fn check(
        &self,
        bytes: usize,
        components: usize,
        file_bytes: u64,
    ) -> Result<(), ClipError> {
        let bytes = bytes as u64 + (components * COMPONENT_BYTES) as u64;
        let limit = self.most_bytes(file_bytes);
        if bytes > limit { Err(ClipError::TooLong { bytes, limit }) } else { Ok(()) }
    }
}
