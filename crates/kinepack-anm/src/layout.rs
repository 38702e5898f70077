//! The constants of the file format. See `spec/ANM.md`, sections 2 and 3.

/// The first bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"r3d2canm";

/// The size of the magic and all header fields, in bytes.
pub(crate) const HEAD_BYTES: usize = 128;

/// The byte from which offsets are counted. It is the end of the version field.
pub(crate) const OFFSET_BASE: usize = 12;

/// The number of indices per joint in a jump cache: four for each channel.
pub(crate) const INDICES_PER_JOINT: usize = 12;

/// If a file has at least this number of keys, an index takes four bytes.
pub(crate) const WIDE_FROM_KEYS: usize = 0x1_0001;

/// Returns the size of an index in a jump cache of a file with `keys` keys, in bytes.
pub(crate) fn index_bytes(keys: usize) -> usize {
    if keys < WIDE_FROM_KEYS { 2 } else { 4 }
}
