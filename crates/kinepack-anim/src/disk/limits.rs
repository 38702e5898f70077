//! Limits on the length of the clip that a disk file unpacks to. See `spec/ANIM.md`, section 14.7.

use super::segment::COMPONENT_BYTES;
use crate::ClipError;

/// Limits the length of the clip that a disk file unpacks to. After a packet that ends `n` bytes
/// into the file, the clip may have `min_bytes + bytes_per_byte · n` bytes. Each live component
/// counts as 1024 additional bytes. Unpacking takes memory of at most three times the limit, and
/// its time grows with the limit.
///
/// By default, `min_bytes` is 4 MiB and `bytes_per_byte` is 256. A clip that moves unpacks to less
/// than 2 bytes for each byte of its file. The 4 MiB are for clips that hardly move. They suffice
/// for 50 minutes of 60 joints at 60 Hz.
///
/// ```
/// use kinepack_anim::disk::UnpackLimits;
///
/// let limits = UnpackLimits { min_bytes: 1 << 20, bytes_per_byte: 16 };
/// assert_eq!(limits.most_bytes(1000), 1_064_576);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpackLimits {
    /// The unpacked size that is allowed for any file, however short.
    pub min_bytes: u64,
    /// The number of bytes by which each byte of the file raises the limit.
    pub bytes_per_byte: u64,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self { min_bytes: 4 << 20, bytes_per_byte: 256 }
    }
}

impl UnpackLimits {
    /// Returns the maximum unpacked size of a clip after `file_bytes` bytes of its file.
    pub fn most_bytes(&self, file_bytes: u64) -> u64 {
        self.min_bytes.saturating_add(self.bytes_per_byte.saturating_mul(file_bytes))
    }

    /// Checks that a clip's bytes and live components are within the limit for a file of
    /// `file_bytes` bytes.
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
