//! The constants of the file format. `spec/ANM.md`, sections 2 and 3.

/// The first bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"r3d2canm";

/// Bytes of the magic and all fields.
pub(crate) const HEAD_BYTES: usize = 128;

/// Offsets count from the end of the version field.
pub(crate) const OFFSET_BASE: usize = 12;

/// Indices per joint in a jump cache: four per channel.
pub(crate) const INDICES_PER_JOINT: usize = 12;

/// With at least this many keys, an index takes four bytes.
pub(crate) const WIDE_FROM_KEYS: usize = 0x1_0001;

/// Bytes of an index in a jump cache of a file with `keys` keys.
pub(crate) fn index_bytes(keys: usize) -> usize {
    if keys < WIDE_FROM_KEYS { 2 } else { 4 }
}
